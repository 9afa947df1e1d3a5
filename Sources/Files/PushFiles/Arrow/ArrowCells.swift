internal import CPushFiles

/// Where the values of a column are: pointers alone, so that threads that read a column count no
/// references to it.
///
/// SAFETY: as of ``ArrowValues``. Rows are counted without the column's offset, and below its length.
@safe struct ArrowCells: @unchecked Sendable {
  enum Form {
    case null, other
    case int8, int16, int32, int64, uint8, uint16, uint32, uint64
    /// Text with offsets of 32 and of 64 bits, and as views.
    case narrow, wide, views

    /// The form of the values, or of a dictionary's indices.
    init(_ kind: ArrowColumn.Kind) {
      switch kind {
      case .null: self = .null
      case .signed(1): self = .int8
      case .signed(2): self = .int16
      case .signed(4): self = .int32
      case .signed, .time: self = .int64
      case .unsigned(1): self = .uint8
      case .unsigned(2): self = .uint16
      case .unsigned(4): self = .uint32
      case .unsigned: self = .uint64
      case .text(let isLarge): self = isLarge ? .wide : .narrow
      case .views: self = .views
      case .dictionary(let indices, _): self = Form(indices)
      default: self = .other
      }
    }
  }

  let form: Form
  let offset: Int
  let validity: UnsafePointer<UInt8>?
  /// The buffers behind that of nulls.
  let first: UnsafeRawPointer?
  let second: UnsafeRawPointer?
  private let buffers: UnsafeMutablePointer<UnsafeRawPointer?>?
  private let bufferCount: Int

  /// - Parameter bufferCount: how many buffers the kind has, which are there.
  init(_ array: ArrowArray, _ kind: ArrowColumn.Kind, bufferCount: Int) {
    form = Form(kind)
    offset = unsafe Int(array.offset)
    unsafe validity =
      bufferCount > 0 ? unsafe array.buffers[0]?.assumingMemoryBound(to: UInt8.self) : nil
    unsafe first = bufferCount > 1 ? unsafe array.buffers[1] : nil
    unsafe second = bufferCount > 2 ? unsafe array.buffers[2] : nil
    unsafe buffers = array.buffers
    self.bufferCount = unsafe Int(array.n_buffers)
  }

  var hasNulls: Bool { unsafe form == .null || validity != nil }

  @inline(__always)
  func isNull(_ row: Int) -> Bool {
    if form == .null { return true }
    guard let validity = unsafe validity else { return false }
    let index = row + offset
    return unsafe validity[index >> 3] & 1 << UInt8(index & 7) == 0
  }

  /// A value by its index, which counts the offset.
  @inline(__always)
  func load<Value: BitwiseCopyable>(_ type: Value.Type, _ index: Int) -> Value {
    unsafe first.unsafelyUnwrapped.loadUnaligned(
      fromByteOffset: index * MemoryLayout<Value>.stride, as: type)
  }

  /// A value of a column of flags.
  @inline(__always)
  func flag(_ row: Int) -> Bool {
    let index = row + offset
    return load(UInt8.self, index >> 3) & 1 << UInt8(index & 7) != 0
  }

  // MARK: Integers

  /// An integer; nil for one above all that are signed, and for another form.
  @inline(__always)
  func integer(_ row: Int) -> Int64? {
    let index = row + offset
    switch form {
    case .int64: return load(Int64.self, index)
    case .int32: return Int64(load(Int32.self, index))
    case .int16: return Int64(load(Int16.self, index))
    case .int8: return Int64(load(Int8.self, index))
    case .uint64: return Int64(exactly: load(UInt64.self, index))
    case .uint32: return Int64(load(UInt32.self, index))
    case .uint16: return Int64(load(UInt16.self, index))
    case .uint8: return Int64(load(UInt8.self, index))
    default: return nil
    }
  }

  /// The decimal digits of an integer.
  func digits(_ row: Int) -> String {
    form == .uint64 ? "\(load(UInt64.self, row + offset))" : "\(integer(row) ?? 0)"
  }

