internal import PushModel

/// Encodes a result as JSON: keys in byte order, so that the same result gives the same bytes. It does
/// without Foundation, which is several times the size of everything else here.
///
/// A value of the tree of JSON, which is filled by the value that is encoded.
final class ResultEncoder: Encoder {
  private enum Value {
    case none
    case text([UInt8])
    case list([ResultEncoder])
    case object([(key: String, value: ResultEncoder)])
  }

  private var value = Value.none
  let codingPath: [any CodingKey]
  let userInfo: [CodingUserInfoKey: Any] = [:]

  private init(_ codingPath: [any CodingKey]) { self.codingPath = codingPath }

  /// The bytes of a value.
  ///
  /// - Throws: `EncodingError` for a number that JSON does not have.
  static func bytes(_ value: some Encodable) throws -> [UInt8] {
    let encoder = ResultEncoder([])
    try encoder.set(value)
    var bytes: [UInt8] = []
    encoder.append(to: &bytes)
    return bytes
  }

  private func append(to bytes: inout [UInt8]) {
    switch value {
    case .none: bytes += "{}".utf8
    case .text(let text): bytes += text
    case .list(let values):
      bytes.append(UInt8(ascii: "["))
      for (index, value) in values.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        value.append(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let fields):
      bytes.append(UInt8(ascii: "{"))
      let sorted = fields.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
      for (index, field) in sorted.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        bytes.appendJSON(field.key)
        bytes.append(UInt8(ascii: ":"))
        field.value.append(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  // MARK: Values

  private func set(_ value: some Encodable) throws {
    switch value {
    case let text as String:
      var bytes: [UInt8] = []
      bytes.appendJSON(text)
      self.value = .text(bytes)
    case let flag as Bool: self.value = .text(Array((flag ? "true" : "false").utf8))
    case let number as any BinaryInteger: self.value = .text(Array("\(number)".utf8))
    case let number as Double:
      guard number.isFinite else {
        throw EncodingError.invalidValue(
          number, EncodingError.Context(codingPath: codingPath, debugDescription: "\(number)"))
      }
      // 1, and not 1.0.
      let text = "\(number)"
      self.value = .text(Array(text.hasSuffix(".0") ? text.dropLast(2).utf8 : text[...].utf8))
    // Long columns, without a node for each number.
    case let numbers as [Int]: self.value = .text(Self.list(numbers))
    case let numbers as [Int64]: self.value = .text(Self.list(numbers))
    default: try value.encode(to: self)
    }
  }

  private static func list(_ numbers: [some BinaryInteger]) -> [UInt8] {
    var bytes = [UInt8(ascii: "[")]
    for (index, number) in numbers.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      bytes += "\(number)".utf8
    }
    return bytes + [UInt8(ascii: "]")]
  }

  // MARK: Containers

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    if case .none = value { value = .object([]) }
    return KeyedEncodingContainer(Fields(encoder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    if case .none = value { value = .list([]) }
    return Elements(encoder: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { Single(encoder: self) }

  private func field(_ key: some CodingKey) -> ResultEncoder {
    let field = ResultEncoder(codingPath + [key])
    guard case .object(var fields) = value else { return field }
    value = .none
    fields.append((key.stringValue, field))
    value = .object(fields)
    return field
  }

  private func element() -> ResultEncoder {
    let element = ResultEncoder(codingPath)
    guard case .list(var elements) = value else { return element }
    value = .none
    elements.append(element)
    value = .list(elements)
    return element
  }

  private var count: Int {
    guard case .list(let elements) = value else { return 0 }
    return elements.count
  }

  private func setNull() { value = .text(Array("null".utf8)) }

  private struct Fields<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: ResultEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil(forKey key: Key) { encoder.field(key).setNull() }

    func encode(_ value: some Encodable, forKey key: Key) throws {
      try encoder.field(key).set(value)
    }

    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { encoder.field(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
      encoder.field(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoder }

    func superEncoder(forKey key: Key) -> any Encoder { encoder.field(key) }
  }

  private struct Elements: UnkeyedEncodingContainer {
    let encoder: ResultEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.count }

    func encodeNil() { encoder.element().setNull() }

    func encode(_ value: some Encodable) throws { try encoder.element().set(value) }

    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> { encoder.element().container(keyedBy: type) }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
      encoder.element().unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoder.element() }
  }

  private struct Single: SingleValueEncodingContainer {
    let encoder: ResultEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil() { encoder.setNull() }

    func encode(_ value: some Encodable) throws { try encoder.set(value) }
  }
}
