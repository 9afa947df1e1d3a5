// snippet
import Dispatch
import Foundation
import PushFanout
import PushFiles
import PushModel
import PushService
import Synchronization
// end

// The article's code as the top-level code of a program, which is isolated to the main actor.
// ArticleProgramTests compares it with the article and runs it; what does not come out stops it.

// What the article takes as given.
let folder = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
let world = folder.appending(path: "world.ndjson").path
try Data(#"{"kind":"member","conversation":"g1","user":"u1"}"#.utf8)
  .write(to: URL(fileURLWithPath: world))
let messages = (0..<100).map { place in
  Message(
    id: Identifier("m\(place)"), conversation: place % 10 == 0 ? "nowhere" : "g1",
    at: Instant(milliseconds: 1_717_387_200_000), sender: "u2")
}
var sent: [String] = []
@MainActor func send(_ message: Message, to user: Identifier, on devices: [Identifier]) {
  sent.append("\(message.id) \(user) \(devices)")
}
var said: [String] = []
@MainActor func say(_ text: String) { said.append(text) }

// snippet
func makeEngine() throws -> Fanout {
  var builder = FanoutBuilder()
  try builder.setApp(AppSettings(rules: .easemob, timeZone: "Asia/Shanghai"))
  var user = UserSettings()
  user.quietHours = try QuietInterval.parse(start: "22:00", end: "8:00").map { .interval($0) }
  user.devices = [Device(id: "phone"), Device(id: "tablet", hasToken: false)]
  try builder.setUser("u1", user)
  for id: Identifier in ["u1", "u2", "u3"] { try builder.setMember(id, of: "g1") }
  try builder.setMember("u4", of: "g1", MemberSettings(level: .mention))
  return try builder.build()
}
let fanout = try makeEngine()
// end

// snippet
let paths = SettingsPaths(settings: [world])
let loaded = try SettingsLoader.loadFanout(paths)
// end
precondition(loaded.memberCount(of: "g1") == 1)
try FileManager.default.removeItem(at: folder)

// snippet
let noon = Instant(rfc3339: "2024-06-03T12:00:00+08:00")!
let message = Message(id: "m1", conversation: "g1", at: noon, sender: "u2")
let result = fanout.decide(message)
// end

// snippet
let counts = result.counts
let recipientCount =
  counts.recipientCount  // 3: the sender is none
let decidedPushCount =
  counts.pushCount  // 2
let unmentionedCount =
  counts[.notMentioned]  // 1
// end
precondition([recipientCount, decidedPushCount, unmentionedCount] == [3, 2, 1])

// snippet
for user in result.pushes {
  send(message, to: result.id(of: user), on: result.devices(of: user))
}
// end
precondition(sent == ["m1 u1 [phone]", "m1 u3 [default]"])

// snippet
let outcomeKey =
  result.outcome(of: "u4")?.key  // "none/notMentioned/conversation"
let nobody =
  result.outcome(of: "u2")  // nil: no recipient
// end
precondition(outcomeKey == "none/notMentioned/conversation" && nobody == nil)

// snippet
var codes = [UInt8](repeating: 0, count: result.memberCount)
do {
  var span = codes.mutableSpan
  result.writeCodes(into: &span)
}
let outcomes = codes.map { Outcome(code: $0)?.key ?? "-" }
// end
precondition(
  outcomes == [
    "push/allowed/default", "-", "push/allowed/default", "none/notMentioned/conversation",
  ])

// snippet
var reused = FanoutResult()
var pushCount = 0
for message in messages {
  fanout.decide(message, into: &reused)
  pushCount += reused.pushCount
}
// end
precondition(pushCount == 180)

// snippet
let sum = Atomic(0)
fanout.decide(messages) { index, result in
  sum.add(result.pushCount, ordering: .relaxed)
}
// end
precondition(sum.load(ordering: .relaxed) == 180)

// snippet
let results = fanout.decide(messages)
// end
precondition(results.map(\.pushCount) == messages.map { $0.conversation == "g1" ? 2 : 0 })

// snippet
let night = Instant(rfc3339: "2024-06-03T23:30:00+08:00")!
let late = Message(id: "m2", conversation: "g1", at: night)
let decision = fanout.decision(late, for: "u1")
let decisionKey =
  decision?.outcome.key  // "none/quietHours/app"
// end
precondition(decisionKey == "none/quietHours/app" && decision?.devices == [])

// snippet
let change = try fanout.nextChange(for: "u1", in: "g1", after: night)
let changeText =
  change?.rfc3339  // "2024-06-04T00:00:00Z"
// end
precondition(changeText == "2024-06-04T00:00:00Z")

// snippet
let steps = FanoutService(fanout).explain(late, for: "u1").steps
// end
precondition(steps.filter(\.decides).map(\.subject) == ["quiet hours"])

// snippet
try fanout.update { update throws(FanoutError) in
  try update.setMember("u5", of: "g1")
  try update.updateUser("u1") { $0.quietHours = nil }
  try update.removeMember("u3", of: "g1")
}
// end

// snippet
let versions = [
  result.version,  // 1, as it was decided
  fanout.version,  // 2
]
// end
precondition(versions == [1, 2])

// snippet
let timer = DispatchSource.makeTimerSource()
timer.schedule(deadline: .now(), repeating: .seconds(60))
timer.setEventHandler { @Sendable in
  fanout.advance(to: Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)))
}
timer.resume()
// end
let limit = ContinuousClock.now + .seconds(300)
while clockReadings.load(ordering: .sequentiallyConsistent) == 0, ContinuousClock.now < limit {
  Thread.sleep(forTimeInterval: 0.001)
}
precondition(clockReadings.load(ordering: .sequentiallyConsistent) > 0, "the timer never fired")
timer.cancel()
precondition(fanout.version == 2)
precondition(fanout.decide(message).pushes.ids.map(\.text) == ["u1", "u5"])

// snippet
let report = fanout.memoryReport()
let membershipCount =
  report.membershipCount  // 4
let bytes =
  report.total  // bytes of the tables and the cached states
let unused =
  report.unused  // what changes left behind; an update takes it back before it is much
// end
precondition(membershipCount == 4 && bytes > 0 && unused < bytes)

// snippet
do throws(FanoutError) {
  try fanout.update { update throws(FanoutError) in
    try update.setMember("u6", of: "g1")
    try update.updateUser("nobody") { $0.level = .all }
  }
} catch {
  switch error {
  case .unknownUser(let id): say("there is no user \(id)")
  default: say(error.description)
  }
}
// end
precondition(said == ["there is no user nobody"] && fanout.version == 2)
precondition(fanout.memberCount(of: "g1") == 4)
print("done")
