/// What short texts mean that were read lately, so that the same text need not be read again.
///
/// A text is found again unless another one has taken its slot since.
///
/// - Memory: a slot has eight bytes for each of the words, and a meaning; from the first text on.
struct RecentTexts<let wordCount: Int, Meaning> {
  /// The characters, zeros behind them, and the number of characters plus one.
  private typealias Key = InlineArray<wordCount, UInt64>

  private var known: [(key: Key, meaning: Meaning)?] = []
  private let slotBits: Int
  private static var multiplier: UInt64 { 0x9E37_79B9_7F4A_7C15 }
  /// Longer texts are not kept.
  static var maximumLength: Int { wordCount * 8 - 1 }

  /// - Parameter slotBits: the binary logarithm of the number of slots.
  init(slotBits: Int) { self.slotBits = slotBits }

  /// What a text means; nil if that is not known.
  ///
  /// - Precondition: `8 * wordCount` bytes are readable from the beginning of the text.
  @inline(__always)
  func meaning(of text: UnsafeRawBufferPointer) -> Meaning? {
    guard !known.isEmpty, let key = unsafe Self.key(text), let found = known[slot(key)],
      key.indices.allSatisfy({ key[$0] == found.key[$0] })
    else { return nil }
    return found.meaning
  }

  /// Notes what a text means, unless it is too long.
  ///
  /// - Precondition: that of ``meaning(of:)``.
  mutating func note(_ text: UnsafeRawBufferPointer, _ meaning: Meaning) {
    guard let key = unsafe Self.key(text) else { return }
    if known.isEmpty { known = Array(repeating: nil, count: 1 << slotBits) }
    known[slot(key)] = (key, meaning)
  }

  mutating func removeAll() { known = [] }

  @inline(__always)
  private static func key(_ text: UnsafeRawBufferPointer) -> Key? {
    guard text.count <= maximumLength, let start = text.baseAddress else { return nil }
    var key = Key(repeating: 0)
    for index in key.indices {
      let bits = 8 * (text.count - 8 * index)
      if bits <= 0 { break }
      let word = unsafe UInt64(
        littleEndian: start.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self))
      key[index] = bits < 64 ? word & ((1 << UInt64(bits)) - 1) : word
    }
    key[wordCount - 1] |= UInt64(text.count + 1) << 56
    return key
  }

  @inline(__always)
  private func slot(_ key: Key) -> Int {
    var sum: UInt64 = 0
    for index in key.indices {
      let (high, low) = key[index].multipliedFullWidth(
        by: Self.multiplier &* UInt64(2 * index + 1))
      sum &+= high ^ low
    }
    return Int((sum &* Self.multiplier) >> UInt64(64 - slotBits))
  }
}
