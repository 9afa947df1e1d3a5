public import PushRules

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
  public internal(set) var decides: Bool
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
}

/// Collects steps when somebody wants to read them, and is almost free when nobody does.
struct Trace {
  private(set) var steps: [TraceStep]?

  init(isRecording: Bool) { self.steps = isRecording ? [] : nil }

  mutating func note(
    _ rule: String, _ subject: String, _ found: @autoclosure () -> String, scope: Scope? = nil,
    _ verdict: @autoclosure () -> String
  ) {
    steps?.append(
      TraceStep(
        rule: rule, subject: subject, found: found(), scope: scope, verdict: verdict(),
        decides: false))
  }

  /// Decides: the last step noted is the one that did.
  mutating func decide(
    _ action: Action, _ reason: Reason, _ scope: Scope? = nil, devices: [Identifier] = []
  ) -> Decision {
    markLast()
    return Decision(Outcome(action, reason, scope), devices: devices)
  }

  mutating func markLast() {
    if let count = steps?.count, count > 0 { steps?[count - 1].decides = true }
  }
}

func yesNo(_ flag: Bool) -> String { flag ? "yes" : "no" }
