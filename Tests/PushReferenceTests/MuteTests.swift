import PushReference
import PushModel
import TestSupport
import Testing

/// Goal: Easemob's durations end at their instant, not later and not earlier, and stand in the right
/// order beside the window and each other. RongCloud has none.
@Suite struct MuteTests {
  static let eight = "2024-06-03T08:00:00Z"
  /// The millisecond before, the instant, and the millisecond after.
  static func around(_ instant: Instant) -> [Instant] {
    [instant.plus(-1), instant, instant.plus(1)]
  }

  @Test func isOverAtItsInstant() {  // E-35
    let until = at("2024-06-03T12:34:56.789Z")
    var app = World()
    app.user.mutedUntil = until
    #expect(
      app.outcomes(Self.around(until))
        == ["none/muted/app", "push/allowed/default", "push/allowed/default"])
    var conversation = World()
    conversation.member = MemberSettings(level: .all, mutedUntil: until)  // E-22
    #expect(
      conversation.outcomes(Self.around(until))
        == ["none/muted/conversation", "push/allowed/conversation", "push/allowed/conversation"])
  }

  @Test(arguments: [(1, "2024-06-03T08:01:00Z"), (10_080, "2024-06-10T08:00:00Z")])
  func lastsFromTheWriteOn(minutes: Int64, until: String) throws {  // E-5, E-6
    let now = at(Self.eight)
    let write = SilentModeWrite(duration: try MuteDuration(minutes: minutes))
    var app = World()
    try write.apply(to: &app.user, now: now)
    var conversation = World()
    var member = MemberSettings()
    #expect(try write.apply(to: &member, now: now) == [])
    conversation.member = member

    let instants = [now] + Self.around(at(until))
    let open = ["push/allowed/default", "push/allowed/default"]
    #expect(app.outcomes(instants) == ["none/muted/app", "none/muted/app"] + open)
    #expect(
      conversation.outcomes(instants)
        == ["none/muted/conversation", "none/muted/conversation"] + open)
  }

  @Test func zeroMinutesEndsIt() throws {  // E-5
    let now = at(Self.eight)
    var world = World()
    try SilentModeWrite(duration: MuteDuration(minutes: 60)).apply(to: &world.user, now: now)
    try SilentModeWrite(duration: MuteDuration(minutes: 0))
      .apply(to: &world.user, now: now.plus(1000))
    #expect(
      world.outcomes([now, now.plus(999), now.plus(1000)])
        == Array(repeating: "push/allowed/default", count: 3))
    #expect(world.user.mutedUntil == .zero)
  }

  @Test func aNewOneStartsAgain() throws {  // E-5
    let hour = try MuteDuration(minutes: 60)
    var world = World()
    try SilentModeWrite(duration: hour).apply(to: &world.user, now: at(Self.eight))
    try SilentModeWrite(duration: hour).apply(to: &world.user, now: at("2024-06-03T08:30:00Z"))
    #expect(
      world.outcomes([at("2024-06-03T09:29:59.999Z"), at("2024-06-03T09:30:00Z")])
        == ["none/muted/app", "push/allowed/default"])
  }

  @Test func moreThanAWeekIsRefusedAndChangesNothing() throws {  // E-5
    var world = World()
    world.user.mutedUntil = at("2024-06-03T09:00:00Z")
    for minutes: Int64 in [10_081, -1] {
      #expect(throws: SettingsWriteError.durationMinutesOutOfRange(minutes)) {
        try SilentModeWrite(duration: MuteDuration(minutes: minutes))
          .apply(to: &world.user, now: at(Self.eight))
      }
    }
    #expect(
      world.outcomes(Self.around(at("2024-06-03T09:00:00Z")))
        == ["none/muted/app", "push/allowed/default", "push/allowed/default"])
  }

  /// The vendor's example: 8-10 and 240 minutes set at 8:00 is 8-12 today, 8-10 from tomorrow.
  @Test func windowAndDurationAreAUnion() throws {  // E-23
    var world = World.easemob("8:0", "10:0")
    try SilentModeWrite(duration: MuteDuration(minutes: 240))
      .apply(to: &world.user, now: at(Self.eight))
    let expected: [(String, String)] = [
      ("2024-06-03T08:00:00Z", "none/quietHours/app"),
      ("2024-06-03T09:59:59.999Z", "none/quietHours/app"),
      ("2024-06-03T10:00:00Z", "none/muted/app"),
      ("2024-06-03T11:59:59.999Z", "none/muted/app"),
      ("2024-06-03T12:00:00Z", "push/allowed/default"),
      ("2024-06-04T07:59:59.999Z", "push/allowed/default"),
      ("2024-06-04T08:00:00Z", "none/quietHours/app"),
      ("2024-06-04T10:00:00Z", "push/allowed/default"),
    ]
    #expect(world.outcomes(expected.map { at($0.0) }) == expected.map(\.1))
  }

  /// The window first, then the app's duration, then the conversation's (§4, line 6).
  @Test func theFirstReasonThatApplies() {
    var world = World.easemob("8:0", "9:0")
    world.user.mutedUntil = at("2024-06-03T10:00:00Z")
    world.member = MemberSettings(level: .blocked, mutedUntil: at("2024-06-03T11:00:00Z"))
    let expected: [(String, String)] = [
      ("2024-06-03T07:59:59.999Z", "none/muted/app"),
      ("2024-06-03T08:59:59.999Z", "none/quietHours/app"),
      ("2024-06-03T09:00:00Z", "none/muted/app"),
      ("2024-06-03T09:59:59.999Z", "none/muted/app"),
      ("2024-06-03T10:00:00Z", "none/muted/conversation"),
      ("2024-06-03T10:59:59.999Z", "none/muted/conversation"),
      ("2024-06-03T11:00:00Z", "none/levelNone/conversation"),
    ]
    #expect(world.outcomes(expected.map { at($0.0) }) == expected.map(\.1))
  }

  @Test func mutesItsConversationOnly() {  // E-22
    let until = at("2024-06-03T09:00:00Z")
    var settings = FanoutSettings()
    settings.setMember("u", of: "muted", MemberSettings(mutedUntil: until))
    settings.setMember("u", of: "other")
    var evaluator = ReferenceEvaluator(settings)
    let keys = ["muted", "other"].map { (id: Identifier) in
      evaluator.decide(Message(id: "m", conversation: id, at: until.plus(-1)), for: "u")?
        .outcome.key
    }
    #expect(keys == ["none/muted/conversation", "push/allowed/default"])
  }

  /// A duration on the thread or on its parent mutes the thread.
  @Test(arguments: [
    (EasemobOptions.ThreadScope.inheritParent, true, true), (.parentOnly, false, true),
    (.ownOnly, true, false),
  ])
  func threads(scope: EasemobOptions.ThreadScope, own: Bool, parent: Bool) {  // E-63
    let until = at("2024-06-03T09:00:00Z")
    var world = World()
    world.app.easemob.threadScope = scope
    world.conversation = ConversationSettings(kind: .thread, parent: "p")
    let answer = { (isMuted: Bool) in
      [
        isMuted ? "none/muted/conversation" : "push/allowed/default", "push/allowed/default",
        "push/allowed/default",
      ]
    }
    world.member = MemberSettings(mutedUntil: until)
    world.parent = MemberSettings()
    #expect(world.outcomes(Self.around(until)) == answer(own))
    world.member = MemberSettings()
    world.parent = MemberSettings(mutedUntil: until)
    #expect(world.outcomes(Self.around(until)) == answer(parent))
  }

  @Test func doNotExistEverywhere() {
    let until = at("2024-06-03T09:00:00Z")
    for rules in RuleSet.vendors {
      var world = World(app: AppSettings(rules: rules, advancedPush: rules == .rongcloud))  // E-9
      world.user.mutedUntil = until
      world.member = MemberSettings(mutedUntil: until)
      #expect(world.outcomes([until.plus(-1)]) == ["push/allowed/default"], "\(rules)")
    }
  }

  @Test func forceDoesNotCheckThem() {  // E-41
    let until = at("2024-06-03T09:00:00Z")
    var world = World()
    world.user.mutedUntil = until
    world.member = MemberSettings(mutedUntil: until.plus(1))
    var evaluator = ReferenceEvaluator(world.settings)
    let keys = [until.plus(-1), until, until.plus(1)].map { instant in
      var message = Message(id: "m", conversation: "c", at: instant)
      message.force = true
      return evaluator.decide(message, for: "u")?.outcome.key
    }
    // E-41a: forced only while there was something to beat.
    #expect(keys == ["push/forced/default", "push/forced/default", "push/allowed/default"])
  }
}
