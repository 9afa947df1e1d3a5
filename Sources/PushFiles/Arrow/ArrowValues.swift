internal import CPushFiles
internal import PushModel

/// The values of a column in a batch.
///
/// SAFETY: read while the batch is not released. Whether buffers are as large as offsets say cannot
/// be known; pointers that are missing, negative numbers and offsets that descend are errors.
@safe struct ArrowValues: @unchecked Sendable {
  let length: Int
  let offset: Int
  private(set) var children: [ArrowValues] = []
  let kind: ArrowColumn.Kind
  let name: String
  private let holdsIDs: Bool
  let validity: UnsafePointer<UInt8>?
  let first: UnsafeRawPointer?
  let second: UnsafeRawPointer?
  let buffers: UnsafeMutablePointer<UnsafeRawPointer?>?
  private let bufferCount: Int

  init(_ array: ArrowArray, _ column: ArrowColumn) throws(FileProblem.Problem) {
    kind = column.kind
    name = column.name
    holdsIDs = column.holdsIDs
    guard unsafe array.length >= 0, unsafe array.offset >= 0, unsafe array.length <= 1 << 48,
      unsafe array.offset <= 1 << 48
    else { throw .arrow("the column \"\(column.name)\" has a negative length or offset") }
    length = unsafe Int(array.length)
    offset = unsafe Int(array.offset)
    unsafe buffers = array.buffers
    bufferCount = unsafe Int(array.n_buffers)
    let needed = Self.bufferCount(column.kind)
    guard unsafe array.n_buffers >= Int64(needed), unsafe needed == 0 || array.buffers != nil else {
      throw .arrow("the column \"\(column.name)\" lacks buffers")
    }
    unsafe validity =
      needed > 0 ? unsafe array.buffers[0]?.assumingMemoryBound(to: UInt8.self) : nil
    unsafe first = needed > 1 ? unsafe array.buffers[1] : nil
    unsafe second = needed > 2 ? unsafe array.buffers[2] : nil
    if needed > 1, length > 0, unsafe first == nil {
      throw .arrow("the column \"\(column.name)\" lacks buffers")
    }
    switch column.kind {
    case .object(let columns): try unsafe readChildren(array, columns)
    case .list(let column, _): try unsafe readChildren(array, [column])
    case .dictionary(_, let values):
      guard let dictionary = unsafe array.dictionary else {
        throw .arrow("the column \"\(column.name)\" lacks its dictionary")
      }
      children = [try unsafe ArrowValues(dictionary.pointee, values)]
    default: break
    }
  }

  private mutating func readChildren(_ array: ArrowArray, _ columns: [ArrowColumn]) throws(FileProblem.Problem) {
    guard unsafe array.n_children == Int64(columns.count),
      unsafe columns.isEmpty || array.children != nil
    else { throw .arrow("the column \"\(name)\" lacks children") }
    for (index, column) in columns.enumerated() {
      guard let child = unsafe array.children[index] else {
        throw .arrow("the column \"\(name)\" lacks children")
      }
      let values = try unsafe ArrowValues(child.pointee, column)
      if case .object = kind, values.length < length + offset {
        throw .arrow("the column \"\(column.name)\" is shorter than its batch")
      }
      children.append(values)
    }
  }

  private static func bufferCount(_ kind: ArrowColumn.Kind) -> Int {
    switch kind {
    case .null: 0
    case .object: 1
    case .text: 3
    case .dictionary(let indices, _): bufferCount(indices)
    default: 2
    }
  }

  /// Whether there is no value at a row of the array, counted without its offset.
  @inline(__always)
  func isNull(_ row: Int) -> Bool {
    if case .null = kind { return true }
    if let validity = unsafe validity {
      let index = row + offset
      if unsafe validity[index >> 3] & 1 << UInt8(index & 7) == 0 { return true }
    }
    if case .dictionary(let indices, _) = kind, let index = integer(row, indices) {
      return index >= 0 && index < children[0].length && children[0].isNull(Int(index))
    }
    return false
  }

