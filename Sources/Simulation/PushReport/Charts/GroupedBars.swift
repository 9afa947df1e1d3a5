/// Bars to the right, several for each row, of shares.
struct GroupedBars {
  struct Series {
    let name: String
    /// 0...1, one for each row.
    let shares: [Double]
    /// The tooltip of a bar.
    let titles: [String]
    let color: String
  }

  let rows: [String]
  let series: [Series]
  let label: String
  /// Whether the chart has the page's width, rather than half of it.
  var isFull = false

  private static let left = 118.0
  private static let barHeight = 14.0
  private static let gap = 12.0

  func draw(_ layout: Layout) -> String {
    let width = isFull ? layout.fullWidth : layout.halfWidth
    let rowHeight = Double(series.count) * Self.barHeight + Self.gap
    let bottom = Double(rows.count) * rowHeight
    var canvas = Canvas(
      width: width, height: bottom + 26, hasTitles: layout == .wide)
    let end = width - 50
    let x = LinearScale(
      upTo: series.flatMap(\.shares).max() ?? 0, from: Self.left, to: end, limit: 1)
    for tick in x.ticks {
      canvas.line(x(tick), 0, x(tick), bottom, class: tick == 0 ? "base" : "grid")
      canvas.text(
        Figures.tick(percent: tick), x: x(tick), y: bottom + 18, anchor: .middle,
        class: "label tick-x")
    }
    for (row, name) in rows.enumerated() {
      let top = Double(row) * rowHeight + Self.gap / 2
      let middle = top + (rowHeight - Self.gap) / 2
      canvas.text(name, x: Self.left - 8, y: middle + 4, anchor: .end, class: "label tick-y")
      for (index, part) in series.enumerated() {
        let y = top + Double(index) * Self.barHeight
        let share = part.shares[row]
        canvas.rectangle(
          x: Self.left, y: y, width: x(share) - Self.left, height: Self.barHeight - 1.5,
          class: "part \(part.color)", title: [part.titles[row]])
        canvas.text(
          Figures.percent(share, isExact: share == 0 || share == 1), x: x(share) + 5,
          y: y + Self.barHeight - 3, class: "value")
      }
    }
    return canvas.svg(label: label, class: layout.rawValue)
  }
}
