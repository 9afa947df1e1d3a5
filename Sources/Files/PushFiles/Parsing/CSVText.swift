internal import PushModel

extension [UInt8] {
  /// Appends a CSV cell of characters that are UTF-8.
  mutating func appendCSV(_ utf8: UnsafeRawBufferPointer) {
    guard unsafe utf8.needsCSVQuotes else { return unsafe append(contentsOf: utf8) }
    append(UInt8(ascii: "\""))
    for index in 0..<utf8.count {
      let byte = unsafe utf8[index]
      if byte == 0x22 { append(byte) }
      append(byte)
    }
    append(UInt8(ascii: "\""))
  }

  /// Appends a CSV cell, quoted if it must be (RFC 4180).
  package mutating func appendCSV(_ text: String) {
    var text = text
    text.withUTF8 { unsafe appendCSV(UnsafeRawBufferPointer($0)) }
  }
}

extension UnsafeRawBufferPointer {
  /// Whether a CSV cell of these bytes is quoted (RFC 4180).
  @inline(__always)
  var needsCSVQuotes: Bool {
    unsafe hasMark { word in
      zeroBytes(word ^ 0x2222_2222_2222_2222) | zeroBytes(word ^ 0x2C2C_2C2C_2C2C_2C2C)
        | zeroBytes(word ^ 0x0A0A_0A0A_0A0A_0A0A) | zeroBytes(word ^ 0x0D0D_0D0D_0D0D_0D0D)
    }
  }
}
