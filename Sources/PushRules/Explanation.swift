/// One rule that was looked at on the way to a decision.
public struct TraceStep: Hashable, Sendable {
  /// The rule's number, like "E-23".
  public let rule: String
  /// What was looked at: a setting, a flag of the message, a device.
  public let subject: String
  /// What was found there.
  public let found: String
  /// Where the setting lives; nil for what is no setting.
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

/// Why one user gets a push for one message, or why not: each rule in the order it was looked at.
public struct Explanation: Hashable, Sendable {
  public let message: Identifier
  public let conversation: Identifier
  public let user: Identifier
  public let at: Instant
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
