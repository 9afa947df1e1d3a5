import PushModel
import Testing

@testable import PushFanout

/// Goal: cached conversations follow changes, results that are held do not, and the cache keeps to its
/// limit.
@Suite struct ConversationCacheTests {
  private static func message(_ conversation: Identifier) -> Message {
    Message(
      id: "m", conversation: conversation, at: Instant(milliseconds: 1_711_843_200_000))
  }

  private func fanout() throws -> Fanout {
    var builder = FanoutBuilder()
    for number in 0..<200 {
      for conversation in 0..<3 {
        try builder.setMember(Identifier("u\(number)"), of: Identifier("g\(conversation)"))
      }
    }
    return Fanout(try builder.finish(), threads: 1, readFromTablesLimit: 0)
  }

  private func block(_ fanout: Fanout, _ number: Int) throws {
    try fanout.update { (update) throws(FanoutError) in
      try update.updateMember(Identifier("u\(number)"), of: "g0") { $0.level = .blocked }
    }
  }

  private func numbers(_ result: FanoutResult) -> [Int] {
    [
      result.pushCount, result.counts[.levelNone], Array(result.pushes).count,
      result.recipientCount,
    ]
  }

  @Test func aCachedConversationFollowsChanges() throws {
    let fanout = try fanout()
    var result = fanout.decide(Self.message("g0"))
    #expect(numbers(result) == [200, 0, 200, 200])
    let first = result.storage.conversation.map { ObjectIdentifier($0) }
    for number in 0..<10 {
      try block(fanout, number)
      fanout.decide(Self.message("g0"), into: &result)
      #expect(result.storage.conversation.map { ObjectIdentifier($0) } == first)
      #expect(numbers(result) == [199 - number, number + 1, 199 - number, 200])
    }
  }

  @Test func aHeldResultStaysAsItWas() throws {
    let fanout = try fanout()
    let held = fanout.decide(Self.message("g0"))
    let other = fanout.decide(Self.message("g0"))
    let pushes = held.pushes
    var result = FanoutResult()
    for number in 0..<10 {
      try block(fanout, number)
      fanout.decide(Self.message("g0"), into: &result)
      #expect(numbers(result) == [199 - number, number + 1, 199 - number, 200])
      #expect(numbers(held) == [200, 0, 200, 200])
      #expect(Array(pushes).count == 200)
    }
    // Asked for the first time after the conversation has changed.
    #expect(numbers(other) == [200, 0, 200, 200])
    #expect(other.outcome(of: "u3") == Outcome(.push, .allowed, .default))
    #expect(result.outcome(of: "u3") == Outcome(.suppress, .levelNone, .conversation))
  }

  /// Another conversation's changes leave a cached one as it is, and so do reads.
  @Test func aCachedConversationIsSharedByMessages() throws {
    let fanout = try fanout()
    let first = fanout.decide(Self.message("g1"))
    try block(fanout, 1)
    let second = fanout.decide(Self.message("g1"))
    #expect(first.storage.conversation === second.storage.conversation)
    #expect(fanout.decide(Self.message("g2")).storage.conversation !== first.storage.conversation)
  }

  /// A first message makes no entry, nor does any to a small conversation.
  @Test func whatIsCached() throws {
    var builder = FanoutBuilder()
    for number in 0..<CachedConversation.readFromTablesLimit + 1 {
      let user = Identifier("u\(number)")
      try builder.setMember(user, of: "large")
      if number > 0 { try builder.setMember(user, of: "small") }
    }
    let fanout = try builder.build(threads: 1)
    var counts: [Int] = []
    for id in ["small", "small", "large", "large", "large"] as [Identifier] {
      #expect(fanout.decide(Self.message(id)).pushCount == fanout.memberCount(of: id))
      counts.append(fanout.cache.entryCount)
    }
    #expect(counts == [0, 0, 0, 1, 1])
    fanout.forgetConversations()
    _ = fanout.decide(Self.message("large"))
    #expect(fanout.cache.isEmpty)
    fanout.warmUp(["small", "large"], at: Self.message("m").at)
    #expect(fanout.cache.entryCount == 1)
  }

  /// Members without stored keys are resolved one by one while they are few.
  @Test func membersWithoutStoredKeys() throws {
    var builder = FanoutBuilder()
    let noon = Self.message("m").at.milliseconds
    for number in 0..<100 {
      var member = MemberSettings()
      if number % 50 == 7 { member.mutedUntil = Instant(milliseconds: noon + 1000) }
      if number % 10 == 3 { member.since = Instant(milliseconds: noon + Int64(number) * 1000) }
      try builder.setMember(Identifier("u\(number)"), of: "g", member)
    }
    let fanout = try builder.build(threads: 1)
    func decide(_ after: Int64) -> FanoutResult {
      var message = Self.message("g")
      message.at = Instant(milliseconds: noon + after)
      return fanout.decide(message)
    }
    #expect(numbers(decide(0)) == [88, 0, 88, 90])
    #expect(numbers(decide(999)) == [88, 0, 88, 90])
    #expect(numbers(decide(3000)) == [91, 0, 91, 91])
    #expect(numbers(decide(93_000)) == [100, 0, 100, 100])
    #expect(fanout.cache.isEmpty)
    // More than a few devices, and it is cached.
    for number in 0..<20 {
      try fanout.update { (update) throws(FanoutError) in
        try update.updateUser(Identifier("u\(number)")) { $0.devices = [Device(id: "d")] }
      }
    }
    #expect(numbers(decide(93_000)) == [100, 0, 100, 100])
    #expect(fanout.cache.entryCount == 1)
  }

  @Test func aCacheKeepsToItsLimit() throws {
    let size = try {
      let fanout = try fanout()
      _ = fanout.decide(Self.message("g0"))
      return fanout.cache.byteCount
    }()
    #expect(size > 800)
    for (limit, kept) in [(2 * size, 2), (3 * size, 3), (10, 0)] {
      var builder = FanoutBuilder()
      for number in 0..<200 {
        for conversation in 0..<3 {
          try builder.setMember(Identifier("u\(number)"), of: Identifier("g\(conversation)"))
        }
      }
      let fanout = Fanout(
        try builder.finish(), threads: 1, cacheBytes: limit, readFromTablesLimit: 0)
      #expect(fanout.cacheByteLimit == limit)
      var result = FanoutResult()
      for round in 0..<12 {
        fanout.decide(Self.message(Identifier("g\(round % 3)")), into: &result)
        #expect(result.pushCount == 200)
        #expect(fanout.memoryReport().states == min(round + 1, kept) * size)
      }
      fanout.cache.removeAll()
      #expect(fanout.cache.byteCount == 0)
    }
  }
}
