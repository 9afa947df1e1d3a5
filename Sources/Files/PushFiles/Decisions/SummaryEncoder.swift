internal import PushModel
internal import PushSupport

/// The totals of a run, as a JSON object or as a table.
struct SummaryEncoder: DecisionEncoder {
  static var needsResults: Bool { false }

  private let isJSON: Bool

  init(_ options: EncodingOptions) { isJSON = options.summaryAsJSON }

  func trailer(
    _ messageCount: Int, _ totals: OutcomeCounts, _ unknown: UnknownNames
  ) -> [UInt8] {
    if !isJSON {
      let note = unknown.recordCount > 0 ? "\n\(unknown.note)\n" : ""
      return Array((Self.table(messageCount, totals) + note).utf8)
    }
    var row = Array("{\"messages\":\(messageCount),\"decisions\":\(totals.total)".utf8)
    row.append(contentsOf: ",\"counts\":".utf8)
    var counts = KeyedCounts()
    for (code, outcome) in Outcome.coded where totals[outcome] > 0 {
      counts.insert(code, totals[outcome])
    }
    row.append(addingCapacity: counts.objectLimit) { row in counts.appendObject(to: &row) }
    if unknown.recordCount > 0 {
      row.append(contentsOf: ",\"unknownConversations\":\(unknown.recordCount)".utf8)
    }
    row.append(contentsOf: "}\n".utf8)
    return row
  }

  private static func table(_ messages: Int, _ counts: OutcomeCounts) -> String {
    let decisions = counts.total
    let locals = counts.total(of: .local)
    func line(_ name: String, _ count: Int) -> String {
      name.padded(to: 11) + count.grouped.paddedInFront(to: 14)
    }
    func shareLine(_ name: String, _ count: Int) -> String {
      line(name, count) + "  " + count.percentage(of: decisions)
    }
    var lines = [
      line("messages", messages), line("decisions", decisions),
      shareLine("pushes", counts.total(of: .push)),
    ]
    if locals > 0 { lines.append(shareLine("local", locals)) }
    lines += ["", row("action", "reason", "scope", "count", "share")]
    for (outcome, count) in counts.nonZero.sorted(by: { $0.count > $1.count }) {
      lines.append(
        row(
          outcome.action.name, outcome.reason.name, outcome.scope?.name ?? "-", count.grouped,
          count.percentage(of: decisions)))
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func row(
    _ action: String, _ reason: String, _ scope: String, _ count: String, _ share: String
  ) -> String {
    action.padded(to: 8, gap: 1) + reason.padded(to: 19, gap: 1) + scope.padded(to: 16, gap: 1)
      + count.paddedInFront(to: 14) + share.paddedInFront(to: 10)
  }
}
