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

    /// Text that is escaped here.
    init(_ text: String) { content = Escaping.text(text) }
    init(html: String) { content = html }
    init(_ count: Int) { content = Figures.exact(count) }
  }

  let columns: [(name: String, kind: Kind)]
  let rows: [[Cell]]
  /// Whether a narrow page shows each row as a card with the columns' names in it.
  var becomesCards = false
  /// Whether the columns are many, and their names stand upright where there is little room.
  var isDense = false
  /// What the table holds, for those who do not see what stands around it.
  var caption: String?

  var html: String {
    let name =
      becomesCards
      ? " class=\"cards\""
      : isDense ? columns.count > 8 ? " class=\"dense crowded\"" : " class=\"dense\"" : ""
    var text = "<table\(name)>"
    if let caption { text += "<caption>\(Escaping.text(caption))</caption>" }
    text += "<thead><tr>"
    for column in columns {
      text +=
        "<th scope=\"col\" class=\"\(column.kind.rawValue)\"><span>\(Escaping.text(column.name))</span></th>"
    }
    text += "</tr></thead>\n<tbody>"
    for row in rows {
      text += "<tr>"
      for (index, cell) in row.enumerated() {
        var attributes = " class=\"\(columns[index].kind.rawValue)\""
        if becomesCards { attributes += " data-name=\"\(Escaping.text(columns[index].name))\"" }
        let element = index == 0 ? "th" : "td"
        if index == 0 { attributes += " scope=\"row\"" }
        text += "<\(element)\(attributes)>\(cell.content)</\(element)>"
      }
      text += "</tr>\n"
    }
    return text + "</tbody></table>\n"
  }
}
