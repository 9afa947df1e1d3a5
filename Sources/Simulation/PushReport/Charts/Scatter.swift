/// Points: a size on a logarithmic axis against a share.
struct Scatter {
  struct Point {
    /// Positive.
    let x: Double
    /// 0...1.
    let y: Double
    /// The value shown as the area of the point.
    let weight: Double
    /// The lines of its tooltip.
    let title: [String]
  }

  /// A line over a part of the axis: the share of all that lie there.
  struct Level {
    let range: Range<Double>
    let y: Double
    let title: String
  }

  let points: [Point]
  let levels: [Level]
  let xName: String
  let label: String

  private static let left = 52.0
  private static let height = 330.0
  private static let top = 12.0
  private static let bottom = 278.0
  private static let least = 2.5

  /// Smaller where there are many.
  private var greatest: Double {
    max(Self.least, min(16, 300 / Double(max(1, points.count)).squareRoot()))
  }

  func draw(_ layout: Layout) -> String {
    var canvas = Canvas(
      width: layout.halfWidth, height: Self.height, hasTitles: layout == .wide)
    let end = layout.halfWidth - 20
    let values = points.map(\.x)
    let x = LogScale((values.min() ?? 1)...(values.max() ?? 10), from: Self.left, to: end)
    let y = LinearScale(
      upTo: points.map(\.y).max() ?? 0, from: Self.bottom, to: Self.top, tickCount: 5, limit: 1)
    for tick in y.ticks {
      canvas.line(Self.left, y(tick), end, y(tick), class: tick == 0 ? "base" : "grid")
      canvas.text(
        Figures.tick(percent: tick), x: Self.left - 8, y: y(tick) + 4, anchor: .end,
        class: "label tick-y")
    }
    for exponent in x.exponents {
      let value = LogScale.power(exponent)
      canvas.line(x(value), Self.top, x(value), Self.bottom, class: "grid")
      canvas.text(
        Figures.tick(value), x: x(value), y: Self.bottom + 18, anchor: .middle,
        class: "label tick-x")
    }
    canvas.text(
      xName, x: (Self.left + end) / 2, y: Self.bottom + 40, anchor: .middle, class: "label name")
    let heaviest = points.map(\.weight).max() ?? 0
    // The small ones on top of the large ones, where they can be pointed at.
    for point in points.sorted(by: { $0.weight > $1.weight }) {
      let share = heaviest > 0 ? (point.weight / heaviest).squareRoot() : 0
      let radius = Self.least + (greatest - Self.least) * share
      canvas.circle(
        x: x(point.x), y: y(point.y), radius: radius, class: "point", title: point.title)
    }
    for level in levels {
      canvas.rectangle(
        x: x(level.range.lowerBound), y: y(level.y) - 1.5,
        width: x(level.range.upperBound) - x(level.range.lowerBound), height: 3, class: "level",
        title: [level.title])
    }
    return canvas.svg(label: label, class: layout.rawValue)
  }
}
