internal import PushFanout
internal import PushModel
internal import PushSupport

/// A JSON object for every message: how often each outcome occurred.
struct CountsEncoder: DecisionEncoder {
  static var needsResults: Bool { false }

  init(_ options: EncodingOptions) {}

  func encode(
    _ message: borrowing Message, number: Int, _ counts: borrowing FanoutCounts,
    to piece: inout EncodedPiece
  ) {
    var (keyed, recipients) = (KeyedCounts(), 0)
    counts.forEach { code, count in
      keyed.insert(code, count)
      recipients += count
    }
    piece.bytes.append(contentsOf: "{\"message\":\"".utf8)
    piece.bytes.appendJSONCharacters(message.id.text)
    piece.bytes.append(contentsOf: "\",\"conversation\":\"".utf8)
    piece.bytes.appendJSONCharacters(message.conversation.text)
    piece.bytes.append(addingCapacity: 64 + keyed.objectLimit) { line in
      line.append("\",\"recipients\":")
      line.appendDecimal(recipients)
      line.append(",\"counts\":")
      keyed.appendObject(to: &line)
      line.append("}\n")
    }
  }
}

/// How often outcomes occur, as a JSON object.
struct KeyedCounts {
  /// A bit for each key, in the order of ``all``.
  private var keys: UInt128 = 0
  /// The counts in the same order.
  private var counts = InlineArray<128, Int>(repeating: 0)

  /// All keys in their byte order, each as a JSON string with a colon, the position of each by its
  /// code, and the length of the longest.
  ///
  /// SAFETY: allocated once and never freed or changed. Arrays would have all threads count
  /// references to the same ones, for each key of each message.
  private nonisolated(unsafe) static let all:
    (
      keys: UnsafeBufferPointer<UnsafeBufferPointer<UInt8>>,
      positions: UnsafeBufferPointer<UInt8>, longest: Int
    ) = {
      let sorted = Outcome.inOrderOfKeys.filter { $0.code != 0 }
        .map { (code: $0.code, text: Array("\"\($0.key)\":".utf8)) }
      var positions = [UInt8](repeating: 0, count: Outcome.codeCount)
      for (position, key) in sorted.enumerated() { positions[Int(key.code)] = UInt8(position) }
      let keys = unsafe sorted.map { unsafe copied($0.text) }
      return unsafe (copied(keys), copied(positions), sorted.map(\.text.count).max() ?? 0)
    }()

  private static func copied<Element>(_ elements: [Element]) -> UnsafeBufferPointer<Element> {
    let copy = UnsafeMutableBufferPointer<Element>.allocate(capacity: elements.count)
    _ = unsafe copy.initialize(fromContentsOf: elements)
    return UnsafeBufferPointer(copy)
  }

  /// Adds an outcome by its code, and how often it occurs.
  mutating func insert(_ code: UInt8, _ count: Int) {
    let position = unsafe Int(Self.all.positions[Int(code)])
    keys |= 1 &<< UInt128(position)
    // Subscripting an inline array may copy it; subscripting its span does not.
    var span = counts.mutableSpan
    span[position] = count
  }

  /// How many bytes ``appendObject(to:_:)`` appends at most.
  var objectLimit: Int {
    unsafe 2 + keys.nonzeroBitCount * (1 + Self.all.longest + OutputSpan.decimalLimit)
  }

  /// Appends an object of counts, keys in byte order.
  ///
  /// - Precondition: there is room for ``objectLimit`` bytes.
  mutating func appendObject(to bytes: inout OutputSpan<UInt8>) {
    var rest = keys
    let counts = counts.mutableSpan
    bytes.append("{")
    while rest != 0 {
      let position = rest.trailingZeroBitCount
      unsafe bytes.append(copying: Self.all.keys[position])
      bytes.appendDecimal(counts[position])
      rest &= rest &- 1
      if rest != 0 { bytes.append(",") }
    }
    bytes.append("}")
  }
}
