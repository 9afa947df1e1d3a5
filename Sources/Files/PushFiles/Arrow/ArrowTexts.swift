internal import CPushFiles
internal import PushModel

/// The rows of a piece that are read as JSON: those with something unusual.
struct RareRows {
  private(set) var isRare: [Bool] = []
  private(set) var isEmpty = true

  mutating func reset(count: Int) {
    if !isEmpty || isRare.count != count { isRare = [Bool](repeating: false, count: count) }
    isEmpty = true
  }

  mutating func add(_ row: Int) {
    isRare[row] = true
    isEmpty = false
  }

  subscript(row: Int) -> Bool { isRare[row] }

  /// Adds the rows in which columns have anything.
  mutating func add(_ columns: [ArrowValues], _ rows: Range<Int>) {
    for column in columns where column.cells.form != .null {
      for row in rows where !column.isNull(row) { add(row - rows.lowerBound) }
    }
  }

  /// Reads instants, -1 for none; those out of range are rare.
  ///
  /// - Parameter instants: nothing if there is no column.
  mutating func readInstants(
    _ column: ArrowValues?, _ rows: Range<Int>, isAllowed: Bool, into instants: inout [Int64]
  ) {
    instants.removeAll(keepingCapacity: true)
    guard let column else { return }
    guard isAllowed, column.readIntegers(rows, into: &instants) else {
      instants = [Int64](repeating: -1, count: rows.count)
      return add([column], rows)
    }
    let cells = column.cells
    for row in 0..<rows.count {
      if cells.isNull(row + rows.lowerBound) {
        instants[row] = -1
      } else if !(0...Instant.maximumMilliseconds).contains(instants[row]) {
        add(row)
      }
    }
  }
}

/// The texts of consecutive rows of a column, where they are or as digits.
///
/// SAFETY: the texts are valid until the batch is released or other rows are read.
@safe struct ArrowTexts {
  /// A text for each row; without an address for a null, and for a row that is rare.
  private(set) var texts: [UnsafeRawBufferPointer] = unsafe []
  /// What most of the texts are parts of.
  private(set) var whole = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
  private var digits = DigitMemory()
  private var numbers: [Int64] = []

  /// Longer texts are left to the reader of lines, which has a limit.
  private static let longest = 1 << 16

  init() {}

  /// Reads rows of a column.
  ///
  /// - Parameters:
  ///   - rows: with the offset of the batch, but not of the column.
  ///   - takesNumbers: whether integers are texts too, those of their digits.
  ///   - rare: gets the rows whose text is not understood here.
  mutating func read(
    _ values: ArrowValues, _ rows: Range<Int>, takesNumbers: Bool, _ rare: inout RareRows
  ) {
    unsafe texts.removeAll(keepingCapacity: true)
    unsafe texts.reserveCapacity(rows.count)
    unsafe whole = UnsafeRawBufferPointer(start: nil, count: 0)
    switch values.kind {
    case .text, .views: readTexts(values.cells, rows, &rare)
    case .dictionary: readDictionary(values, rows, &rare)
    case .signed, .unsigned:
      takesNumbers ? readNumbers(values, rows, &rare) : skip(values, rows, &rare)
    default: skip(values, rows, &rare)
    }
  }

  private mutating func addNull() {
    unsafe texts.append(UnsafeRawBufferPointer(start: nil, count: 0))
  }

  private mutating func addRare(_ row: Int, _ rare: inout RareRows) {
    addNull()
    rare.add(row)
  }

  /// A column that is no text: only nulls are understood here.
  private mutating func skip(_ values: ArrowValues, _ rows: Range<Int>, _ rare: inout RareRows) {
    for row in rows {
      values.isNull(row) ? addNull() : addRare(row - rows.lowerBound, &rare)
    }
  }

  // MARK: Texts

  private mutating func readTexts(
    _ cells: ArrowCells, _ rows: Range<Int>, _ rare: inout RareRows
  ) {
    unsafe whole = cells.whole(rows)
    let whole = unsafe cells.isContiguous ? whole : UnsafeRawBufferPointer(start: nil, count: 0)
    let isASCII = unsafe cells.isContiguous && Self.isASCII(whole)
    for row in rows {
      if cells.isNull(row) {
        addNull()
      } else if let text = unsafe cells.text(row, within: whole),
        unsafe isASCII && text.count <= Self.longest || Self.isPlain(text)
      {
        unsafe texts.append(text)
      } else {
        addRare(row - rows.lowerBound, &rare)
      }
    }
  }

