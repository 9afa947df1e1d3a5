internal import PushModel

/// A JSON object for every message: who gets a push.
struct PushListEncoder: DecisionEncoder {
  /// Commas stand between the users of a list, so a list is encoded at once.
  static var splitsMessages: Bool { false }

  init(_ options: EncodingOptions) {}

  func encode(_ decisions: MessageDecisions, to piece: inout EncodedPiece) {
    piece.bytes.append(contentsOf: "{\"message\":".utf8)
    piece.bytes.appendJSON(decisions.message.id.text)
    piece.bytes.append(contentsOf: ",\"push\":[".utf8)
    var isFirst = true
    unsafe decisions.forEachRecipient { (_, id, code) -> Void in
      guard code & 1 != 0 else { return }
      if !isFirst { piece.bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      unsafe piece.bytes.appendJSON(id)
    }
    piece.bytes.append(contentsOf: "]}\n".utf8)
  }
}
