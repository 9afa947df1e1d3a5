extension [UInt8] {
  /// Appends a CSV cell of characters that are UTF-8.
  mutating func appendCSV(_ utf8: UnsafeRawBufferPointer) {
    var needsQuotes = false
    for index in 0..<utf8.count {
      let byte = unsafe utf8[index]
      needsQuotes =
        needsQuotes || byte == 0x22 || byte == 0x2C || byte == 0x0A || byte == 0x0D
    }
    guard needsQuotes else { return unsafe append(contentsOf: utf8) }
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
