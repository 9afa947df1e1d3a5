internal import CPushFiles
internal import PushModel

/// The values of a column in a batch.
///
/// SAFETY: read while the batch is not released. Whether buffers are as large as offsets say cannot
/// be known; pointers that are missing, negative numbers, offsets that descend, and an array that
/// is not built as its type is are errors.
@safe struct ArrowValues: @unchecked Sendable {
  let length: Int
  private(set) var children: [ArrowValues] = []
  let kind: ArrowColumn.Kind
  private let name: String
  private let holdsIDs: Bool
  /// Where the values are.
  let cells: ArrowCells

  var offset: Int { cells.offset }

  init(_ array: ArrowArray, _ column: ArrowColumn) throws(FileProblem.Problem) {
    kind = column.kind
    name = column.name
    holdsIDs = column.holdsIDs
    guard unsafe array.length >= 0, unsafe array.offset >= 0, unsafe array.length <= 1 << 48,
      unsafe array.offset <= 1 << 48
    else { throw Self.problem(column, "has a negative length or offset") }
    length = unsafe Int(array.length)
    let needed = Self.bufferCount(column.kind)
    // Views have any number of buffers of characters, and nulls one in polars.
    let most: Int64 =
      switch column.kind {
      case .views: .max
      case .null: 1
      default: Int64(needed)
      }
    guard unsafe Int64(needed)...most ~= array.n_buffers,
      unsafe needed == 0 || array.buffers != nil
    else { throw Self.problem(column, "has other buffers than its type") }
    cells = unsafe ArrowCells(array, column.kind, bufferCount: needed)
    if needed > 1, length > 0, unsafe cells.first == nil {
      throw Self.problem(column, "lacks buffers")
    }
    guard unsafe array.null_count <= array.length, unsafe array.null_count <= 0 || cells.hasNulls
    else { throw Self.problem(column, "has more nulls than it can have") }
    var columns: [ArrowColumn] = []
    switch column.kind {
    case .object(let fields): columns = fields
    case .list(let item, _): columns = [item]
    case .dictionary(_, let values):
      guard let dictionary = unsafe array.dictionary else {
        throw Self.problem(column, "lacks its dictionary")
      }
      children = [try unsafe ArrowValues(dictionary.pointee, values)]
    default: break
    }
    if case .dictionary = kind {
    } else if unsafe array.dictionary != nil {
      throw Self.problem(column, "has a dictionary, but its type has none")
    }
    try unsafe readChildren(array, columns, of: column)
  }

  private static func problem(_ column: ArrowColumn, _ what: String) -> FileProblem.Problem {
    .arrow("the column \"\(column.name)\" \(what)")
  }

  private mutating func readChildren(
    _ array: ArrowArray, _ columns: [ArrowColumn], of parent: ArrowColumn
  ) throws(FileProblem.Problem) {
    guard unsafe array.n_children == Int64(columns.count) else {
      throw Self.problem(parent, "has other children than its type")
    }
    for (index, column) in columns.enumerated() {
      guard let child = unsafe array.children?[index] else {
        throw Self.problem(parent, "lacks children")
      }
      let values = try unsafe ArrowValues(child.pointee, column)
      if case .object = kind, values.length < length + offset {
        throw Self.problem(column, "is shorter than its batch")
      }
      children.append(values)
    }
  }

  private static func bufferCount(_ kind: ArrowColumn.Kind) -> Int {
    switch kind {
    case .null: 0
    case .object: 1
    case .text, .views: 3
    case .dictionary(let indices, _): bufferCount(indices)
    default: 2
    }
  }

  /// Whether there is no value at a row of the array, counted without its offset.
  func isNull(_ row: Int) -> Bool {
    if cells.isNull(row) { return true }
    if case .dictionary = kind, let index = cells.integer(row) {
      return index >= 0 && index < children[0].length && children[0].isNull(Int(index))
    }
    return false
  }

  /// Appends the value at a row that is not null, as JSON.
  @inline(__always)
  func append(_ row: Int, to text: inout [UInt8]) throws(FileProblem.Problem) {
    let index = row + offset
    switch kind {
    case .text(let isLarge): unsafe try append(characters(index, isLarge), to: &text)
    case .views: unsafe try append(view(index), to: &text)
    case .signed, .unsigned:
      if holdsIDs { text.append(UInt8(ascii: "\"")) }
      text.append(contentsOf: cells.digits(row).utf8)
      if holdsIDs { text.append(UInt8(ascii: "\"")) }
    default: try appendRare(row, to: &text)
    }
  }

  @inline(__always)
  private func append(
    _ characters: UnsafeRawBufferPointer, to text: inout [UInt8]
  ) throws(FileProblem.Problem) {
    guard unsafe ArrowTexts.isUTF8(characters) else { throw .notUTF8(likely: nil) }
    unsafe text.appendJSON(characters)
  }

