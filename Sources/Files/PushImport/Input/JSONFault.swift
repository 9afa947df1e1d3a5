/// Where a text stops being JSON. It is read byte by byte, which only a message about it is worth.
struct JSONFault: Error {
  let offset: Int

  /// The first fault; nil for none that this finds.
  ///
  /// As for the parser, what is not UTF-8 comes first, then the syntax, then keys that are there twice.
  static func first(in text: UnsafeRawBufferPointer) -> JSONFault? {
    let bytes = unsafe Array(text)
    var start = 0
    for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
      if String(validating: line, as: UTF8.self) == nil { return JSONFault(offset: start) }
      start += line.count + 1
    }
    for checksKeys in [false, true] {
      var walk = Walk(text: bytes, checksKeys: checksKeys)
      do throws(JSONFault) { try walk.readValue(0) } catch { return error }
    }
    return nil
  }

  private struct Walk {
    let text: [UInt8]
    let checksKeys: Bool
    private var offset = 0
    /// What the parser allows.
    private static let maximumDepth = 1024

    init(text: [UInt8], checksKeys: Bool) {
      self.text = text
      self.checksKeys = checksKeys
    }

    private var byte: UInt8 { offset < text.count ? text[offset] : 0 }
    private var fault: JSONFault { JSONFault(offset: min(offset, text.count)) }

    private mutating func skipBlanks() {
      while [0x20, 0x09, 0x0A, 0x0D].contains(byte) { offset += 1 }
    }

    private mutating func expect(_ wanted: some Sequence<UInt8>) throws(JSONFault) {
      for wanted in wanted {
        guard byte == wanted else { throw fault }
        offset += 1
      }
    }

    mutating func readValue(_ depth: Int) throws(JSONFault) {
      skipBlanks()
      switch byte {
      case UInt8(ascii: "{"): try readItems(until: UInt8(ascii: "}"), depth)
      case UInt8(ascii: "["): try readItems(until: UInt8(ascii: "]"), depth)
      case UInt8(ascii: "\""): try readString()
      case UInt8(ascii: "t"): try expect("true".utf8)
      case UInt8(ascii: "f"): try expect("false".utf8)
      case UInt8(ascii: "n"): try expect("null".utf8)
      default: try readNumber()
      }
      skipBlanks()
    }

    /// Reads an array or, with names, an object.
    private mutating func readItems(until end: UInt8, _ depth: Int) throws(JSONFault) {
      if depth == Self.maximumDepth { throw fault }
      offset += 1
      var names: Set<ArraySlice<UInt8>> = []
      skipBlanks()
      if byte != end {
        while true {
          skipBlanks()
          if end == UInt8(ascii: "}") {
            let start = offset
            guard byte == UInt8(ascii: "\"") else { throw fault }
            try readString()
            if checksKeys, !names.insert(text[start..<offset]).inserted {
              throw JSONFault(offset: start)
            }
            skipBlanks()
            try expect(":".utf8)
          }
          try readValue(depth + 1)
          guard byte == UInt8(ascii: ",") else { break }
          offset += 1
        }
      }
      try expect([end])
    }

    private mutating func readString() throws(JSONFault) {
      offset += 1
      while byte != UInt8(ascii: "\"") {
        guard byte >= 0x20 else { throw fault }
        if byte == UInt8(ascii: "\\") {
          offset += 1
          guard "\"\\/bfnrtu".utf8.contains(byte) else { throw fault }
        }
        offset += 1
      }
      offset += 1
    }

    private mutating func readNumber() throws(JSONFault) {
      if byte == UInt8(ascii: "-") { offset += 1 }
      let start = offset
      try readDigits()
      // No number but 0 begins with it.
      if text[start] == UInt8(ascii: "0"), offset > start + 1 { throw fault }
      if byte == UInt8(ascii: ".") {
        offset += 1
        try readDigits()
      }
      if byte | 0x20 == UInt8(ascii: "e") {
        offset += 1
        if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { offset += 1 }
        try readDigits()
      }
    }

    private mutating func readDigits() throws(JSONFault) {
      guard (0x30...0x39).contains(byte) else { throw fault }
      while (0x30...0x39).contains(byte) { offset += 1 }
    }
  }
}
