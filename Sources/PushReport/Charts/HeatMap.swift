/// A field for each row and column, darker where there is more.
struct HeatMap {
  let rows: [String]
  /// What stands below each column; an empty text is left out.
  let columns: [String]
  /// Row by row; nil where there is no value.
  let values: [[Double?]]
  /// The lines of each field's tooltip, row by row.
  let titles: [[[String]]]
  /// How a value of the legend is written.
  let text: (Double) -> String
  /// Whether the lightest colour is the least value rather than 0.
  var beginsAtLeast = false
  let label: String

  /// How many colours there are, `heat-0` to the last.
  static let colorCount = 8
  private static let left = 40.0
  private static let rowHeight = 28.0

  func draw(_ layout: Layout) -> String {
    let bottom = Double(rows.count) * Self.rowHeight
    var canvas = Canvas(width: layout.halfWidth, height: bottom + 64)
    let step = (layout.halfWidth - Self.left) / Double(columns.count)
    let known = values.joined().compactMap { $0 }
    let greatest = known.max() ?? 0
    let least = beginsAtLeast ? known.min() ?? 0 : 0
    for (row, name) in rows.enumerated() {
      let y = Double(row) * Self.rowHeight
      canvas.text(
        name, x: Self.left - 8, y: y + Self.rowHeight / 2 + 4, anchor: .end, class: "label tick-y")
      for (column, value) in values[row].enumerated() {
        canvas.rectangle(
          x: Self.left + Double(column) * step + 0.5, y: y + 0.5, width: step - 1,
          height: Self.rowHeight - 1, class: Self.color(value, least, greatest),
          title: titles[row][column])
      }
    }
    for (column, name) in columns.enumerated() where !name.isEmpty {
      let x = Self.left + (Double(column) + 0.5) * step
      canvas.text(name, x: x, y: bottom + 16, anchor: .middle, class: "label tick-x")
    }
    drawLegend(least, greatest, top: bottom + 36, width: layout.halfWidth, on: &canvas)
    return canvas.svg(label: label, class: layout.rawValue)
  }

  private static func color(_ value: Double?, _ least: Double, _ greatest: Double) -> String {
    guard let value else { return "heat-empty" }
    guard value > 0 else { return "heat heat-zero" }
    let share = greatest > least ? (value - least) / (greatest - least) : 1
    return "heat heat-\(min(colorCount - 1, Int(share * Double(colorCount))))"
  }

  private func drawLegend(
    _ least: Double, _ greatest: Double, top: Double, width: Double, on canvas: inout Canvas
  ) {
    let box = 22.0
    let start = Self.left + 50
    canvas.text(
      least == 0 ? "0" : text(least), x: start - 7, y: top + 12, anchor: .end,
      class: "label legend")
    for color in 0..<Self.colorCount {
      canvas.rectangle(
        x: start + Double(color) * box, y: top, width: box - 1, height: 14,
        class: "heat heat-\(color)")
    }
    canvas.text(
      text(greatest), x: start + Double(Self.colorCount) * box + 7, y: top + 12,
      class: "label legend")
  }
}
