internal import CPushKernels
internal import QuietTime

/// The checksum of bytes in memory.
func checksum(_ bytes: [UInt8]) -> UInt64 { unsafe pk_checksum(bytes, bytes.count) }

/// Bytes that say something no writer says.
struct Malformed: Error {
  let what: String
  init(_ what: String) { self.what = what }
}

/// Numbers and texts as bytes, the lowest byte of a number first.
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

/// Reads what a ``ByteSink`` has written, or finds out that something else is there.
struct ByteSource {
  private let bytes: [UInt8]
  private var place = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var remaining: Int { bytes.count - place }

  mutating func number<Number: FixedWidthInteger>(_: Number.Type) throws(Malformed) -> Number {
    let size = MemoryLayout<Number>.size
    guard remaining >= size else { throw Malformed("it ends too early") }
    var value: Number = 0
    unsafe withUnsafeMutableBytes(of: &value) { target in
      unsafe bytes.withUnsafeBytes {
        unsafe target.copyMemory(from: .init(rebasing: $0[place..<place + size]))
      }
    }
    place += size
    return Number(littleEndian: value)
  }

  /// A number of things that follow, of which each takes at least so many bytes.
  mutating func count(atLeast size: Int) throws(Malformed) -> Int {
    let count = Int(try number(UInt32.self))
    guard count <= remaining / size else { throw Malformed("a count is beyond the end") }
    return count
  }

  /// Reads what reads itself and takes its bytes away.
  mutating func read<Value>(
    _ body: (inout ArraySlice<UInt8>) throws(QuietSettings.Malformed) -> Value
  ) throws(Malformed) -> Value {
    var rest = bytes[place...]
    do throws(QuietSettings.Malformed) {
      let value = try body(&rest)
      place = rest.startIndex
      return value
    } catch {
      throw Malformed(error.what)
    }
  }

  mutating func text() throws(Malformed) -> String {
    let count = try count(atLeast: 1)
    guard let text = String(validating: bytes[place..<place + count], as: UTF8.self) else {
      throw Malformed("a text is no UTF-8")
    }
    place += count
    return text
  }
}

/// Writes or reads values: one list of fields serves both, so that they cannot differ.
protocol ValueCoder {
  mutating func code(_ flag: inout Bool) throws(Malformed)
  mutating func code(_ text: inout String) throws(Malformed)
  mutating func code(_ number: inout Int64, in range: ClosedRange<Int64>) throws(Malformed)
  mutating func code<Choice: CaseIterable & Equatable>(_ choice: inout Choice) throws(Malformed)
}

extension ByteSink: ValueCoder {
  mutating func code(_ flag: inout Bool) { put(flag ? 1 : 0 as UInt8) }
  mutating func code(_ text: inout String) { put(text) }
  mutating func code(_ number: inout Int64, in range: ClosedRange<Int64>) { put(number) }
  mutating func code<Choice: CaseIterable & Equatable>(_ choice: inout Choice) {
    let place = Array(Choice.allCases).firstIndex(of: choice) ?? 0
    put(UInt8(place))
  }
}

extension ByteSource: ValueCoder {
  mutating func code(_ flag: inout Bool) throws(Malformed) {
    let byte = try number(UInt8.self)
    guard byte < 2 else { throw Malformed("a flag is neither 0 nor 1") }
    flag = byte == 1
  }

  mutating func code(_ text: inout String) throws(Malformed) { text = try self.text() }

  mutating func code(_ number: inout Int64, in range: ClosedRange<Int64>) throws(Malformed) {
    number = try self.number(Int64.self)
    guard range.contains(number) else { throw Malformed("a number is out of its range") }
  }

  mutating func code<Choice: CaseIterable & Equatable>(
    _ choice: inout Choice
  ) throws(Malformed) {
    let place = Int(try number(UInt8.self))
    let cases = Array(Choice.allCases)
    guard place < cases.count else { throw Malformed("a choice that there is not") }
    choice = cases[place]
  }
}
