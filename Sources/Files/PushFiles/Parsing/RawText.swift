/// Finds values in the text of a line that was parsed, so that they can be passed on as they were
/// written: a parser turns numbers into machine numbers, and some into others.
enum RawText {
  /// The text of a value, without blanks between its parts.
  ///
  /// - Parameters:
  ///   - line: JSON, parsed and found right.
  ///   - token: which value it is, counting values and names from 0 in the order of the text.
  /// - Complexity: O(bytes up to the end of the value).
  static func value(in line: UnsafeRawBufferPointer, token: Int) -> [UInt8] {
    let range = unsafe range(in: line, token: token)
    var text: [UInt8] = []
    var offset = range.lowerBound
    while offset < range.upperBound {
      let byte = unsafe line[offset]
      let end = byte == quote ? unsafe endOfString(in: line, from: offset) : offset + 1
      if !isBlank(byte) { unsafe text.append(contentsOf: line[offset..<end]) }
      offset = end
    }
    return text
  }

  /// Where a value stands; the parameters are those of ``value(in:token:)``.
  ///
  /// - Complexity: O(bytes up to the end of the value).
  static func range(in line: UnsafeRawBufferPointer, token: Int) -> Range<Int> {
    let start = unsafe start(in: line, token: token)
    var (offset, depth) = (start, 0)
    while offset < line.count {
      let byte = unsafe line[offset]
      switch byte {
      case quote:
        offset = unsafe endOfString(in: line, from: offset)
        if depth == 0 { return start..<offset }
        continue
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        if depth == 0 { return start..<offset + 1 }
      default: break
      }
      if depth <= 0, isDelimiter(byte) { break }  // behind a number or a word
      offset += 1
    }
    return start..<offset
  }

  /// Where a value begins.
  private static func start(in line: UnsafeRawBufferPointer, token: Int) -> Int {
    var count = 0
    var offset = 0
    while offset < line.count {
      if unsafe isDelimiter(line[offset]) || line[offset] == UInt8(ascii: ":") {
        offset += 1
        continue
      }
      if count == token { return offset }
      count += 1
      switch unsafe line[offset] {
      case UInt8(ascii: "\""): offset = unsafe endOfString(in: line, from: offset)
      case UInt8(ascii: "{"), UInt8(ascii: "["): offset += 1
      default:
        while offset < line.count, unsafe !isDelimiter(line[offset]) { offset += 1 }
      }
    }
    return line.count
  }

  private static let quote = UInt8(ascii: "\"")

  /// The offset behind the closing quote of the string that begins at `offset`.
  private static func endOfString(in line: UnsafeRawBufferPointer, from offset: Int) -> Int {
    var end = offset + 1
    while end < line.count, unsafe line[end] != quote {
      end += unsafe line[end] == UInt8(ascii: "\\") ? 2 : 1
    }
    return min(end + 1, line.count)
  }

  /// Whether a byte may stand between the parts of a value.
  @inline(__always)
  static func isBlank(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x20, 0x09, 0x0A, 0x0D: true
    default: false
    }
  }

  private static func isDelimiter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"): true
    default: isBlank(byte)
    }
  }
}
