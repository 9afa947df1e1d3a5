import Foundation
import PushFanout
import PushFiles
import PushReplay
import PushModel

// What docs/replay.md takes as given.
var settings = FanoutSettings()
settings.setMember("u1", of: "g1")
let folder = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
precondition(FileManager.default.changeCurrentDirectoryPath(folder.path))
try Data(#"{"id":"m1","conversation":"g1","at":1717387200000,"sender":"u2"}"#.utf8)
  .write(to: folder.appending(path: "today.ndjson"))

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
precondition((result.messages, result.decisions, result.pushes) == (1, 1, 1))
precondition(result == whole)
try FileManager.default.removeItem(at: folder)
print("done")
