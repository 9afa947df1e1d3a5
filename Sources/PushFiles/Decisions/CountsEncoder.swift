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

  /// The code of an outcome, and its key as a JSON string with a colon.
  @safe private struct Key {
    let code: UInt8
    let text: UnsafeBufferPointer<UInt8>
  }

  /// All outcomes, in the byte order of their keys.
  ///
  /// SAFETY: allocated once and never freed or changed. Arrays would have all threads count
  /// references to the same ones, for each key of each message.
  private nonisolated(unsafe) static let keys: UnsafeBufferPointer<Key> = {
    let sorted = Outcome.coded
      .map { (code: $0.code, key: Array("\"\($0.outcome.key)\":".utf8)) }
      .sorted { $0.key.lexicographicallyPrecedes($1.key) }
    let keys = sorted.map { unsafe Key(code: $0.code, text: copied($0.key)) }
    return unsafe copied(keys)
  }()

  private static func copied<Element>(_ elements: [Element]) -> UnsafeBufferPointer<Element> {
    let copy = UnsafeMutableBufferPointer<Element>.allocate(capacity: elements.count)
    _ = unsafe copy.initialize(fromContentsOf: elements)
    return UnsafeBufferPointer(copy)
  }

  /// Appends an object of counts, keys in byte order, zeros left out.
  ///
  /// - Parameter count: how often the outcome of a code occurs.
  static func appendObject(to bytes: inout [UInt8], _ count: (UInt8) -> Int) {
    bytes.append(UInt8(ascii: "{"))
    var isFirst = true
    for index in unsafe 0..<keys.count {
      let key = unsafe keys[index]
      let count = count(key.code)
      if count == 0 { continue }
      if !isFirst { bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      unsafe bytes.append(contentsOf: key.text)
      bytes.appendDecimal(count)
    }
    bytes.append(UInt8(ascii: "}"))
  }
}
