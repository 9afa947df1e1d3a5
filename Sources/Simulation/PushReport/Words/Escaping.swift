/// Text from a file, made harmless for HTML and SVG.
enum Escaping {
  /// Longer texts are cut, as an id may have megabytes.
  static let maximumCount = 96

  /// Text as HTML: letters stay, what means something to HTML is escaped, and what would not be
  /// seen, or would change the direction of the text around it, is shown by its number.
  static func text(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      case _ where isHidden(scalar): result += "\u{27E8}U+\(hexadecimal(scalar.value))\u{27E9}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// An id as HTML, cut after ``maximumCount`` characters or another limit.
  static func identifier(_ id: String, limit: Int = maximumCount) -> String {
    let scalars = id.unicodeScalars
    let cut = scalars.index(
      scalars.startIndex, offsetBy: limit, limitedBy: scalars.endIndex)
    guard let cut, cut != scalars.endIndex else { return text(id) }
    return text(String(scalars[..<cut])) + "\u{2026}"
  }

  /// Control characters, invisible format characters (marks of direction are among them), line and
  /// paragraph separators, and what XML does not allow.
  private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: true
    default: scalar.value & 0xFFFE == 0xFFFE
    }
  }

  private static func hexadecimal(_ value: UInt32) -> String {
    let digits = String(value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
