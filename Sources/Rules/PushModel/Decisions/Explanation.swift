/// One rule that was evaluated for a decision.
public struct TraceStep: Hashable, Sendable {
  /// The rule's number, like "E-23".
  public let rule: String
  /// What was examined: a setting, a flag of the message, a device.
  public let subject: String
  /// What was found there.
  public let found: String
  /// The scope of the setting; nil for what is not a setting.
  public let scope: Scope?
  /// What follows by the rule.
  public let verdict: String
  /// Whether this step decided.
  public package(set) var decides = false

  package init(
    rule: String, subject: String, found: String, scope: Scope? = nil, verdict: String
  ) {
    self.rule = rule
    self.subject = subject
    self.found = found
    self.scope = scope
    self.verdict = verdict
  }
}

/// Why one user gets a push for one message, or why not: each rule in the order of evaluation.
public struct Explanation: Hashable, Sendable {
  /// The message's id.
  public let message: Identifier
  /// The id of the conversation that the message was sent to.
  public let conversation: Identifier
  /// The id of the user whose decision is explained.
  public let user: Identifier
  /// The instant of the decision.
  public let at: Instant
  /// The rules in the order of evaluation.
  public let steps: [TraceStep]
  /// nil when the user is no recipient of the message.
  public let decision: Decision?

  package init(
    message: Identifier, conversation: Identifier, user: Identifier, at: Instant,
    steps: [TraceStep], decision: Decision?
  ) {
    self.message = message
    self.conversation = conversation
    self.user = user
    self.at = at
    self.steps = steps
    self.decision = decision
  }
}
