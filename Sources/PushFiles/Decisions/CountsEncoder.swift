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

  /// The codes of all outcomes, in the byte order of their keys, and where the keys are in the text.
  private static let keys: [(code: UInt8, start: Int, end: Int)] = {
    var end = 0
    return sortedKeys.map { code, key in
      end += key.count
      return (code, end - key.count, end)
    }
  }()

  /// The keys as JSON strings with their colons, one after the other.
  private static let keyText: [UInt8] = sortedKeys.flatMap(\.key)

  private static var sortedKeys: [(code: UInt8, key: [UInt8])] {
    Outcome.coded
      .map { (code: $0.code, key: Array("\"\($0.outcome.key)\":".utf8)) }
      .sorted { $0.key.lexicographicallyPrecedes($1.key) }
  }

  /// Appends an object of counts, keys in byte order, zeros left out.
  ///
  /// - Parameter count: how often the outcome of a code occurs.
  static func appendObject(to bytes: inout [UInt8], _ count: (UInt8) -> Int) {
    bytes.append(UInt8(ascii: "{"))
    var isFirst = true
    for index in keys.indices {
      let count = count(keys[index].code)
      if count == 0 { continue }
      if !isFirst { bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      bytes.append(contentsOf: keyText[keys[index].start..<keys[index].end])
      bytes.appendDecimal(count)
    }
    bytes.append(UInt8(ascii: "}"))
  }
}
