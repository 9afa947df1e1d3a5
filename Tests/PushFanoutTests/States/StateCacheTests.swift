import PushModel
import Testing

@testable import PushFanout

/// Goal: states are carried on in place when nobody else reads them, copied when somebody does, and
/// what was counted of them goes on being right.
@Suite struct StateCacheTests {
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

  @Test func aStateOfOnesOwnIsChangedInPlace() throws {
    let fanout = try fanout()
    var result = fanout.decide(Self.message("g0"))
    #expect(numbers(result) == [200, 0, 200, 200])
    let first = result.state.map { ObjectIdentifier($0) }
    for number in 0..<10 {
      try block(fanout, number)
      fanout.decide(Self.message("g0"), into: &result)
      #expect(result.state.map { ObjectIdentifier($0) } == first)
      #expect(numbers(result) == [199 - number, number + 1, 199 - number, 200])
    }
  }

  @Test func aStateThatIsHeldIsCopied() throws {
    let fanout = try fanout()
    let held = fanout.decide(Self.message("g0"))
    let pushes = held.pushes
    var result = FanoutResult()
    for number in 0..<10 {
      try block(fanout, number)
      fanout.decide(Self.message("g0"), into: &result)
      #expect(result.state !== held.state)
      #expect(numbers(result) == [199 - number, number + 1, 199 - number, 200])
      #expect(numbers(held) == [200, 0, 200, 200])
      #expect(Array(pushes).count == 200)
    }
  }

  /// Another conversation's changes leave a state as it is, and so do reads.
  @Test func aStateIsSharedByMessages() throws {
    let fanout = try fanout()
    let first = fanout.decide(Self.message("g1"))
    let second = fanout.decide(Self.message("g1"))
    #expect(first.state === second.state)
    #expect(fanout.decide(Self.message("g2")).state !== first.state)
  }

  @Test func aCacheKeepsToItsLimit() throws {
    let fanout = try fanout()
    _ = fanout.decide(Self.message("g0"))
    let version = fanout.current
    let size = fanout.stateBytes
    #expect(size > 200)
    let cache = StateCache(slotCount: 8, byteLimit: 2 * size)
    var result = FanoutResult()
    for round in 0..<12 {
      Decider(version: version, cache: cache, threads: 1)
        .decide(Self.message(Identifier("g\(round % 3)")), in: UInt32(round % 3), into: &result)
      #expect(result.pushCount == 200)
      #expect(cache.bytes <= 2 * size && cache.bytes > 0)
    }
    cache.removeAll()
    #expect(cache.bytes == 0)
    let none = StateCache(slotCount: 8, byteLimit: 10)
    Decider(version: version, cache: none, threads: 1).decide(
      Self.message("g0"), in: 0, into: &result)
    #expect(result.pushCount == 200)
    #expect(none.bytes == 0)
  }
}
