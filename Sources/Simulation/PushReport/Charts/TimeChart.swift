/// Areas along time, one above the other on the same axis of time.
struct TimeChart {
  /// One quantity, or two of the same kind on one scale.
  struct Panel {
    let title: String
    /// A value for each bin.
    let values: [Int]
    /// The class of its colour.
    let color: String
    /// Drawn as a line over the area, on the same scale.
    var over: (values: [Int], color: String)?
    /// Whether values are differences, drawn from a line of nothing upwards and downwards.
    var isDifference = false

    var height: Double { isDifference ? 64 : 120 }

    private var all: [Int] { values.map { abs($0) } + (over?.values ?? []) }

    /// Where the scale ends: at the greatest value but for a few outliers, which would flatten the
    /// rest; they are cut off there.
    ///
    /// Of the values above 0 at most one in fifty is cut, and only those above four times the
    /// greatest of the others.
    var limit: Int {
      let sorted = all.filter { $0 > 0 }.sorted()
      guard sorted.count >= 10, let greatest = sorted.last else { return sorted.last ?? 0 }
      let usual = sorted[sorted.count - 1 - max(1, sorted.count / 50)]
      guard greatest > 4 * usual else { return greatest }
      return sorted.last { $0 <= 4 * usual } ?? greatest
    }

    /// The bins that are cut off, the greatest first.
    var cut: [Int] {
      let limit = limit
      let most = values.indices.map { max(abs(values[$0]), over?.values[$0] ?? 0) }
      return most.indices.filter { most[$0] > limit }.sorted { (most[$0], $1) > (most[$1], $0) }
    }

    /// Names what is cut off; nil for nothing.
    ///
    /// - Parameter time: when a bin begins.
    func remark(_ time: (Int) -> String) -> String? {
      let cut = cut
      guard !cut.isEmpty else { return nil }
      let names = cut.prefix(5).map { bin in
        let value = values[bin] < 0 ? values[bin] : max(values[bin], over?.values[bin] ?? 0)
        return "\(time(bin)) (\(Figures.exact(value)))"
      }
      let more = cut.count > 5 ? " and \(cut.count - 5) more" : ""
      return "\(title): cut off at the top, so that the rest is seen, and marked with a triangle: "
        + names.joined(separator: ", ") + more + "."
    }
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

  private static let left = 72.0
  private static let right = 14.0
  private static let titleHeight = 34.0

  /// What is cut off in any panel; nil for nothing.
  func remark(_ time: (Int) -> String) -> String? {
    let remarks = panels.compactMap { $0.remark(time) }
    return remarks.isEmpty ? nil : remarks.joined(separator: " ")
  }

  func draw(_ layout: Layout) -> String {
    let height = panels.reduce(40) { $0 + Self.titleHeight + $1.height }
    var canvas = Canvas(
      width: layout.fullWidth, height: height, hasTitles: layout == .wide)
    let axis = Self.left...(layout.fullWidth - Self.right)
    var top = Self.titleHeight
    for panel in panels {
      canvas.text(panel.title, x: 0, y: top - 12, class: "panel")
      if panel.isDifference {
        drawDifference(panel, top: top, axis, on: &canvas)
      } else {
        draw(panel, top: top, axis, on: &canvas)
      }
      for bin in panel.cut {
        let middle = (x(edges[bin], axis) + x(edges[bin + 1], axis)) / 2
        let tip = "M\(Canvas.number(middle)) \(Canvas.number(top - 8))"
        canvas.path("\(tip)l5 7h-10Z", class: "cut")
      }
      top += panel.height + Self.titleHeight
    }
    drawTicks(layout == .wide ? 9 : 4, bottom: height - 40, axis, on: &canvas)
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
    let bottom = top + panel.height
    let scale = LinearScale(upTo: Double(panel.limit), from: bottom, to: top, isWhole: true)
    for tick in scale.ticks {
      let y = scale(tick)
      canvas.line(axis.lowerBound, y, axis.upperBound, y, class: tick == 0 ? "base" : "grid")
      canvas.text(
        Figures.tick(tick), x: Self.left - 8, y: y + 4, anchor: .end, class: "label tick-y")
    }
    let close = "H\(Canvas.number(axis.upperBound))V\(Canvas.number(bottom))Z"
    canvas.path(
      outline(panel.values, scale, axis) + close, class: "area \(panel.color)")
    if let over = panel.over {
      canvas.path(
        outline(over.values, scale, axis) + "H\(Canvas.number(axis.upperBound))",
        class: "line \(over.color)")
    }
  }

  /// What is more above a line of nothing, what is fewer below it.
  private func drawDifference(
    _ panel: Panel, top: Double, _ axis: ClosedRange<Double>, on canvas: inout Canvas
  ) {
    let bottom = top + panel.height
    let hasMore = panel.values.contains { $0 > 0 }
    let hasFewer = panel.values.contains { $0 < 0 }
    let zero = hasMore && hasFewer ? (top + bottom) / 2 : hasFewer ? top : bottom
    let sides = [
      (name: "more", sign: 1, end: top, isThere: hasMore),
      (name: "b", sign: -1, end: bottom, isThere: hasFewer),
    ]
    for side in sides where side.isThere {
      let scale = LinearScale(
        upTo: Double(panel.limit), from: zero, to: side.end, tickCount: 1, isWhole: true)
      let values = panel.values.map { max(0, $0 * side.sign) }
      let close = "H\(Canvas.number(axis.upperBound))V\(Canvas.number(zero))Z"
      canvas.path(outline(values, scale, axis) + close, class: "area \(side.name)")
      canvas.line(axis.lowerBound, side.end, axis.upperBound, side.end, class: "grid")
      canvas.text(
        (side.sign < 0 ? "\u{2212}" : "+") + Figures.tick(scale.maximum), x: Self.left - 8,
        y: side.end + 4, anchor: .end, class: "label tick-y")
    }
    canvas.line(axis.lowerBound, zero, axis.upperBound, zero, class: "base")
    canvas.text("0", x: Self.left - 8, y: zero + 4, anchor: .end, class: "label tick-y")
  }

  /// The upper edge of columns, from the lower left corner; bins of the same height are one line.
  private func outline(
    _ values: [Int], _ scale: LinearScale, _ axis: ClosedRange<Double>
  ) -> String {
    var data = "M\(Canvas.number(axis.lowerBound)) \(Canvas.number(scale(0)))"
    var isAt = scale(0)
    for (index, value) in values.enumerated() {
      let y = scale(Double(value))
      guard y != isAt else { continue }
      data += "H\(Canvas.number(x(edges[index], axis)))V\(Canvas.number(y))"
      isAt = y
    }
    return data
  }

  private func drawTicks(
    _ limit: Int, bottom: Double, _ axis: ClosedRange<Double>, on canvas: inout Canvas
  ) {
    // A mark needs room for half of its text on either side.
    let ticks = TimeTicks(edges[0]...edges[edges.count - 1], limit: limit).ticks
    for tick in ticks {
      let x = x(tick.at, axis)
      canvas.line(x, bottom, x, bottom + 5, class: "base")
      let anchor: Canvas.Anchor = x > axis.upperBound - 24 ? .end : .middle
      canvas.text(tick.text, x: x, y: bottom + 19, anchor: anchor, class: "label tick-x")
      if let context = tick.context, x < axis.upperBound - 40 {
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
