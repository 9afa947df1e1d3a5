/// A text that is put together from parts and ends at a limit, so that no template and no message
/// can make it longer than anybody would read.
struct LimitedText {
  /// What came of one.
  struct Cut: Equatable {
    var text: String
    /// Whether more of it was cut off: then the text ends with "…".
    var isCut = false
    /// Whether the message's text is in it.
    var saysMessage = false
  }

  /// The most bytes that a title or a body has when it is rendered: sixteen times what fits into a
  /// payload.
  static let byteLimit = 65_536

  /// What stands where a text was cut off.
  static let ellipsis = "…"

  private var bytes: [UInt8] = []
  private var isCut = false
  private var saysMessage = false
  private let limit: Int

  init(limit: Int = byteLimit) { self.limit = limit }

  /// Whether nothing more has room.
  var isFull: Bool { isCut }

  mutating func append(_ text: String) {
    if isCut { return }
    let room = limit - bytes.count
    if text.utf8.count <= room {
      bytes.append(contentsOf: text.utf8)
    } else {
      bytes.append(contentsOf: text.utf8.prefix(room))
      isCut = true
    }
  }

  /// Appends the message's own text.
  mutating func append(message text: String) {
    if isCut { return }
    saysMessage = true
    append(text)
  }

  /// The text; what was cut off is followed by "…" after the last character that remains as a
  /// whole.
  var text: Cut {
    guard isCut else {
      return Cut(text: String(decoding: bytes, as: UTF8.self), saysMessage: saysMessage)
    }
    var whole = bytes[...]
    // What remains of a character in UTF-8 goes first, as it would be read as another one.
    while let last = whole.last, last & 0xC0 == 0x80 { whole.removeLast() }
    if let last = whole.last, last >= 0x80 { whole.removeLast() }
    // The last character may go on in what was cut off.
    let kept = String(decoding: whole, as: UTF8.self).dropLast()
    return Cut(text: String(kept) + Self.ellipsis, isCut: true, saysMessage: saysMessage)
  }

  /// A whole text, as much of it as has room.
  static func limited(_ text: String) -> Cut {
    guard text.utf8.count > byteLimit else { return Cut(text: text) }
    var limited = LimitedText()
    limited.append(text)
    return limited.text
  }
}

extension String {
  /// As much of the text as has room in a JSON string of so many bytes, cut between characters as
  /// users see them, with "…" behind it.
  ///
  /// - Returns: nil when not even "…" has room.
  /// - Complexity: O(bytes that are kept).
  func shortened(toJSONBytes limit: Int) -> String? {
    let ellipsis = LimitedText.ellipsis
    let room = limit - ellipsis.utf8.count
    guard room >= 0 else { return nil }
    var used = 0
    var end = startIndex
    while end < endIndex {
      let next = index(after: end)
      used += self[end..<next].utf8.reduce(0) { $0 + $1.jsonByteCount }
      if used > room { break }
      end = next
    }
    return String(self[..<end]) + ellipsis
  }
}

extension UInt8 {
  /// How many bytes a byte takes inside a JSON string.
  fileprivate var jsonByteCount: Int {
    switch self {
    case 0x22, 0x5C, 0x08, 0x09, 0x0A, 0x0C, 0x0D: 2
    case 0..<0x20: 6
    default: 1
    }
  }
}
