/// What short texts mean that were read lately, so that the same text need not be read again.
///
/// A text is found again unless another one has taken its slot since.
///
/// - Memory: 72 bytes a slot, from the first text on.
struct RecentTexts<Meaning: BitwiseCopyable> {
  /// The characters, zeros behind them, and the number of characters plus one.
  private typealias Key = InlineArray<7, UInt64>

  private var known: [(key: Key, meaning: Meaning)?] = []
  private static var slotCount: Int { 1 << 14 }
  private static var multiplier: UInt64 { 0x9E37_79B9_7F4A_7C15 }
  /// Longer texts are not kept.
  static var maximumLength: Int { 55 }

  /// What a text means; nil if that is not known.
  func meaning(of text: UnsafeRawBufferPointer) -> Meaning? {
    guard !known.isEmpty, let key = unsafe Self.key(text), let found = known[Self.slot(key)],
      key.indices.allSatisfy({ key[$0] == found.key[$0] })
    else { return nil }
    return found.meaning
  }

  /// Notes what a text means.
  mutating func note(_ text: UnsafeRawBufferPointer, _ meaning: Meaning) {
    guard let key = unsafe Self.key(text) else { return }
    if known.isEmpty { known = Array(repeating: nil, count: Self.slotCount) }
    known[Self.slot(key)] = (key, meaning)
  }

  mutating func removeAll() { known = [] }

  private static func key(_ text: UnsafeRawBufferPointer) -> Key? {
    guard text.count <= maximumLength else { return nil }
    var key = Key(repeating: 0)
    unsafe withUnsafeMutableBytes(of: &key) { (bytes) -> Void in
      unsafe bytes.copyMemory(from: text)
      unsafe bytes[maximumLength] = UInt8(text.count + 1)
    }
    return key
  }

  private static func slot(_ key: Key) -> Int {
    var sum: UInt64 = 0
    for index in key.indices {
      let (high, low) = key[index].multipliedFullWidth(by: multiplier &* UInt64(2 * index + 1))
      sum &+= high ^ low
    }
    return Int((sum &* multiplier) >> 50)
  }
}
