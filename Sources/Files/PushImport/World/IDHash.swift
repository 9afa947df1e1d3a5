/// Ids replaced by keyed hashes, so that a world can be handed to others (`--hash-ids`).
///
/// - Source: SipHash-2-4 with 128 bits, Aumasson and Bernstein, 2012; the tests have its vectors.
struct IDHash {
  private let key: (UInt64, UInt64)

  /// - Parameter key: the text of a key file, 32 hexadecimal digits; nil for another text.
  init?(_ text: some Sequence<UInt8>) {
    let digits = text.filter { $0 > 0x20 }.map { Character(UnicodeScalar($0)).hexDigitValue ?? 16 }
    guard digits.count == 32, !digits.contains(16) else { return nil }
    let bytes = (0..<16).map { UInt8(digits[2 * $0] * 16 + digits[2 * $0 + 1]) }
    key = (Self.word(bytes[..<8]), Self.word(bytes[8...]))
  }

  /// 32 hexadecimal digits.
  func text(_ id: some Collection<UInt8>) -> String {
    let words = hash(Array(id))
    return [words.0, words.1].flatMap { word in
      (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
    }
    .map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private func hash(_ bytes: [UInt8]) -> (UInt64, UInt64) {
    var state = State(key)
    let whole = bytes.count / 8 * 8
    for start in stride(from: 0, to: whole, by: 8) {
      state.absorb(Self.word(bytes[start..<start + 8]))
    }
    state.absorb(Self.word(bytes[whole...]) | UInt64(bytes.count & 0xFF) << 56)
    let first = state.finish(0xEE)
    return (first, state.finish(0xDD, into: 1))
  }

  /// At most eight bytes, the first one lowest.
  private static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  private struct State {
    private var (v0, v1, v2, v3): (UInt64, UInt64, UInt64, UInt64)

    init(_ key: (UInt64, UInt64)) {
      v0 = key.0 ^ 0x736F_6D65_7073_6575
      v1 = key.1 ^ 0x646F_7261_6E64_6F6D ^ 0xEE
      v2 = key.0 ^ 0x6C79_6765_6E65_7261
      v3 = key.1 ^ 0x7465_6462_7974_6573
    }

    mutating func absorb(_ word: UInt64) {
      v3 ^= word
      mix(2)
      v0 ^= word
    }

    /// - Parameter word: which half of the hash is made: 0 the first, 1 the second.
    mutating func finish(_ mark: UInt64, into word: Int = 0) -> UInt64 {
      if word == 0 { v2 ^= mark } else { v1 ^= mark }
      mix(4)
      return v0 ^ v1 ^ v2 ^ v3
    }

    private mutating func mix(_ rounds: Int) {
      for _ in 0..<rounds {
        v0 = v0 &+ v1
        v1 = v1 << 13 | v1 >> 51
        v1 ^= v0
        v0 = v0 << 32 | v0 >> 32
        v2 = v2 &+ v3
        v3 = v3 << 16 | v3 >> 48
        v3 ^= v2
        v0 = v0 &+ v3
        v3 = v3 << 21 | v3 >> 43
        v3 ^= v0
        v2 = v2 &+ v1
        v1 = v1 << 17 | v1 >> 47
        v1 ^= v2
        v2 = v2 << 32 | v2 >> 32
      }
    }
  }
}
