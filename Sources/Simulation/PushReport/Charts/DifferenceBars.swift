/// Bars to the left and to the right of nothing: a difference for each row.
struct DifferenceBars {
  let rows: [(name: String, difference: Int, title: String)]
  let label: String

  private static let rowHeight = 26.0
  /// Room for the number behind a bar.
  private static let numberWidth = 100.0

  /// Room for the names.
  private var left: Double { 8.0 * Double(rows.map(\.name.count).max() ?? 0) + 12 }

  func draw(_ layout: Layout) -> String {
    let width = layout.halfWidth
    var canvas = Canvas(
      width: width, height: Double(rows.count) * Self.rowHeight + 4, hasTitles: layout == .wide)
    let most = Double(max(1, rows.map { $0.difference.magnitude }.max() ?? 1))
    let hasMore = rows.contains { $0.difference > 0 }
    let hasFewer = rows.contains { $0.difference < 0 }
    let from = left + (hasFewer ? Self.numberWidth : 0)
    let to = width - (hasMore || !hasFewer ? Self.numberWidth : 4)
    // Nothing is in the middle if there is both, else at an end.
    let zero = hasMore && hasFewer ? (from + to) / 2 : hasFewer ? to : from
    let unit = (hasMore && hasFewer ? (to - from) / 2 : to - from) / most
    for (index, row) in rows.enumerated() {
      let top = Double(index) * Self.rowHeight
      canvas.text(
        row.name, x: left - 8, y: top + 17, anchor: .end, class: "label tick-y")
      let size = Double(row.difference.magnitude) * unit
      let isMore = row.difference >= 0
      if row.difference != 0 {
        canvas.rectangle(
          x: isMore ? zero : zero - size, y: top + 3, width: max(1, size),
          height: Self.rowHeight - 6, class: "part \(isMore ? "more" : "b")",
          title: [row.title])
      }
      let isLeft = row.difference < 0 || !hasMore && hasFewer
      canvas.text(
        (row.difference > 0 ? "+" : "") + Figures.short(row.difference),
        x: isLeft ? zero - size - 6 : zero + size + 6, y: top + 17,
        anchor: isLeft ? .end : .start, class: "value")
    }
    canvas.line(zero, 0, zero, Double(rows.count) * Self.rowHeight, class: "base")
    return canvas.svg(label: label, class: layout.rawValue)
  }
}
