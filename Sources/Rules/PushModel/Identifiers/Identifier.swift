/// The id of a user, a conversation, a message, a device or a channel.
///
/// Two ids are the same only when their characters are the same, code point by code point. A plain
/// `String` would call `"é"` and `"e\u{301}"` equal, because Swift compares text by canonical
/// equivalence; an id is a key, not text, and is compared exactly.
///
/// - Memory: that of one `String`, 16 bytes, and its characters when there are more than 15.
/// - Source: formats.md, "Values"; E-47 for the one comparison that ignores case.
public struct Identifier: Sendable {
  /// The characters of the id, as they were given.
  public let text: String

  /// An id with these characters. Only a channel's may be empty.
  public init(_ text: String) { self.text = text }

  /// An id of UTF-8, in which what is not valid is replaced as by `String(decoding:as:)`.
  package init(utf8: UnsafeRawBufferPointer) {
    if let short = unsafe ShortIdentifier(utf8: utf8) {
      self.init(short)
    } else {
      self.init(unsafe String(decoding: utf8, as: UTF8.self))
    }
  }

  /// Calls `body` with the characters, without a copy of the text that counts a reference.
  @inlinable
  @inline(__always)
  package func withUTF8<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> Value {
    let value = unsafe text.utf8.withContiguousStorageIfAvailable {
      unsafe body(UnsafeRawBufferPointer($0))
    }
    if let value { return value }
    // A string whose UTF-8 is not contiguous, as one that is bridged from Objective-C.
    var copy = text
    return copy.withUTF8 { unsafe body(UnsafeRawBufferPointer($0)) }
  }

  /// Whether the id has no characters.
  public var isEmpty: Bool { text.isEmpty }

  /// The id by Unicode lower-casing, by which Easemob's mentions are compared (E-47).
  ///
  /// This is Unicode's default, language-independent mapping to lower case: each character by
  /// itself, and a capital sigma that ends a word as the final sigma.
  ///
  /// - Complexity: O(n) in the number of characters.
  public func lowercased() -> Identifier {
    if text.utf8.allSatisfy({ $0 < 0x80 && !(0x41...0x5A).contains($0) }) { return self }
    let scalars = Array(text.unicodeScalars)
    var lowered = String.UnicodeScalarView()
    for (index, scalar) in scalars.enumerated() {
      if scalar == "\u{3A3}" {
        lowered.append(Self.endsWord(at: index, in: scalars) ? "\u{3C2}" : "\u{3C3}")
      } else {
        lowered.append(contentsOf: scalar.properties.lowercaseMapping.unicodeScalars)
      }
    }
    return Identifier(String(lowered))
  }

  /// Whether the sigma at `index` ends a word: a cased letter stands before it and none after it,
  /// not counting case-ignorable characters. Source: Unicode Standard 3.13, Final_Sigma.
  private static func endsWord(at index: Int, in scalars: [Unicode.Scalar]) -> Bool {
    let before = scalars[..<index].last { !$0.properties.isCaseIgnorable }
    let after = scalars[(index + 1)...].first { !$0.properties.isCaseIgnorable }
    return before?.properties.isCased == true && after?.properties.isCased != true
  }
}

extension Identifier: Hashable {
  public static func == (left: Identifier, right: Identifier) -> Bool {
    unsafe right.withUTF8 { right in unsafe left.hasUTF8(right) }
  }

  /// Whether these are the id's characters.
  func hasUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
    unsafe withUTF8 { unsafe haveSameBytes($0, bytes) }
  }

  public func hash(into hasher: inout Hasher) {
    unsafe withUTF8 { bytes in unsafe hasher.combine(bytes: bytes) }
    hasher.combine(0xFF as UInt8)
  }
}

extension Identifier: ExpressibleByStringLiteral, CustomStringConvertible {
  /// An id with the characters of a literal.
  public init(stringLiteral text: String) { self.init(text) }
  public var description: String { text }
}
