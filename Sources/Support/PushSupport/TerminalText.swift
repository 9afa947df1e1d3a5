/// Untrusted text, escaped for a terminal.
package enum TerminalText {
  /// The text on one line: what would end a line, move the cursor, or change the direction of what
  /// comes behind it is written as in JSON, like `\\n` and `\\u001b`.
  package static func escaped(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: \.isControl) else { return text }
    var escaped = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if scalar.isControl {
        escaped.append(contentsOf: escape(scalar).unicodeScalars)
      } else {
        escaped.append(scalar)
      }
    }
    return String(escaped)
  }

  /// A text as one word of a shell's command.
  package static func shellWord(_ word: String) -> String {
    let isPlain = word.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"),
        UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: "@"):
        true
      default: false
      }
    }
    // Not replacing(), which would link the machinery of regular expressions.
    let parts = word.split(separator: "'", omittingEmptySubsequences: false)
    return isPlain && !word.isEmpty ? word : "'\(parts.joined(separator: "'\\''"))'"
  }

  /// Lines, each of which stays one.
  package static func lines(_ lines: [String]) -> String {
    lines.map(escaped).joined(separator: "\n")
  }

  private static func escape(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\u{8}": return "\\b"
    case "\t": return "\\t"
    case "\n": return "\\n"
    case "\u{C}": return "\\f"
    case "\r": return "\\r"
    default:
      let hex = String(scalar.value, radix: 16)
      return "\\u" + String(repeating: "0", count: max(0, 4 - hex.count)) + hex
    }
  }
}

extension Unicode.Scalar {
  /// C0, DEL and C1, the separators of lines and paragraphs, and marks of direction.
  fileprivate var isControl: Bool {
    switch value {
    case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: true
    case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
