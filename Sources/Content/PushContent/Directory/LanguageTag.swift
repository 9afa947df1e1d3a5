/// A language by its BCP 47 tag: `en`, `zh-Hans`, `pt-BR`.
///
/// Tags are compared without regard to case, and `_` is taken for `-`, as some systems write it so.
///
/// - Source: RFC 5646 for the form, RFC 4647 for finding one.
public struct LanguageTag: Sendable {
  /// As it was written.
  public let text: String
  /// In lower case, with hyphens.
  let key: String

  /// - Returns: nil for what has not the form of a tag: subtags of 1 to 8 letters and digits of
  ///   ASCII between hyphens, the first of letters only, 63 characters at most.
  public init?(_ text: String) {
    let bytes = text.utf8.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 }
    let subtags = bytes.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard bytes.count <= 63,
      subtags.allSatisfy({ subtag in
        (1...8).contains(subtag.count) && subtag.allSatisfy { $0.isNameCharacter && $0 != 0x5F }
      }),
      let first = subtags.first, first.allSatisfy({ !$0.isDigit })
    else { return nil }
    self.text = text
    key = String(decoding: bytes, as: UTF8.self).lowercased()
  }
}

extension LanguageTag: Hashable, Comparable {
  public static func == (left: LanguageTag, right: LanguageTag) -> Bool { left.key == right.key }
  public func hash(into hasher: inout Hasher) { hasher.combine(key) }
  public static func < (left: LanguageTag, right: LanguageTag) -> Bool { left.key < right.key }
}

extension LanguageTag: CustomStringConvertible {
  public var description: String { text }
}

extension [LanguageTag: String] {
  /// The text in a preferred language; nil when there is none.
  ///
  /// The tag itself is looked for, then the tag without its last subtag and so on ("Lookup" of
  /// RFC 4647, section 3.4), and then, of those more specific than the preferred tag, the first in
  /// the order of their characters.
  func text(in preferred: LanguageTag) -> (tag: LanguageTag, text: String)? {
    var subtags = preferred.key.split(separator: "-")
    while !subtags.isEmpty {
      if let tag = LanguageTag(subtags.joined(separator: "-")), let index = index(forKey: tag) {
        return (tag: self[index].key, text: self[index].value)
      }
      subtags.removeLast()
      // A single letter or digit introduces what came behind it.
      if subtags.count > 1, subtags.last?.utf8.count == 1 { subtags.removeLast() }
    }
    let longer = filter { $0.key.key.hasPrefix(preferred.key + "-") }
    return longer.min { $0.key < $1.key }.map { (tag: $0.key, text: $0.value) }
  }
}
