import Foundation
import PushModel
import Testing

@testable import PushWorkload

/// Goal: what worlds are drawn with is what it says: functions to many digits, orders without
/// repetition, days that go forth and back.
@Suite struct DrawTests {
  @Test func logarithmsAndPowersAreThoseOfMathematics() {
    var worst = (log: 0.0, exp: 0.0)
    for step in 1...20_000 {
      let value = Double(step) * 0.37 + 1e-9
      worst.log = max(worst.log, abs(PortableMath.log2(value) - Foundation.log2(value)))
      let power = Double(step) / 100 - 100
      worst.exp = max(worst.exp, abs(PortableMath.exp2(power) / Foundation.exp2(power) - 1))
    }
    for small in [1e-300, 1e-16, 0.5, 1, 1 - 1e-16, 2] {
      worst.log = max(worst.log, abs(PortableMath.log2(small) - Foundation.log2(small)))
    }
    #expect(worst.log < 1e-12)
    #expect(worst.exp < 1e-13)
    #expect(abs(PortableMath.power(7, 1.57) - Foundation.pow(7, 1.57)) < 1e-12)
    #expect(PortableMath.power(7, -1) == 1.0 / 7)
  }

  /// By the error function: the quantile of the distribution function is where it began.
  @Test func normalQuantilesAreThoseOfTheDistribution() {
    var worst = 0.0
    for step in -500...500 {
      let value = Double(step) / 100
      let share = 0.5 * erfc(-value / 2.0.squareRoot())
      worst = max(worst, abs(PortableMath.normalQuantile(share) - value))
    }
    #expect(worst < 1e-6)
  }

  @Test(arguments: [1, 2, 3, 4, 5, 7, 8, 9, 100, 1000, 1024, 1025, 4097])
  func anOrderHasEveryNumberOnce(count: Int) {
    for key in 0..<8 as Range<UInt64> {
      let order = Permutation(count: count, key: Draws.mix(key))
      let numbers = (0..<count).map { order[$0] }
      #expect(Set(numbers).count == count)
      #expect(numbers.allSatisfy { 0..<count ~= $0 })
      #expect(numbers.map { order.index(of: $0) } == Array(0..<count))
    }
  }

  /// Over many keys, each place has each number about equally often, and neighbours are not
  /// neighbours.
  @Test func ordersAreDifferentForDifferentKeys() {
    let count = 50
    var table = [[Int]](repeating: [Int](repeating: 0, count: count), count: count)
    var neighbours = 0
    let keys = 20_000
    for key in 0..<keys {
      let order = Permutation(count: count, key: Draws.mix(UInt64(key)))
      for place in 0..<count { table[place][order[place]] += 1 }
      for place in 1..<count where abs(order[place] - order[place - 1]) == 1 { neighbours += 1 }
    }
    let expected = Double(keys) / Double(count)
    let square = table.joined().reduce(0) { $0 + pow(Double($1) - expected, 2) / expected }
    // Chi-square with 49 * 49 degrees of freedom has the mean 2401 and the deviation 69.
    #expect(square < 2401 + 6 * 69)
    let share = Double(neighbours) / Double(keys * (count - 1))
    #expect(abs(share - 2.0 / Double(count)) < 0.004)
  }

  @Test func aDayGoesForthAndBack() {
    let day = DayCurve.local(ratio: 3.8)
    for step in 0..<5000 as Range<Int64> {
      let at = 1_767_571_200_000 + step * 7_919_123
      #expect(day.milliseconds(at: day.position(at: at)) == at)
    }
    for step in 0..<5000 as Range<UInt64> {
      let position = step * 4_567_890_123
      let at = day.milliseconds(at: position)
      #expect(day.position(at: at) <= position && position < day.position(at: at + 1))
    }
    let weights = (0..<1440).map { day.weight(atMinute: $0) }
    let ratio = Double(weights.max()!) / Double(weights.min()!)
    #expect(abs(ratio - 3.8) < 0.05)
  }

  @Test func aParetoDrawHasItsTail() {
    var draws = Draws(1, .room)
    let values = (0..<40_000).map { _ in draws.pareto(scale: 2.5, exponent: 2, atMost: 3000) }
    for (size, share) in [(2, 1.0), (5, 0.5), (25, 0.1), (250, 0.01)] {
      let found = Double(values.count { $0 >= size }) / 40_000
      #expect(abs(found - share) < 0.1 * share, "at least \(size)")
    }
    #expect(values.max() == 3000)
  }

  /// The offsets in the table are those of standard time, and the people are those of the rates.
  @Test func zonesAreThoseOfTheDatabase() throws {
    let zones = ZonePopulation.zones
    let january = Date(timeIntervalSince1970: 1_768_435_200)
    let july = Date(timeIntervalSince1970: 1_784_073_600)
    var total = 0.0
    var (partHours, changing) = (0.0, 0.0)
    for zone in zones {
      let known = try #require(TimeZone(identifier: zone.name), "\(zone.name)")
      let offsets = [january, july].map { known.secondsFromGMT(for: $0) / 60 }
      #expect(offsets.min() == zone.offsetMinutes, "\(zone.name)")
      let weight = Double(zone.weight)
      total += weight
      if zone.offsetMinutes % 60 != 0 { partHours += weight }
      if offsets[0] != offsets[1] { changing += weight }
    }
    #expect(zones.count == 265)
    #expect(zones.map(\.weight) == zones.map(\.weight).sorted(by: >))
    #expect(abs(partHours / total - 0.207) < 0.001)
    #expect(abs(changing / total - 0.148) < 0.001)
  }
}
