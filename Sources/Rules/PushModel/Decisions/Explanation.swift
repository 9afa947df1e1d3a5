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
  /// The conversation whose setting it is, where that is not the message's own: a thread's parent.
  public let conversation: Identifier?
  /// Whether there is no push because of it.
  public let stops: Bool
  /// Whether this step decided.
  public package(set) var decides = false

  package init(
    rule: String, subject: String, found: String, scope: Scope? = nil,
    conversation: Identifier? = nil, stops: Bool
  ) {
    self.rule = rule
    self.subject = subject
    self.found = found
    self.scope = scope
    self.conversation = conversation
    self.stops = stops
  }
}

/// Why one user gets a push for one message, or why not: each rule in the order of evaluation.
public struct Explanation: Hashable, Sendable {
  /// The message's id.
  public let message: Identifier
  /// The id of the conversation that the message was sent to.
  public let conversation: Identifier
  /// What the conversation is called; nil where nobody has named it, or names were not read.
  public package(set) var conversationName: String?
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
  /// The same message for the same user, decided with one fact changed; or with two, where nothing
  /// that a person can change leads to a push alone.
  public struct Alternative: Hashable, Sendable {
    /// What is changed: one fact or two.
    public let changes: [Change]
    /// What is decided then.
    public let decision: Decision
    /// Of two changes, what is decided with each alone; otherwise empty.
    public let alone: [Decision]

    package init(_ changes: [Change], _ decision: Decision, alone: [Decision] = []) {
      self.changes = changes
      self.decision = decision
      self.alone = alone
    }
  }

  /// A fact with another value.
  public struct Change: Hashable, Sendable {
    /// Where the fact is.
    public enum Edit: Hashable, Sendable {
      /// In a record of settings: the whole record with the other value, and its line of a
      /// settings.ndjson.
      case record(SettingsRecord, line: String)
      /// In the message: the whole message, and the field's value as JSON.
      case message(Message, value: String)
      /// The message is decided later, at this instant.
      case time(Instant)
      /// The message has expired by the instant at which it would push; one that is sent then does.
      case laterMessage(Instant)
    }

    /// The field's name in files; of a device `devices`, of an option of the app its own.
    public let field: String
    /// The fact in words, as a noun: "the force flag".
    public let text: String
    /// The fact as data.
    public let edit: Edit
    /// Whether it is what people think of first; it is also said where it does not help.
    public let isCommon: Bool
    /// Whether the sender, the recipient or time can change it, and not only who runs the app or owns
    /// the conversation.
    public let isPersonal: Bool

    package init(
      _ field: String, _ text: String, _ edit: Edit, isCommon: Bool = false,
      isPersonal: Bool = true
    ) {
      (self.field, self.text, self.edit) = (field, text, edit)
      (self.isCommon, self.isPersonal) = (isCommon, isPersonal)
    }

    /// The later instant, if that is the change.
    public var instant: Instant? {
      switch edit {
      case .time(let at), .laterMessage(let at): at
      case .record, .message: nil
      }
    }
  }

  /// The answer in one sentence or two: who, and what decided.
  public var answer: String {
    let last = steps.last?.found ?? ""
    guard let decision else { return "\(user) is no recipient (\(last))." }
    let outcome = decision.outcome
    let devices = decision.devices.map(\.text).joined(separator: ", ")
    switch outcome.action {
    case .push: return "Push for \(user), to \(devices). \(phrase(of: outcome))."
    case .local:
      return "A notification by the app for \(user), on \(devices). \(phrase(of: outcome))."
    case .suppress: return "No push for \(user). \(stop(outcome, last))."
    }
  }

  /// An outcome's phrase, in which a thread's parent is named where its setting decided.
  private func phrase(of outcome: Outcome) -> String {
    let step = steps.last { $0.scope == outcome.scope && $0.conversation != nil }
    guard let parent = step?.conversation else { return outcome.phrase }
    let name = "\(parent), the thread's parent"
    return outcome.phrase
      .replacing("the conversation's default level", with: "the default level of \(name),")
      .replacing("the level set for the conversation", with: "the level set for \(name),")
  }

  /// The reasons that an outcome's phrase says as well as what was found.
  private static let plainReasons: Set<Reason> = [
    .chatRoom, .onlineOnly, .silentMessage, .levelNone, .directChatLevel, .kicked, .loggedOut,
    .localDisabled, .localInfoMissing, .localHandledByApp, .notFollowing,
  ]

  /// What stopped a push, and what was found there if that is more.
  private func stop(_ outcome: Outcome, _ last: String) -> String {
    let phrase = phrase(of: outcome)
    func found(_ subject: String) -> String? { steps.last { $0.subject == subject }?.found }
    switch outcome.reason {
    case .notMentioned:
      // Whether there was a mention is what people ask about then.
      return "\(phrase) (\(found("mentions").map { "it mentions \($0)" } ?? last))"
    case .levelExcludes:
      // What the message is, and why it is nothing else.
      let classes = (found("classes") ?? "").replacing(", ", with: " and ")
      let facts = [
        found("mentions").map { "it mentions \($0)" }, found("reply").map { "a reply \($0)" },
        found("keywords").map { "keywords: \($0)" },
      ].compactMap { $0 }
      return phrase.replacing("such messages", with: "messages of the class \(classes)")
        + " (\(facts.joined(separator: "; ")))"
    case .messageType where steps.last?.subject == "push content":
      return "\(phrase) (a custom message without push content)"
    case .muted: return "Stopped by the mute of \(last)" + refusedForce
    case .quietHours: return "\(phrase) (\(found("quiet hours") ?? last))" + refusedForce
    case .noToken where last.hasSuffix("that is offline has one"): return phrase
    case let reason where Self.plainReasons.contains(reason): return phrase
    default: return "\(phrase) (\(last))"
    }
  }

  /// That a forced message was stopped as the recipient wants it (O-40).
  private var refusedForce: String {
    let refuses = steps.contains { $0.subject == "force" && $0.found.contains("does not allow") }
    return refuses ? ". The message is forced, which \(user) does not allow" : ""
  }
}
