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
    TerminalText.escaped(text).paddedInFront(to: width)
  }

  static func right(_ text: String, _ width: Int) -> String {
    TerminalText.escaped(text).padded(to: width, gap: 1)
  }
}
