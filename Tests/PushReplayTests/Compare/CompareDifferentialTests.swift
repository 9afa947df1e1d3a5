import PushFanout
import PushFiles
import PushReference
import PushReplay
import PushModel
import TestSupport
import Testing

/// Goal: a comparison says of two worlds what the reference says of them, recipient by recipient.
///
/// The worlds differ in settings, in who is a member, and in the order in which users became known.
/// `PUSH_SEED=n swift test --filter CompareDifferentialTests` runs one more seed.
@Suite struct CompareDifferentialTests {
  /// What the reference says, message by message.
  private struct Expected {
    var changed = 0
    var gained = 0
    var lost = 0
    var decisions = (a: 0, b: 0)
    var pushes = (a: 0, b: 0)
    var changes: [String: Int] = [:]
    var outcomes: [String: [Int]] = [:]
    var users: [String: [Int]] = [:]
    var conversations: [String: [Int]] = [:]
    /// By conversation, of each message those of the side that has more.
    var mostDecisions: [String: Int] = [:]
    var mentionsLost = 0
    /// By user and conversation.
    var mentionLosers: [[String]: Int] = [:]
    var everyoneMentionsLost = 0
    var classesLost = LostClasses()

    /// - Parameter classes: those of the message for a user, in A.
    mutating func add(
      _ message: Message, _ a: [String: Outcome], _ b: [String: Outcome],
      classes: (Identifier) -> MessageClasses
    ) {
      mostDecisions[message.conversation.text, default: 0] += max(a.count, b.count)
      for user in Set(a.keys).union(b.keys) {
        let (from, to) = (a[user], b[user])
        if let from { outcomes[from.key, default: [0, 0]][0] += 1 }
        if let to { outcomes[to.key, default: [0, 0]][1] += 1 }
        let (isPushA, isPushB) = (from?.action == .push, to?.action == .push)
        decisions = (decisions.a + (from == nil ? 0 : 1), decisions.b + (to == nil ? 0 : 1))
        pushes = (pushes.a + (isPushA ? 1 : 0), pushes.b + (isPushB ? 1 : 0))
        let id = message.conversation.text
        conversations[id, default: [0, 0]][0] += isPushA ? 1 : 0
        conversations[id, default: [0, 0]][1] += isPushB ? 1 : 0
        guard from != to else { continue }
        changed += 1
        changes["\(from?.key ?? "-") \(to?.key ?? "-")", default: 0] += 1
        guard isPushA != isPushB else { continue }
        if isPushB {
          gained += 1
        } else {
          let classes = classes(Identifier(user))
          addLost(classes)
          if classes.contains(.mentionsMe) { mentionLosers[[user, id], default: 0] += 1 }
        }
        users[user, default: [0, 0]][isPushB ? 0 : 1] += 1
      }
    }

    private mutating func addLost(_ classes: MessageClasses) {
      lost += 1
      if classes.contains(.mentionsMe) {
        mentionsLost += 1
      } else if classes.contains(.mentionsEveryone) {
        everyoneMentionsLost += 1
      }
      if classes.contains(.role) { classesLost.role += 1 }
      if classes.contains(.reply) { classesLost.reply += 1 }
      if classes.contains(.keyword) { classesLost.keyword += 1 }
      if classes.contains(.sender) { classesLost.sender += 1 }
    }

