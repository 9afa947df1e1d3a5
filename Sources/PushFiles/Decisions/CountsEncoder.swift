internal import PushModel

/// A JSON object for every message: how often each outcome occurred.
struct CountsEncoder: DecisionEncoder {
  static var needsResults: Bool { false }

  init(_ options: EncodingOptions) {}

  func encode(_ message: Message, _ total: Int, count: (Outcome) -> Int) -> [UInt8] {
    var row = Array("{\"message\":".utf8)
    row.appendJSON(message.id.text)
    row.append(contentsOf: ",\"conversation\":".utf8)
    row.appendJSON(message.conversation.text)
    row.append(contentsOf: ",\"recipients\":\(total),\"counts\":".utf8)
    row.append(contentsOf: Self.object(count))
    row.append(contentsOf: "}\n".utf8)
    return row
  }

  /// The keys of all outcomes, in byte order, as JSON strings with their colons.
  private static let keys: [(text: [UInt8], outcome: Outcome)] = Outcome.coded.map(\.outcome)
    .sorted { Array($0.key.utf8).lexicographicallyPrecedes(Array($1.key.utf8)) }
    .map { (text: Array("\"\($0.key)\":".utf8), outcome: $0) }

  /// An object of counts, keys in byte order, zeros left out.
  static func object(_ count: (Outcome) -> Int) -> [UInt8] {
    var text = [UInt8(ascii: "{")]
    for (key, outcome) in keys {
      let count = count(outcome)
      if count == 0 { continue }
      if text.count > 1 { text.append(UInt8(ascii: ",")) }
      text += key
      text.append(contentsOf: "\(count)".utf8)
    }
    text.append(UInt8(ascii: "}"))
    return text
  }
}
