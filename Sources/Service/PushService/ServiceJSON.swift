public import PushContent
public import PushModel

/// Answers as JSON objects: the keys in byte order, what is not there left out, the same bytes for
/// the same answer.
public enum ServiceJSON {
  /// An explanation, and the content of the push if that is requested and there is one.
  public static func explanation(
    _ explanation: Explanation, _ content: ContentExplanation? = nil
  ) -> [UInt8] {
    var json = JSONWriter.object()
    json.add("advice", texts: ServiceText.advice(explanation))
    json.add("alternatives", list: explanation.alternatives.map(alternative))
    json.add("answer", explanation.answer)
    json.add("at", raw: "\(explanation.at.milliseconds)")
    if let content { json.add("content", raw: self.content(content)) }
    json.add("conversation", explanation.conversation.text)
    json.add("conversationName", explanation.conversationName)
    if let decision = explanation.decision { json.add("decision", raw: self.decision(decision)) }
    json.add("message", explanation.message.text)
    json.add("settings", explanation.settings)
    json.add("steps", list: explanation.steps.map(step))
    json.add("timeZone", explanation.timeZone)
    json.add("user", explanation.user.text)
    return json.end()
  }

  private static func alternative(
    _ alternative: Explanation.Alternative
  ) -> [UInt8] {
    var json = JSONWriter.object()
    if !alternative.alone.isEmpty { json.add("alone", list: alternative.alone.map(decision)) }
    json.add("changes", list: alternative.changes.map(change))
    json.add("decision", raw: decision(alternative.decision))
    return json.end()
  }

  private static func change(_ change: Explanation.Change) -> [UInt8] {
    var json = JSONWriter.object()
    if let at = change.instant { json.add("at", raw: "\(at.milliseconds)") }
    json.add("field", change.field)
    if case .laterMessage = change.edit { json.add("otherMessage", raw: "true") }
    if case .record(_, let line) = change.edit { json.add("record", raw: line) }
    json.add("text", change.text)
    if case .message(_, let value) = change.edit { json.add("value", raw: value) }
    return json.end()
  }

  /// A decision, like a row of `evaluate --devices`.
  public static func decision(_ decision: Decision) -> [UInt8] {
    let outcome = decision.outcome
    var json = JSONWriter.object()
    json.add("action", outcome.action.name)
    if !decision.devices.isEmpty { json.add("devices", texts: decision.devices.map(\.text)) }
    json.add("reason", outcome.reason.name)
    json.add("scope", outcome.scope?.name)
    return json.end()
  }

  /// The answer for a plain message, and until when it holds.
  public static func plainAnswer(_ answer: PlainAnswer) -> [UInt8] {
    var json = JSONWriter.object()
    if let after = answer.after { json.add("after", raw: decision(after)) }
    if let at = answer.changesAt { json.add("at", raw: "\(at.milliseconds)") }
    if let before = answer.before { json.add("before", raw: decision(before)) }
    json.add("time", answer.changesAt?.rfc3339)
    return json.end()
  }

  /// An explanation with what the same message would lead to later, and the settings that decide:
  /// `records` are objects of a settings.ndjson, and each outcome is in words too.
  public static func inspection(_ inspection: Inspection) -> [UInt8] {
    var json = JSONWriter.object()
    json.add("explanation", raw: explanation(inspection.explanation))
    json.add("family", inspection.explanation.decision.map(\.outcome.family.name))
    json.add("phrase", inspection.explanation.decision.map(\.outcome.phrase))
    json.add("records", list: inspection.lines.map { Array($0.dropLast()) })
    json.add("settings", "\(inspection.epoch):\(inspection.version)")
    json.add("timeZone", inspection.timeZone)
    json.add("timeline", list: inspection.timeline.map(part))
    json.add("until", raw: "\(inspection.until.milliseconds)")
    return json.end()
  }

  private static func part(_ part: Inspection.Part) -> [UInt8] {
    var json = JSONWriter.object()
    json.add("at", raw: "\(part.at.milliseconds)")
    if let decision = part.decision { json.add("decision", raw: self.decision(decision)) }
    json.add("family", part.decision.map(\.outcome.family.name))
    json.add("phrase", part.decision.map(\.outcome.phrase))
    return json.end()
  }

  /// Members by rank.
  public static func members(_ members: ConversationMembers) -> [UInt8] {
    var json = JSONWriter.object()
    json.add("members", texts: members.ids.map(\.text))
    json.add("version", raw: "\(members.version)")
    return json.end()
  }

  /// An entry of the change feed.
  public static func event(_ event: ServiceEvent) -> [UInt8] {
    var json = JSONWriter.object()
    json.add("at", raw: "\(event.at.milliseconds)")
    json.add("change", event.change)
    json.add("channel", event.channel?.text)
    json.add("conversation", event.conversation?.text)
    json.add("cursor", event.cursor)
    json.add("device", event.device?.text)
    json.add("new", event.new)
    json.add("old", event.old)
    json.add("sequence", raw: "\(event.sequence)")
    json.add("user", event.user?.text)
    return json.end()
  }

  private static func step(_ step: TraceStep) -> [UInt8] {
    var json = JSONWriter.object()
    json.add("conversation", step.conversation?.text)
    json.add("decides", raw: "\(step.decides)")
    json.add("found", step.found)
    json.add("rule", step.rule)
    json.add("scope", step.scope?.name)
    json.add("stops", raw: "\(step.stops)")
    json.add("subject", step.subject)
    return json.end()
  }

  private static func content(_ explanation: ContentExplanation) -> [UInt8] {
    let content = explanation.content
    var json = JSONWriter.object()
    json.add("body", content.body)
    json.add("bodySource", content.bodySource.rawValue)
    json.add("notes", texts: content.notes.map { "\($0)" })
    json.add("payload", String(decoding: explanation.push.payload, as: UTF8.self))
    json.add("problem", explanation.push.problem.map { "\($0)" })
    json.add("shortened", raw: "\(explanation.push.isShortened)")
    json.add("sources", list: explanation.steps.map(source))
    json.add("subtitle", content.subtitle.isEmpty ? nil : content.subtitle)
    json.add("title", content.title.isEmpty ? nil : content.title)
    json.add("titleSource", content.titleSource.rawValue)
    return json.end()
  }

  private static func source(_ step: ContentStep) -> [UInt8] {
    var json = JSONWriter.object()
    json.add("found", step.found)
    json.add("gives", texts: step.gives.map(\.rawValue))
    json.add("source", step.source.rawValue)
    return json.end()
  }
}
