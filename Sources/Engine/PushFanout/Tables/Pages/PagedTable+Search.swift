// Search in ascending values.

extension PagedTable where Element == UInt32 {
  /// A value's rank, if present. All values are below `bound`.
  @inline(__always)
  func rank(of value: UInt32, in range: Range<Int>, below bound: Int) -> Int? {
    let rank = insertionRank(of: value, in: range, below: bound)
    guard rank < range.count, self[range.lowerBound + rank] == value else { return nil }
    return rank
  }

  /// The number of smaller values, all below `bound`.
  ///
  /// In a long range the search begins where evenly spread values would be, as in most large
  /// conversations: it reads few cache lines.
  ///
  /// - Complexity: O(log values).
  func insertionRank(of value: UInt32, in range: Range<Int>, below bound: Int) -> Int {
    let start = range.lowerBound
    var low = 0
    var high = range.count
    if high > 64 { (low, high) = bracket(of: value, in: range, below: bound) }
    while low < high {
      let middle = (low + high) / 2
      if self[start + middle] < value { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The rank, from `rank` on, of the first value not below the given one, which must exist.
  ///
  /// - Complexity: O(log of the ranks passed).
  func rank(ofFirstNotBelow value: UInt32, from rank: Int, in range: Range<Int>) -> Int {
    var (low, high, step) = (rank, rank, 1)
    while high < range.count, self[range.lowerBound + high] < value {
      low = high + 1
      high = min(range.count, high + step)
      step *= 2
    }
    while low < high {
      let middle = (low + high) / 2
      if self[range.lowerBound + middle] < value { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Bounds of a rank, close for evenly spread values.
  private func bracket(
    of value: UInt32, in range: Range<Int>, below bound: Int
  ) -> (low: Int, high: Int) {
    let start = range.lowerBound
    var (low, high) = (0, range.count)
    var (lowValue, highValue) = (0, max(bound, Int(value) + 1))
    var isBelow = true
    // The second guess interpolates within the first one's bounds.
    for _ in 0..<2 where low < high {
      let share = (Int(value) - lowValue) * (high - low) / (highValue - lowValue)
      let guess = low + min(share, high - low - 1)
      prefetch(start + guess)
      let found = self[start + guess]
      isBelow = found < value
      if isBelow {
        (low, lowValue) = (guess + 1, Int(found) + 1)
      } else {
        (high, highValue) = (guess, Int(found) + 1)
      }
    }
    var step = 16
    while high - low > step {
      if isBelow {
        if self[start + low + step] >= value { return (low, low + step) }
        low += step + 1
      } else {
        if self[start + high - step] < value { return (high - step + 1, high) }
        high -= step
      }
      step *= 4
    }
    return (low, high)
  }
}
