/// One rule that was evaluated for a decision.
public struct TraceStep: Hashable, Sendable {
  /// The rule's number, like "E-23".
  public let rule: String
  /// What was examined: a setting, a flag of the message, a device.
  public let subject: String
  /// What was found there, in words.
  public let found: String
  /// The scope of the setting; nil for what is not a setting.
  public let scope: Scope?
  /// Whether there is no push because of it.
  public let stops: Bool
  /// Whether this step decided.
  public package(set) var decides = false

  package init(
    rule: String, subject: String, found: String, scope: Scope? = nil, stops: Bool
  ) {
    self.rule = rule
    self.subject = subject
    self.found = found
    self.scope = scope
    self.stops = stops
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
  /// Where there is no push: what is decided with one fact changed each.
  public package(set) var alternatives: [Alternative] = []
  /// The time zone of the user's quiet hours.
  public package(set) var timeZone = "UTC"
  /// Of when the settings are, and what was changed after the message, in words; nil where that is
  /// not known, as of settings from files.
  public package(set) var settings: String?

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

extension Explanation {
  /// The same message for the same user, decided with one fact changed.
  public struct Alternative: Hashable, Sendable {
    /// What is changed.
    public enum Change: String, CaseIterable, Codable, Sendable {
      /// The message is decided later.
      case time
      /// The message mentions the user by name.
      case mention
      /// The message is forced.
      case force
      /// The user sets the level `all` for the conversation, or the channel of an ultra group.
      case level
      /// All devices are offline.
      case offline
      /// All devices have a push token.
      case token
    }

    /// What is changed.
    public let change: Change
    /// When the message is decided, if that is changed.
    public let at: Instant?
    /// Whether it is not this message any more: one that is sent later, as this one has expired by
    /// then, or one that mentions the user instead of everyone.
    public let isOtherMessage: Bool
    /// What is decided then.
    public let decision: Decision

    package init(
      _ change: Change, at: Instant? = nil, isOtherMessage: Bool = false, _ decision: Decision
    ) {
      (self.change, self.at, self.decision) = (change, at, decision)
      self.isOtherMessage = isOtherMessage
    }
  }

  /// The answer in one sentence or two: who, and what decided.
  public var answer: String {
    let last = steps.last?.found ?? ""
    guard let decision else { return "\(user) is no recipient (\(last))." }
    let outcome = decision.outcome
    let devices = decision.devices.map(\.text).joined(separator: ", ")
    switch outcome.action {
    case .push: return "Push for \(user), to \(devices). \(outcome.phrase)."
    case .local: return "A notification by the app for \(user), on \(devices). \(outcome.phrase)."
    case .suppress: return "No push for \(user). \(stop(outcome, last))."
    }
  }

  /// The reasons that an outcome's phrase says as well as what was found.
  private static let plainReasons: Set<Reason> = [
    .chatRoom, .onlineOnly, .silentMessage, .levelNone, .kicked, .loggedOut, .localDisabled,
    .localInfoMissing, .localHandledByApp,
  ]

  /// What stopped a push, and what was found there if that is more.
  private func stop(_ outcome: Outcome, _ last: String) -> String {
    var (phrase, found) = (outcome.phrase, last)
    switch outcome.reason {
    case .notMentioned:
      // Whether there was a mention is what people ask about then.
      let asked = steps.last { $0.subject == "mentions" }
      found = asked.map { "it mentions \($0.found)" } ?? last
    case .messageType where steps.last?.subject == "push content":
      found = "a custom message without push content"
    case .muted where phrase.hasSuffix(Self.untilAnInstant):
      phrase.removeLast(Self.untilAnInstant.count)
    case .noToken where last.hasSuffix("that is offline has one"): return phrase
    case let reason where Self.plainReasons.contains(reason): return phrase
    default: break
    }
    return "\(phrase) (\(found))"
  }

  private static let untilAnInstant = " until an instant"
}
