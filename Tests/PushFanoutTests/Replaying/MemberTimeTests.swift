import PushFanout
import PushReference
import PushModel
import TestSupport
import Testing

/// Goal: where only members' own settings turn, and no window does, the states of a conversation are
/// right for every instant, in whatever order instants come.
@Suite struct MemberTimeTests {
  /// The beginning of a day in UTC.
  private static let midnight: Int64 = 1_711_843_200_000

  /// An instant of twenty seconds, at which members' mutes end and memberships begin.
  private static func instant(_ random: inout SeededGenerator) -> Instant {
    Instant(
      milliseconds: midnight + Int64.random(in: 0..<20, using: &random) * 1000
        + random.pick([0, 0, -1, 1]))
  }

  private static func member(_ rules: RuleSet, _ random: inout SeededGenerator) -> MemberSettings {
    var member = MemberSettings(level: random.pick([.unset, .unset, .all, .mention, .blocked]))
    if rules != .rongcloud, random.chance(30) { member.mutedUntil = instant(&random) }
    if random.chance(15) { member.since = instant(&random) }
    if rules == .rongcloud, random.chance(30) { member.channels = ["a": .blocked] }
    return member
  }

  @Test(arguments: RuleSet.allCases)
  func membersTurn(rules: RuleSet) throws {
    for seed in TestSupport.seeds([1, 2, 3]) {
      var random = SeededGenerator(seed: seed)
      var settings = FanoutSettings(app: AppSettings(rules: rules))
      let kind = rules == .rongcloud ? ConversationKind.ultraGroup : .thread
      settings.setConversation("t", ConversationSettings(kind: kind, parent: "g"))
      let count = Int.random(in: 65...200, using: &random)
      for number in 0..<count {
        settings.setMember(Identifier("u\(number)"), of: "g", Self.member(rules, &random))
        if rules == .rongcloud || random.chance(40) {
          var member = Self.member(rules, &random)
          if rules != .rongcloud { member.since = .zero }
          if rules == .open { member.isFollowing = random.pick([nil, true, false]) }
          settings.setMember(Identifier("u\(number)"), of: "t", member)
        }
      }
      let fanout = try Fanout(settings, threads: 1)
      var evaluator = ReferenceEvaluator(settings)
      var result = FanoutResult()
      for step in 0..<200 {
        if random.chance(25) {
          let isNew = random.chance(20)
          let user = Identifier(isNew ? "new\(step)" : "u\(random.next() % UInt64(count))")
          let member = Self.member(rules, &random)
          settings.setMember(user, of: "g", member)
          try fanout.update { (update) throws(FanoutError) in
            try update.setMember(user, of: "g", member)
          }
          evaluator = ReferenceEvaluator(settings)
        }
        if random.chance(5) { fanout.advance(to: Self.instant(&random)) }
        var message = Message(
          id: "m", conversation: random.pick(["g", "t"]), at: Self.instant(&random), sender: "u1")
        message.channel = rules == .rongcloud ? random.pick(["", "a"]) : ""
        fanout.decide(message, into: &result)
        let expected = evaluator.rows(message)
        let difference =
          random.chance(20)
          ? result.disagreement(with: expected) : firstDifference(result.rows, expected)
        #expect(difference == nil, "seed \(seed), \(rules.rawValue), step \(step), \(message)")
        if difference != nil { return }
      }
    }
  }

  /// What an update sets turns by itself, though nothing else would have turned then.
  @Test(arguments: RuleSet.allCases)
  func newSettingsTurn(rules: RuleSet) throws {
    var settings = FanoutSettings(app: AppSettings(rules: rules))
    for number in 0..<70 { settings.setMember(Identifier("u\(number)"), of: "g") }
    var (asleep, muted) = (UserSettings(), UserSettings())
    switch rules {
    case .easemob:
      asleep.quietHours = .interval(
        try QuietInterval(startHour: 0, startMinute: 10, endHour: 0, endMinute: 20))
      muted.mutedUntil = Instant(milliseconds: Self.midnight + 900_001)
    case .rongcloud, .open:
      asleep.quietHours = .span(
        try QuietSpan(hour: 0, minute: 10, second: 5, spanMinutes: 10, level: .blocked))
      muted.devices = [
        Device(
          id: "d", state: .background,
          backgroundSince: Instant(milliseconds: Self.midnight + 780_001))
      ]
    }
    let fanout = try Fanout(settings, threads: 1)
    var result = FanoutResult()
    func decide(_ offset: Int64) -> [Row] {
      fanout.decide(
        Message(id: "m", conversation: "g", at: Instant(milliseconds: Self.midnight + offset)),
        into: &result)
      return result.rows
    }
    _ = decide(0)
    settings.setUser("u7", asleep)
    settings.setUser("u8", muted)
    try fanout.update { (update) throws(FanoutError) in
      try update.setUser("u7", asleep)
      try update.setUser("u8", muted)
    }
    var evaluator = ReferenceEvaluator(settings)
    let edges: [Int64] = [600_000, 605_000, 780_001, 900_001, 1_200_000, 1_205_000]
    let offsets: [Int64] = [0, 300_000] + edges.flatMap { [$0 - 1, $0] }
    for offset in offsets {
      let message = Message(
        id: "m", conversation: "g", at: Instant(milliseconds: Self.midnight + offset))
      #expect(decide(offset) == evaluator.rows(message), "\(rules.rawValue), \(offset)")
    }
  }
}
