/// Columns side by side, each in parts that lie on each other or stand beside each other.
struct StackedColumns {
  struct Series {
    let name: String
    /// A value for each column.
    let values: [Double]
    let color: String
  }

  /// What stands below each column; an empty text is left out.
  let names: [String]
  /// What a column is called when it is pointed at.
  let titles: [String]
  /// From the lowest part to the highest.
  let series: [Series]
  enum Arrangement {
    case stacked
    /// Stacked, each column as high as the others.
    case shares
    /// The parts are alternatives, all on one scale.
    case beside
  }

  let arrangement: Arrangement
  let label: String
  /// Whether the chart has the page's width, rather than half of it.
  var isFull = false

  /// Room for the marks of the axis, which on paper are larger beside a full chart.
  private var left: Double { isFull ? 66 : 52 }
  private static let height = 300.0
  private static let top = 12.0
  private static let bottom = 270.0

  func draw(_ layout: Layout) -> String {
    let width = isFull ? layout.fullWidth : layout.halfWidth
    var canvas = Canvas(
      width: width, height: Self.height, hasTitles: layout == .wide)
    let showsShares = arrangement == .shares
    let totals = names.indices.map { column in
      let values = series.map { $0.values[column] }
      return arrangement == .beside ? values.max() ?? 0 : values.reduce(0, +)
    }
    let greatest = showsShares ? 1 : totals.max() ?? 0
    let scale = LinearScale(
      upTo: greatest, from: Self.bottom, to: Self.top, tickCount: showsShares ? 5 : 4,
      limit: showsShares ? 1 : .infinity)
    let end = width - 6
    for tick in scale.ticks {
      let y = scale(tick)
      canvas.line(left, y, end, y, class: tick == 0 ? "base" : "grid")
      let text = showsShares ? Figures.tick(percent: tick) : Figures.tick(tick)
      canvas.text(text, x: left - 8, y: y + 4, anchor: .end, class: "label tick-y")
    }
    let step = (end - left) / Double(names.count)
    for column in names.indices where totals[column] > 0 {
      draw(column, totals[column], step, scale, on: &canvas)
    }
    for (column, name) in names.enumerated() where !name.isEmpty {
      let x = left + (Double(column) + 0.5) * step
      canvas.text(name, x: x, y: Self.bottom + 18, anchor: .middle, class: "label tick-x")
    }
    return canvas.svg(label: label, class: layout.rawValue)
  }

  private func draw(
    _ column: Int, _ total: Double, _ step: Double, _ scale: LinearScale, on canvas: inout Canvas
  ) {
    let left = left + Double(column) * step + step * 0.08
    let isBeside = arrangement == .beside
    let width = step * 0.84 / (isBeside ? Double(series.count) : 1)
    var below = 0.0
    for (index, part) in series.enumerated() where part.values[column] > 0 {
      let value = part.values[column]
      let unit = arrangement == .shares ? total : 1
      let bottom = scale(below / unit)
      let top = scale((below + value) / unit)
      if !isBeside { below += value }
      let share =
        isBeside || value == total
        ? "" : " (\(Figures.percent(value / total)))"
      canvas.rectangle(
        x: left + (isBeside ? Double(index) * width : 0), y: top, width: width,
        height: bottom - top, class: "part \(part.color)",
        title: [titles[column], "\(part.name): \(Figures.mean(value))\(share)"])
    }
  }
}
