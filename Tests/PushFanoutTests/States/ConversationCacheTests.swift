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
    return try builder.build(threads: 1)
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
      let fanout = try builder.build(threads: 1, cacheBytes: limit)
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
