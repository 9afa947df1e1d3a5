/// An SVG picture as it is drawn.
///
/// Colours are classes of the page's style sheet, so that they follow light, dark and print.
struct Canvas {
  let width: Double
  let height: Double
  /// Whether parts have tooltips; who points with a finger sees none.
  private let hasTitles: Bool
  private var content = ""

  init(width: Double, height: Double, hasTitles: Bool) {
    self.width = width
    self.height = height
    self.hasTitles = hasTitles
  }

  /// Where a text stands relative to its point.
  enum Anchor: String {
    case start, middle, end
  }

  /// - Parameter title: the lines of the tooltip; none for no tooltip.
  mutating func rectangle(
    x: Double, y: Double, width: Double, height: Double, class name: String, title: [String] = []
  ) {
    let position = "x=\"\(Self.number(x))\" y=\"\(Self.number(y))\""
    let size =
      "width=\"\(Self.number(max(0, width)))\" height=\"\(Self.number(max(0, height)))\""
    add("rect", "\(position) \(size) class=\"\(name)\"", title)
  }

  /// - Parameter title: as for a rectangle.
  mutating func circle(
    x: Double, y: Double, radius: Double, class name: String, title: [String] = []
  ) {
    let position = "cx=\"\(Self.number(x))\" cy=\"\(Self.number(y))\" r=\"\(Self.number(radius))\""
    add("circle", "\(position) class=\"\(name)\"", title)
  }

  mutating func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, class name: String) {
    let from = "x1=\"\(Self.number(x1))\" y1=\"\(Self.number(y1))\""
    let to = "x2=\"\(Self.number(x2))\" y2=\"\(Self.number(y2))\""
    add("line", "\(from) \(to) class=\"\(name)\"")
  }

  /// - Parameter data: SVG path data, of ``number(_:)``s.
  mutating func path(_ data: String, class name: String) {
    add("path", "d=\"\(data)\" class=\"\(name)\"")
  }

  /// A text on its baseline.
  mutating func text(
    _ text: String, x: Double, y: Double, anchor: Anchor = .start, class name: String = "label"
  ) {
    let position = "x=\"\(Self.number(x))\" y=\"\(Self.number(y))\""
    content += "<text \(position) text-anchor=\"\(anchor.rawValue)\" class=\"\(name)\">"
    content += "\(Escaping.text(text))</text>"
  }

  /// - Parameter title: the lines of the tooltip. Each is escaped by itself, so that the only line
  ///   breaks are those between them.
  private mutating func add(_ element: String, _ attributes: String, _ title: [String] = []) {
    guard hasTitles, !title.isEmpty else {
      content += "<\(element) \(attributes)/>"
      return
    }
    let text = title.map(Escaping.text).joined(separator: "\n")
    content += "<\(element) \(attributes)><title>\(text)</title></\(element)>"
  }

  /// The picture.
  ///
  /// - Parameter label: what it shows, for those who do not see it.
  func svg(label: String, class name: String) -> String {
    "<svg viewBox=\"0 0 \(Self.number(width)) \(Self.number(height))\" class=\"\(name)\" "
      + "role=\"img\" aria-label=\"\(Escaping.text(label))\">\(content)</svg>\n"
  }

  /// A coordinate, to a tenth.
  static func number(_ value: Double) -> String {
    precondition(value.isFinite, "a coordinate is a number")
    let tenths = Int((value * 10).rounded())
    let sign = tenths < 0 ? "-" : ""
    let fraction = tenths.magnitude % 10
    return sign + String(tenths.magnitude / 10) + (fraction == 0 ? "" : ".\(fraction)")
  }
}

/// Where a chart is shown, which decides its size: letters keep theirs.
enum Layout: String, CaseIterable {
  /// Two charts beside each other on a screen, or one over its width.
  case wide
  /// A telephone.
  case narrow

  /// The width of a chart over the whole page.
  var fullWidth: Double { self == .wide ? 1080 : 372 }
  /// The width of one of two charts beside each other.
  var halfWidth: Double { self == .wide ? 516 : 372 }
}
