import Foundation
import PushFoundation
import PushModel
import TestSupport
import Testing

/// Goal: dates and instants are converted without loss where a `Date` can hold it, and nothing that a
/// clock may say stops the process.
@Suite struct DateTests {
  private static let year9999: Int64 = 253_402_300_799_999

  @Test(arguments: seeds([1]))
  func datesOfInstantsGiveThemBack(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let random = (0..<20_000).map { _ in Int64.random(in: 0...Self.year9999, using: &generator) }
    let edges: [Int64] = [0, 1, 999, 1000, 1_717_387_200_123, Self.year9999]
    let instants = (edges + random).map { Instant(milliseconds: $0) }
    #expect(instants.map { Instant(Date($0)) } == instants, "seed \(seed)")
    #expect(instants.map { Instant(exactly: Date($0)) } == instants, "seed \(seed)")
  }

  @Test func datesAreRoundedToMilliseconds() {
    let dates = [0.000_4, 0.000_6, 1.999_6, 1_717_387_200.123].map {
      Instant(Date(timeIntervalSince1970: $0)).milliseconds
    }
    #expect(dates == [0, 1, 2000, 1_717_387_200_123])
    #expect(Date(Instant(milliseconds: 1_717_387_200_500)).timeIntervalSince1970 == 1_717_387_200.5)
  }

  @Test func noDateStopsTheProcess() {
    let last = Instant(milliseconds: Instant.maximumMilliseconds)
    let seconds: [(Double, Instant)] = [
      (-1, .zero), (-0.000_4, .zero), (-.greatestFiniteMagnitude, .zero), (-.infinity, .zero),
      (.nan, .zero), (1e13, last), (1e300, last), (.greatestFiniteMagnitude, last),
      (.infinity, last),
    ]
    let dates = seconds.map { Date(timeIntervalSince1970: $0.0) }
    #expect(dates.map { Instant($0) } == seconds.map(\.1))
    // What is less than half a millisecond before the epoch is the epoch.
    #expect(
      dates.map { Instant(exactly: $0)?.milliseconds }
        == [nil, 0, nil, nil, nil, nil, nil, nil, nil])
    #expect(Instant(Date.distantPast) == .zero)
    #expect(Instant(exactly: Date.distantPast) == nil)
    #expect(Instant(Date.distantFuture).rfc3339 == "4001-01-01T00:00:00Z")
  }
}
