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
    if unsafe utf8.needsJSONEscapes {
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

extension UnsafeRawBufferPointer {
  /// Whether a JSON string has escapes for some of these bytes.
  @inlinable @inline(__always)
  package var needsJSONEscapes: Bool {
    unsafe hasMark { word in
      zeroBytes(word & 0xE0E0_E0E0_E0E0_E0E0) | zeroBytes(word ^ 0x2222_2222_2222_2222)
        | zeroBytes(word ^ 0x5C5C_5C5C_5C5C_5C5C)
    }
  }

  /// Whether `marks` gives more than 0 for some of the bytes, which it is given eight at a time. It
  /// may see a byte more than once.
  ///
  /// SAFETY: bytes are loaded only where there are as many.
  @inlinable @inline(__always)
  package func hasMark(_ marks: (UInt64) -> UInt64) -> Bool {
    if count >= 8 {
      var offset = 0
      while offset < count - 8 {
        if marks(unsafe loadUnaligned(fromByteOffset: offset, as: UInt64.self)) != 0 { return true }
        offset += 8
      }
      return marks(unsafe loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)) != 0
    }
    if count >= 4 {
      let first = unsafe loadUnaligned(fromByteOffset: 0, as: UInt32.self)
      let last = unsafe loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
      return marks(UInt64(first) << 32 | UInt64(last)) != 0
    }
    for index in 0..<count where marks(unsafe UInt64(self[index]) &* 0x0101_0101_0101_0101) != 0 {
      return true
    }
    return false
  }
}

/// More than 0 if one of eight bytes is 0.
@inlinable @inline(__always)
package func zeroBytes(_ word: UInt64) -> UInt64 {
  (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
}

/// JSON as it is written, field by field.
package struct JSONWriter {
  /// What was written.
  package private(set) var bytes: [UInt8] = []

  /// Nothing yet.
  package init() {}

  /// An object without fields, which ``end()`` closes.
  package static func object() -> JSONWriter {
    var json = JSONWriter()
    json.open()
    return json
  }

  package mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

  /// The object, closed.
  package consuming func end() -> [UInt8] {
    close()
    return bytes
  }

  /// The object, closed, as a line.
  package consuming func endLine() -> [UInt8] {
    append("}\n")
    return bytes
  }

  package mutating func append(_ text: StaticString) {
    unsafe bytes.append(
      contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  package mutating func append(_ other: [UInt8]) { bytes.append(contentsOf: other) }

  /// Adds the name of a field; its value comes next.
  package mutating func name(_ name: String) {
    separate()
    bytes.appendJSON(name)
    bytes.append(UInt8(ascii: ":"))
  }

  /// The same for a name without characters that JSON escapes.
  package mutating func name(plain name: StaticString) {
    separate()
    append("\"")
    append(name)
    append("\":")
  }

  private mutating func separate() {
    if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
  }

  /// Adds a text, unless there is none.
  package mutating func add(_ name: String, _ text: String?) {
    guard let text else { return }
    self.name(name)
    value(text)
  }

  package mutating func add(_ name: String, raw text: String) {
    self.name(name)
    value(raw: text)
  }

  package mutating func add(_ name: String, raw value: [UInt8]) {
    self.name(name)
    append(value)
  }

  package mutating func add(_ name: String, texts: [String]) {
    self.name(name)
    value(texts)
  }

  /// Adds an array of values as they are written.
  package mutating func add(_ name: String, list: [[UInt8]]) {
    self.name(name)
    value(list) { $0.append($1) }
  }

  package mutating func value(_ text: String) { bytes.appendJSON(text) }

  package mutating func value(raw text: String) { bytes.append(contentsOf: text.utf8) }

  package mutating func value(_ texts: [String]) { value(texts) { $0.value($1) } }

  /// An array of values, each of which `add` writes.
  package mutating func value<Value>(_ values: [Value], _ add: (inout JSONWriter, Value) -> Void) {
    bytes.append(UInt8(ascii: "["))
    for (index, value) in values.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      add(&self, value)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  package mutating func open(_ name: String) {
    self.name(name)
    open()
  }

  package mutating func open() { bytes.append(UInt8(ascii: "{")) }

  package mutating func close() { bytes.append(UInt8(ascii: "}")) }
}
