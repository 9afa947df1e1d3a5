import PushReference
import PushModel
import TestSupport
import Testing

/// Goal: an explanation decides what the decision decides, its last step and no other decided, and
/// its rules come in the order of §4.
@Suite struct ExplainTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let outcome: String
    /// The numbers of the rules that were looked at; nil where only the rest is of interest.
    let rules: [String]?
    let world: @Sendable () -> World
    let change: @Sendable (inout Message) -> Void

    init(
      _ name: String, _ outcome: String, _ rules: [String]? = nil,
      _ world: @escaping @Sendable () -> World,
      message change: @escaping @Sendable (inout Message) -> Void = { _ in }
    ) {
      (self.name, self.outcome, self.rules) = (name, outcome, rules)
      (self.world, self.change) = (world, change)
    }

    var testDescription: String { name }
  }

  static let now = at("2024-06-03T23:00:00Z")

  @Test(arguments: easemob + rongcloud + nobody)
  func explains(_ test: Case) throws {
    var message = Message(id: "m", conversation: "c", at: Self.now)
    test.change(&message)
    var evaluator = ReferenceEvaluator(test.world().settings)
    let explanation = evaluator.explain(message, for: "u")

    #expect(explanation.decision?.outcome.key ?? "nobody" == test.outcome)
    #expect(explanation.decision == evaluator.decide(message, for: "u"))
    #expect(
      explanation.steps.map(\.decides)
        == explanation.steps.indices.map {
          $0 == explanation.steps.count - 1
        }, "the last step decides, and no other")
    if let rules = test.rules { #expect(explanation.steps.map(\.rule) == rules) }
    #expect(explanation.steps.filter { $0.found.isEmpty || $0.subject.isEmpty } == [])
    let isStopped = explanation.decision.map { $0.outcome.action == .suppress } ?? true
    #expect(
      explanation.steps.map(\.stops)
        == explanation.steps.indices.map { isStopped && $0 == explanation.steps.count - 1 },
      "what stops a push is the last step, and where there is one nothing does")
    #expect(explanation.message == "m" && explanation.conversation == "c")
    #expect(explanation.user == "u" && explanation.at == Self.now)
  }

  static let easemob = [
    Case(
      "Easemob: quiet hours", "none/quietHours/app",
      [
        "decision-rules §4", "decision-rules §4", "E-60", "E-61", "E-62", "E-40, E-44", "E-69",
        "E-64, E-65", "E-46 to E-48",
        "E-21, E-30 to E-36",
      ], { .easemob("22:0", "7:0") }),
    Case(
      "Easemob: a push", "push/allowed/default",
      [
        "decision-rules §4", "decision-rules §4", "E-60", "E-61", "E-62", "E-40, E-44", "E-69",
        "E-64, E-65", "E-46 to E-48",
        "E-21, E-30 to E-36", "E-23, E-35", "E-22, E-35, E-63", "E-20, E-42", "E-66, E-68",
      ], { .easemob("7:0", "22:0") }),
    Case(
      "Easemob: forced", "push/forced/default", nil, { .easemob("22:0", "7:0") },
      message: { $0.force = true }),
    Case(
      "Easemob: muted", "none/muted/app",
      [
        "decision-rules §4", "decision-rules §4", "E-60", "E-61", "E-62", "E-40, E-44", "E-69",
        "E-64, E-65", "E-46 to E-48",
        "E-21", "E-23, E-35",
      ],
      {
        var world = World()
        world.user.mutedUntil = now.plus(1)
        return world
      }),
    Case(
      "Easemob: level none", "none/levelNone/conversation", nil,
      { World(member: MemberSettings(level: .blocked)) }),
    Case(
      "Easemob: online", "none/online", nil,
      {
        var world = World()
        world.user.devices = [Device(id: "d", state: .background)]
        return world
      }),
    Case(
      "Easemob: no token", "none/noToken", nil,
      {
        var world = World()
        world.user.devices = [Device(id: "d", hasToken: false)]
        return world
      }),
    Case(
      "Easemob: a chat room", "none/chatRoom", ["decision-rules §4", "decision-rules §4", "E-60"],
      { World(conversation: ConversationSettings(kind: .room)) }),
    Case(
      "Easemob: expired", "none/expired", nil, { World() },
      message: { $0.sentAt = at("2024-06-02T22:59:59.999Z") }),
  ]

  static let rongcloud = [
    Case(
      "RongCloud: quiet hours", "none/quietHours/quietHours",
      [
        "decision-rules §4", "decision-rules §4", "R-44", "R-44", "R-42", "R-50, R-53", "R-44",
        "R-40, R-41",
        "R-12, R-20 to R-24", "R-1, R-6, R-12",
      ], { .rongcloud("22:00:00", 540) }),
    Case(
      "RongCloud: a push", "push/allowed/default",
      [
        "decision-rules §4", "decision-rules §4", "R-44", "R-44", "R-42", "R-50, R-53", "R-44",
        "R-40, R-41",
        "R-12, R-20 to R-24", "R-1, R-3", "R-52",
      ], { .rongcloud("07:00:00", 540) }),
    Case(
      "RongCloud: an ultra group", "push/allowed/groupDefault",
      [
        "decision-rules §4", "decision-rules §4", "R-44", "R-44", "R-42", "R-50, R-53", "R-44",
        "R-40, R-41", "R-20",
        "R-1, R-3", "R-52",
      ],
      {
        World(
          app: AppSettings(rules: .rongcloud, level: .blocked),
          conversation: ConversationSettings(kind: .ultraGroup, level: .all))
      }),
    Case(
      "RongCloud: a local notification", "local/allowed/default", nil,
      {
        var world = World(app: AppSettings(rules: .rongcloud))
        world.user.devices = [Device(id: "d", state: .background, backgroundSince: now)]
        return world
      }),
    Case(
      "RongCloud: logged out", "none/loggedOut", nil,
      {
        var world = World(app: AppSettings(rules: .rongcloud))
        world.user.devices = [Device(id: "d", state: .loggedOut)]
        return world
      }),
    Case(
      "RongCloud: silent", "none/silentMessage",
      ["decision-rules §4", "decision-rules §4", "R-44", "R-44", "R-42"],
      { World(app: AppSettings(rules: .rongcloud)) }, message: { $0.silent = true }),
  ]

  static let nobody = [
    Case(
      "the sender", "nobody", ["decision-rules §4", "decision-rules §4"], { World() },
      message: { $0.sender = "u" }),
    Case("no member", "nobody", ["decision-rules §4"], { World(member: nil) }),
    Case(
      "a member from the next millisecond on", "nobody", ["decision-rules §4"],
      { World(member: MemberSettings(since: now.plus(1))) }),
    Case(
      "a member from now on", "push/allowed/default", nil,
      { World(member: MemberSettings(since: now)) }),
    Case(
      "of a thread, but not of its parent", "nobody", ["decision-rules §4"],
      { World(conversation: ConversationSettings(kind: .thread, parent: "p")) }),
  ]

  /// What an explanation says of whom a message mentions; the user is `u`.
  @Test func mentionsAreExplained() {
    typealias Change = @Sendable (inout Message) -> Void
    func list(_ ids: Identifier...) -> Change { { $0.ext.atList = .ids(ids) } }
    let easemob: [(Change, String)] = [
      ({ _ in }, "nobody"), (list("a", "u"), "u"),
      (list("a", "b", "c", "d"), "a, b, c and 1 more, not u"),
      (list("U"), "u, written \"U\" (E-47)"), (list("a,u"), "\"a,u\", not u"),
      (
        list("all"),
        "all, not u; \"all\" inside a list is a user's id (E-46, option atListAllInArray)"
      ),
      ({ $0.ext.atList = .text("ALL") }, "everyone"),
      (
        { $0.ext.atList = .text("u") },
        "nobody: em_at_list is the text \"u\" (E-46, option atListStringAsId)"
      ),
      ({ $0.ext.atList = .unreadable }, "nobody: em_at_list is neither a text nor a list"),
      (
        { $0.ext.legacyAtList = .ids(["u"]) },
        "nobody: em_at_list inside em_apns_ext does not count (E-48, option atListLegacyApnsExt)"
      ),
      (
        {
          $0.mentions = []
          $0.ext.atList = .ids(["u"])
        }, "nobody; mentions and mentionsAll hide ext.em_at_list"
      ),
      ({ $0.mentionsAll = true }, "everyone"),
    ]
    let rongcloud: [(Change, String)] = [
      ({ _ in }, "nobody"), ({ $0.mentions = ["a"] }, "a, not u"),
      ({ $0.mentions = ["U"] }, "\"U\", not u: ids are compared with case"),
      (
        {
          $0.mentions = ["u"]
          $0.isMentioned = false
        }, "nobody, as isMentioned is false (R-40); named: u"
      ),
      (
        {
          $0.mentions = ["u"]
          $0.mentionsAll = true
        }, "everyone; the list does not count then (R-41)"
      ),
    ]
    func found(_ world: World, _ change: Change) -> String? {
      var message = Message(id: "m", conversation: "c", at: Self.now)
      change(&message)
      var evaluator = ReferenceEvaluator(world.settings)
      return evaluator.explain(message, for: "u").steps.first { $0.subject == "mentions" }?.found
    }
    #expect(easemob.map { found(World(), $0.0) } == easemob.map(\.1))
    let rules = AppSettings(rules: .rongcloud)
    #expect(rongcloud.map { found(World(app: rules), $0.0) } == rongcloud.map(\.1))
  }

  @Test func unknownIdsHaveOneStep() {
    var evaluator = ReferenceEvaluator(World().settings)
    let known = Message(id: "m", conversation: "c", at: Self.now)
    let unknown = Message(id: "m", conversation: "x", at: Self.now)
    for explanation in [
      evaluator.explain(known, for: "stranger"), evaluator.explain(unknown, for: "u"),
    ] {
      #expect(explanation.steps.map(\.rule) == ["decision-rules §4"])
      #expect(explanation.steps.map(\.decides) == [true])
      #expect(explanation.decision == nil)
    }
  }
}
