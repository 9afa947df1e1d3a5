import PushFanout
import PushFiles
import PushReplay
import PushModel

/// docs/replay.md's code inside a function.
func insideAFunction(_ settings: FanoutSettings) throws -> ReplayResult {
  // snippet
  let replayer = try Replayer(try Fanout(settings))
  let events = try ReplayEvents(ReplayFiles(messages: ["today.ndjson"]), rules: .easemob)
  while let event = try events.next() { try replayer.add(event) }
  let result = replayer.finish()
  // end
  return result
}
