import PushModel
import Testing

/// Goal: each rule between records, once, whoever asks it.
@Suite struct CrossRecordRulesTests {
  static var settings: FanoutSettings {
    var settings = FanoutSettings()
    settings.setMember("u", of: "g")
    settings.setConversation("t", ConversationSettings(kind: .thread, parent: "g"))
    settings.setConversation("r", ConversationSettings(kind: .room))
    settings.setConversation("ug", ConversationSettings(kind: .ultraGroup))
    return settings
  }

  @Test func aThreadsParentIsAGroup() {
    let rules = CrossRecordRules(Self.settings)
    let found = ["g", "r", "t", "nobody"].map { parent in
      rules.problem(
        of: "n", ConversationSettings(kind: .thread, parent: Identifier(parent)))
    }
    #expect(
      found == [
        nil, .parentNotGroup(thread: "n", parent: "r", .room),
        .parentNotGroup(thread: "n", parent: "t", .thread),
        .parentMissing(thread: "n", parent: "nobody"),
      ])
    #expect(rules.problem(of: "n", ConversationSettings(kind: .group, parent: "r")) == nil)
  }

  @Test func membersGoWithTheirConversation() {
    let rules = CrossRecordRules(Self.settings)
    let plain = MemberSettings()
    let levels = MemberSettings(channels: ["c": .all])
    let later = MemberSettings(since: Instant(milliseconds: 1))
    let said = PresentFields(since: true, channels: true)
    let found = [
      ("u", "g", plain, PresentFields()), ("u", "t", plain, PresentFields()),
      ("x", "t", plain, PresentFields()), ("u", "t", later, PresentFields()),
      ("u", "g", later, PresentFields()), ("u", "g", levels, PresentFields()),
      ("u", "ug", levels, said), ("u", "t", plain, said),
      ("u", "t", plain, PresentFields(since: true)),
    ].map { user, id, member, present in
      rules.problem(
        of: Identifier(user), in: Identifier(id),
        Self.settings.conversation(Identifier(id)) ?? ConversationSettings(), member, present)
    }
    #expect(
      found == [
        nil, nil, .notInParent(user: "x", thread: "t", parent: "g"),
        .sinceInThread(user: "u", thread: "t"), nil,
        .channelsOutsideUltraGroup(user: "u", conversation: "g", .group), nil,
        .channelsOutsideUltraGroup(user: "u", conversation: "t", .thread),
        .sinceInThread(user: "u", thread: "t"),
      ])
  }

  /// A parent that is no group is wrong itself; its thread's members are not reported for it.
  @Test func aWrongParentIsReportedOnce() {
    let rules = CrossRecordRules(Self.settings)
    let thread = ConversationSettings(kind: .thread, parent: "r")
    #expect(rules.problem(of: "n", thread) == .parentNotGroup(thread: "n", parent: "r", .room))
    #expect(rules.problem(of: "u", in: "n", thread, MemberSettings()) == nil)
  }
}
