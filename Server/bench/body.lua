-- Requests of wrk from a file of lines: wrk … -s body.lua URL -- FILE LINES PATH KEY [DELAY]
-- LINES lines are a body; each thread begins somewhere else. DELAY milliseconds, on average, pass between the requests
-- of a connection: half to one and a half times as many, so that connections do not stay in step. What was measured is
-- printed as one line of JSON.
local requests, position = {}, 0
local started = 0

function setup(thread)
  thread:set("number", started)
  started = started + 1
end

function init(args)
  local lines, path, key, wait = tonumber(args[2]), args[3], args[4], tonumber(args[5] or "0")
  local headers = {
    ["Content-Type"] = "application/x-ndjson", ["Authorization"] = "Bearer " .. key,
  }
  local body, count = {}, 0
  for line in io.lines(args[1]) do
    body[#body + 1] = line
    count = count + 1
    if count % lines == 0 then
      requests[#requests + 1] = wrk.format("POST", path, headers, table.concat(body, "\n") .. "\n")
      body = {}
    end
  end
  position = (number * 7919) % #requests
  if wait > 0 then
    function delay() return math.floor(wait * (0.5 + math.random())) end
  end
end

function request()
  position = position % #requests + 1
  return requests[position]
end

function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"requests":%d,"seconds":%.6f,"bytes":%d,"failed":%d,"lost":%d,"p50":%.3f,"p99":%.3f,"worst":%.3f}',
    summary.requests, summary.duration / 1e6, summary.bytes, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency.max / 1000))
end