    /// Where a result says something else.
    func differences(from result: CompareResult) -> [String] {
      var found: [String] = []
      func expect<Value: Equatable>(_ name: String, _ value: Value, _ expected: Value) {
        if value != expected { found.append("\(name): \(value) instead of \(expected)") }
      }
      expect("changed", result.changed, changed)
      expect("gained", result.gained, gained)
      expect("lost", result.lost, lost)
      expect("mentions lost", result.mentionsLost, mentionsLost)
      let losers = (result.users.mentionLosers ?? []).map {
        ([$0.id, $0.conversation], $0.mentions)
      }
      expect("mention losers", Dictionary(uniqueKeysWithValues: losers), mentionLosers)
      expect(
        "the order of mention losers", losers.map(\.1), losers.map(\.1).sorted(by: >))
      expect(
        "people who lost mentions", result.users.lostMentions ?? 0,
        Set(mentionLosers.keys.map { $0[0] }).count)
      expect("mentions of everyone lost", result.everyoneMentionsLost, everyoneMentionsLost)
      expect(
        "classes lost", result.classesLost, result.a.rules == "open" ? classesLost : nil)
      expect("decisions of A", result.a.decisions, decisions.a)
      expect("decisions of B", result.b.decisions, decisions.b)
      expect("pushes of A", result.a.pushes, pushes.a)
      expect("pushes of B", result.b.pushes, pushes.b)
      let changes = result.changes.map { ("\($0.from ?? "-") \($0.to ?? "-")", $0.count) }
      expect("changes", Dictionary(uniqueKeysWithValues: changes), self.changes)
      let outcomes = result.outcomes.map {
        ("\($0.action)/\($0.reason)" + ($0.scope.map { "/\($0)" } ?? ""), [$0.a, $0.b])
      }
      expect("outcomes", Dictionary(uniqueKeysWithValues: outcomes), self.outcomes)
      let rows = result.conversationTable.filter { conversations[$0.id] != nil }
      expect(
        "conversations", Dictionary(uniqueKeysWithValues: rows.map { ($0.id, [$0.a, $0.b]) }),
        conversations)
      expect(
        "decisions by conversation",
        Dictionary(uniqueKeysWithValues: result.conversationTable.map { ($0.id, $0.decisions) }),
        mostDecisions)
      expect("hours", result.hours.gained.reduce(0, +), gained)
      expect("week", result.week.reduce(0) { $0 + $1.b }, pushes.b)
      let users = (result.users.gainers + result.users.losers).map {
        ($0.id, [$0.gained, $0.lost])
      }
      let moved = self.users.filter { $0.value[0] != $0.value[1] }
      expect("users", Dictionary(users) { first, _ in first }, moved)
      expect("more", result.users.more, moved.count { $0.value[0] > $0.value[1] })
      expect("as many", result.users.asMany, self.users.count - moved.count)
      return found
    }
  }

  private static func outcomes(
    _ evaluator: inout ReferenceEvaluator, _ settings: FanoutSettings, _ message: Message
  ) -> [String: Outcome] {
    var found: [String: Outcome] = [:]
    evaluator.decide(message) { found[settings.id(of: $0).text] = $1.outcome }
    return found
  }

  /// What a replay of one of the worlds says.
  private static func localHours(
    _ settings: FanoutSettings, _ messages: [Message]
  ) throws -> [Int]? {
    var options = ReplayOptions()
    options.countsPeople = true
    let replayer = try Replayer(try Fanout(settings, threads: 1), options)
    for message in messages where settings.conversation(message.conversation) != nil {
      try replayer.add(.message(message))
    }
    return replayer.finish().pushesByLocalHour
  }