  private func appendRare(_ row: Int, to text: inout [UInt8]) throws(FileProblem.Problem) {
    let index = row + offset
    switch kind {
    case .bool:
      text.append(contentsOf: (cells.flag(row) ? "true" : "false").utf8)
    case .float(let size):
      let number =
        size == 4 ? Double(cells.load(Float.self, index)) : cells.load(Double.self, index)
      if let whole = Int64(exactly: number) {
        // A larger one was rounded, perhaps, and is another's id then.
        let isID = holdsIDs && whole.magnitude < (size == 4 ? 1 << 24 : 1 << 53)
        text.append(contentsOf: (isID ? "\"\(whole)\"" : "\(whole)").utf8)
      } else {
        text.append(contentsOf: (number.isFinite ? "\(number)" : "\"\(number)\"").utf8)
      }
    case .time(let multiplier, let divisor):
      text.append(
        contentsOf: "\(milliseconds(cells.load(Int64.self, index), multiplier, divisor))".utf8)
    case .list(_, let isLarge):
      let range = try range(index, isLarge, limit: children[0].length)
      let start = text.count
      text.append(UInt8(ascii: "["))
      for item in range {
        try ArrowRows.checkLength(of: text, from: start)
        if item > range.lowerBound { text.append(UInt8(ascii: ",")) }
        if children[0].isNull(item) {
          text.append(contentsOf: "null".utf8)
        } else {
          try children[0].append(item, to: &text)
        }
      }
      text.append(UInt8(ascii: "]"))
    case .object(let columns):
      let start = text.count
      text.append(UInt8(ascii: "{"))
      var isFirst = true
      for (column, values) in zip(columns, children) where !values.isNull(index) {
        try ArrowRows.checkLength(of: text, from: start)
        if !isFirst { text.append(UInt8(ascii: ",")) }
        isFirst = false
        text.append(contentsOf: column.quotedName)
        try values.append(index, to: &text)
      }
      text.append(UInt8(ascii: "}"))
    case .dictionary:
      guard let key = cells.integer(row), key >= 0, key < Int64(children[0].length) else {
        throw .arrow("the column \"\(name)\" has an index that is not in its dictionary")
      }
      try children[0].append(Int(key), to: &text)
    default: text.append(contentsOf: "null".utf8)
    }
  }

  /// The milliseconds of a timestamp, rounded down, as digits past the millisecond are dropped.
  func milliseconds(_ value: Int64, _ multiplier: Int64, _ divisor: Int64) -> Int64 {
    let (product, overflow) = value.multipliedReportingOverflow(by: multiplier)
    if overflow { return value < 0 ? .min : .max }
    return product / divisor - (product % divisor < 0 ? 1 : 0)
  }

  /// The range that offsets give at an index.
  private func range(
    _ index: Int, _ isLarge: Bool, limit: Int
  ) throws(FileProblem.Problem) -> Range<Int> {
    let (start, end): (Int, Int)
    if isLarge {
      (start, end) = (
        Int(cells.load(Int64.self, index)), Int(cells.load(Int64.self, index + 1))
      )
    } else {
      (start, end) = (
        Int(cells.load(Int32.self, index)), Int(cells.load(Int32.self, index + 1))
      )
    }
    guard 0 <= start, start <= end, end <= limit else {
      throw .arrow("the column \"\(name)\" has offsets that descend or are out of range")
    }
    return start..<end
  }

  /// The items of a list at a row, by their indices; nil for another kind, and where offsets are wrong.
  func items(_ row: Int) -> Range<Int>? {
    guard case .list(_, let isLarge) = kind else { return nil }
    return try? range(row + offset, isLarge, limit: children[0].length)
  }

  private func characters(
    _ index: Int, _ isLarge: Bool
  ) throws(FileProblem.Problem) -> UnsafeRawBufferPointer {
    let range = try range(index, isLarge, limit: .max)
    guard range.count > 0 else { return unsafe UnsafeRawBufferPointer(start: nil, count: 0) }
    guard let start = unsafe cells.second else {
      throw .arrow("the column \"\(name)\" lacks buffers")
    }
    return unsafe UnsafeRawBufferPointer(start: start + range.lowerBound, count: range.count)
  }

  private func view(_ index: Int) throws(FileProblem.Problem) -> UnsafeRawBufferPointer {
    guard let text = unsafe cells.view(index) else {
      throw .arrow("the column \"\(name)\" has a view that is out of range")
    }
    return unsafe text
  }

  // MARK: Many values

  /// Replaces `numbers` by the integers of rows, of a column of integers or of timestamps; what is
  /// at nulls has no meaning. Unsigned integers above all that are signed become negative.
  ///
  /// - Parameter rows: counted without the column's offset.
  /// - Returns: whether the column has integers.
  func readIntegers(_ rows: Range<Int>, into numbers: inout [Int64]) -> Bool {
    if case .dictionary = kind { return false }
    guard cells.readIntegers(rows, into: &numbers) else { return false }
    if case .time(let multiplier, let divisor) = kind, multiplier != divisor {
      for index in numbers.indices {
        numbers[index] = milliseconds(numbers[index], multiplier, divisor)
      }
    }
    return true
  }
}
