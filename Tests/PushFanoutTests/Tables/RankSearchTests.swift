import PushSupport
import TestSupport
import Testing

@testable import PushFanout

/// Searching ascending values, wherever they lie.
@Suite struct RankSearchTests {
  /// Ascending values without duplicates below a bound: even, crowded at an end, in clusters.
  private static func values(_ shape: Int, _ count: Int, _ random: inout SplitMix64) -> [UInt32] {
    var values: Set<UInt32> = []
    let bound = count * 4 + 10
    while values.count < count {
      let any = Int(random.next() % UInt64(bound))
      switch shape {
      case 0: values.insert(UInt32(any))
      case 1: values.insert(UInt32(any * any / bound))
      case 2: values.insert(UInt32(bound - 1 - any * any / bound))
      case 3: values.insert(UInt32(any / 64 * 64 + any % 20))
      case 4: values.insert(UInt32(values.count))
      default: values.insert(UInt32(bound - 1 - values.count))
      }
      if values.count > bound / 8, (1...3).contains(shape) { break }
    }
    return values.sorted()
  }

  @Test(arguments: 0..<6, seeds) func everyValueIsFound(shape: Int, seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for count in [0, 1, 2, 16, 63, 64, 65, 66, 80, 100, 500, 4000] {
      let values = Self.values(shape, count, &random)
      let bound = count * 4 + 10
      let store = PageStore()
      var table = PagedTable<UInt32>()
      // Not at the beginning of a page.
      for value in [7, 9, 11] + values { table.append(value, store) }
      let range = 3..<3 + values.count
      let found = (0..<UInt32(bound + 5)).map {
        table.insertionRank(of: $0, in: range, below: bound)
      }
      var expected: [Int] = []
      for value in 0..<UInt32(bound + 5) {
        var rank = expected.last ?? 0
        while rank < values.count, values[rank] < value { rank += 1 }
        expected.append(rank)
      }
      #expect(found == expected, "shape \(shape), \(count) values, seed \(seed)")
      let present = Set(values)
      let ranks = (0..<UInt32(bound)).map { table.rank(of: $0, in: range, below: bound) }
      #expect(
        ranks == (0..<bound).map { present.contains(UInt32($0)) ? expected[$0] : nil },
        "shape \(shape), \(count) values, seed \(seed)")
    }
  }
}
