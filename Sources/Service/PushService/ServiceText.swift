public import PushContent
public import PushModel
internal import PushSupport

/// Answers as plain text for people: as many lines as there are things to say, whatever ids and
/// texts of strangers are in them. Control characters are written as in JSON.
public enum ServiceText {
  /// An explanation, a line for each rule, and what the push says if that is wanted and there is
  /// one.
  ///
  /// An arrow marks the step that decided.
  public static func explanation(
    _ explanation: Explanation, _ content: ContentExplanation? = nil
  ) -> String {
    var lines = [
      "message \(explanation.message) in \(explanation.conversation) "
        + "at \(explanation.at.rfc3339) for \(explanation.user)"
    ]
    let width = { (column: (TraceStep) -> String) in
      explanation.steps.map { column($0).count }.max() ?? 0
    }
    let pad = { (text: String, width: Int) in
      text + String(repeating: " ", count: max(0, width - text.count))
    }
    let rules = width { $0.rule }
    let subjects = width { label($0) }
    for step in explanation.steps {
      lines.append(
        (step.decides ? "-> " : "   ") + pad(step.rule, rules) + "  " + pad(label(step), subjects)
          + "  " + step.found + ": " + step.verdict)
    }
    lines.append(decision(explanation.decision))
    return TerminalText.lines(lines) + "\n" + (content.map { self.content($0) } ?? "")
  }

  private static func label(_ step: TraceStep) -> String {
    TerminalText.escaped(step.subject + (step.scope.map { " [\($0.name)]" } ?? ""))
  }

  /// A decision in one line; nil for a user who is not a recipient.
  public static func decision(_ decision: Decision?) -> String {
    guard let decision else { return "not a recipient" }
    let outcome = decision.outcome
    var text = "\(outcome.action.name), reason \(outcome.reason.name)"
    if let scope = outcome.scope { text += ", scope \(scope.name)" }
    if !decision.devices.isEmpty {
      text += ", to " + decision.devices.map(\.text).joined(separator: ", ")
    }
    return TerminalText.escaped(text)
  }

  /// The answer for a plain message: when it changes, and the answers before and from then on.
  public static func plainAnswer(_ answer: PlainAnswer) -> String {
    let before = decision(answer.before)
    guard let next = answer.changesAt else { return "never\nalways: \(before)" }
    return "\(next.rfc3339)\nbefore: \(before)\nfrom then on: \(decision(answer.after))"
  }

  /// What a push says and why: the sources of its words, its texts, and the payload.
  public static func content(_ explanation: ContentExplanation) -> String {
    var lines = ["words, from the highest source to the lowest"]
    let width = ContentSource.allCases.map(\.rawValue.count).max() ?? 0
    for step in explanation.steps {
      let name = step.source.rawValue
      let padding = String(repeating: " ", count: width - name.count)
      let gives = step.gives.map(\.rawValue).joined(separator: " and ")
      lines.append(
        (gives.isEmpty ? "   " : "-> ") + name + padding + "  " + step.found
          + (gives.isEmpty ? "" : ": gives \(gives)"))
    }
    let content = explanation.content
    for note in content.notes { lines.append("note: \(note)") }
    if !content.title.isEmpty { lines.append("title: \(content.title)") }
    if !content.subtitle.isEmpty { lines.append("subtitle: \(content.subtitle)") }
    lines.append("body: \(content.body)")
    if explanation.push.isShortened { lines.append("the body is shortened to have room") }
    if let problem = explanation.push.problem {
      lines.append("replaced by the vendor's plainest words: \(problem)")
    }
    lines.append("payload, \(explanation.push.payload.count) bytes")
    lines.append(String(decoding: explanation.push.payload, as: UTF8.self))
    return TerminalText.lines(lines) + "\n"
  }
}