  /// Replaces `numbers` by the integers of rows; those above all that are signed become negative.
  ///
  /// - Returns: whether there are integers.
  func readIntegers(_ rows: Range<Int>, into numbers: inout [Int64]) -> Bool {
    numbers.removeAll(keepingCapacity: true)
    switch form {
    case .int64, .uint64: append(Int64.self, rows, to: &numbers)
    case .int32: append(Int32.self, rows, to: &numbers)
    case .int16: append(Int16.self, rows, to: &numbers)
    case .int8: append(Int8.self, rows, to: &numbers)
    case .uint32: append(UInt32.self, rows, to: &numbers)
    case .uint16: append(UInt16.self, rows, to: &numbers)
    case .uint8: append(UInt8.self, rows, to: &numbers)
    default: return false
    }
    return true
  }

  private func append<Value: FixedWidthInteger & BitwiseCopyable>(
    _ type: Value.Type, _ rows: Range<Int>, to numbers: inout [Int64]
  ) {
    numbers.append(contentsOf: repeatElement(0, count: rows.count))
    if type == Int64.self, let first = unsafe first {
      unsafe numbers.withUnsafeMutableBytes {
        unsafe $0.copyMemory(
          from: UnsafeRawBufferPointer(
            start: first + (rows.lowerBound + offset) * 8, count: rows.count * 8))
      }
      return
    }
    var span = numbers.mutableSpan
    for row in rows {
      span[row - rows.lowerBound] = Int64(truncatingIfNeeded: load(type, row + offset))
    }
  }

  // MARK: Texts

  /// Whether there are texts with offsets or views.
  var hasText: Bool {
    switch form {
    case .narrow, .wide, .views: unsafe first != nil
    default: false
    }
  }

  /// Whether texts lie behind each other.
  var isContiguous: Bool { form != .views }

  /// What the texts of rows are parts of; empty if there is nothing such.
  func whole(_ rows: Range<Int>) -> UnsafeRawBufferPointer {
    if form == .views, let views = unsafe first {
      return unsafe UnsafeRawBufferPointer(
        start: views + (rows.lowerBound + offset) * 16, count: rows.count * 16)
    }
    let (start, end) = (textOffset(rows.lowerBound), textOffset(rows.upperBound))
    guard let characters = unsafe second, 0 <= start, start < end else {
      return unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    }
    return unsafe UnsafeRawBufferPointer(start: characters + start, count: end - start)
  }

  /// The text of a row that is not null; nil if the column does not say where it is.
  ///
  /// - Parameter whole: that of rows that include this one, where texts lie behind each other;
  ///   without an address for any.
  @inline(__always)
  func text(_ row: Int, within whole: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    if form == .views { return unsafe view(row + offset) }
    let (start, end) = (textOffset(row), textOffset(row + 1))
    guard 0 <= start, start <= end else { return nil }
    if start == end { return unsafe UnsafeRawBufferPointer(start: first, count: 0) }
    guard let characters = unsafe second else { return nil }
    let text = unsafe UnsafeRawBufferPointer(start: characters + start, count: end - start)
    guard let from = whole.baseAddress else { return unsafe text }
    // Offsets that descend somewhere between those of the rows.
    let isInside = unsafe characters + start >= from && characters + end <= from + whole.count
    return unsafe isInside ? text : nil
  }

  @inline(__always)
  private func textOffset(_ row: Int) -> Int {
    form == .wide ? Int(load(Int64.self, row + offset)) : Int(load(Int32.self, row + offset))
  }

  /// The text of a view; nil if it is out of range.
  func view(_ index: Int) -> UnsafeRawBufferPointer? {
    let view = unsafe first.unsafelyUnwrapped + index * 16
    let size = unsafe Int(view.loadUnaligned(as: Int32.self))
    guard size >= 0 else { return nil }
    if size <= 12 { return unsafe UnsafeRawBufferPointer(start: view + 4, count: size) }
    let number = unsafe Int(view.loadUnaligned(fromByteOffset: 8, as: Int32.self))
    let start = unsafe Int(view.loadUnaligned(fromByteOffset: 12, as: Int32.self))
    // The last buffer has the sizes of those of characters.
    guard number >= 0, number < bufferCount - 3, start >= 0, let buffers = unsafe buffers,
      let characters = unsafe buffers[2 + number], let sizes = unsafe buffers[bufferCount - 1],
      unsafe Int64(start + size) <= sizes.loadUnaligned(fromByteOffset: number * 8, as: Int64.self)
    else { return nil }
    return unsafe UnsafeRawBufferPointer(start: characters + start, count: size)
  }
}