  /// Appends the value at a row that is not null, as JSON.
  @inline(__always)
  func append(_ row: Int, to text: inout [UInt8]) throws(FileProblem.Problem) {
    let index = row + offset
    switch kind {
    case .text(let isLarge): unsafe try text.appendJSON(characters(index, isLarge))
    case .views: unsafe try text.appendJSON(view(index))
    case .signed, .unsigned:
      if holdsIDs { text.append(UInt8(ascii: "\"")) }
      text.append(contentsOf: (integer(row, kind)?.description ?? large(row)).utf8)
      if holdsIDs { text.append(UInt8(ascii: "\"")) }
    default: try appendRare(row, to: &text)
    }
  }

  private func appendRare(_ row: Int, to text: inout [UInt8]) throws(FileProblem.Problem) {
    let index = row + offset
    switch kind {
    case .bool:
      let byte = load(UInt8.self, index >> 3)
      text.append(contentsOf: (byte & 1 << UInt8(index & 7) == 0 ? "false" : "true").utf8)
    case .float(let size):
      let number = size == 4 ? Double(load(Float.self, index)) : load(Double.self, index)
      if let whole = Int64(exactly: number) {
        text.append(contentsOf: "\(whole)".utf8)
      } else {
        text.append(contentsOf: (number.isFinite ? "\(number)" : "\"\(number)\"").utf8)
      }
    case .time(let multiplier, let divisor):
      text.append(
        contentsOf: "\(milliseconds(load(Int64.self, index), multiplier, divisor))".utf8)
    case .list(_, let isLarge):
      let range = try range(index, isLarge, limit: children[0].length)
      text.append(UInt8(ascii: "["))
      for item in range {
        if item > range.lowerBound { text.append(UInt8(ascii: ",")) }
        if children[0].isNull(item) {
          text.append(contentsOf: "null".utf8)
        } else {
          try children[0].append(item, to: &text)
        }
      }
      text.append(UInt8(ascii: "]"))
    case .object(let columns):
      text.append(UInt8(ascii: "{"))
      var isFirst = true
      for (column, values) in zip(columns, children) where !values.isNull(index) {
        if !isFirst { text.append(UInt8(ascii: ",")) }
        isFirst = false
        text.append(contentsOf: column.quotedName)
        try values.append(index, to: &text)
      }
      text.append(UInt8(ascii: "}"))
    case .dictionary(let indices, _):
      guard let key = integer(row, indices), key >= 0, key < Int64(children[0].length) else {
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

  @inline(__always)
  private func load<Value: BitwiseCopyable>(_ type: Value.Type, _ index: Int) -> Value {
    unsafe first.unsafelyUnwrapped.loadUnaligned(
      fromByteOffset: index * MemoryLayout<Value>.stride, as: type)
  }

  /// An integer; nil for one above all that are signed, and for another type.
  @inline(__always)
  func integer(_ row: Int, _ kind: ArrowColumn.Kind) -> Int64? {
    let index = row + offset
    switch kind {
    case .signed(8): return load(Int64.self, index)
    case .signed(4): return Int64(load(Int32.self, index))
    case .signed(2): return Int64(load(Int16.self, index))
    case .signed: return Int64(load(Int8.self, index))
    case .unsigned(8): return Int64(exactly: load(UInt64.self, index))
    case .unsigned(4): return Int64(load(UInt32.self, index))
    case .unsigned(2): return Int64(load(UInt16.self, index))
    case .unsigned: return Int64(load(UInt8.self, index))
    default: return nil
    }
  }

  /// The digits of an integer above all that are signed.
  private func large(_ row: Int) -> String { "\(load(UInt64.self, row + offset))" }

  /// The range that offsets give at an index.
  private func range(
    _ index: Int, _ isLarge: Bool, limit: Int
  ) throws(FileProblem.Problem) -> Range<Int> {
    let (start, end): (Int, Int)
    if isLarge {
      (start, end) = (
        Int(load(Int64.self, index)), Int(load(Int64.self, index + 1))
      )
    } else {
      (start, end) = (
        Int(load(Int32.self, index)), Int(load(Int32.self, index + 1))
      )
    }
    guard 0 <= start, start <= end, end <= limit else {
      throw .arrow("the column \"\(name)\" has offsets that descend or are out of range")
    }
    return start..<end
  }

  private func characters(
    _ index: Int, _ isLarge: Bool
  ) throws(FileProblem.Problem) -> UnsafeRawBufferPointer {
    let range = try range(index, isLarge, limit: .max)
    guard range.count > 0 else { return unsafe UnsafeRawBufferPointer(start: nil, count: 0) }
    guard let start = unsafe second else {
      throw .arrow("the column \"\(name)\" lacks buffers")
    }
    return unsafe UnsafeRawBufferPointer(start: start + range.lowerBound, count: range.count)
  }

  func view(_ index: Int) throws(FileProblem.Problem) -> UnsafeRawBufferPointer {
    let view = unsafe first.unsafelyUnwrapped + index * 16
    let size = unsafe Int(view.loadUnaligned(as: Int32.self))
    guard size >= 0 else { throw .arrow("the column \"\(name)\" has a negative size") }
    if size <= 12 { return unsafe UnsafeRawBufferPointer(start: view + 4, count: size) }
    let number = unsafe Int(view.loadUnaligned(fromByteOffset: 8, as: Int32.self))
    let start = unsafe Int(view.loadUnaligned(fromByteOffset: 12, as: Int32.self))
    // The last buffer has the sizes of those of characters.
    let count = bufferCount - 3
    guard number >= 0, number < count, start >= 0, let buffers = unsafe buffers,
      let characters = unsafe buffers[2 + number], let sizes = unsafe buffers[bufferCount - 1],
      unsafe Int64(start + size) <= sizes.loadUnaligned(fromByteOffset: number * 8, as: Int64.self)
    else { throw .arrow("the column \"\(name)\" has a view that is out of range") }
    return unsafe UnsafeRawBufferPointer(start: characters + start, count: size)
  }

  // MARK: Many values

  var isText: Bool {
    switch kind {
    case .text, .views: unsafe first != nil || length == 0
    default: false
    }
  }

  /// Replaces `numbers` by the integers of rows, of a column of integers or of timestamps; what is at
  /// nulls has no meaning. Unsigned integers above all that are signed become negative.
  ///
  /// - Parameters:
  ///   - rows: counted without the column's offset.
  ///   - kind: of the integers, which those of a dictionary's indices is, too.
  /// - Returns: whether the column has integers.
  @discardableResult
  func readIntegers(
    _ rows: Range<Int>, _ kind: ArrowColumn.Kind, into numbers: inout [Int64]
  ) -> Bool {
    numbers.removeAll(keepingCapacity: true)
    switch kind {
    case .signed(8), .unsigned(8), .time: append(Int64.self, rows, to: &numbers)
    case .signed(4): append(Int32.self, rows, to: &numbers)
    case .signed(2): append(Int16.self, rows, to: &numbers)
    case .signed: append(Int8.self, rows, to: &numbers)
    case .unsigned(4): append(UInt32.self, rows, to: &numbers)
    case .unsigned(2): append(UInt16.self, rows, to: &numbers)
    case .unsigned: append(UInt8.self, rows, to: &numbers)
    default: return false
    }
    if case .time(let multiplier, let divisor) = kind, multiplier != divisor {
      for index in numbers.indices {
        numbers[index] = milliseconds(numbers[index], multiplier, divisor)
      }
    }
    return true
  }

  private func append<Value: FixedWidthInteger & BitwiseCopyable>(
    _ type: Value.Type, _ rows: Range<Int>, to numbers: inout [Int64]
  ) {
    numbers.reserveCapacity(rows.count)
    for row in rows { numbers.append(Int64(truncatingIfNeeded: load(type, row + offset))) }
  }
}