  private mutating func readDictionary(
    _ values: ArrowValues, _ rows: Range<Int>, _ rare: inout RareRows
  ) {
    let (keys, length) = (values.cells, values.children[0].length)
    let entries = values.children[0].cells
    guard entries.hasText, keys.readIntegers(rows, into: &numbers) else {
      return skip(values, rows, &rare)
    }
    let all = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    for row in rows {
      let index = row - rows.lowerBound
      let key = numbers[index]
      if keys.isNull(row) {
        addNull()
      } else if key < 0 || key >= length {
        addRare(index, &rare)
      } else if entries.isNull(Int(key)) {
        addNull()
      } else if let text = unsafe entries.text(Int(key), within: all), unsafe Self.isPlain(text) {
        unsafe texts.append(text)
      } else {
        addRare(index, &rare)
      }
    }
  }

  /// Whether a text is UTF-8, and not too long.
  @inline(__always)
  private static func isPlain(_ text: UnsafeRawBufferPointer) -> Bool {
    guard text.count <= longest else { return false }
    var all: UInt8 = 0
    for index in 0..<text.count { unsafe all |= text[index] }
    return unsafe all < 0x80 || isUTF8(text)
  }

  static func isUTF8(_ text: UnsafeRawBufferPointer) -> Bool {
    guard let start = unsafe text.baseAddress?.assumingMemoryBound(to: UInt8.self) else {
      return true
    }
    return unsafe pf_is_utf8(start, text.count)
  }

  private static func isASCII(_ text: UnsafeRawBufferPointer) -> Bool {
    guard let start = unsafe text.baseAddress?.assumingMemoryBound(to: UInt8.self) else {
      return true
    }
    return unsafe pf_is_ascii(start, text.count)
  }

  // MARK: Numbers

  private mutating func readNumbers(
    _ values: ArrowValues, _ rows: Range<Int>, _ rare: inout RareRows
  ) {
    let cells = values.cells
    guard cells.readIntegers(rows, into: &numbers) else { return skip(values, rows, &rare) }
    let isUnsigned = cells.form == .uint64
    let memory = unsafe digits.reserve(rows.count * DigitMemory.limit)
    var end = unsafe memory
    for row in rows {
      if cells.isNull(row) {
        addNull()
        continue
      }
      let start = unsafe end
      let number = numbers[row - rows.lowerBound]
      if number < 0, !isUnsigned {
        unsafe end.storeBytes(of: UInt8(ascii: "-"), as: UInt8.self)
        unsafe end += 1
        unsafe end = writeDigits(number.magnitude, to: end)
      } else {
        unsafe end = writeDigits(UInt64(bitPattern: number), to: end)
      }
      unsafe texts.append(UnsafeRawBufferPointer(start: start, count: end - start))
    }
    unsafe whole = UnsafeRawBufferPointer(start: memory, count: end - memory)
  }
}

/// Memory for the digits of integers.
///
/// SAFETY: its owner uses it on one thread at a time, and copies of the owner are not read after
/// the owner reads other rows.
@safe private final class DigitMemory: @unchecked Sendable {
  /// The most characters of an integer.
  static let limit = 20
  private var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: limit, alignment: 1)
  deinit { unsafe memory.deallocate() }

  func reserve(_ count: Int) -> UnsafeMutableRawPointer {
    if unsafe memory.count < count {
      unsafe memory.deallocate()
      unsafe memory = .allocate(byteCount: count, alignment: 1)
    }
    return unsafe memory.baseAddress.unsafelyUnwrapped
  }
}

/// Writes a number in decimal digits.
///
/// - Returns: the end of the digits, at most 20 behind `start`.
private func writeDigits(
  _ number: UInt64, to start: UnsafeMutableRawPointer
) -> UnsafeMutableRawPointer {
  var count = 1
  var bound: UInt64 = 10
  while count < 20, number >= bound {
    count += 1
    let (next, overflow) = bound.multipliedReportingOverflow(by: 10)
    bound = overflow ? .max : next
    if overflow { count = 20 }
  }
  var rest = number
  for index in stride(from: count - 1, through: 0, by: -1) {
    unsafe start.storeBytes(
      of: UInt8(truncatingIfNeeded: 0x30 + rest % 10), toByteOffset: index, as: UInt8.self)
    rest /= 10
  }
  return unsafe start + count
}
