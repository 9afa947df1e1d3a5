internal import PushFanout
internal import PushModel

/// What became of each message to one user, in one room, or of one user in one room.
///
/// - Source: docs/replay.md, "Following".
public struct FollowResult: Codable, Equatable, Sendable {
  /// The most messages that are listed.
  public static let limit = 1000

  /// The user; nil when a room is followed.
  public var user: String?
  /// The room; nil for all rooms of the user.
  public var conversation: String?
  /// Messages that were followed, listed or not.
  public var count = 0
  /// The first of them, at most ``limit``.
  public var messages: [FollowedMessage] = []

  /// Follows a user, a conversation, or both.
  public init(user: String?, conversation: String?) {
    self.user = user
    self.conversation = conversation
  }
}

/// A message, and what became of it.
public struct FollowedMessage: Codable, Equatable, Sendable {
  /// Its id.
  public var id: String
  /// Its conversation.
  public var conversation: String
  /// When it came.
  public var at: Int64
  /// Who sent it; nil for an unknown sender.
  public var sender: String?
  /// Whether it mentions the user by name; of a room without a user, whether anybody.
  public var mentions: Bool
  /// Whether it mentions everyone.
  public var mentionsEveryone: Bool
  /// What became of it for the user, or for most recipients of a room; nil without recipients.
  public var outcome: FollowedOutcome?
  /// Recipients and pushes; nil when a user is followed.
  public var recipients: Int?
  /// Of these, those who got a push.
  public var pushes: Int?

  /// A message without mentions; `at` in milliseconds since the epoch.
  public init(id: String, conversation: String, at: Int64, outcome: FollowedOutcome?) {
    self.id = id
    self.conversation = conversation
    self.at = at
    self.outcome = outcome
    (mentions, mentionsEveryone) = (false, false)
  }
}

/// What became of a message for one recipient, or for most.
public struct FollowedOutcome: Codable, Equatable, Sendable {
  /// `push`, `local` or `none`.
  public var action: String
  /// The name of the reason, as in decisions.
  public var reason: String
  /// nil when no setting decided.
  public var scope: String?

  /// An outcome by the names of its parts.
  public init(action: String, reason: String, scope: String?) {
    self.action = action
    self.reason = reason
    self.scope = scope
  }

  init(_ outcome: Outcome) {
    self.init(
      action: outcome.action.name, reason: outcome.reason.name, scope: outcome.scope?.name)
  }
}

/// Finds the messages that are followed, on the threads that decide.
struct Follower {
  let user: Identifier?
  let conversation: Identifier?

  /// nil if nothing is to be followed.
  init?(_ options: ReplayOptions) {
    guard options.followedUser != nil || options.followedConversation != nil else { return nil }
    user = options.followedUser
    conversation = options.followedConversation
  }

  /// A message that was just decided, with its counts; nil if it is not followed: it is in another
  /// room, or the user is no recipient.
  func follow(
    _ message: Message, _ counts: FanoutCounts, _ timeline: FanoutTimeline
  ) -> FollowedMessage? {
    guard conversation == nil || message.conversation == conversation else { return nil }
    var followed = FollowedMessage(
      id: message.id.text, conversation: message.conversation.text, at: message.at.milliseconds,
      outcome: nil)
    let mentions = timeline.mentions(of: message)
    if let user {
      guard let outcome = timeline.decidedOutcome(of: user) else { return nil }
      followed.outcome = FollowedOutcome(outcome)
      followed.mentions =
        timeline.rank(of: user, in: message.conversation).map(mentions.ranks.contains) ?? false
    } else {
      // Of equals the first code.
      let most = counts.nonZero.max { $0.count < $1.count }
      followed.outcome = most.map { FollowedOutcome($0.outcome) }
      followed.recipients = counts.recipientCount
      followed.pushes = counts.pushCount
      followed.mentions = !mentions.ranks.isEmpty
    }
    followed.sender = message.sender?.text
    followed.mentionsEveryone = mentions.everyone
    return followed
  }
}
