import PushModel
import PushReference
import TestSupport
import Testing

@testable import PushFanout

/// Goal: what members have beside their level is the same for the engine and the reference, whether
/// it was there when the engine was built, was changed later, or both, for every version that is
/// held.
///
/// `PUSH_SEED=n swift test --filter OverrideTests` runs one more seed; each failure names its own.
@Suite struct OverrideTests {
  private static let noon = RandomWorld.noon

  /// A version, and what it must answer.
  private struct Held {
    let message: Message
    let result: FanoutResult
    let expected: [Row]
  }

  /// A world in which most members have overrides, with changes of them.
  private struct World {
    let rules: RuleSet
    let users: [Identifier]
    var random: SeededGenerator
    var settings: FanoutSettings
    /// The records in the order in which a builder gets them, some of them replaced by later ones.
    private(set) var records: [(user: Identifier, conversation: Identifier, MemberSettings)] = []

    var conversations: [Identifier] { rules == .easemob ? ["g", "t"] : ["g", "ultra"] }

    init(_ rules: RuleSet, seed: UInt64, users count: Int) {
      self.rules = rules
      random = SeededGenerator(seed: seed)
      users = (0..<count).map { Identifier("u\($0)") }
      settings = FanoutSettings(app: RandomWorld.app(rules, &random))
      for user in users { settings.setUser(user, self.user()) }
      if rules == .easemob {
        settings.setConversation("t", ConversationSettings(kind: .thread, parent: "g"))
      } else {
        settings.setConversation("ultra", ConversationSettings(kind: .ultraGroup))
      }
      for number in 0..<count * 3 {
        // Each third by itself: ascending, or in any order, or some again.
        let user = number < count ? users[number] : random.pick(users)
        let conversation = number < count ? "g" : random.pick(conversations)
        if conversation == "t", settings.record(user, of: "g") == nil { continue }
        let member = member(of: conversation)
        settings.setMember(user, of: conversation, member)
        records.append((user, conversation, member))
      }
    }

    private mutating func user() -> UserSettings {
      var user = UserSettings()
      if random.chance(10) { user.devices = [Device(id: "d", hasToken: random.chance(50))] }
      if rules == .easemob, random.chance(10) { user.mutedUntil = instant() }
      return user
    }

    mutating func instant() -> Instant {
      let hours = Int64.random(in: -90...90, using: &random)
      return Instant(milliseconds: OverrideTests.noon + hours * 3_600_000 + random.pick([0, 1]))
    }

    mutating func member(of conversation: Identifier) -> MemberSettings {
      var member = MemberSettings(level: random.pick([.unset, .all, .mention, .blocked]))
      if conversation != "t", random.chance(50) { member.since = instant() }
      if rules == .easemob, random.chance(30) { member.mutedUntil = instant() }
      if conversation == "ultra", random.chance(50) {
        member.channels = [random.pick(["a", "b"]): random.pick([.all, .mention, .blocked])]
      }
      return member
    }

    mutating func message(_ number: Int) -> Message {
      var message = Message(
        id: Identifier("m\(number)"), conversation: random.pick(conversations), at: instant())
      if message.conversation == "ultra", random.chance(70) {
        message.channel = random.pick(["a", "b"])
      }
      if random.chance(50) { message.sender = random.pick(users) }
      if random.chance(40) { message.mentions = [random.pick(users), random.pick(users)] }
      return message
    }

    /// Changes a membership, and its copy in ``settings``: one field, all of them, or that there is
    /// one.
    mutating func change(_ fanout: Fanout) throws {
      let (user, conversation) = (random.pick(users), random.pick(conversations))
      guard conversation != "t" || settings.record(user, of: "g") != nil else { return }
      guard var member = settings.record(user, of: conversation) else {
        let member = self.member(of: conversation)
        settings.setMember(user, of: conversation, member)
        return try fanout.update { (update) throws(FanoutError) in
          try update.setMember(user, of: conversation, member)
        }
      }
      let isRemoved = random.chance(25) && (conversation == "t" || rules == .rongcloud)
      switch Int.random(in: 0..<4, using: &random) {
      case 0 where conversation != "t": member.since = random.chance(50) ? instant() : .zero
      case 1 where rules == .easemob: member.mutedUntil = random.chance(50) ? instant() : .zero
      case 2 where conversation == "ultra":
        member.channels = random.chance(50) ? ["a": NotificationLevel.blocked] : [:]
      default: member = self.member(of: conversation)
      }
      let again = random.chance(50)
      try fanout.update { (update) throws(FanoutError) in
        if isRemoved { try update.removeMember(user, of: conversation) }
        if !isRemoved || again { try update.setMember(user, of: conversation, member) }
      }
      if isRemoved, !again {
        settings = settings.without(user, of: conversation)
      } else {
        settings.setMember(user, of: conversation, member)
      }
    }

    func build(threads: Int) throws -> TableWriter {
      var builder = FanoutBuilder()
      try builder.setApp(settings.app)
      for user in users { try builder.setUser(user, settings.user(settings.index(of: user)!)) }
      for id in settings.conversationIDs {
        if let conversation = settings.conversation(id) {
          try builder.setConversation(id, conversation)
        }
      }
      for (user, conversation, member) in records {
        try builder.setMember(user, of: conversation, member)
      }
      return try builder.finish(threads: threads)
    }
  }

