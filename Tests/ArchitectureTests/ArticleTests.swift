// snippet
import Dispatch
import Foundation
import PushFanout
import PushFiles
import PushFoundation
import PushModel
import Synchronization
// end
import Testing

/// Goal: the code in the article "From a dispatch service" gives inside functions what it says;
/// ArticleProgramTests compares it with the article.
@Suite struct ArticleTests {
  private static let messages = (0..<100).map { number in
    Message(
      id: Identifier("m\(number)"), conversation: number % 10 == 0 ? "nowhere" : "g1",
      at: Instant(milliseconds: 1_717_387_200_000), sender: "u2")
  }

  private static func engine() throws -> Fanout {
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
    return fanout
  }

  @Test func worldsAreReadFromFiles() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).ndjson")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(#"{"kind":"member","conversation":"g1","user":"u1"}"#.utf8).write(to: file)
    let world = file.path
    // snippet
    let paths = SettingsPaths(settings: [world])
    let loaded = try SettingsLoader.loadFanout(paths)
    // end
    #expect(loaded.memberCount(of: "g1") == 1)
  }

  @Test func answersAreRead() throws {
    let fanout = try Self.engine()
    // snippet
    let noon = Instant(rfc3339: "2024-06-03T12:00:00+08:00")!
    let message = Message(id: "m1", conversation: "g1", at: noon, sender: "u2")
    let result = fanout.decide(message)
    // end
    // snippet
    let counts = result.counts
    let recipientCount =
      counts.recipientCount  // 3: the sender is none
    let pushCount =
      counts.pushCount  // 2
    let unmentionedCount =
      counts[.notMentioned]  // 1
    // end
    #expect(recipientCount == 3)
    #expect(pushCount == 2)
    #expect(unmentionedCount == 1)

    var sent: [String] = []
    func send(_ message: Message, to user: Identifier, on devices: [Identifier]) {
      sent.append("\(message.id) \(user) \(devices)")
    }
    // snippet
    for user in result.pushes {
      send(message, to: result.id(of: user), on: result.devices(of: user))
    }
    // end
    #expect(sent == ["m1 u1 [phone]", "m1 u3 [default]"])

    // snippet
    let key =
      result.outcome(of: "u4")?.key  // "none/notMentioned/conversation"
    let nobody =
      result.outcome(of: "u2")  // nil: no recipient
    // end
    #expect(key == "none/notMentioned/conversation")
    #expect(nobody == nil)

    // snippet
    var codes = [UInt8](repeating: 0, count: result.memberCount)
    do {
      var span = codes.mutableSpan
      result.writeCodes(into: &span)
    }
    let outcomes = codes.map { Outcome(code: $0)?.key ?? "-" }
    // end
    #expect(
      outcomes == [
        "push/allowed/default", "-", "push/allowed/default", "none/notMentioned/conversation",
      ])
  }

  @Test func manyMessagesAreDecided() throws {
    let fanout = try Self.engine()
    let messages = Self.messages
    // snippet
    var reused = FanoutResult()
    var pushCount = 0
    for message in messages {
      fanout.decide(message, into: &reused)
      pushCount += reused.pushCount
    }
    // end
    #expect(pushCount == 180)
    // snippet
    let sum = Atomic(0)
    fanout.decide(messages) { index, result in
      sum.add(result.pushCount, ordering: .relaxed)
    }
    // end
    #expect(sum.load(ordering: .relaxed) == 180)
    // snippet
    let results = fanout.decide(messages)
    // end
    #expect(results.map(\.pushCount) == messages.map { $0.conversation == "g1" ? 2 : 0 })
  }

  @Test func questionsAreAnswered() throws {
    let fanout = try Self.engine()
    // snippet
    let night = Instant(rfc3339: "2024-06-03T23:30:00+08:00")!
    let late = Message(id: "m2", conversation: "g1", at: night)
    let decision = fanout.decision(late, for: "u1")
    let key =
      decision?.outcome.key  // "none/quietHours/app"
    // end
    #expect(key == "none/quietHours/app")
    #expect(decision?.devices == [])
    // snippet
    let change = try fanout.nextChange(for: "u1", in: "g1", after: night)
    let text =
      change?.rfc3339  // "2024-06-04T00:00:00Z"
    // end
    #expect(text == "2024-06-04T00:00:00Z")
    // snippet
    let steps = fanout.explain(late, for: "u1").steps
    // end
    #expect(steps.filter(\.decides).map(\.subject) == ["quiet hours"])
  }

  @Test func settingsChangeAndTimePasses() throws {
    let fanout = try Self.engine()
    let message = Self.messages[1]
    let result = fanout.decide(message)
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
    #expect(versions == [1, 2])
    #expect(result.pushes.ids.map(\.text) == ["u1", "u3"])
    #expect(fanout.decide(message).pushes.ids.map(\.text) == ["u1", "u5"])

    // snippet
    let timer = DispatchSource.makeTimerSource()
    timer.schedule(deadline: .now(), repeating: .seconds(60))
    timer.setEventHandler { @Sendable in
      fanout.advance(to: Instant(Date()))
    }
    timer.resume()
    // end
    Thread.sleep(forTimeInterval: 0.05)
    timer.cancel()
    #expect(fanout.version == 2)
    #expect(fanout.decide(message).pushes.ids.map(\.text) == ["u1", "u5"])

    // snippet
    let report = fanout.memoryReport()
    let membershipCount =
      report.membershipCount  // 4
    let bytes =
      report.total  // bytes of the tables and the cached states
    // end
    #expect(membershipCount == 4)
    #expect(bytes > 0)
  }

  @Test func errorsChangeNothing() throws {
    let fanout = try Self.engine()
    var said: [String] = []
    func say(_ text: String) { said.append(text) }
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
    #expect(said == ["there is no user nobody"])
    #expect(fanout.version == 1)
    #expect(fanout.memberCount(of: "g1") == 4)
  }
}
