internal import PushModel

/// A JSON object as it is written.
struct JSONLine {
  private(set) var bytes: [UInt8] = []

  /// Nothing yet.
  init() {}

  mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

  /// The line, with its end.
  consuming func end() -> [UInt8] {
    append("}\n")
    return bytes
  }

  mutating func append(_ text: StaticString) {
    unsafe bytes.append(
      contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  mutating func append(_ other: [UInt8]) { bytes.append(contentsOf: other) }

  /// Adds the name of a field; its value comes next.
  mutating func name(_ name: String) {
    separate()
    bytes.appendJSON(name)
    bytes.append(UInt8(ascii: ":"))
  }

  /// The same for a name without characters that JSON escapes.
  @inline(__always)
  mutating func name(plain name: StaticString) {
    separate()
    append("\"")
    append(name)
    append("\":")
  }

  private mutating func separate() {
    if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
  }

  mutating func add(_ name: String, _ text: String) {
    self.name(name)
    value(text)
  }

  mutating func add(_ name: String, raw text: String) {
    self.name(name)
    value(raw: text)
  }

  mutating func add(_ name: String, all texts: [String]) {
    self.name(name)
    value(texts)
  }

  mutating func value(_ text: String) { bytes.appendJSON(text) }

  mutating func value(raw text: String) { bytes.append(contentsOf: text.utf8) }

  mutating func value(_ texts: [String]) { value(texts) { $0.value($1) } }

  /// An array of values, each of which `add` writes.
  mutating func value<Value>(_ values: [Value], _ add: (inout JSONLine, Value) -> Void) {
    bytes.append(UInt8(ascii: "["))
    for (index, value) in values.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      add(&self, value)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  mutating func open(_ name: String) {
    self.name(name)
    open()
  }

  mutating func open() { bytes.append(UInt8(ascii: "{")) }

  mutating func close() { bytes.append(UInt8(ascii: "}")) }
}
