/// Areas along time, one above the other on the same axis.
struct TimeChart {
  /// One quantity.
  struct Panel {
    let title: String
    /// A value for each bin.
    let values: [Int]
    /// The class of its colour.
    let color: String
  }

  /// A part of the axis with a tooltip.
  struct Hit {
    let range: Range<Int64>
    /// The lines of its tooltip.
    let text: [String]
  }

  /// One more than there are bins, ascending.
  let edges: [Int64]
  let panels: [Panel]
  let hits: [Hit]
  /// What the picture shows, for those who do not see it.
  let label: String

  private static let left = 58.0
  private static let right = 14.0
  private static let titleHeight = 34.0
  private static let panelHeight = 120.0

  func draw(_ layout: Layout) -> String {
    let height = Double(panels.count) * (Self.titleHeight + Self.panelHeight) + 40
    var canvas = Canvas(width: layout.fullWidth, height: height)
    let axis = Self.left...(layout.fullWidth - Self.right)
    for (index, panel) in panels.enumerated() {
      let top = Double(index) * (Self.titleHeight + Self.panelHeight) + Self.titleHeight
      draw(panel, top: top, axis, on: &canvas)
    }
    drawTicks(layout == .wide ? 9 : 4, bottom: height - 40, axis, on: &canvas)
    // Who points with a finger sees no titles.
    if layout == .wide { drawHits(axis, height: height, on: &canvas) }
    return canvas.svg(label: label, class: layout.rawValue)
  }

  private func x(_ at: Int64, _ axis: ClosedRange<Double>) -> Double {
    let share = Double(at - edges[0]) / Double(edges[edges.count - 1] - edges[0])
    return axis.lowerBound + (axis.upperBound - axis.lowerBound) * share
  }

  private func draw(
    _ panel: Panel, top: Double, _ axis: ClosedRange<Double>, on canvas: inout Canvas
  ) {
    let bottom = top + Self.panelHeight
    let scale = LinearScale(
      upTo: Double(panel.values.max() ?? 0), from: bottom, to: top, isWhole: true)
    canvas.text(panel.title, x: 0, y: top - 12, class: "panel")
    for tick in scale.ticks {
      let y = scale(tick)
      canvas.line(axis.lowerBound, y, axis.upperBound, y, class: tick == 0 ? "base" : "grid")
      canvas.text(
        Figures.tick(tick), x: Self.left - 8, y: y + 4, anchor: .end, class: "label tick-y")
    }
    var data = "M\(Canvas.number(x(edges[0], axis))) \(Canvas.number(bottom))"
    var isAt = bottom
    for (index, value) in panel.values.enumerated() {
      let y = scale(Double(value))
      // Bins of the same height are one line.
      if y != isAt {
        data += "H\(Canvas.number(x(edges[index], axis)))V\(Canvas.number(y))"
        isAt = y
      }
    }
    data += "H\(Canvas.number(axis.upperBound))V\(Canvas.number(bottom))Z"
    canvas.path(data, class: "area \(panel.color)")
  }

  private func drawTicks(
    _ limit: Int, bottom: Double, _ axis: ClosedRange<Double>, on canvas: inout Canvas
  ) {
    // A mark needs room for half of its text on either side.
    let ticks = TimeTicks(edges[0]...edges[edges.count - 1], limit: limit).ticks
    for tick in ticks {
      let x = x(tick.at, axis)
      canvas.line(x, bottom, x, bottom + 5, class: "base")
      let anchor: Canvas.Anchor = x > axis.upperBound - 20 ? .end : .middle
      canvas.text(tick.text, x: x, y: bottom + 19, anchor: anchor, class: "label tick-x")
      if let context = tick.context, x < axis.upperBound - 30 {
        canvas.text(context, x: x, y: bottom + 35, anchor: .middle, class: "label context")
      }
    }
  }

  private func drawHits(
    _ axis: ClosedRange<Double>, height: Double, on canvas: inout Canvas
  ) {
    for hit in hits {
      let left = x(hit.range.lowerBound, axis)
      canvas.rectangle(
        x: left, y: Self.titleHeight, width: x(hit.range.upperBound, axis) - left,
        height: height - Self.titleHeight - 40, class: "hit", title: hit.text)
    }
  }
}
