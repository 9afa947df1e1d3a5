internal import PushModel
internal import PushReplay

/// Why there was a push and why not.
extension ReplayReport {
  var outcomes: Section {
    let sorted = result.outcomes.filter { $0.count > 0 }.sorted { $0.count > $1.count }
    let most = sorted.first?.count ?? 1
    let table = Table(
      columns: [("Outcome", .text), ("Decisions", .number), ("Share", .number)],
      rows: sorted.map { outcome in
        [
          Self.outcome(outcome.action, outcome.reason, outcome.scope),
          Table.Cell(outcome.count),
          Table.Cell(outcome.count, of: result.decisions).bar(outcome.count, of: most),
        ]
      }, becomesCards: true, caption: "Decisions by outcome", file: "outcomes")
    return Section(
      name: "outcomes", heading: "All outcomes",
      note: "Each decision has one. Below the words: action, reason and scope, as other commands "
        + "write them.", charts: [], tables: [table])
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
