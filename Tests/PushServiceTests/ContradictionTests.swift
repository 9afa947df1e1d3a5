import PushFanout
import PushModel
import PushService
import PushStore
import TestSupport
import Testing

/// Goal: what a change may say of records beside each other is the same for a service of values and
/// for one on a store.
@Suite struct ContradictionTests {
  /// The settings at the beginning: a group with a thread, another group, and an ultra group.
  private static func base(_ rules: RuleSet) -> FanoutSettings {
    var settings = FanoutSettings(app: AppSettings(rules: rules))
    settings.setConversation("g1", ConversationSettings())
    for user in ["u1", "u2"] as [Identifier] { settings.setMember(user, of: "g1") }
    settings.setMember("u5", of: "g2", MemberSettings(since: Instant(milliseconds: 5)))
    if rules == .easemob {
      settings.setConversation("t1", ConversationSettings(kind: .thread, parent: "g1"))
      settings.setMember("u1", of: "t1")
    } else {
      settings.setConversation("x", ConversationSettings(kind: .ultraGroup))
      settings.setMember("u1", of: "x", channeled)
    }
    return settings
  }

  /// Records that bring their rules are judged by these: under open rules a private conversation has
  /// threads.
  @Test func recordsAreJudgedByTheRulesThatTheyBring() throws {
    let lines = """
      {"kind":"app","rules":"open"}
      {"kind":"conversation","id":"p","type":"private"}
      {"kind":"conversation","id":"t","type":"thread","parent":"p"}
      {"kind":"member","conversation":"p","user":"u"}
      {"kind":"member","conversation":"t","user":"u","follow":true}
      """
    let values = FanoutService(try Fanout(app: AppSettings(), threads: 1))
    let stored = try StoredService(FanoutSettings())
    for service in [values, stored.service] {
      try service.change(ndjson: Array(lines.utf8), at: .zero)
      #expect(service.engine.conversation("t")?.parent == "p")
    }
  }

  private static var channeled: MemberSettings {
    var member = MemberSettings()
    member.channels = ["c": .mention]
    return member
  }

  /// What a change that consists of `records` is refused with by values and by a store; "accepted".
  private static func answers(
    _ rules: RuleSet, _ records: [SettingsRecord]
  ) throws -> [String] {
    let base = base(rules)
    let stored = try StoredService(base)
    return try [FanoutService(Fanout(base, threads: 1)), stored.service].map { service in
      var batch = SettingsBatch(FanoutSettings(app: base.app))
      for record in records { batch.settings.set(record) }
      let version = service.engine.version
      do { try service.change(batch, at: .zero) } catch ServiceError.contradiction(let reason) {
        #expect(service.engine.version == version)
        return reason
      } catch StoreError.contradiction(let reason) {
        #expect(service.engine.version == version)
        return reason
      }
      return "accepted"
    }
  }

  private static func thread(_ id: Identifier, _ parent: Identifier) -> SettingsRecord {
    .conversation(id, ConversationSettings(kind: .thread, parent: parent))
  }

  private static let cases: [(rules: RuleSet, records: [SettingsRecord], answer: String)] = [
    (
      .easemob, [thread("t9", "nowhere")],
      #"thread "t9" would have the parent "nowhere", which does not exist"#
    ),
    (.easemob, [thread("t9", "t1")], #"thread "t9" would have the parent "t1", which is a thread"#),
    (
      .easemob, [.member("u9", of: "t1", MemberSettings())],
      #""u9" would have settings in thread "t1" but is not in "g1""#
    ),
    (
      .easemob, [.member("u1", of: "t1", MemberSettings(since: Instant(milliseconds: 7)))],
      #""u1" would have a since in thread "t1""#
    ),
    (
      .easemob, [.conversation("g1", ConversationSettings(kind: .room))],
      #"thread "t1" would have the parent "g1", which is a room"#
    ),
    (.easemob, [thread("g2", "g1")], #""u5" would have a since in thread "g2""#),
    (
      .easemob, [thread("t1", "g2")],
      #""u1" would have settings in thread "t1" but is not in "g2""#
    ),
    (
      .rongcloud, [.member("u2", of: "g1", channeled)],
      #""u2" would have channels in "g1", which is a group"#
    ),
    (
      .rongcloud, [.conversation("x", ConversationSettings())],
      #""u1" would have channels in "x", which is a group"#
    ),
    (.easemob, [thread("t2", "g1"), .member("u2", of: "t2", MemberSettings())], "accepted"),
    (
      .easemob,
      [
        thread("t3", "g3"), .member("u9", of: "g3", MemberSettings()),
        .member("u9", of: "t3", MemberSettings()),
      ], "accepted"
    ),
    (
      .easemob,
      [.conversation("g1", ConversationSettings(kind: .room)), .conversation("t1", .init())],
      "accepted"
    ),
    (.rongcloud, [.member("u2", of: "x", channeled)], "accepted"),
    (
      .rongcloud,
      [.conversation("x", ConversationSettings()), .member("u1", of: "x", MemberSettings())],
      "accepted"
    ),
  ]

  @Test func valuesAndStoreAnswerAlike() throws {
    let found = try Self.cases.map { try Self.answers($0.rules, $0.records) }
    #expect(found == Self.cases.map { [$0.answer, $0.answer] })
  }

  /// Batches of a few records drawn from few ids, one after the other: each is taken or refused by
  /// both, and both have the same afterwards.
  @Test(arguments: TestSupport.seeds([1, 2]))
  func randomChanges(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let conversations: [Identifier] = ["a", "b", "c", "d"]
    let users: [Identifier] = ["u", "v", "w"]
    var refusals = 0
    for rules in RuleSet.allCases {
      let base = FanoutSettings(app: AppSettings(rules: rules))
      let values = try FanoutService(Fanout(base, threads: 1))
      let stored = try StoredService(base)
      let kinds = ConversationKind.allCases.filter { $0.exists(under: rules) }
      for step in 0..<60 {
        var batch = SettingsBatch(FanoutSettings(app: base.app))
        for _ in 0...Int.random(in: 0...3, using: &random) {
          let id = random.pick(conversations)
          if random.chance(40) {
            let kind = random.pick(kinds + [.group, .group])
            batch.settings.setConversation(
              id,
              ConversationSettings(
                kind: kind,
                parent: kind != .thread || rules == .open && random.oneIn(3)
                  ? nil : random.pick(conversations)))
          } else {
            var member = MemberSettings()
            if random.chance(20) { member.since = Instant(milliseconds: 9) }
            if rules == .rongcloud, random.chance(30) { member = Self.channeled }
            if rules == .open {
              if random.chance(30) { member.isFollowing = random.chance(50) }
              if random.chance(30) { member.roles = ["oncall"] }
            }
            batch.settings.setMember(random.pick(users), of: id, member)
          }
        }
        let refused = [values, stored.service].map { service -> Bool in
          do { try service.change(batch, at: .zero) } catch { return true }
          return false
        }
        refusals += refused[0] ? 1 : 0
        let label: Comment = "seed \(seed), \(rules.rawValue), step \(step)"
        #expect(refused[0] == refused[1], label)
        let records = [values, stored.service].map { service in
          conversations.map { id in
            "\(id) \(String(describing: service.engine.conversation(id)))"
              + "\(users.map { service.engine.member($0, of: id) })"
          }
        }
        try #require(records[0] == records[1], label)
      }
    }
    #expect(refusals > 20)
  }
}