  @Test(arguments: RuleSet.allCases, TestSupport.seeds([1, 2, 3]))
  func changesOfWhatWasBuilt(rules: RuleSet, seed: UInt64) throws {
    for sizes in CacheSizes.all {
      // More overrides than a page holds.
      var world = World(rules, seed: seed, users: 150)
      let fanout = Fanout(try world.build(threads: 2), threads: 1, sizes)
      let folder = ScratchFolder()
      var opened: Fanout?
      var held: [Held] = []
      for step in 0..<40 {
        let label: Comment = "seed \(seed), \(rules), step \(step), \(sizes)"
        var evaluator = ReferenceEvaluator(world.settings)
        for number in 0..<3 {
          let message = world.message(number)
          let expected = evaluator.rows(message)
          let result = fanout.decide(message)
          #expect(result.disagreement(with: expected) == nil, label)
          if let opened {
            #expect(opened.decide(message).disagreement(with: expected) == nil, label)
          }
          held.append(Held(message: message, result: result, expected: expected))
        }
        opened = nil
        for one in held { #expect(firstDifference(one.result.rows, one.expected) == nil, label) }
        if held.count > 12 { held.removeFirst(held.count - 12) }
        for user in world.users {
          for conversation in world.conversations
          where fanout.member(user, of: conversation)
            != world.settings.record(user, of: conversation)
          {
            Issue.record("\(user) of \(conversation), \(label)")
          }
        }
        fanout.checkInvariants(.all)
        if step % 10 == 9 {
          let path = folder.path("snapshot")
          try fanout.writeSnapshot(to: path, identity: SnapshotTests.identity, sequence: 1)
          let read = try Fanout(snapshot: path, identity: SnapshotTests.identity, threads: 2)
          #expect(fanout.difference(from: read) == nil, label)
          opened = read
        } else {
          for _ in 0..<world.random.pick([1, 3, 30]) { try world.change(fanout) }
        }
      }
    }
  }

  /// Enough members for several threads to read their overrides, each from the middle of them.
  @Test func largeRoomsOnSeveralThreads() throws {
    for seed in TestSupport.seeds([5]) {
      var world = World(.easemob, seed: seed, users: CachedConversation.parallelSize + 1000)
      let fanouts = try [1, 3].map { Fanout(try world.build(threads: $0), threads: $0) }
      for _ in 0..<2 {
        var message = world.message(0)
        message.conversation = "g"
        var evaluator = ReferenceEvaluator(world.settings)
        let expected = evaluator.rows(message)
        for fanout in fanouts {
          #expect(firstDifference(fanout.decide(message).rows, expected) == nil, "seed \(seed)")
        }
      }
    }
  }

  /// A start of membership takes twelve bytes and its share of pages.
  @Test func whatWasBuiltIsCompact() throws {
    var builder = FanoutBuilder()
    for number in 0..<20_000 {
      try builder.setMember(
        Identifier("u\(number)"), of: number % 3 == 0 ? "a" : "b",
        MemberSettings(since: Instant(milliseconds: Self.noon)))
    }
    let fanout = try builder.build(threads: 1)
    let bytes = fanout.memoryReport().membershipExtras
    #expect(bytes > 20_000 * 12 && bytes < 20_000 * 13, "\(bytes)")
    // A change adds to a map, and changes nothing of the others.
    try fanout.update { (update) throws(FanoutError) in
      try update.updateMember("u7", of: "b") { $0.mutedUntil = Instant(milliseconds: 1) }
    }
    #expect(fanout.memoryReport().membershipExtras < bytes + 20_000)
  }

  /// Memberships that end take their overrides with them: memory is that of those who are there.
  @Test func overridesOfEndedMembershipsAreRemoved() throws {
    let fanout = try Fanout(FanoutSettings(app: AppSettings(rules: .easemob)))
    let later = Instant(milliseconds: Self.noon + 60_000)
    var sizes: [Int] = []
    for round in 0..<20 {
      for user in 0..<500 {
        let id = Identifier("u\(round)-\(user)")
        let member = MemberSettings(mutedUntil: later, since: user % 2 == 0 ? later : .zero)
        try fanout.update { update throws(FanoutError) in
          try update.setMember(id, of: "g", member)
        }
        try fanout.update { update throws(FanoutError) in
          if user % 10 != 0 || round > 0 { try update.removeMember(id, of: "g") }
        }
      }
      sizes.append(fanout.memoryReport().membershipExtras)
    }
    #expect(Set(sizes) == [sizes[0]])
    #expect(fanout.memberCount(of: "g") == 50)
    let kept = fanout.member("u0-10", of: "g")
    #expect(kept == MemberSettings(mutedUntil: later, since: later))
  }
}

extension FanoutSettings {
  fileprivate func record(_ user: Identifier, of conversation: Identifier) -> MemberSettings? {
    index(of: user).flatMap { member($0, of: conversation) }
  }

  /// The same settings without a membership, with users in the same order.
  fileprivate func without(_ user: Identifier, of conversation: Identifier) -> FanoutSettings {
    var settings = FanoutSettings(app: app)
    for number in 0..<UInt32(userCount) {
      settings.setUser(id(of: UserIndex(number)), self.user(UserIndex(number)))
    }
    for id in conversationIDs {
      if let found = self.conversation(id) { settings.setConversation(id, found) }
      for index in members(of: id) where id != conversation || self.id(of: index) != user {
        if let member = member(index, of: id) {
          settings.setMember(self.id(of: index), of: id, member)
        }
      }
    }
    return settings
  }
}
