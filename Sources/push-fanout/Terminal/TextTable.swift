import PushSupport

/// Columns of text. Cells are escaped before they are padded.
enum TextTable {
  /// Cells side by side: the first from the left, the others from the right.
  static func row(_ cells: [String], _ widths: [Int]) -> String {
    zip(cells, widths).enumerated().map { index, cell in
      index == 0 ? right(cell.0, cell.1) : left(cell.0, cell.1)
    }.joined()
  }

  static func left(_ text: String, _ width: Int) -> String {
    let text = TerminalText.escaped(text)
    return String(repeating: " ", count: max(0, width - text.count)) + text
  }

  static func right(_ text: String, _ width: Int) -> String {
    let text = TerminalText.escaped(text)
    return text + String(repeating: " ", count: max(1, width - text.count))
  }

  static func share(_ count: Int, of total: Int) -> String {
    guard total > 0 else { return "-" }
    let tenths = Int((Double(count) * 1000 / Double(total)).rounded())
    return "\(tenths / 10).\(tenths % 10) %"
  }

  /// Thousands apart, as `1,234,567`.
  static func grouped(_ number: Int) -> String {
    var digits = Array(String(number.magnitude))
    var index = digits.count - 3
    while index > 0 {
      digits.insert(",", at: index)
      index -= 3
    }
    return (number < 0 ? "-" : "") + String(digits)
  }
}
