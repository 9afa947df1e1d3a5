/// Colours for values, each for as many of them, so that a few large ones do not take all.
struct QuantileScale {
  /// How many colours there are, `heat-0` to the last.
  static let colorCount = 8

  /// The least value of each colour, and the greatest of all; empty without values.
  let bounds: [Double]

  /// - Parameter values: those of all charts that share the colours. Zeros have a colour of their
  ///   own.
  init(_ values: [Double]) {
    let sorted = values.filter { $0 > 0 }.sorted()
    bounds =
      sorted.isEmpty
      ? []
      : (0..<Self.colorCount).map { sorted[$0 * sorted.count / Self.colorCount] }
        + [sorted[sorted.count - 1]]
  }

  /// The class of a value's colour.
  func color(of value: Double) -> String {
    guard value > 0 else { return "heat-zero" }
    let color = bounds.dropLast().lastIndex { $0 <= value } ?? 0
    return "heat-\(color)"
  }

  /// What the page says of it.
  static let remark =
    "Each colour has an eighth of the fields above 0, so that the busiest do not make all others "
    + "alike; the numbers are the least of each colour and the greatest of all."
}

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
  /// Charts that are compared have the same.
  let scale: QuantileScale
  let label: String

  private static let left = 40.0
  private static let rowHeight = 28.0

  func draw(_ layout: Layout) -> String {
    let bottom = Double(rows.count) * Self.rowHeight
    var canvas = Canvas(
      width: layout.halfWidth, height: bottom + 72, hasTitles: layout == .wide)
    let step = (layout.halfWidth - Self.left) / Double(columns.count)
    for (row, name) in rows.enumerated() {
      let y = Double(row) * Self.rowHeight
      canvas.text(
        name, x: Self.left - 8, y: y + Self.rowHeight / 2 + 4, anchor: .end, class: "label tick-y")
      for (column, value) in values[row].enumerated() {
        canvas.rectangle(
          x: Self.left + Double(column) * step + 1, y: y + 1, width: step - 2,
          height: Self.rowHeight - 2,
          class: value.map { "heat \(scale.color(of: $0))" } ?? "heat-empty",
          title: titles[row][column])
      }
    }
    for (column, name) in columns.enumerated() where !name.isEmpty {
      let x = Self.left + (Double(column) + 0.5) * step
      canvas.text(name, x: x, y: bottom + 16, anchor: .middle, class: "label tick-x")
    }
    drawLegend(layout, top: bottom + 36, on: &canvas)
    return canvas.svg(label: label, class: layout.rawValue)
  }

  private func drawLegend(_ layout: Layout, top: Double, on canvas: inout Canvas) {
    guard !scale.bounds.isEmpty else { return }
    let box = (layout.halfWidth - Self.left - 48) / Double(QuantileScale.colorCount)
    for (color, bound) in scale.bounds.enumerated() {
      let x = Self.left + Double(color) * box
      if color < QuantileScale.colorCount {
        canvas.rectangle(
          x: x, y: top, width: box - 1, height: 14, class: "heat heat-\(color)")
      }
      // On a telephone there is room for every second number.
      guard layout == .wide || color % 2 == 0 else { continue }
      canvas.text(text(bound), x: x, y: top + 30, class: "label legend")
    }
  }
}
