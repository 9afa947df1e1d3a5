import PushContent
import PushSupport

/// The content of a push and its sources, as text and as JSON.
enum ContentText {
  static func text(_ explanation: ContentExplanation) -> String {
    var lines = ["words, from the highest source to the lowest"]
    let width = ContentSource.allCases.map(\.rawValue.count).max() ?? 0
    for step in explanation.steps {
      let name = step.source.rawValue.padded(to: width)
      let gives = step.gives.map(\.rawValue).joined(separator: " and ")
      lines.append(
        (gives.isEmpty ? "   " : "-> ") + name + "  " + step.found
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
    // Names and texts are untrusted: line breaks in them are escaped.
    return TerminalText.lines(lines) + "\n"
  }
}
