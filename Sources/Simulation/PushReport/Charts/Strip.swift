/// Marks along time, a lane for each kind.
struct Strip {
  struct Lane {
    let name: String
    /// The instants of its marks, ascending.
    let at: [Int64]
    /// The class of its colour.
    let color: String
  }

  /// From where to where; not the same.
  let range: ClosedRange<Int64>
  let lanes: [Lane]
  /// What the picture shows, for those who do not see it.
  let label: String

  private static let left = 128.0
  private static let right = 14.0
  private static let laneHeight = 30.0
  private static let markHeight = 20.0
  private static let markWidth = 3.0

  func draw(_ layout: Layout) -> String {
    let bottom = Double(lanes.count) * Self.laneHeight + 6
    var canvas = Canvas(width: layout.fullWidth, height: bottom + 44, hasTitles: false)
    let axis = Self.left...(layout.fullWidth - Self.right)
    let span = Double(range.upperBound - range.lowerBound)
    func x(_ at: Int64) -> Double {
      let share = Double(at - range.lowerBound) / span
      return axis.lowerBound + (axis.upperBound - axis.lowerBound) * share
    }
    for (index, lane) in lanes.enumerated() {
      let top = Double(index) * Self.laneHeight + (Self.laneHeight - Self.markHeight) / 2
      canvas.line(
        axis.lowerBound, top + Self.markHeight, axis.upperBound, top + Self.markHeight,
        class: "grid")
      canvas.text(
        lane.name, x: Self.left - 10, y: top + Self.markHeight - 5, anchor: .end,
        class: "label tick-y")
      // One path for all marks: a message in every second must not make a long page.
      var data = ""
      var last = ""
      for at in lane.at {
        let left = Canvas.number(x(at) - Self.markWidth / 2)
        if left == last { continue }
        last = left
        data += "M\(left) \(Canvas.number(top))h\(Canvas.number(Self.markWidth))"
        data += "v\(Canvas.number(Self.markHeight))h-\(Canvas.number(Self.markWidth))z"
      }
      if !data.isEmpty { canvas.path(data, class: lane.color) }
    }
    canvas.line(axis.lowerBound, bottom, axis.upperBound, bottom, class: "base")
    for tick in TimeTicks(range, limit: layout == .wide ? 9 : 4).ticks {
      let x = x(tick.at)
      canvas.line(x, bottom, x, bottom + 5, class: "base")
      let anchor: Canvas.Anchor = x > axis.upperBound - 20 ? .end : .middle
      canvas.text(tick.text, x: x, y: bottom + 19, anchor: anchor, class: "label tick-x")
      if let context = tick.context, x < axis.upperBound - 30 {
        canvas.text(context, x: x, y: bottom + 35, anchor: .middle, class: "label context")
      }
    }
    return canvas.svg(label: label, class: layout.rawValue)
  }
}