  @Test(arguments: RuleSet.allCases) func itSaysWhatTheReferenceSays(rules: RuleSet) throws {
    var lost: [String: Int] = [:]
    let seeds: [UInt64] = rules == .rongcloud ? [1, 2] : Array(1...(rules == .open ? 12 : 4))
    for seed in TestSupport.seeds(seeds) {
      var world = RandomWorld(
        rules, seed: seed, userCount: seed % 2 == 0 ? 200 : 14, messageCount: 60,
        style: RandomWorld.Style(density: 90, isVaried: true))
      var random = SeededGenerator(seed: seed &+ 77)
      let model = ModelWorld(world)
      var other = model
      for number in 0..<25 {
        world.change(of: other, changesApp: number == 9).apply(to: &other)
      }
      let (a, b) = (model.settings, other.settings)
      let messages = world.messages.sorted { $0.at < $1.at }
      var options = CompareOptions()
      options.userLimit = 1000
      options.batch = (messages: random.pick([1, 7, 512]), versions: random.pick([1, 128]))
      let comparer = try Comparer(
        try Fanout(a, threads: random.pick([1, 2, 3])), try Fanout(b, threads: 1),
        labels: ([], ["changed"]), options)
      var (first, second) = (ReferenceEvaluator(a), ReferenceEvaluator(b))
      var expected = Expected()
      for message in messages {
        // One that neither world knows is refused.
        guard
          a.conversation(message.conversation) != nil || b.conversation(message.conversation) != nil
        else { continue }
        try comparer.add(.message(message))
        expected.add(
          message, Self.outcomes(&first, a, message), Self.outcomes(&second, b, message)
        ) { first.namingClasses(of: message, for: $0) }
      }
      let classes = expected.classesLost
      lost.merge(
        [
          "me": expected.mentionsLost, "everyone": expected.everyoneMentionsLost,
          "role": classes.role, "reply": classes.reply, "keyword": classes.keyword,
          "sender": classes.sender,
        ], uniquingKeysWith: +)
      let result = comparer.finish()
      let differences = expected.differences(from: result)
      #expect(
        try result.pushesByLocalHour?.a == Self.localHours(a, messages)
          && result.pushesByLocalHour?.b == Self.localHours(b, messages),
        "seed \(seed), \(rules.rawValue)")
      #expect(differences == [], "seed \(seed), \(rules.rawValue)")
      #expect(result.changed > 0 && result.messages > 40, "seed \(seed), \(rules.rawValue)")
    }
    // Each of them was lost.
    let names =
      ["me", "everyone"] + (rules == .open ? ["role", "reply", "keyword", "sender"] : [])
    #expect(names.filter { lost[$0] == 0 } == [], "\(rules.rawValue)")
  }

  @Test func aWorldDoesNotDifferFromItself() throws {
    let world = RandomWorld(
      .easemob, seed: 5, userCount: 40, messageCount: 50,
      style: RandomWorld.Style(density: 90, isVaried: true))
    let settings = ModelWorld(world).settings
    let comparer = try Comparer(
      try Fanout(settings), try Fanout(settings), labels: ([], []))
    for message in world.messages.sorted(by: { $0.at < $1.at })
    where settings.conversation(message.conversation) != nil {
      try comparer.add(.message(message))
    }
    let result = comparer.finish()
    #expect(result.changed == 0 && result.changes == [] && result.users == ComparedUsers())
    #expect(result.a.decisions == result.b.decisions && result.a.decisions > 100)
  }

  /// A thread that moves to another group, whose list of members is as old.
  @Test func aThreadMovesToAnotherGroup() throws {
    var settings = FanoutSettings()
    for (user, group) in [("u1", "g1"), ("u2", "g2")] as [(Identifier, Identifier)] {
      settings.setMember(user, of: group)
    }
    settings.setConversation("t", ConversationSettings(kind: .thread, parent: "g1"))
    var muted = UserSettings()
    muted.level = .blocked
    var other = settings
    for user in ["u1", "u2"] as [Identifier] { other.setUser(user, muted) }
    let comparer = try Comparer(try Fanout(settings), try Fanout(other), labels: ([], []))
    let noon = Instant(milliseconds: 1_711_843_200_000)
    try comparer.add(.message(Message(id: "m1", conversation: "t", at: noon)))
    let moved = ConversationSettings(kind: .thread, parent: "g2")
    try comparer.add(.change(SettingsChange(at: noon, .conversation("t", moved))))
    try comparer.add(.message(Message(id: "m2", conversation: "t", at: noon)))
    let losers = comparer.finish().users.losers
    #expect(losers.map(\.id) == ["u1", "u2"] && losers.map(\.lost) == [1, 1])
  }
}
