internal import CPushKernels
internal import PushModel
internal import QuietTime

/// The checksum of bytes in memory.
func checksum(_ bytes: [UInt8]) -> UInt64 { unsafe pk_checksum(bytes, bytes.count) }

/// Malformed bytes, with what is wrong.
struct Malformed: Error {
  let what: String
  init(_ what: String) { self.what = what }
}

/// Encodes integers (little-endian) and strings as bytes.
struct ByteSink {
  private(set) var bytes: [UInt8] = []

  mutating func put(_ number: some FixedWidthInteger) {
    unsafe withUnsafeBytes(of: number.littleEndian) { unsafe bytes.append(contentsOf: $0) }
  }

  mutating func put(_ text: String) {
    put(UInt32(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
  }

  /// Appends what writes itself.
  mutating func append(_ write: (inout [UInt8]) -> Void) { write(&bytes) }

  mutating func fill(to count: Int) {
    bytes.append(contentsOf: repeatElement(0, count: max(0, count - bytes.count)))
  }
}

/// Decodes the bytes of a ``ByteSink``, or throws ``Malformed``.
struct ByteSource {
  private let bytes: [UInt8]
  private var offset = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var remaining: Int { bytes.count - offset }

  mutating func number<Number: FixedWidthInteger>(_: Number.Type) throws(Malformed) -> Number {
    let size = MemoryLayout<Number>.size
    guard remaining >= size else { throw Malformed("unexpected end") }
    var value: Number = 0
    unsafe withUnsafeMutableBytes(of: &value) { target in
      unsafe bytes.withUnsafeBytes {
        unsafe target.copyMemory(from: .init(rebasing: $0[offset..<offset + size]))
      }
    }
    offset += size
    return Number(littleEndian: value)
  }

  /// A count of elements that follow, each of at least `size` bytes.
  mutating func count(atLeast size: Int) throws(Malformed) -> Int {
    let count = Int(try number(UInt32.self))
    guard count <= remaining / size else { throw Malformed("count beyond the end") }
    return count
  }

  /// Reads what reads itself and takes its bytes away.
  mutating func read<Value>(
    _ body: (inout ArraySlice<UInt8>) throws(QuietSettings.Malformed) -> Value
  ) throws(Malformed) -> Value {
    var rest = bytes[offset...]
    do throws(QuietSettings.Malformed) {
      let value = try body(&rest)
      offset = rest.startIndex
      return value
    } catch {
      throw Malformed(error.what)
    }
  }

  mutating func text() throws(Malformed) -> String {
    let count = try count(atLeast: 1)
    guard let text = String(validating: bytes[offset..<offset + count], as: UTF8.self) else {
      throw Malformed("invalid UTF-8")
    }
    offset += count
    return text
  }
}

/// Encodes or decodes values: one list of fields serves both directions.
protocol ValueCoder {
  mutating func code(_ flag: inout Bool) throws(Malformed)
  mutating func code(_ text: inout String) throws(Malformed)
  mutating func code(_ number: inout Int64, in range: ClosedRange<Int64>) throws(Malformed)
  mutating func code<Choice: CaseIterable & Equatable>(_ choice: inout Choice) throws(Malformed)
  mutating func code(_ level: inout NotificationLevel) throws(Malformed)
}

extension ByteSink: ValueCoder {
  mutating func code(_ flag: inout Bool) { put(flag ? 1 : 0 as UInt8) }
  mutating func code(_ text: inout String) { put(text) }
  mutating func code(_ number: inout Int64, in range: ClosedRange<Int64>) { put(number) }
  mutating func code<Choice: CaseIterable & Equatable>(_ choice: inout Choice) {
    let index = Array(Choice.allCases).firstIndex(of: choice) ?? 0
    put(UInt8(index))
  }
  mutating func code(_ level: inout NotificationLevel) { put(level.rawValue) }
}

extension ByteSource: ValueCoder {
  mutating func code(_ flag: inout Bool) throws(Malformed) {
    let byte = try number(UInt8.self)
    guard byte < 2 else { throw Malformed("invalid flag") }
    flag = byte == 1
  }

  mutating func code(_ text: inout String) throws(Malformed) { text = try self.text() }

  mutating func code(_ number: inout Int64, in range: ClosedRange<Int64>) throws(Malformed) {
    number = try self.number(Int64.self)
    guard range.contains(number) else { throw Malformed("number out of range") }
  }

  mutating func code<Choice: CaseIterable & Equatable>(
    _ choice: inout Choice
  ) throws(Malformed) {
    let index = Int(try number(UInt8.self))
    let cases = Array(Choice.allCases)
    guard index < cases.count else { throw Malformed("invalid choice") }
    choice = cases[index]
  }

  mutating func code(_ level: inout NotificationLevel) throws(Malformed) {
    guard let found = NotificationLevel(rawValue: try number(UInt16.self)) else {
      throw Malformed("invalid level")
    }
    level = found
  }
}
