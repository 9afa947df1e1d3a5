public import PushContent
public import PushModel
internal import PushSupport
internal import QuietTime

/// Answers as plain text for people: as many lines as there are things to say, whatever ids and
/// texts of strangers are in them. Control characters are written as in JSON.
public enum ServiceText {
  /// An explanation: the answer, of when the settings are if that is known, a line for each rule,
  /// what would lead to a push, the outcome, and what the push says if that is wanted and there is
  /// one.
  public static func explanation(
    _ explanation: Explanation, _ content: ContentExplanation? = nil
  ) -> String {
    let zone = explanation.timeZone
    var lines = [
      withLocalTimes(explanation.answer, zone),
      "Message \(explanation.message) in \(explanation.conversation)"
        + (explanation.conversationName.map { " (\($0))" } ?? "") + ", "
        + times(explanation.at, zone),
    ]
    lines += explanation.settings.map { ["Settings \(withLocalTimes($0, zone))."] } ?? []
    lines.append("")
    let rows = explanation.steps.map { step in
      (
        step.stops ? "STOP" : "ok", TerminalText.escaped(step.subject),
        TerminalText.escaped(step.found),
        step.rule
      )
    }
    let pad = { (text: String, width: Int) in
      text + String(repeating: " ", count: max(0, width - text.count))
    }
    let subjects = rows.map(\.1.count).max() ?? 0
    let found = min(rows.map(\.2.count).max() ?? 0, 60)
    for row in rows {
      lines.append(
        pad(row.0, 6) + pad(row.1, subjects + 2) + pad(row.2, found) + "  " + row.3)
    }
    lines.append("")
    lines += advice(explanation)
    lines.append(explanation.decision?.outcome.key ?? "no recipient")
    return TerminalText.lines(lines) + "\n" + (content.map { self.content($0) } ?? "")
  }

  /// An instant in UTC and where the user is.
  static func times(_ instant: Instant, _ zone: String) -> String {
    guard zone != "UTC", let table = try? ZoneTable(named: zone) else { return instant.rfc3339 }
    let local = instant.milliseconds + Int64(table.offsetSeconds(at: instant.seconds)) * 1000
    let text = Instant(milliseconds: max(0, local)).rfc3339
    // Day and time, without seconds that are none.
    let day = text.prefix(10), time = text.dropFirst(11).prefix(8)
    return "\(instant.rfc3339) (\(day) \(time.hasSuffix(":00") ? time.prefix(5) : time) in \(zone))"
  }

  /// A text in which each instant is also one where the user is.
  static func withLocalTimes(_ text: String, _ zone: String) -> String {
    var found = ""
    var rest = text[...]
    while let start = rest.firstIndex(where: \.isNumber) {
      found += rest[..<start]
      let run = rest[start...].prefix { $0.isNumber || "-:.TZ".contains($0) }
      // A full stop may follow.
      let word = run.last == "." ? run.dropLast() : run
      let instant = word.count >= 20 && word.last == "Z" ? Instant(text: String(word)) : nil
      found += instant.map { times($0, zone) } ?? String(word)
      rest = rest[word.endIndex...]
    }
    return found + rest
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

  /// The answer for a plain message now, and from when on there is another one.
  ///
  /// - Parameters:
  ///   - instant: the instant that was asked for.
  ///   - isNow: whether that is now.
  ///   - zone: that of the user.
  public static func plainAnswer(
    _ answer: PlainAnswer, at instant: Instant, isNow: Bool = false, zone: String
  ) -> String {
    let lines = [
      "\(isNow ? "now " : "at  ")  \(times(instant, zone)): \(phrase(answer.before))",
      answer.changesAt.map { "from  \(times($0, zone)): \(phrase(answer.after))" }
        ?? "That stays so until settings or presence change.",
    ]
    return TerminalText.lines(lines)
  }

  private static func phrase(_ decision: Decision?) -> String {
    guard let decision else { return "not a recipient" }
    let devices = decision.devices.map(\.text).joined(separator: ", ")
    let words =
      switch decision.outcome.action {
      case .push: "push to \(devices)"
      case .local: "a notification by the app on \(devices)"
      case .suppress: "no push"
      }
    return "\(words). \(decision.outcome.phrase)."
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
