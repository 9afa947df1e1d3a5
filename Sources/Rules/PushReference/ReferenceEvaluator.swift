public import PushModel

/// The rules, written to be read: decision-rules.md §4 line by line.
///
/// This is the specification in code, against which everything faster is tested: plain
/// dictionaries, one member at a time, no caches beyond a sorted list of members a conversation. It
/// shares no decision code with the engine, so that one mistake cannot hide in both.
///
/// - Complexity: O(1) a member, about a microsecond.
public struct ReferenceEvaluator: Evaluator {
  /// The settings that messages are decided with.
  public let settings: FanoutSettings
  private var sortedMembers: [Identifier: [UserIndex]] = [:]
  let clock: LocalClock

  /// - Parameters:
  ///   - settings: the users, conversations and memberships.
  ///   - zoneOffset: how many seconds east of UTC a time zone is at an instant; nil for a name that
  ///     is none.
  /// - Precondition: the time zones in `settings` are known to `zoneOffset`, and threads of vendors
  ///   have a parent; the file readers make sure of both.
  public init(
    _ settings: FanoutSettings, zoneOffset: @escaping (_ zone: String, _ at: Instant) -> Int?
  ) {
    self.settings = settings
    clock = LocalClock(offset: zoneOffset)
  }

  /// An evaluator of other settings, with the time zones of `other`.
  package init(_ settings: FanoutSettings, like other: ReferenceEvaluator) {
    self.settings = settings
    clock = other.clock
  }

  /// Decides a message for every recipient, in the order of user ids.
  ///
  /// - Complexity: O(members).
  public mutating func decide(
    _ message: Message, each body: (UserIndex, Decision) throws -> Void
  ) rethrows {
    guard let conversation = settings.conversation(message.conversation) else { return }
    let mentions = mentions(of: message, in: conversation)
    for user in members(of: message.conversation, conversation) {
      var trace = Trace(isRecording: false)
      let decision = decide(message, conversation, mentions, for: user, &trace)
      if let decision { try body(user, decision) }
    }
  }

  /// Decides a message for one user.
  ///
  /// - Returns: nil when the user is no recipient: not a member, not yet a member, or the sender.
  public mutating func decide(_ message: Message, for user: Identifier) -> Decision? {
    var trace = Trace(isRecording: false)
    return decide(message, for: user, &trace)
  }

  /// The same as ``decide(_:for:)``, by the name that every `Evaluator` has.
  public mutating func decision(_ message: Message, for user: Identifier) -> Decision? {
    decide(message, for: user)
  }

  /// Every rule that is evaluated for a message and a user, in order, and which one decides.
  public mutating func explain(_ message: Message, for user: Identifier) -> Explanation {
    var trace = Trace(isRecording: true)
    let decision = decide(message, for: user, &trace)
    return Explanation(
      message: message.id, conversation: message.conversation, user: user, at: message.at,
      steps: trace.steps ?? [], decision: decision)
  }

  // MARK: One recipient

  private mutating func decide(
    _ message: Message, for user: Identifier, _ trace: inout Trace
  ) -> Decision? {
    guard let conversation = settings.conversation(message.conversation) else {
      trace.note(
        procedure, "conversation", stops: true,
        "there is no conversation \(message.conversation) in the settings")
      trace.markLast()
      return nil
    }
    guard let index = settings.index(of: user) else {
      trace.note(procedure, "member", stops: true, "there is no user \(user) in the settings")
      trace.markLast()
      return nil
    }
    let mentions = mentions(of: message, in: conversation)
    return decide(message, conversation, mentions, for: index, &trace)
  }

  private mutating func decide(
    _ message: Message, _ conversation: ConversationSettings, _ mentions: Mentions,
    for user: UserIndex, _ trace: inout Trace
  ) -> Decision? {
    let id = settings.id(of: user)
    let own = settings.member(user, of: message.conversation)
    let parent = conversation.parent.flatMap { settings.member(user, of: $0) }
    // The recipients of a thread are its parent's members.
    let membership = conversation.kind == .thread ? parent : own
    guard let membership else {
      trace.note(
        procedure, "member", stops: true, "not of \(conversation.parent ?? message.conversation)")
      return notRecipient(&trace)
    }
    let joinsLater = membership.since > message.at
    trace.note(
      procedure, "member", stops: joinsLater,
      membership.since == .zero
        ? "since always"
        : joinsLater
          ? "joins at \(membership.since.rfc3339), after this message"
          : "since \(membership.since.rfc3339)")
    if joinsLater { return notRecipient(&trace) }
    trace.note(
      procedure, "sender", stops: message.sender == id,
      message.sender.map { $0 == id ? "\($0) sent it" : "\($0), somebody else" } ?? "not named")
    guard message.sender != id else { return notRecipient(&trace) }  // 1

    var recipient = Recipient(
      id: id, user: settings.user(user), own: own ?? MemberSettings(), hasOwn: own != nil,
      parent: parent ?? MemberSettings())
    recipient.classes = classes(of: message, in: conversation, mentions, recipient)
    return decide(message, conversation, recipient, &trace)
  }

  private func notRecipient(_ trace: inout Trace) -> Decision? {
    trace.markLast()
    return nil
  }

  /// The users that a conversation's messages may go to, in the order of user ids.
  private mutating func members(
    of id: Identifier, _ conversation: ConversationSettings
  ) -> [UserIndex] {
    if let members = sortedMembers[id] { return members }
    let source = conversation.kind == .thread ? conversation.parent ?? id : id
    let members = settings.members(of: source)
    sortedMembers[id] = members
    return members
  }
}

/// One recipient of one message, with the settings that apply.
struct Recipient {
  let id: Identifier
  let user: UserSettings
  /// The record in the message's own conversation.
  let own: MemberSettings
  /// Whether there is such a record.
  let hasOwn: Bool
  /// The record in a thread's parent.
  let parent: MemberSettings
  var classes: MessageClasses = []

  var isMentioned: Bool { classes.isMention }

  /// The record that makes the user a member.
  func membership(_ conversation: ConversationSettings) -> MemberSettings {
    conversation.kind == .thread ? parent : own
  }
}
