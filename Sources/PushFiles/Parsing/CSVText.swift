extension [UInt8] {
  /// Appends a CSV cell of characters that are UTF-8.
  mutating func appendCSV(_ utf8: UnsafeRawBufferPointer) {
    var needsQuotes = false
    for index in 0..<utf8.count {
      let byte = unsafe utf8[index]
      needsQuotes =
        needsQuotes || byte == 0x22 || byte == 0x2C || byte == 0x0A || byte == 0x0D
    }
    if needsQuotes {
      appendCSV(unsafe String(decoding: utf8, as: UTF8.self))
    } else {
      unsafe append(contentsOf: utf8)
    }
  }

  /// Appends a CSV cell, quoted if it must be (RFC 4180).
  package mutating func appendCSV(_ text: String) {
    guard text.utf8.contains(where: { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }) else {
      append(contentsOf: text.utf8)
      return
    }
    append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      if byte == 0x22 { append(byte) }
      append(byte)
    }
    append(UInt8(ascii: "\""))
  }
}
