import PushContent

/// What a push says and why, as text and as JSON.
enum ContentText {
  static func text(_ explanation: ContentExplanation) -> String {
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
    // Names and words are of people whom nobody knows: none of them makes a line of its own.
    return TerminalText.lines(lines) + "\n"
  }
}

/// What a push says and why, as a part of an explanation.
struct ContentJSON: Encodable {
  let sources: [SourceJSON]
  let title, subtitle: String?
  let body: String
  let titleSource, bodySource: String
  let notes: [String]
  let shortened: Bool
  let problem: String?
  /// The payload's own text.
  let payload: String

  struct SourceJSON: Encodable {
    let source, found: String
    let gives: [String]
  }

  init(_ explanation: ContentExplanation) {
    let content = explanation.content
    sources = explanation.steps.map {
      SourceJSON(source: $0.source.rawValue, found: $0.found, gives: $0.gives.map(\.rawValue))
    }
    title = content.title.isEmpty ? nil : content.title
    subtitle = content.subtitle.isEmpty ? nil : content.subtitle
    body = content.body
    titleSource = content.titleSource.rawValue
    bodySource = content.bodySource.rawValue
    notes = content.notes.map { "\($0)" }
    shortened = explanation.push.isShortened
    problem = explanation.push.problem.map { "\($0)" }
    payload = String(decoding: explanation.push.payload, as: UTF8.self)
  }
}
