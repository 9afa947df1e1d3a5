internal import PushModel

/// A JSON object for every message: who gets a push.
struct PushListEncoder: DecisionEncoder {
  static var memberLimit: Int { 1 << 18 }

  init(_ options: EncodingOptions) {}

  func encode(_ decisions: some MessageDecisions, to piece: inout EncodedPiece) {
    if decisions.isFirst {
      piece.bytes.append(contentsOf: "{\"message\":".utf8)
      piece.bytes.appendJSON(decisions.message.id.text)
      piece.bytes.append(contentsOf: ",\"push\":[".utf8)
    }
    // Commas stand between users: one before the first of a part, too, unless there was none yet.
    let separator: [UInt8] = [UInt8(ascii: ","), UInt8(ascii: "\"")]
    unsafe separator.withUnsafeBufferPointer { separator in
      let quote = unsafe UnsafeBufferPointer(rebasing: separator[1...])
      var start = unsafe decisions.hasEarlierPush ? separator : quote
      unsafe decisions.forEachPush { (id) -> Void in
        unsafe piece.bytes.append(start, json: id, quote)
        unsafe start = separator
      }
    }
    if decisions.isLast { piece.bytes.append(contentsOf: "]}\n".utf8) }
  }
}
