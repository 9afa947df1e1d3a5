import PushFanout
import PushFiles
import PushReplay
import PushModel

/// docs/replay.md's code inside a function.
func insideAFunction(_ settings: FanoutSettings) throws -> ReplayResult {
  // snippet
  let files = ReplayFiles(messages: ["today.ndjson"])
  let whole = try Replayer.replay(files, on: try Fanout(settings))
  // end

  // snippet
  let replayer = try Replayer(try Fanout(settings))
  let events = try ReplayEvents(files, rules: .easemob)
  while let event = try events.next() { try replayer.add(event) }
  let result = replayer.finish()
  // end
  precondition(whole == result)
  return result
}
