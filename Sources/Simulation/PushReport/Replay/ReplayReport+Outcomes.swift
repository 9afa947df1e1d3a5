internal import PushModel
internal import PushReplay

/// Why there was a push and why not.
extension ReplayReport {
  var outcomes: Section {
    Section(
      name: "outcomes", heading: "All outcomes",
      note: "Each decision has one. Below the words: action, reason and scope, as other commands "
        + "write them.", charts: [],
      tables: [Self.outcomeTable(result.outcomes, result.decisions)])
  }

  static func outcomeTable(_ outcomes: [OutcomeTotal], _ decisions: Int) -> Table {
    Table(
      columns: [("Outcome", .text), ("Decisions", .number), ("Share", .number)],
      rows: outcomes.filter { $0.count > 0 }.sorted { $0.count > $1.count }.map {
        [
          outcome($0.action, $0.reason, $0.scope), Table.Cell($0.count),
          Table.Cell($0.count, of: decisions).bar(
            $0.count, of: decisions,
            color: OutcomeFamily(action: $0.action, reason: $0.reason).color),
        ]
      }, becomesCards: true, caption: "Decisions by outcome", file: "outcomes")
  }

  /// An outcome: its colour, what it means, and its key, which is all that CSV has.
  static func outcome(_ action: String, _ reason: String, _ scope: String?) -> Table.Cell {
    let key = [action, reason, scope].compactMap { $0 }.joined(separator: "/")
    let family = OutcomeFamily(action: action, reason: reason)
    let phrase = OutcomePhrases.phrase(key: key)
    let below =
      phrase == key ? "" : "<span class=\"sub\">\(Escaping.identifier(key))</span>"
    return Table.Cell(
      html: "<span class=\"swatch \(family.color)\"></span>\(Escaping.identifier(phrase))\(below)",
      value: key)
  }

  /// An outcome by its key; nil for a user who was no recipient.
  static func outcome(key: String?) -> Table.Cell {
    guard let key else { return Table.Cell("Not a recipient") }
    let parts = key.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
      .map(String.init)
    guard parts.count > 1 else { return Table.Cell(key) }
    return outcome(parts[0], parts[1], parts.count > 2 ? parts[2] : nil)
  }
}
