import PushModel
import TestSupport
import Testing

/// Goal: an id of at most 15 bytes of UTF-8 is two words, which only that id has.
@Suite struct ShortIdentifierTests {
  private static func short(_ text: String) -> ShortIdentifier? {
    var text = text
    return text.withUTF8 { unsafe ShortIdentifier(utf8: UnsafeRawBufferPointer($0)) }
  }

  @Test func wordsAreThoseOfOneID() {
    for seed in TestSupport.seeds([1, 42]) {
      var random = SeededGenerator(seed: seed)
      let texts = (0..<2000).map { _ in
        (0..<random.pick([0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16]))
          .map { _ in
            random.pick(["a", "b", "\0", "Z", "\u{7F}", "\u{E9}", "\u{65E5}", "\u{1F600}"])
          }
          .joined()
      }
      let made = texts.map { Self.short($0).map { Identifier($0).text.utf8.map { $0 } } }
      let expected = texts.map { $0.utf8.count <= 15 ? $0.utf8.map { $0 } : nil }
      #expect(made == expected, "seed \(seed)")
      let valid = texts.map { Self.short($0)?.isValid ?? true }
      #expect(valid == texts.map { _ in true }, "seed \(seed)")
      let equal = zip(texts, texts.dropFirst()).map { Self.short($0) == Self.short($1) }
      let same = zip(texts, texts.dropFirst()).map { (left, right) in
        left.utf8.count > 15 && right.utf8.count > 15
          || left.utf8.elementsEqual(right.utf8) && left.utf8.count <= 15
      }
      #expect(equal == same, "seed \(seed)")
    }
  }

  @Test func bytesThatAreNoTextAreNotShort() {
    for bytes in [[0xFF], [0xC3], [0x61, 0x80], [0xED, 0xA0, 0x80], [0xC0, 0x80]] as [[UInt8]] {
      #expect(unsafe bytes.withUnsafeBytes { unsafe ShortIdentifier(utf8: $0) } == nil, "\(bytes)")
    }
  }

  /// What a damaged file may say: other words than those of an id, of which one was changed.
  @Test func otherWordsAreNotValid() throws {
    let words = try #require(Self.short("abcdefghij"))
    let accented = try #require(Self.short("caf\u{E9}"))
    let wrong = [
      // Bytes behind the last one, and another number of bytes.
      ShortIdentifier(low: words.low, high: words.high | 1 << 16),
      ShortIdentifier(low: words.low, high: words.high &- 1 << 56),
      ShortIdentifier(low: 1 << 40, high: 0xE4 << 56),
      // Called ASCII and not, and the other way round.
      ShortIdentifier(low: words.low | 0x80, high: words.high),
      ShortIdentifier(low: accented.low, high: accented.high | 0x40 << 56),
      ShortIdentifier(low: words.low, high: words.high & ~(0x40 << 56)),
      // No UTF-8, and neither of the two forms.
      ShortIdentifier(low: 0xFF, high: 0xA1 << 56),
      ShortIdentifier(low: words.low, high: words.high & ~(0x20 << 56)),
      ShortIdentifier(low: words.low, high: words.high | 0x10 << 56),
    ]
    #expect(wrong.map(\.isValid) == wrong.map { _ in false })
    #expect(words.isValid && accented.isValid)
  }

  /// Otherwise ids are made more slowly, from their characters.
  @Test func stringsHaveTheForm() {
    #expect(ShortIdentifier.isFormOfStrings)
  }
}
