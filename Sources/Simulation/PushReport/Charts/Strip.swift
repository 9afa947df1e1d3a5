/// Marks along time, a lane for each kind; or columns, where there are too many to be marks.
struct Strip {
  struct Lane {
    let name: String
    /// The class of its colour.
    let color: String
    /// The instants of its marks, ascending.
    var at: [Int64] = []
    /// How many there are in each of the strip's steps, instead of marks.
    var counts: [Int] = []
  }

  /// Where the steps of ``Lane/counts`` begin and end: one more than there are steps.
  var edges: [Int64] = []

  /// From where to where; not the same.
  let range: ClosedRange<Int64>
  let lanes: [Lane]
  /// What the picture shows, for those who do not see it.
  let label: String

  private static let left = 128.0
  private static let right = 14.0
  private var laneHeight: Double { edges.isEmpty ? 30 : 52 }
  private var markHeight: Double { laneHeight - 10 }
  private static let markWidth = 3.0

  func draw(_ layout: Layout) -> String {
    let bottom = Double(lanes.count) * laneHeight + 6
    var canvas = Canvas(width: layout.fullWidth, height: bottom + 44, hasTitles: false)
    let axis = Self.left...(layout.fullWidth - Self.right)
    let span = Double(range.upperBound - range.lowerBound)
    func x(_ at: Int64) -> Double {
      let share = Double(at - range.lowerBound) / span
      return axis.lowerBound + (axis.upperBound - axis.lowerBound) * share
    }
    let most = lanes.flatMap(\.counts).max() ?? 0
    for (index, lane) in lanes.enumerated() {
      let top = Double(index) * laneHeight + (laneHeight - markHeight) / 2
      canvas.line(
        axis.lowerBound, top + markHeight, axis.upperBound, top + markHeight,
        class: "grid")
      canvas.text(
        lane.name, x: Self.left - 10, y: top + markHeight - 5, anchor: .end,
        class: "label tick-y")
      if !edges.isEmpty {
        let data = columns(lane.counts, of: most, bottom: top + markHeight, x)
        if !data.isEmpty { canvas.path(data, class: lane.color) }
        continue
      }
      // One path for all marks: a message in every second must not make a long page.
      var data = ""
      var last = ""
      for at in lane.at {
        let left = Canvas.number(x(at) - Self.markWidth / 2)
        if left == last { continue }
        last = left
        data += "M\(left) \(Canvas.number(top))h\(Canvas.number(Self.markWidth))"
        data += "v\(Canvas.number(markHeight))h-\(Canvas.number(Self.markWidth))z"
      }
      if !data.isEmpty { canvas.path(data, class: lane.color) }
    }
    canvas.line(axis.lowerBound, bottom, axis.upperBound, bottom, class: "base")
    for tick in TimeTicks(range, limit: layout == .wide ? 9 : 3).ticks {
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

  /// A path of columns, as high as the lane where there is most.
  private func columns(
    _ counts: [Int], of most: Int, bottom: Double, _ x: (Int64) -> Double
  ) -> String {
    var data = ""
    for (step, count) in counts.enumerated() where count > 0 {
      let (left, right) = (x(edges[step]), x(edges[step + 1]))
      let height = max(1.5, markHeight * Double(count) / Double(most))
      let width = max(1, right - left - (right - left > 4 ? 1 : 0))
      data += "M\(Canvas.number(left)) \(Canvas.number(bottom))h\(Canvas.number(width))"
      data += "v-\(Canvas.number(height))h-\(Canvas.number(width))z"
    }
    return data
  }
}
