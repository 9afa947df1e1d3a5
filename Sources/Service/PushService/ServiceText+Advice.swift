internal import PushModel

extension ServiceText {
  /// What would lead to a push, and what would not, in sentences: of each field one value, the most
  /// useful first, at most six. ``ServiceJSON`` has all of them.
  static func advice(_ explanation: Explanation) -> [String] {
    let (all, zone) = (explanation.alternatives, explanation.timeZone)
    let helpful = all.filter { $0.decision.outcome.action != .suppress }
    var lines: [String] = []
    for (action, beginning) in [(Action.push, "Would push: "), (.local, "Would notify: ")] {
      let single = helpful.filter { $0.changes.count == 1 && $0.decision.outcome.action == action }
      if !single.isEmpty { lines.append("\(beginning)\(list(single, zone)).") }
    }
    if let pair = helpful.first(where: { $0.changes.count == 2 }) {
      let texts = pair.changes.map { withLocalTimes($0.text, zone) }
      let beginning =
        lines.isEmpty
        ? "Nothing alone would push. Both together would: " : "Both together would push: "
      lines.append("\(beginning)\(texts[0]), and \(texts[1]).")
      let actual = explanation.decision?.outcome
      for (text, alone) in zip(texts, pair.alone) where alone.outcome != actual {
        lines.append("Only \(text): no push. \(alone.outcome.phrase).")
      }
    } else if helpful.isEmpty, explanation.decision?.outcome.action == .suppress {
      lines.append("No change that was tried would push, alone or with another.")
    }
    let useless = all.filter { $0.decision.outcome.action == .suppress }
    if !useless.isEmpty { lines.append("Would not help: \(list(useless, zone)).") }
    return lines
  }

  /// Single changes, one of each field: those of the sender and the recipient, and with few of them
  /// also those of the app and of the conversation.
  private static func list(_ alternatives: [Explanation.Alternative], _ zone: String) -> String {
    var seen: Set<String> = []
    let changes = alternatives.map { $0.changes[0] }.filter {
      seen.insert($0.field == "devices" ? $0.text : "\($0.field) \($0.place)").inserted
    }
    let personal = changes.filter(\.isPersonal)
    let others = changes.filter { !$0.isPersonal }
    let told = personal.prefix(6) + others.prefix(max(0, 3 - personal.count))
    let more = changes.count - told.count
    return told.map { withLocalTimes($0.text, zone) }.joined(separator: "; ")
      + (more > 0 ? "; and \(more) more" : "")
  }
}

extension Explanation.Change {
  /// The record that it is of.
  fileprivate var place: String {
    switch edit {
    case .record(.member(_, let id, _, _), _), .record(.conversation(let id, _), _): id.text
    default: ""
    }
  }
}
