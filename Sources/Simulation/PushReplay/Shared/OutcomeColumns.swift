internal import PushModel

/// Rows of counts, a column for each outcome that has occurred so far.
///
/// - Memory: 8 bytes a row and column; columns are made eight at a time.
struct OutcomeRows {
  private(set) var rowCount = 0
  private var width = 8
  private var values: [Int] = []

  init(rowCount: Int = 0) {
    self.rowCount = rowCount
    values = Array(repeating: 0, count: rowCount * width)
  }

  mutating func addRow() {
    rowCount += 1
    for _ in 0..<width { values.append(0) }
  }

  mutating func add(_ count: Int, row: Int, column: Int) {
    if column >= width { widen(column) }
    values[row * width + column] += count
  }

  /// Adds the rows of another table behind the last.
  mutating func append(_ other: OutcomeRows) {
    if other.width > width { widen(other.width - 1) }
    for row in 0..<other.rowCount {
      addRow()
      for column in 0..<other.width {
        values[(rowCount - 1) * width + column] = other.values[row * other.width + column]
      }
    }
  }

  /// The whole of a column.
  func column(_ column: Int) -> [Int] { (0..<rowCount).map { value(row: $0, column: column) } }

  func value(row: Int, column: Int) -> Int { column < width ? values[row * width + column] : 0 }

  private mutating func widen(_ column: Int) {
    let old = (width: width, values: values)
    while column >= width { width += 8 }
    values = Array(repeating: 0, count: rowCount * width)
    for row in 0..<rowCount {
      for column in 0..<old.width {
        values[row * width + column] = old.values[row * old.width + column]
      }
    }
  }
}

/// The columns of outcomes, in the order in which they first occurred.
struct OutcomeColumns {
  private var columnOf = [Int](repeating: -1, count: Outcome.codeCount)
  private(set) var codes: [UInt8] = []

  mutating func column(of code: UInt8) -> Int {
    let known = columnOf[Int(code)]
    if known >= 0 { return known }
    columnOf[Int(code)] = codes.count
    codes.append(code)
    return codes.count - 1
  }

  /// The outcomes in the byte order of their keys, and the column of each.
  var sorted: [(outcome: Outcome, column: Int)] {
    codes.enumerated().compactMap { column, code in
      Outcome(code: code).map { (outcome: $0, column: column) }
    }.sorted { Array($0.outcome.key.utf8).lexicographicallyPrecedes(Array($1.outcome.key.utf8)) }
  }
}
