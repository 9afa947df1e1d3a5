/// Columns side by side, each in parts that lie on each other.
struct StackedColumns {
  struct Series {
    let name: String
    /// A value for each column.
    let values: [Int]
    let color: String
  }

  /// What stands below each column; an empty text is left out.
  let names: [String]
  /// What a column is called when it is pointed at.
  let titles: [String]
  /// From the lowest part to the highest.
  let series: [Series]
  /// Whether each column is as high as the others, its parts being shares.
  let showsShares: Bool
  let label: String

  private static let left = 52.0
  private static let height = 300.0
  private static let top = 12.0
  private static let bottom = 270.0

  func draw(_ layout: Layout) -> String {
    var canvas = Canvas(width: layout.halfWidth, height: Self.height)
    let totals = names.indices.map { column in series.reduce(0) { $0 + $1.values[column] } }
    let greatest = showsShares ? 1 : Double(totals.max() ?? 0)
    let scale = LinearScale(
      upTo: greatest, from: Self.bottom, to: Self.top, tickCount: showsShares ? 5 : 4,
      limit: showsShares ? 1 : .infinity, isWhole: !showsShares)
    let end = layout.halfWidth - 6
    for tick in scale.ticks {
      let y = scale(tick)
      canvas.line(Self.left, y, end, y, class: tick == 0 ? "base" : "grid")
      let text = showsShares ? Figures.tick(percent: tick) : Figures.tick(tick)
      canvas.text(text, x: Self.left - 8, y: y + 4, anchor: .end, class: "label tick-y")
    }
    let step = (end - Self.left) / Double(names.count)
    for column in names.indices where totals[column] > 0 {
      draw(column, totals[column], step, scale, on: &canvas)
    }
    for (column, name) in names.enumerated() where !name.isEmpty {
      let x = Self.left + (Double(column) + 0.5) * step
      canvas.text(name, x: x, y: Self.bottom + 18, anchor: .middle, class: "label tick-x")
    }
    return canvas.svg(label: label, class: layout.rawValue)
  }

  private func draw(
    _ column: Int, _ total: Int, _ step: Double, _ scale: LinearScale, on canvas: inout Canvas
  ) {
    let left = Self.left + Double(column) * step
    var below = 0
    for part in series where part.values[column] > 0 {
      let value = part.values[column]
      let unit = showsShares ? Double(total) : 1
      let bottom = scale(Double(below) / unit)
      below += value
      let top = scale(Double(below) / unit)
      let share = Figures.share(value, of: total)
      canvas.rectangle(
        x: left + step * 0.08, y: top, width: step * 0.84, height: bottom - top,
        class: "part \(part.color)",
        title: [titles[column], "\(part.name): \(Figures.exact(value)) (\(share))"])
    }
  }
}
