/// JSON strings as bytes: the same text always gives the same bytes.
extension [UInt8] {
  /// Appends a JSON string: quotes, backslashes and control characters escaped, nothing else.
  package mutating func appendJSON(_ text: String) {
    append(UInt8(ascii: "\""))
    appendJSONCharacters(text)
    append(UInt8(ascii: "\""))
  }

  /// Appends the inside of a JSON string.
  package mutating func appendJSONCharacters(_ text: String) {
    var text = text
    text.withUTF8 { unsafe appendJSONCharacters(UnsafeRawBufferPointer($0)) }
  }

  /// Appends a JSON string of characters that are UTF-8.
  @inlinable
  package mutating func appendJSON(_ utf8: UnsafeRawBufferPointer) {
    append(UInt8(ascii: "\""))
    unsafe appendJSONCharacters(utf8)
    append(UInt8(ascii: "\""))
  }

  /// Appends the inside of a JSON string of characters that are UTF-8.
  @inlinable
  package mutating func appendJSONCharacters(_ utf8: UnsafeRawBufferPointer) {
    var needsEscape = false
    for index in 0..<utf8.count {
      let byte = unsafe utf8[index]
      needsEscape = needsEscape || byte < 0x20 || byte == 0x22 || byte == 0x5C
    }
    if needsEscape {
      for index in 0..<utf8.count { appendJSONCharacter(unsafe utf8[index]) }
    } else {
      unsafe append(contentsOf: utf8)
    }
  }

  /// Appends a byte of the inside of a JSON string, escaped if it must be.
  @usableFromInline
  package mutating func appendJSONCharacter(_ byte: UInt8) {
    switch byte {
    case 0x22, 0x5C: append(contentsOf: [0x5C, byte])
    case 0x08: append(contentsOf: "\\b".utf8)
    case 0x09: append(contentsOf: "\\t".utf8)
    case 0x0A: append(contentsOf: "\\n".utf8)
    case 0x0C: append(contentsOf: "\\f".utf8)
    case 0x0D: append(contentsOf: "\\r".utf8)
    case 0..<0x20:
      let hex = Array("0123456789abcdef".utf8)
      append(contentsOf: "\\u00".utf8)
      append(contentsOf: [hex[Int(byte >> 4)], hex[Int(byte & 15)]])
    default: append(byte)
    }
  }
}
