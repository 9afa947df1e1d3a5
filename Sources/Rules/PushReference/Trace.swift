internal import PushModel

/// Collects the steps of an explanation; costs almost nothing when not recording.
struct Trace {
  private(set) var steps: [TraceStep]?

  init(isRecording: Bool) { self.steps = isRecording ? [] : nil }

  mutating func note(
    _ rule: String, _ subject: String, scope: Scope? = nil, of place: Identifier? = nil,
    stops: Bool = false, _ found: @autoclosure () -> String
  ) {
    steps?.append(
      TraceStep(
        rule: rule, subject: subject, found: found(), scope: scope, conversation: place,
        stops: stops))
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
