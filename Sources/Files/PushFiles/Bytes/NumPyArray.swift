/// A one-dimensional array in NumPy's file format, version 1.0, written as it grows.
///
/// - Source: NumPy Enhancement Proposal 1, "A Simple File Format for NumPy Arrays".
struct NumPyArray<Number: FixedWidthInteger> {
  private let file: OutputFile
  private var waiting: [Number] = []
  private(set) var count = 0

  private static var headerSize: Int { 128 }
  private static var waitingSize: Int { 1 << 14 }

  // A folder has several: inlined, they would be much code.
  @inline(never)
  init(_ file: OutputFile) throws(OutputProblem) {
    self.file = file
    try file.write(whole: [UInt8](repeating: 0, count: Self.headerSize))
  }

  @inline(never)
  mutating func append(_ number: Number) throws(OutputProblem) {
    waiting.append(number)
    if waiting.count >= Self.waitingSize { try flush() }
  }

  /// Appends the numbers that `add` appends.
  mutating func append(_ add: (inout [Number]) -> Void) throws(OutputProblem) {
    add(&waiting)
    if waiting.count >= Self.waitingSize { try flush() }
  }

  /// Writes what was held back, and the header, whose size does not depend on the count.
  mutating func finish() throws(OutputProblem) {
    try flush()
    try file.rewriteStart(header)
    try file.finish()
  }

  private mutating func flush() throws(OutputProblem) {
    count += waiting.count
    try file.write(numbers: waiting)
    waiting.removeAll(keepingCapacity: true)
  }

  private var header: [UInt8] {
    let size = Number.bitWidth / 8
    let type = "\(size == 1 ? "|" : "<")\(Number.isSigned ? "i" : "u")\(size)"
    var text = "{'descr': '\(type)', 'fortran_order': False, 'shape': (\(count),), }"
    text += String(repeating: " ", count: Self.headerSize - 10 - 1 - text.utf8.count) + "\n"
    let length = UInt16(Self.headerSize - 10)
    return [0x93] + Array("NUMPY".utf8) + [1, 0, UInt8(length & 0xFF), UInt8(length >> 8)]
      + Array(text.utf8)
  }
}

extension NumPyArray<UInt8> {
  /// Appends many bytes at once.
  mutating func append(_ bytes: ArraySlice<UInt8>) throws(OutputProblem) {
    count += bytes.count
    try file.write(whole: bytes)
  }
}
