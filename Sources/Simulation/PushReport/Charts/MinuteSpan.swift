/// The minutes of some hours, from the beginning of one.
struct MinuteSpan {
  /// Milliseconds since the epoch.
  let start: Int64
  let minuteCount: Int
  private static let minute: Int64 = 60_000

  init(_ start: Int64, hours: Int) {
    self.start = start
    minuteCount = hours * 60
  }

  /// One more than there are minutes.
  var edges: [Int64] { (0...minuteCount).map { start + Int64($0) * Self.minute } }
  /// `13:14`
  func time(_ minute: Int) -> String { CivilTime(start + Int64(minute) * Self.minute).time }

  var hours: [Range<Int>] { stride(from: 0, to: minuteCount, by: 60).map { $0..<$0 + 60 } }

  private func minuteIndex(_ at: Int64) -> Int { Int((at - start) / Self.minute) }

  /// A value for each minute; 0 where there is no row. Rows outside are left out.
  func column(_ values: [Int], at instants: [Int64]) -> [Int] {
    var column = [Int](repeating: 0, count: minuteCount)
    for (at, value) in zip(instants, values) where at >= start && minuteIndex(at) < minuteCount {
      column[minuteIndex(at)] = value
    }
    return column
  }

  /// A level at the end of each minute, of rows that say what came, went and was there at the end:
  /// where there is no row that of the one before, and before the first what that began with.
  func levels(_ levels: [Int], _ came: [Int], _ went: [Int], at instants: [Int64]) -> [Int] {
    guard !instants.isEmpty else { return [Int](repeating: 0, count: minuteCount) }
    var level = max(0, levels[0] - came[0] + went[0])
    var row = 0
    return (0..<minuteCount).map { minute in
      let end = start + Int64(minute + 1) * Self.minute
      while row < instants.count, instants[row] < end {
        level = levels[row]
        row += 1
      }
      return level
    }
  }

  func hits(_ text: (Range<Int>) -> String) -> [TimeChart.Hit] {
    stride(from: 0, to: minuteCount, by: 10).map { minute in
      let from = start + Int64(minute) * Self.minute
      return TimeChart.Hit(
        range: from..<from + 10 * Self.minute,
        text: ["\(time(minute)) to \(time(minute + 10))", text(minute..<minute + 10)])
    }
  }
}
