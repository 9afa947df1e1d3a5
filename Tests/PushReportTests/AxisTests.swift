import PushModel
import Testing

@testable import PushReport

/// Goal: axes have round marks, few of them, and time is cut into few steps of which none is lost.
@Suite struct AxisTests {
  @Test func linearMarksAreRound() {
    let found = [7, 1, 0, 23_696, 0.25].map { LinearScale(upTo: $0, from: 100, to: 0).ticks }
    #expect(
      found == [
        [0, 2, 4, 6, 8], [0, 0.5, 1], [0, 0.5], [0, 10_000, 20_000, 30_000],
        [0, 0.1, 0.2, 0.30000000000000004],
      ])
    #expect(LinearScale(upTo: 3, from: 0, to: 1, isWhole: true).ticks == [0, 1, 2, 3])
    #expect(LinearScale(upTo: 1, from: 0, to: 1, isWhole: true).ticks == [0, 1])
    let shares = LinearScale(upTo: 0.97, from: 0, to: 1, tickCount: 5, limit: 1)
    #expect(shares.maximum == 1)
  }

  @Test func everyValueIsWithinTheAxis() {
    var greatest = 1e-6
    while greatest < 1e18 {
      let scale = LinearScale(upTo: greatest, from: 200, to: 20)
      #expect(scale.maximum >= greatest * (1 - 1e-9))
      #expect((2...6).contains(scale.ticks.count), "\(greatest): \(scale.ticks)")
      #expect(scale(greatest) >= 20 && scale(0) == 200)
      greatest *= 1.37
    }
  }

  @Test func logarithmicMarksAreDecades() {
    let scale = LogScale(3...72_075, from: 0, to: 500)
    #expect(scale.exponents == 0...5)
    #expect([1, 10, 100, 100_000].map { scale($0) } == [0, 100, 200, 500])
    #expect(LogScale(1...1, from: 0, to: 1).exponents == 0...1)
    #expect(LogScale(1000...1000, from: 0, to: 1).exponents == 3...4)
  }

  /// Ranges from a minute to all of time.
  private static let ranges: [ClosedRange<Int64>] = {
    var ranges: [ClosedRange<Int64>] = []
    for start in [0, 1_000, 345_599_999, 951_782_399_999, 1_456_963_200_000] as [Int64] {
      var length: Int64 = 0
      while start + length <= Instant.maximumMilliseconds {
        ranges.append(start...start + length)
        length = length * 2 + 59_999
      }
      ranges.append(start...Instant.maximumMilliseconds)
    }
    return ranges
  }()

  @Test func binsAreFewAndHoldTheRange() {
    for range in Self.ranges {
      for least in [60_000, 3_600_000] as [Int64] {
        let bins = TimeBins(range, least: least)
        #expect(bins.count >= 1 && bins.count <= TimeBins.limit, "\(range)")
        #expect(bins.edges[0] <= range.lowerBound && bins.edges[bins.count] > range.upperBound)
        let isAscending = zip(bins.edges, bins.edges.dropFirst()).allSatisfy { $0 < $1 }
        #expect(isAscending, "\(range)")
      }
    }
  }

  @Test func marksOfTimeAreFewAndInside() {
    for range in Self.ranges {
      for limit in [4, 9] {
        let edges = TimeBins(range, least: 60_000).edges
        let whole = edges[0]...edges[edges.count - 1]
        let ticks = TimeTicks(whole, limit: limit).ticks
        #expect(ticks.count <= limit + 1, "\(whole)")
        #expect(ticks.allSatisfy { whole.contains($0.at) }, "\(whole)")
        #expect(Set(ticks.map(\.at)).count == ticks.count, "\(whole)")
      }
    }
  }

  @Test func twentyYearsAreMonths() {
    let from = CivilTime.month(2006, 2)
    let bins = TimeBins(from...CivilTime.month(2026, 3) - 1, least: 3_600_000)
    #expect(bins.step.name == "month")
    #expect(bins.count == 241)
    #expect(bins.edges[1] == CivilTime.month(2006, 3))
    #expect(bins.step.text(bins.edges[12]) == "Feb 2007")
    // A row at the very beginning and end of months.
    let sums = bins.sums([1, 2, 4], at: [from, bins.edges[1] - 3_600_000, bins.edges[1]])
    #expect(sums[0...2] == [3, 4, 0])
  }

  @Test func datesAreThoseOfTheCalendar() {
    let found = [0, 951_827_696_789, 1_612_185_240_000].map { CivilTime.text($0) }
    #expect(found == ["1970-01-01 00:00", "2000-02-29 12:34", "2021-02-01 13:14"])
    let all = [0, 345_599_999, 951_827_696_789, 1_612_185_240_000] as [Int64]
    let instants = all.map { String(Instant(milliseconds: $0).rfc3339.prefix(16)) }
    #expect(all.map { CivilTime.text($0).replacing(" ", with: "T") } == instants)
  }
}
