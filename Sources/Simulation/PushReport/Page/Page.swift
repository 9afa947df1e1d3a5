/// One HTML file with all that it needs; it is well-formed XML too.
struct Page {
  let title: String
  /// HTML below the title.
  let lead: String
  let sections: [Section]
  /// HTML at the end.
  let foot: String
  /// Whether folded sections and figures are on paper too.
  let printsFigures: Bool

  var html: String {
    var text = """
      <!DOCTYPE html>
      <html xmlns="http://www.w3.org/1999/xhtml" lang="en">
      <head>
      <meta charset="utf-8"/>
      <meta name="viewport" content="width=device-width, initial-scale=1"/>
      <meta name="color-scheme" content="light dark"/>
      <link rel="icon" href="data:,"/>
      <title>\(Escaping.text(title))</title>
      <style>
      \(StyleSheet.text)
      </style>
      </head>
      <body\(printsFigures ? " class=\"figures-on-paper\"" : "")>
      <header>
      <h1>\(Escaping.text(title))</h1>
      \(lead)
      \(contents)</header>
      <main>

      """
    for section in sections { text += section.html }
    return text + "</main>\n<footer>\(foot)</footer>\n</body>\n</html>\n"
  }

  private var contents: String {
    guard sections.count > 1 else { return "" }
    let entries = sections.map {
      "<li><a href=\"#\($0.name)\">\(Escaping.text($0.heading))</a></li>"
    }
    return "<details class=\"contents\"><summary>Contents</summary>"
      + "<nav aria-label=\"Contents\"><ul>\(entries.joined())</ul></nav></details>\n"
  }
}

/// A part of the page under its own heading.
struct Section {
  let name: String
  let heading: String
  /// What is to be seen, in a sentence or two; HTML.
  let note: String
  /// HTML.
  let body: String
  /// The tables of the body that have a CSV file.
  let figures: [FigureTable]
  /// Whether the section is for specialists, and shows no more than its heading at first.
  var isFolded = false

  /// - Parameter tables: those of the body that have a CSV file.
  init(name: String, heading: String, note: String, body: String, tables: [Table] = []) {
    self.name = name
    self.heading = heading
    self.note = note
    self.body = body
    figures = tables.compactMap(\.figures)
  }

  /// A section of charts in pairs, beside each other where there is room, and of tables below them.
  init(
    name: String, heading: String, note: String, charts: [[ChartFigure]], tables: [Table] = []
  ) {
    let rows = charts.filter { !$0.isEmpty }.map { row in
      let figures = row.map(\.html).joined()
      return row.count > 1 ? "<div class=\"pair\">\n\(figures)</div>\n" : figures
    }
    self.init(
      name: name, heading: heading, note: note,
      body: rows.joined() + tables.map(\.boxed).joined(),
      tables: charts.joined().flatMap(\.tables) + tables)
  }

  /// The same section, folded.
  var folded: Section {
    var folded = self
    folded.isFolded = true
    return folded
  }

  var html: String {
    let heading = "<h2 id=\"\(name)\">\(Escaping.text(heading))</h2>"
    let content = (note.isEmpty ? "" : "<p class=\"note\">\(note)</p>\n") + body
    return "<section aria-labelledby=\"\(name)\"\(isFolded ? " class=\"folded\"" : "")>\n"
      + (isFolded
        ? "<details><summary>\(heading)</summary>\n\(content)</details>" : "\(heading)\n\(content)")
      + "</section>\n"
  }

  /// Charts, beside each other where there is room.
  static func pair(_ figures: String...) -> String {
    "<div class=\"pair\">\n\(figures.joined())</div>\n"
  }
}

/// A chart with its heading, and its figures to be unfolded.
struct ChartFigure {
  let title: String
  /// A picture for every layout; the style sheet shows one of them.
  let draw: (Layout) -> String
  var legend: [(name: String, color: String)] = []
  /// What is to be seen, above the chart; text.
  var words: String?
  /// More about the chart; text.
  var remark: String?
  var table: Table?
  /// A second table, of what the first has only sums of.
  var detail: Table?

  /// Each with a caption.
  var tables: [Table] {
    [table, detail].compactMap { $0 }.map { table in
      var named = table
      named.caption = table.caption ?? title
      return named
    }
  }

  var html: String {
    var text = "<figure>\n<figcaption>\(Escaping.text(title))</figcaption>\n"
    if let words { text += "<p class=\"words\">\(Escaping.text(words))</p>\n" }
    if !legend.isEmpty {
      let entries = legend.map {
        "<li><span class=\"swatch \($0.color)\"></span>\(Escaping.text($0.name))</li>"
      }
      text += "<ul class=\"legend\">\(entries.joined())</ul>\n"
    }
    text += Layout.allCases.map(draw).joined()
    if let remark { text += "<p class=\"remark\">\(Escaping.text(remark))</p>\n" }
    if !tables.isEmpty { text += "<details><summary>Figures</summary>" }
    for table in tables {
      text += table.scrolling
    }
    if !tables.isEmpty { text += "</details>\n" }
    return text + "</figure>\n"
  }
}
