internal import PushModel

/// A JSON value as it is written: what a sender passes through to the recipient's app.
public struct RawJSON: Hashable, Sendable {
  /// The bytes of the value, UTF-8, without a blank between its parts.
  public let bytes: [UInt8]
  /// The characters of a string; nil for other values.
  let text: String?

  /// - Precondition: `bytes` are a JSON value, a string if and only if `text` has its characters.
  package init(unchecked bytes: [UInt8], text: String? = nil) {
    (self.bytes, self.text) = (bytes, text)
  }

  /// `null`.
  public static let null = RawJSON(unchecked: Array("null".utf8))

  /// A string, escaped as JSON requires and no further.
  public static func string(_ text: String) -> RawJSON {
    var bytes: [UInt8] = []
    bytes.appendJSON(text)
    return RawJSON(unchecked: bytes, text: text)
  }

  /// A number.
  public static func integer(_ number: Int64) -> RawJSON {
    RawJSON(unchecked: Array("\(number)".utf8))
  }

  /// `true` or `false`.
  public static func bool(_ flag: Bool) -> RawJSON { RawJSON(unchecked: Array("\(flag)".utf8)) }

  /// An array of these values, in this order.
  public static func array(_ items: [RawJSON]) -> RawJSON {
    var json = JSONWriter()
    json.value(items) { $0.append($1.bytes) }
    return RawJSON(unchecked: json.bytes)
  }

  /// An object of these members, in this order.
  ///
  /// - Precondition: no name occurs twice.
  public static func object(_ members: KeyValuePairs<String, RawJSON>) -> RawJSON {
    precondition(Set(members.map { Identifier($0.key) }).count == members.count, "a name twice")
    var json = JSONWriter.object()
    for (name, value) in members { json.add(name, raw: value.bytes) }
    return RawJSON(unchecked: json.end())
  }
}

extension RawJSON: CustomStringConvertible {
  public var description: String { String(decoding: bytes, as: UTF8.self) }
}
