internal import PushModel
internal import PushSupport

/// The totals of a run, as a JSON object or as a table.
struct SummaryEncoder: DecisionEncoder {
  static var needsResults: Bool { false }

  private let isJSON: Bool

  init(_ options: EncodingOptions) { isJSON = options.summaryAsJSON }

  func trailer(_ messageCount: Int, _ totals: OutcomeCounts) -> [UInt8] {
    if !isJSON { return Array(Self.table(messageCount, totals).utf8) }
    var row = Array("{\"messages\":\(messageCount),\"decisions\":\(totals.total)".utf8)
    row.append(contentsOf: ",\"counts\":".utf8)
    row.append(contentsOf: CountsEncoder.object { totals[$0] })
    row.append(contentsOf: "}\n".utf8)
    return row
  }

  private static func table(_ messages: Int, _ counts: OutcomeCounts) -> String {
    let decisions = counts.total
    let pushes = counts.total(of: .push)
    let locals = counts.total(of: .local)
    var lines = [
      "messages   \(left(messages.grouped, 14))",
      "decisions  \(left(decisions.grouped, 14))",
      "pushes     \(left(pushes.grouped, 14))  \(share(pushes, of: decisions))",
    ]
    if locals > 0 {
      lines.append("local      \(left(locals.grouped, 14))  \(share(locals, of: decisions))")
    }
    lines += ["", row("action", "reason", "scope", "count", "share")]
    for (outcome, count) in counts.nonZero.sorted(by: { $0.count > $1.count }) {
      lines.append(
        row(
          outcome.action.name, outcome.reason.name, outcome.scope?.name ?? "-", count.grouped,
          share(count, of: decisions)))
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func row(
    _ action: String, _ reason: String, _ scope: String, _ count: String, _ share: String
  ) -> String {
    right(action, 8) + right(reason, 19) + right(scope, 16) + left(count, 14) + left(share, 10)
  }

  private static func share(_ count: Int, of total: Int) -> String {
    guard total > 0 else { return "-" }
    let tenths = Int((Double(count) * 1000 / Double(total)).rounded())
    return "\(tenths / 10).\(tenths % 10) %"
  }

  private static func left(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }

  private static func right(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }
}
