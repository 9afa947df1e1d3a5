internal import PushReplay

/// Why there was a push and why not.
extension ReplayReport {
  var outcomes: Section {
    let sorted = result.outcomes.filter { $0.count > 0 }.sorted { $0.count > $1.count }
    let most = sorted.first?.count ?? 1
    let rows = sorted.map { outcome in
      [
        Table.Cell(html: Self.outcomeName(outcome.action, outcome.reason, outcome.scope)),
        Table.Cell(outcome.count),
        Table.Cell(
          html: Escaping.text(Figures.share(outcome.count, of: result.decisions))
            + Self.bar(outcome.count, of: most)),
        Table.Cell(ReasonWords.sentence(action: outcome.action, reason: outcome.reason)),
      ]
    }
    let table = Table(
      columns: [
        ("Outcome", .text), ("Decisions", .number), ("Share", .number), ("What it means", .prose),
      ], rows: rows, becomesCards: true)
    return Section(
      name: "outcomes", heading: "All outcomes",
      note: "Each decision has one: what happened, why, and where the setting was that decided.",
      body: "<div class=\"panel-box\">\(table.html)</div>\n")
  }

  /// An outcome as HTML: its colour, action and reason, and below them the scope.
  static func outcomeName(_ action: String, _ reason: String, _ scope: String?) -> String {
    let family = OutcomeFamily(action: action, reason: reason)
    let name = Escaping.identifier(action == "none" ? reason : "\(action), \(reason)")
    let below = scope.map {
      "<span class=\"sub\">\(Escaping.identifier(ReasonWords.scope($0)))</span>"
    }
    return "<span class=\"swatch \(family.color)\"></span>\(name)\(below ?? "")"
  }
}
