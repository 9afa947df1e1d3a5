internal import PushFanout
internal import PushModel
internal import PushSupport

/// A JSON object for every message: how often each outcome occurred.
struct CountsEncoder: DecisionEncoder {
  static var needsResults: Bool { false }

  init(_ options: EncodingOptions) {}

  func encode(_ message: Message, _ counts: FanoutCounts, to piece: inout EncodedPiece) {
    var (keys, recipients) = (KeySet(), 0)
    counts.forEach { code, count in
      keys.insert(code)
      recipients += count
    }
    piece.bytes.append(contentsOf: "{\"message\":\"".utf8)
    piece.bytes.appendJSONCharacters(message.id.text)
    piece.bytes.append(contentsOf: "\",\"conversation\":\"".utf8)
    piece.bytes.appendJSONCharacters(message.conversation.text)
    piece.bytes.append(addingCapacity: 64 + keys.objectLimit) { line in
      line.append("\",\"recipients\":")
      line.appendDecimal(recipients)
      line.append(",\"counts\":")
      keys.appendObject(to: &line) { counts[code: $0] }
      line.append("}\n")
    }
  }
}

/// Outcomes that occur, as the keys of a JSON object.
struct KeySet {
  /// A bit for each key, in the order of ``all``.
  private var keys: UInt128 = 0

  /// The code of an outcome, and its key as a JSON string with a colon.
  @safe private struct Key {
    let code: UInt8
    let text: UnsafeBufferPointer<UInt8>
  }

  /// All keys in their byte order, the position of each by its code, and the length of the longest.
  ///
  /// SAFETY: allocated once and never freed or changed. Arrays would have all threads count
  /// references to the same ones, for each key of each message.
  private nonisolated(unsafe) static let all:
    (keys: UnsafeBufferPointer<Key>, positions: UnsafeBufferPointer<UInt8>, longest: Int) = {
      let sorted = Outcome.coded
        .map { (code: $0.code, text: Array("\"\($0.outcome.key)\":".utf8)) }
        .sorted { $0.text.lexicographicallyPrecedes($1.text) }
      var positions = [UInt8](repeating: 0, count: Outcome.codeCount)
      for (position, key) in sorted.enumerated() { positions[Int(key.code)] = UInt8(position) }
      let keys = sorted.map { unsafe Key(code: $0.code, text: copied($0.text)) }
      return unsafe (copied(keys), copied(positions), sorted.map(\.text.count).max() ?? 0)
    }()

  private static func copied<Element>(_ elements: [Element]) -> UnsafeBufferPointer<Element> {
    let copy = UnsafeMutableBufferPointer<Element>.allocate(capacity: elements.count)
    _ = unsafe copy.initialize(fromContentsOf: elements)
    return UnsafeBufferPointer(copy)
  }

  /// Adds the key of an outcome's code.
  mutating func insert(_ code: UInt8) {
    keys |= 1 &<< UInt128(unsafe Self.all.positions[Int(code)])
  }

  /// How many bytes ``appendObject(to:_:)`` appends at most.
  var objectLimit: Int {
    unsafe 2 + keys.nonzeroBitCount * (1 + Self.all.longest + OutputSpan.decimalLimit)
  }

  /// Appends an object of counts, keys in byte order.
  ///
  /// - Parameter count: how often the outcome of a code occurs.
  /// - Precondition: there is room for ``objectLimit`` bytes.
  func appendObject(to bytes: inout OutputSpan<UInt8>, _ count: (UInt8) -> Int) {
    var rest = keys
    bytes.append("{")
    while rest != 0 {
      let key = unsafe Self.all.keys[rest.trailingZeroBitCount]
      unsafe bytes.append(copying: key.text)
      bytes.appendDecimal(count(key.code))
      rest &= rest &- 1
      if rest != 0 { bytes.append(",") }
    }
    bytes.append("}")
  }
}
