/// An id of at most 15 bytes in two words: its bytes from the lowest on, then zeros, and in the
/// highest byte their number below `0xE0`, or below `0xA0` if some are not ASCII.
///
/// The standard library keeps strings of so few bytes in the same form, so an ``Identifier`` is
/// made of it without copying characters. Two of them are the same id exactly if their words are.
@usableFromInline
package struct ShortIdentifier: BitwiseCopyable, Equatable, Sendable {
  @usableFromInline package let low: UInt64
  @usableFromInline package let high: UInt64

  /// An id's words; ``isValid`` says whether other words are one's.
  @inlinable
  package init(low: UInt64, high: UInt64) {
    self.low = low
    self.high = high
  }

  /// The id of these bytes; nil for more than 15, and for what is not valid UTF-8.
  @inlinable
  @inline(__always)
  package init?(utf8: UnsafeRawBufferPointer) {
    let count = utf8.count
    guard count <= 15 else { return nil }
    var low: UInt64 = 0
    var high: UInt64 = 0
    if count >= 8 {
      low = unsafe utf8.loadUnaligned(as: UInt64.self)
      // The last eight bytes, some of which may be among the first.
      let last = unsafe utf8.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
      high = last >> UInt64(truncatingIfNeeded: 8 &* (16 &- count))
    } else if count >= 4 {
      let first = unsafe utf8.loadUnaligned(as: UInt32.self)
      let last = unsafe utf8.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
      low = UInt64(first) | UInt64(last) &<< UInt64(truncatingIfNeeded: 8 &* (count &- 4))
    } else {
      for index in 0..<count { low |= UInt64(unsafe utf8[index]) &<< UInt64(8 &* index) }
    }
    var tag: UInt64 = 0xE0
    if (low | high) & Self.notASCII != 0 {
      guard unsafe isUTF8(utf8) else { return nil }
      tag = 0xA0
    }
    self.init(low: low, high: high | (tag | UInt64(count)) &<< 56)
  }

  /// The words of an id; nil if it is not short.
  ///
  /// - Parameter isFormOfStrings: ``isFormOfStrings``, which a caller that asks often keeps.
  @inlinable
  @inline(__always)
  package init?(_ id: borrowing Identifier, isFormOfStrings: Bool) {
    if isFormOfStrings {
      let words = unsafe withUnsafeBytes(of: id) { unsafe $0.load(as: Self.self) }
      // A string that the standard library keeps in its two words.
      if words.high &>> 60 & 0b1011 == 0b1010 {
        self = words
        return
      }
    }
    guard let short = unsafe id.withUTF8({ unsafe Self(utf8: $0) }) else { return nil }
    self = short
  }

  @inlinable package var count: Int { Int(high &>> 56 & 0xF) }

  /// A hash of the words, like ``seededHash(_:_:)``.
  @inlinable
  @inline(__always)
  package func hash(_ seed: UInt64) -> UInt32 {
    UInt32(
      truncatingIfNeeded: fold(
        fold(seed ^ low, 0x9E37_79B9_7F4A_7C15) ^ high, 0xD6E8_FEB8_6659_FD93))
  }

  /// Whether the words are those of an id, for words from an untrusted file.
  package var isValid: Bool {
    let characters = high & 0x00FF_FFFF_FFFF_FFFF
    let behind =
      count < 8 ? low >> UInt64(8 * count) | characters : characters >> UInt64(8 * (count - 8))
    let isASCII = (low | characters) & Self.notASCII == 0
    guard behind == 0 else { return false }
    switch high >> 60 {
    case 0xE: return isASCII
    case 0xA:
      if isASCII { return false }
      return unsafe withUnsafeBytes(of: self) {
        unsafe isUTF8(UnsafeRawBufferPointer(rebasing: $0[..<count]))
      }
    default: return false
    }
  }

  @usableFromInline static var notASCII: UInt64 { 0x8080_8080_8080_8080 }

  /// Whether strings of this standard library have the form described above.
  @usableFromInline
  package static let isFormOfStrings: Bool = {
    guard MemoryLayout<String>.size == MemoryLayout<Self>.size, 1 == UInt16(1).littleEndian else {
      return false
    }
    return ["", "a", "abcd", "abcdefgh", "abcdefghijklmno", "é", "日本語", "aбcdefgh"].allSatisfy {
      var text = $0
      let short = text.withUTF8 { unsafe Self(utf8: UnsafeRawBufferPointer($0)) }
      return unsafe short == unsafeBitCast(text, to: Self.self)
    }
  }()
}

/// Whether bytes are valid UTF-8.
@usableFromInline
func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
  // Without making a string.
  (try? UTF8Span(validating: unsafe bytes.assumingMemoryBound(to: UInt8.self).span)) != nil
}

extension Identifier {
  /// - Parameters:
  ///   - short: the words of an id.
  ///   - isFormOfStrings: ``ShortIdentifier/isFormOfStrings``, which a caller that makes many ids
  ///     keeps, as asking for it takes as long as making one.
  @inlinable
  @inline(__always)
  package init(
    _ short: ShortIdentifier, isFormOfStrings: Bool = ShortIdentifier.isFormOfStrings
  ) {
    var short = short
    self.init(
      unsafe withUnsafeMutableBytes(of: &short) { (words) -> String in
        if isFormOfStrings, let start = words.baseAddress {
          // Moved: a copy would count a reference that a short string does not have.
          return unsafe start.assumingMemoryBound(to: String.self).move()
        }
        let count = unsafe Int(words[15] & 0xF)
        return unsafe String(
          decoding: UnsafeRawBufferPointer(rebasing: words[..<count]), as: UTF8.self)
      })
  }
}
