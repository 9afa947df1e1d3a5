/// A table of figures.
struct Table {
  enum Kind: String {
    case text, number
    /// Sentences, which take the whole width of a card.
    case prose
  }

  struct Cell {
    /// HTML.
    let content: String
    /// The same for a CSV file: exact, without units and separators.
    let value: String
    /// How dark its ground is, 1 to 4; nil for none.
    var shade: Int?

    /// Text that is escaped here; CSV has another one.
    init(_ text: String, value: String) { self.init(html: Escaping.text(text), value: value) }

    /// Text that is escaped here.
    init(_ text: String) { self.init(html: Escaping.text(text), value: text) }

    /// An id, cut and escaped here; CSV has the whole.
    init(id: String) { self.init(html: "<bdi>\(Escaping.identifier(id))</bdi>", value: id) }

    init(_ count: Int) { self.init(html: Figures.exact(count), value: "\(count)") }

    /// A room: its name, if it has one, with the id below; CSV has the id.
    init(room id: String, name: String?) {
      guard let name, !name.isEmpty else {
        self.init(id: id)
        return
      }
      self.init(
        html: "<bdi>\(Escaping.identifier(name))</bdi>"
          + "<span class=\"sub\"><bdi>\(Escaping.identifier(id))</bdi></span>", value: id)
    }

    /// A share as percent; CSV has it as a number of 0...1, of nothing none.
    init(_ part: Int, of total: Int) {
      self.init(
        html: Figures.share(part, of: total),
        value: total > 0 ? "\(Double(part) / Double(total))" : "")
    }

    /// A mean; CSV has all of its digits.
    init(mean: Double) {
      let isWhole = mean == mean.rounded() && mean.magnitude < 1e15
      self.init(html: Figures.mean(mean), value: isWhole ? "\(Int(mean))" : "\(mean)")
    }

    /// A share as percent; nil for that of nothing.
    init(share: Double?) {
      self.init(
        html: share.map { Figures.percent($0, isExact: $0 == 0 || $0 == 1) } ?? "\u{2013}",
        value: share.map { "\($0)" } ?? "")
    }

    /// The difference of two means, with its sign.
    init(from a: Double, to b: Double) {
      self.init(html: (b > a ? "+" : "") + Figures.mean(b - a), value: Self(mean: b - a).value)
    }

    /// The difference of two counts, with its sign.
    init(from a: Int, to b: Int) {
      self.init(html: (b > a ? "+" : "") + Figures.exact(b - a), value: "\(b - a)")
    }

    init(html: String, value: String = "") {
      content = html
      self.value = value
    }

    /// The same figure with a bar below it, on a track that is the whole.
    func bar(_ part: Int, of whole: Int, color: String) -> Cell {
      let percent = Canvas.number(Double(part) * 100 / Double(max(1, whole)))
      return Cell(
        html:
          "\(content)<span class=\"bar\"><i class=\"\(color)\" style=\"width:\(percent)%\"></i></span>",
        value: value)
    }
  }

  let columns: [(name: String, kind: Kind)]
  let rows: [[Cell]]
  /// Whether a narrow page shows each row as a card with the columns' names in it.
  var becomesCards = false
  /// Whether its own box scrolls when there is too little room.
  var scrolls = false
  /// What the table holds. A chart's table without one has the chart's title.
  var caption: String?
  /// The name of its CSV file without the ending; nil for none.
  var file: String?
  /// Rows that only the CSV file has, behind the others.
  var more: [[Cell]] = []
  /// The row that matters most, which is marked.
  var marked: Int?
  /// How many rows are open at first, in a box of its own; nil for all.
  var openRows: Int?

  var html: String { html(rows[...], caption) }

  private func html(_ rows: ArraySlice<[Cell]>, _ caption: String?) -> String {
    // A row that is laid out as a card would no longer be a row to a screen reader.
    let role = { (name: String) in becomesCards ? " role=\"\(name)\"" : "" }
    var text = "<table\(becomesCards ? " class=\"cards\"" : "")\(role("table"))>"
    if let caption { text += "<caption>\(Escaping.text(caption))</caption>" }
    text += "<thead\(role("rowgroup"))><tr\(role("row"))>"
    for column in columns {
      text += "<th scope=\"col\" class=\"\(column.kind.rawValue)\"\(role("columnheader"))>"
      text += "\(Escaping.text(column.name))</th>"
    }
    text += "</tr></thead>\n<tbody\(role("rowgroup"))>"
    for (number, row) in zip(rows.indices, rows) {
      text += "<tr\(number == marked ? " class=\"marked\"" : "")\(role("row"))>"
      for (index, cell) in row.enumerated() {
        let (name, kind) = columns[index]
        var attributes = index == 0 ? " scope=\"row\"" : ""
        // Most cells are numbers, and the style sheet takes them for granted.
        if index > 0, kind != .number { attributes += " class=\"\(kind.rawValue)\"" }
        if let shade = cell.shade { attributes += " class=\"shade-\(shade)\"" }
        attributes += role(index == 0 ? "rowheader" : "cell")
        if becomesCards { attributes += " data-name=\"\(Escaping.text(name))\"" }
        let element = index == 0 ? "th" : "td"
        text += "<\(element)\(attributes)>\(cell.content)</\(element)>"
      }
      text += "</tr>\n"
    }
    return text + "</tbody></table>\n"
  }

  /// The table in a box of its own.
  var boxed: String {
    if scrolls { return "<div class=\"panel-box\">\n\(scrolling)</div>\n" }
    guard let open = openRows, rows.count > open else {
      return "<div class=\"panel-box\">\(html)</div>\n"
    }
    let others = "\(Figures.exact(open + 1)) to \(Figures.exact(rows.count))"
    return "<div class=\"panel-box\">\(html(rows.prefix(open), caption))"
      + "<details><summary>Rows \(others)</summary>"
      + html(rows.dropFirst(open), caption.map { "\($0): rows \(others)" })
      + "</details></div>\n"
  }

  /// The table in a box that scrolls, which is to be possible with keys.
  var scrolling: String {
    let name = Escaping.text(caption ?? "")
    // On paper figures stand in two columns, but for those that are too wide for one.
    let width = columns.count > 5 ? " wide" : ""
    return "<div class=\"figures\(width)\" tabindex=\"0\" role=\"region\" aria-label=\"\(name)\">"
      + "\(html)</div>\n"
  }

  /// The columns' names and the exact values; nil for a table without a file.
  var figures: FigureTable? {
    file.map { file in
      FigureTable(
        name: file,
        // A file has the minus sign that keyboards have.
        columns: columns.map { $0.name.split(separator: "\u{2212}").joined(separator: "-") },
        rows: (rows + more).map { $0.map(\.value) })
    }
  }
}

/// The figures behind a chart, or those of a table, as plain values.
public struct FigureTable: Hashable, Sendable {
  /// A name for a file, without an ending: letters, digits and `-`.
  public let name: String
  /// What stands in each column.
  public let columns: [String]
  /// Counts in decimal digits, shares as numbers of 0...1, instants as `2016-03-03 13:14` in UTC,
  /// ids as they are.
  public let rows: [[String]]
}
