/// Malformed bytes, with what is wrong.
package struct Malformed: Error {
  package let what: String
  package init(_ what: String) { self.what = what }
}

/// Writes values as bytes or reads them: one list of fields serves both directions.
package protocol ByteCoder {
  /// Writing does not throw.
  mutating func code(_ number: inout some FixedWidthInteger) throws(Malformed)
  mutating func code(_ text: inout String) throws(Malformed)
  /// A count of elements that follow, each of at least `size` bytes.
  mutating func code(count: inout Int, atLeast size: Int) throws(Malformed)
}

extension ByteCoder {
  /// A number below a limit, as a byte.
  package mutating func code(_ number: inout Int, below limit: Int) throws(Malformed) {
    var byte = UInt8(truncatingIfNeeded: number)
    try code(&byte)
    number = Int(byte)
    guard number < limit else { throw Malformed("invalid choice") }
  }

  package mutating func code(_ flag: inout Bool) throws(Malformed) {
    var number = flag ? 1 : 0
    try code(&number, below: 2)
    flag = number == 1
  }

  /// One of all cases, by its place among them.
  package mutating func code<Choice: CaseIterable & Equatable>(
    _ choice: inout Choice
  ) throws(Malformed) {
    let all = Array(Choice.allCases)
    var index = all.firstIndex(of: choice) ?? 0
    try code(&index, below: all.count)
    choice = all[index]
  }

  /// A list, each element of which is `initial` before it is read.
  package mutating func code<Element>(
    _ list: inout [Element], atLeast size: Int, _ initial: Element,
    _ body: (inout Element, inout Self) throws(Malformed) -> Void
  ) throws(Malformed) {
    var count = list.count
    try code(count: &count, atLeast: size)
    list.removeSubrange(min(count, list.count)...)
    for index in 0..<count {
      if index == list.count { list.append(initial) }
      try body(&list[index], &self)
    }
  }
}

/// Writes integers (little-endian) and strings as bytes.
package struct ByteSink: ByteCoder {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package mutating func put(_ number: some FixedWidthInteger) {
    unsafe withUnsafeBytes(of: number.littleEndian) { unsafe bytes.append(contentsOf: $0) }
  }

  package mutating func fill(to count: Int) {
    bytes.append(contentsOf: repeatElement(0, count: max(0, count - bytes.count)))
  }

  package mutating func code(_ number: inout some FixedWidthInteger) { put(number) }

  package mutating func code(_ text: inout String) {
    put(UInt32(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
  }

  package mutating func code(count: inout Int, atLeast size: Int) { put(UInt32(count)) }
}

/// Reads the bytes of a ``ByteSink``, or throws ``Malformed``.
package struct ByteSource: ByteCoder {
  private let bytes: [UInt8]
  private var offset = 0

  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  package var remaining: Int { bytes.count - offset }

  package mutating func number<Number: FixedWidthInteger>(
    _: Number.Type
  ) throws(Malformed) -> Number {
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

  package mutating func code<Number: FixedWidthInteger>(
    _ number: inout Number
  ) throws(Malformed) { number = try self.number(Number.self) }

  package mutating func code(_ text: inout String) throws(Malformed) {
    var count = 0
    try code(count: &count, atLeast: 1)
    guard let found = String(validating: bytes[offset..<offset + count], as: UTF8.self) else {
      throw Malformed("invalid UTF-8")
    }
    text = found
    offset += count
  }

  package mutating func code(count: inout Int, atLeast size: Int) throws(Malformed) {
    count = Int(try number(UInt32.self))
    guard count <= remaining / size else { throw Malformed("count beyond the end") }
  }
}
