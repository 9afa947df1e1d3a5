import PushFanout
import PushModel
import PushReference
import TestSupport
import Testing

/// Goal: members of whose classes or windows there are more than numbers are decided as all others.
@Suite struct OpenStatesTests {
  private static func classes(_ random: inout SeededGenerator) -> MessageClasses {
    MessageClasses(rawValue: UInt16.random(in: 0..<512, using: &random))
  }

  /// More bases than 1,022, and more phases than 61.
  private static func settings(_ random: inout SeededGenerator) throws -> FanoutSettings {
    var settings = FanoutSettings(app: AppSettings(rules: .open))
    let noon = RandomWorld.noon
    for number in 0..<1400 {
      let id = Identifier("u\(number)")
      var user = UserSettings()
      user.level = NotificationLevel(classes(&random))
      user.allowForce = random.chance(80)
      if random.chance(60) {
        let windows = try (0..<random.pick([1, 2])).map { _ in
          try QuietWindows.Window(
            start: "\(Int.random(in: 0..<24, using: &random)):0", end: "12:30",
            allow: classes(&random))
        }
        user.quietHours = .windows(try QuietWindows(windows))
      }
      if random.chance(30) {
        user.mutedAllow = classes(&random)
        user.mutedUntil = Instant(milliseconds: noon + random.pick([-1, 0, 1, 7_200_000]))
      }
      if random.chance(10) { try user.setKeywords(["deploy"]) }
      settings.setUser(id, user)
      var member = MemberSettings()
      if random.chance(50) { member.level = NotificationLevel(classes(&random)) }
      if random.chance(20) { member.roles = [random.pick(["a", "b", "c"])] }
      settings.setMember(id, of: "g", member)
    }
    return settings
  }

  @Test(arguments: TestSupport.seeds([1, 2]))
  func moreThanThereAreNumbers(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let settings = try Self.settings(&random)
    let fanout = try Fanout(settings, threads: 2)
    var evaluator = ReferenceEvaluator(settings)
    var messages: [Message] = []
    for (number, hours) in [0, 0, 1, 13, 13, 0].enumerated() {
      var message = Message(
        id: Identifier("m\(number)"), conversation: "g",
        at: Instant(milliseconds: RandomWorld.noon + Int64(hours) * 3_600_000), sender: "u7")
      message.mentionsAll = number % 2 == 1
      message.force = number % 3 == 2
      if number == 4 { (message.text, message.mentionsRoles) = ("please deploy", ["b"]) }
      messages.append(message)
    }
    for message in messages {
      let result = fanout.decide(message)
      #expect(result.disagreement(with: evaluator.rows(message)) == nil, "seed \(seed), \(message)")
    }
    var hold = HoldReference(settings)
    let timeline = FanoutTimeline(fanout.currentVersion)
    for message in messages.prefix(2) {
      let expected = hold.answer(message)
      var held = FanoutCounts()
      var releases: [Int64: Int] = [:]
      let counts = timeline.counts(message, held: &held) { releases[$0, default: 0] += $1 }
      let found = [counts, held].map { counts in
        (0..<Outcome.codeCount).map { counts[code: UInt8($0)] }
      }
      #expect(found == [expected.counts, expected.held], "seed \(seed), \(message)")
      #expect(releases.filter { $0.value != 0 } == expected.releases, "seed \(seed), \(message)")
    }
  }
}
