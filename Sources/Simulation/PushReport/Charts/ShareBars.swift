/// Bars that are cut into the parts of a whole, under each other on one scale. Their legend names the
/// parts.
struct ShareBars {
  struct Part {
    let name: String
    let count: Int
    /// The class of its colour.
    let color: String
  }

  struct Bar {
    /// What stands above it; empty for nothing.
    let title: String
    /// The same for a telephone.
    var shortTitle = ""
    let parts: [Part]
    /// What stands between the bar and the next one.
    var below: String = ""

    var total: Int { parts.reduce(0) { $0 + $1.count } }
  }

  let bars: [Bar]
  let label: String
  /// Whether the chart has the page's width, rather than half of it.
  var isFull = true

  private static let barHeight = 40.0
  private static let titleHeight = 22.0
  private static let betweenHeight = 32.0

  func draw(_ layout: Layout) -> String {
    let width = isFull ? layout.fullWidth : layout.halfWidth
    let most = Double(max(1, bars.map(\.total).max() ?? 1))
    let height = bars.reduce(0) { $0 + Self.height(of: $1) }
    var canvas = Canvas(width: width, height: height, hasTitles: layout == .wide)
    var top = 0.0
    for bar in bars {
      if !bar.title.isEmpty {
        canvas.text(layout == .wide ? bar.title : bar.shortTitle, x: 0, y: top + 14, class: "panel")
        top += Self.titleHeight
      }
      draw(bar, top: top, width: width, most: most, on: &canvas)
      top += Self.barHeight + 4
      if !bar.below.isEmpty {
        canvas.text(bar.below, x: 0, y: top + 18, class: "strong")
        top += Self.betweenHeight
      }
    }
    return canvas.svg(label: label, class: layout.rawValue)
  }

  private static func height(of bar: Bar) -> Double {
    barHeight + 4 + (bar.title.isEmpty ? 0 : titleHeight)
      + (bar.below.isEmpty ? 0 : betweenHeight)
  }

  private func draw(
    _ bar: Bar, top: Double, width: Double, most: Double, on canvas: inout Canvas
  ) {
    var left = 0.0
    for part in bar.parts where part.count > 0 {
      let size = width * Double(part.count) / most
      let share = Figures.share(part.count, of: bar.total)
      canvas.rectangle(
        x: left, y: top, width: max(1, size - 1.5), height: Self.barHeight,
        class: "part \(part.color)",
        title: ["\(part.name): \(Figures.exact(part.count)), \(share)"])
      left += size
    }
  }

  /// Its parts with their counts and shares, for those who do not see it.
  static func words(_ bar: Bar) -> String {
    bar.parts.filter { $0.count > 0 }.map {
      "\($0.name) \(Figures.exact($0.count)), \(Figures.share($0.count, of: bar.total))"
    }.joined(separator: "; ")
  }
}
