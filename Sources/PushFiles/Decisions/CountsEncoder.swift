internal import PushModel
internal import PushSupport

/// A JSON object for every message: how often each outcome occurred.
struct CountsEncoder: DecisionEncoder {
  static var needsResults: Bool { false }

  init(_ options: EncodingOptions) {}

  func encode(_ message: Message, _ counts: MessageCounts, to piece: inout EncodedPiece) {
    piece.bytes.append(contentsOf: "{\"message\":".utf8)
    piece.bytes.appendJSON(message.id.text)
    piece.bytes.append(contentsOf: ",\"conversation\":".utf8)
    piece.bytes.appendJSON(message.conversation.text)
    piece.bytes.append(contentsOf: ",\"recipients\":".utf8)
    piece.bytes.appendDecimal(counts.recipients)
    piece.bytes.append(contentsOf: ",\"counts\":".utf8)
    Self.appendObject(to: &piece.bytes) { Int(counts.byCode[Int($0)]) }
    piece.bytes.append(contentsOf: "}\n".utf8)
  }

  /// The codes of all outcomes, in the byte order of their keys, with the keys as JSON strings with
  /// their colons.
  private static let keys: [(text: [UInt8], code: UInt8)] = Outcome.coded
    .map { (text: Array("\"\($0.outcome.key)\":".utf8), code: $0.code) }
    .sorted { $0.text.lexicographicallyPrecedes($1.text) }

  /// Appends an object of counts, keys in byte order, zeros left out.
  ///
  /// - Parameter count: how often the outcome of a code occurs.
  static func appendObject(to bytes: inout [UInt8], _ count: (UInt8) -> Int) {
    bytes.append(UInt8(ascii: "{"))
    var isFirst = true
    for (key, code) in keys {
      let count = count(code)
      if count == 0 { continue }
      if !isFirst { bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      bytes.append(contentsOf: key)
      bytes.appendDecimal(count)
    }
    bytes.append(UInt8(ascii: "}"))
  }
}
