internal import CTables

/// What each character is to the tokens of a text (O-17).
///
/// - Memory: about 500 kB, made when the first text is looked at.
struct CharacterTable: Sendable {
  /// What a character is, after it was replaced.
  enum Kind: UInt8 {
    /// Ends a token.
    case separator
    /// Joins a token that began with one of its kind, else begins one.
    case run
    /// Always begins a token.
    case alone
    /// Joins an open token.
    case mark
    /// Left out.
    case dropped
    /// Replaced by other characters.
    case folded
  }

  static let shared = CharacterTable()

  /// For each 256 characters, where they are in ``entries``.
  private var pages: [UInt16] = []
  /// A kind in the lowest 3 bits; of what is folded, above them where in ``folds`` it begins.
  private var entries: [UInt32] = []
  /// The letter that each ASCII character is, or is replaced by; 0 for others.
  private(set) var asciiLetters = InlineArray<128, UInt8>(repeating: 0)
  /// For each folded character how many replace it, then these.
  private var folds: [UInt32] = []

  /// What a character is.
  ///
  /// - Complexity: O(1).
  @inline(__always)
  func kind(of character: UInt32) -> Kind {
    Kind(rawValue: UInt8(entry(character) & 7)) ?? .separator
  }

  /// The characters that replace one of kind `folded`. They are not replaced again.
  func replacement(of character: UInt32) -> ArraySlice<UInt32> {
    let place = Int(entry(character) >> 3)
    return folds[(place + 1)..<(place + 1 + Int(folds[place]))]
  }

  @inline(__always)
  private func entry(_ character: UInt32) -> UInt32 {
    entries[Int(pages[Int(character >> 8)]) * 256 + Int(character & 255)]
  }

  // MARK: Reading

  private init() {
    // SAFETY: the array is a constant of that many bytes.
    var bytes = unsafe Array(UnsafeBufferPointer(start: ct_characters, count: ct_characters_count))[
      ...]
    var all = [UInt32](repeating: 0, count: 0x110000)
    var start: UInt32 = 0
    while !bytes.isEmpty {
      start += Self.number(&bytes)
      let shape = Self.number(&bytes)
      let step: UInt32 = shape & 8 == 0 ? 1 : 2
      let kind = shape & 7
      let distance = kind == 4 ? Self.signed(&bytes) : 0
      let replacement = kind == 5 ? Self.sequence(&bytes, count: shape >> 4) : []
      for index in 0...(kind == 5 ? 0 : shape >> 4) {
        let character = start + index * step
        if kind < 4 {
          all[Int(character)] = kind + 1
          continue
        }
        all[Int(character)] = UInt32(folds.count) << 3 | UInt32(Kind.folded.rawValue)
        let folded = kind == 4 ? [UInt32(Int64(character) + distance)] : replacement
        folds += [UInt32(folded.count)] + folded
      }
    }
    makePages(all)
    for character in 0..<UInt32(128) {
      let letters = kind(of: character) == .folded ? replacement(of: character) : [character]
      guard letters.count == 1, let letter = letters.first, letter < 128 else { continue }
      if kind(of: letter) == .run { asciiLetters[Int(character)] = UInt8(letter) }
    }
  }

  /// Pages that are alike stand once.
  private mutating func makePages(_ all: [UInt32]) {
    var places: [ArraySlice<UInt32>: UInt16] = [:]
    for first in stride(from: 0, to: all.count, by: 256) {
      let page = all[first..<(first + 256)]
      if let place = places[page] {
        pages.append(place)
      } else {
        places[page] = UInt16(places.count)
        pages.append(UInt16(places.count - 1))
        entries += page
      }
    }
  }

  private static func number(_ bytes: inout ArraySlice<UInt8>) -> UInt32 {
    var (number, shift): (UInt32, UInt32) = (0, 0)
    while let byte = bytes.popFirst() {
      number |= UInt32(byte & 127) << shift
      if byte < 128 { break }
      shift += 7
    }
    return number
  }

  private static func signed(_ bytes: inout ArraySlice<UInt8>) -> Int64 {
    let number = Int64(number(&bytes))
    return number & 1 == 0 ? number / 2 : -(number + 1) / 2
  }

  private static func sequence(_ bytes: inout ArraySlice<UInt8>, count: UInt32) -> [UInt32] {
    let first = number(&bytes)
    return [first] + (1..<count).map { _ in UInt32(0x300 + signed(&bytes)) }
  }
}
