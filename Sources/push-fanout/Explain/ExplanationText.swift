import Foundation
import PushContent
import PushFiles
import PushModel
import PushSupport

/// Explanations and decisions as text and as JSON.
enum ExplanationText {
  /// - Parameter content: the text of the push, if it is wanted and there is one.
  static func text(_ explanation: Explanation, _ content: ContentExplanation? = nil) -> String {
    var lines = [
      "message \(explanation.message) in \(explanation.conversation) "
        + "at \(explanation.at.rfc3339) for \(explanation.user)"
    ]
    let width = { (column: (TraceStep) -> String) in
      explanation.steps.map { column($0).count }.max() ?? 0
    }
    let rules = width { $0.rule }
    let subjects = width { label($0) }
    for step in explanation.steps {
      lines.append(
        (step.decides ? "-> " : "   ") + step.rule.padded(to: rules) + "  "
          + label(step).padded(to: subjects)
          + "  " + step.found + ": " + step.verdict)
    }
    lines.append(result(explanation.decision))
    return TerminalText.lines(lines) + "\n" + (content.map(ContentText.text) ?? "")
  }

  private static func label(_ step: TraceStep) -> String {
    TerminalText.escaped(step.subject + (step.scope.map { " [\($0.name)]" } ?? ""))
  }

  static func result(_ decision: Decision?) -> String {
    guard let decision else { return "not a recipient" }
    let outcome = decision.outcome
    var text = "\(outcome.action.name), reason \(outcome.reason.name)"
    if let scope = outcome.scope { text += ", scope \(scope.name)" }
    if !decision.devices.isEmpty {
      text += ", to " + decision.devices.map(\.text).joined(separator: ", ")
    }
    return text
  }

  static func json(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }
}
