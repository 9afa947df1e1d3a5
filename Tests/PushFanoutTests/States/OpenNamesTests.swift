import PushFanout
import PushModel
import PushReference
import TestSupport
import Testing

/// Goal: keywords and senders are found however many users have them: those of few are looked for
/// among the members, those of many are gone through beside them, and of still more the members'
/// own are read.
@Suite struct OpenNamesTests {
  private static let userCount = 900
  private static let rooms = [3, 40, 300, 900]
  /// The share of the users who have a word or a sender, in percent.
  private static let words: [(text: String, share: Int)] = [
    ("everybody", 95), ("half", 50), ("some", 8), ("few", 1), ("two words", 20), ("слово", 30),
    ("東京", 10), ("none", 0),
  ]
  private static let senders: [(user: Int, important: Int, blocked: Int)] = [
    (0, 60, 20), (1, 5, 3), (2, 1, 0), (3, 0, 40), (4, 0, 0),
  ]

  private static func id(_ user: Int) -> Identifier { Identifier("u\(user)") }

  /// - Parameter chance: in percent, that a user has any names.
  private static func user(
    _ random: inout SeededGenerator, chance: Int = 90
  ) throws -> UserSettings {
    var user = UserSettings()
    let levels: [MessageClasses] = [
      [.keyword, .sender], .direct, [.mentionsMe, .keyword], [.sender], .all,
    ]
    user.level = NotificationLevel(random.pick(levels))
    guard random.chance(chance) else { return user }
    try user.setKeywords(words.filter { random.chance($0.share) }.map(\.text))
    for (sender, important, blocked) in senders {
      if random.chance(important) {
        user.importantSenders.append(id(sender))
      } else if random.chance(blocked) {
        user.blockedSenders.append(id(sender))
      }
    }
    return user
  }

  private static func messages(_ random: inout SeededGenerator, _ prefix: String) -> [Message] {
    rooms.flatMap { size in
      (0..<30).map { number in
        var message = Message(
          id: Identifier("\(prefix)\(size)-\(number)"), conversation: Identifier("g\(size)"),
          at: Instant(milliseconds: RandomWorld.noon), sender: id(random.pick(senders).user))
        let chosen = (0..<random.pick([0, 1, 1, 2, 4])).map { _ in random.pick(words).text }
        if !chosen.isEmpty { message.text = chosen.joined(separator: ", then ") }
        if random.chance(20) { message.mentions = [id(5), id(6), id(5)] }
        if random.chance(20) { message.replyToUser = id(random.pick([5, 7])) }
        return message
      }
    }
  }

  @Test(arguments: TestSupport.seeds([1, 2, 3]))
  func equalsTheReference(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var settings = FanoutSettings(app: AppSettings(rules: .open))
    for number in 0..<Self.userCount {
      settings.setUser(Self.id(number), try Self.user(&random))
      for size in Self.rooms
      where number * size / Self.userCount < (number + 1) * size / Self.userCount {
        settings.setMember(Self.id(number), of: Identifier("g\(size)"), MemberSettings())
      }
    }
    let fanout = try Fanout(settings, threads: 1)
    func compare(_ prefix: String) throws {
      var evaluator = ReferenceEvaluator(settings)
      for message in Self.messages(&random, prefix) {
        let result = fanout.decide(message)
        let rows = evaluator.rows(message)
        #expect(result.disagreement(with: rows) == nil, "seed \(seed), \(message)")
      }
    }
    try compare("a")
    // Lists set later are not in the order of users, and some users lose theirs.
    for round in 0..<3 {
      var changes: [(Identifier, UserSettings)] = []
      for _ in 0..<150 {
        let id = Self.id(Int.random(in: 0..<Self.userCount, using: &random))
        changes.append((id, try Self.user(&random, chance: 60)))
      }
      try fanout.update { update throws(FanoutError) in
        for (id, user) in changes { try update.setUser(id, user) }
      }
      for (id, user) in changes { settings.setUser(id, user) }
      try compare("b\(round)-")
    }
  }
}
