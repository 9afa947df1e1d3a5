import PushModel
import Testing

@testable import PushFanout

/// Goal: a version that somebody holds keeps what it reads; what nobody reads is freed.
///
/// Whether a page is freed too early is what the address sanitizer says of these and all other tests.
@Suite struct PageReclaimerTests {
  private func fanout(_ memberCount: Int) throws -> Fanout {
    var builder = FanoutBuilder()
    for number in 0..<memberCount {
      try builder.setUser(Identifier("u\(number)"), UserSettings())
      try builder.setMember(Identifier("u\(number)"), of: "g")
    }
    return try builder.build(threads: 1)
  }

  private static func message(_ number: Int) -> Message {
    Message(
      id: "m", conversation: "g", at: Instant(milliseconds: 1_711_843_200_000 + Int64(number)))
  }

  private func block(_ fanout: Fanout, _ number: Int, _ level: NotificationLevel) throws {
    try fanout.update { (update) throws(FanoutError) in
      try update.updateMember(Identifier("u\(number)"), of: "g") { $0.level = level }
    }
  }

  @Test func versionsThatNobodyHoldsKeepNothing() throws {
    let fanout = try fanout(2000)
    fanout.advance(to: Self.message(0).at)
    for number in 0..<200 { try block(fanout, number, .blocked) }
    // The last version before the current one is gone too, once the next begins.
    #expect(fanout.reclaimer.sizes.pages <= 8)
    #expect(fanout.reclaimer.sizes.versions <= 3)
  }

  @Test func aHeldVersionKeepsWhatItReadsAndNoMore() throws {
    let fanout = try fanout(2000)
    var held: FanoutResult? = fanout.decide(Self.message(0))
    for number in 0..<2000 { try block(fanout, number, .blocked) }
    for number in 0..<300 { try block(fanout, number, .all) }
    // At most each page it reads: 2,000 bytes of members are three pages.
    #expect(fanout.reclaimer.sizes.pages < 40)
    #expect(held?.pushCount == 2000)
    #expect(held?.pushes.reduce(0) { $0 + Int($1.rawValue) } == 1999 * 1000)
    #expect(fanout.decide(Self.message(1)).pushCount == 300)
    held = nil
    try block(fanout, 0, .blocked)
    try block(fanout, 0, .all)
    #expect(fanout.reclaimer.sizes.pages <= 8)
  }

  @Test func resultsOutliveTheEngine() throws {
    var fanout: Fanout? = try fanout(300)
    var results: [FanoutResult] = []
    for number in 0..<20 {
      if let fanout {
        results.append(fanout.decide(Self.message(number)))
        try block(fanout, number, .blocked)
      }
    }
    fanout = nil
    for index in [3, 19, 0, 7] {
      #expect(results[index].pushCount == 300 - index)
      #expect(Array(results[index].pushes.ids).count == 300 - index)
    }
    results.removeSubrange(5..<12)
    #expect(results[4].outcome(of: "u4") == Outcome(.push, .allowed, .default))
    #expect(results[4].outcome(of: "u3") == Outcome(.suppress, .levelNone, .conversation))
    results.removeFirst(4)
    #expect(results[0].devices(of: UserIndex(4)) == ["default"])
  }

  /// A failed update neither loses nor leaks the users' classes.
  @Test func aFailedUpdateKeepsTheClasses() throws {
    struct Stop: Error {}
    let fanout = try fanout(300)
    _ = fanout.decide(Self.message(0))
    #expect(fanout.current.userClasses.hasClasses(0))
    #expect(throws: Stop.self) {
      try fanout.update { update in
        try update.setApp(AppSettings(timeZone: "Asia/Shanghai"))
        throw Stop()
      }
    }
    fanout.advance(to: Self.message(1).at)
    #expect(fanout.current.userClasses.hasClasses(0))
    #expect(fanout.current.userClasses.holds(at: Self.message(1).at.milliseconds))
    #expect(fanout.app.timeZone == "UTC")
  }

  @Test func aBatchKeepsItsVersion() throws {
    let fanout = try fanout(300)
    let first = fanout.decide((0..<10).map { Self.message($0 * 60_000) })
    try block(fanout, 0, .blocked)
    let second = fanout.decide((0..<10).map { Self.message($0 * 60_000) })
    try block(fanout, 1, .blocked)
    #expect(first.map(\.version) == [UInt64](repeating: 1, count: 10))
    #expect(second.map(\.version) == [UInt64](repeating: 2, count: 10))
    #expect(first.map(\.pushCount) == [Int](repeating: 300, count: 10))
    #expect(second.map(\.pushCount) == [Int](repeating: 299, count: 10))
  }
}
