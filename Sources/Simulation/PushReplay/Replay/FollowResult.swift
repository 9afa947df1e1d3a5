internal import PushFanout
internal import PushModel

/// What became of each message to one user, in one room, or of one user in one room.
///
/// - Source: docs/replay.md, "Following".
public struct FollowResult: Codable, Equatable, Sendable {
  /// The most messages that are listed; all are counted.
  public static let limit = 1000

  /// The user; nil when a room is followed.
  public var user: String?
  /// The room; nil for all rooms of the user.
  public var conversation: String?
  /// Messages that were followed, listed or not.
  public var count = 0
  /// What became of all of them for the user, or for each recipient of the room, in the byte order of
  /// the outcomes' keys.
  public var outcomes: [OutcomeTotal] = []
  /// Every hour (of UTC) with such messages, with counts by these outcomes.
  public var hours = TimeSeries(step: 3_600_000)
  /// The last of them, at most ``limit``.
  public var messages: [FollowedMessage] = []
  /// What explains one of these messages when its id is added, as a command line; nil if nobody
  /// said how.
  public var explain: String?

  /// Follows a user, a conversation, or both.
  public init(user: String?, conversation: String?) {
    self.user = user
    self.conversation = conversation
  }
}

/// Adds up what is followed, in the order of time.
///
/// - Memory: that of the messages that are listed, and some 100 bytes an hour.
struct FollowTally {
  private var result: FollowResult
  private var columns = OutcomeColumns()
  private var totals = OutcomeRows(rowCount: 1)
  private var byHour = OutcomeRows()

  init(user: Identifier?, conversation: Identifier?) {
    result = FollowResult(user: user?.text, conversation: conversation?.text)
  }

  /// Adds a message with how often it had which outcome.
  mutating func add(_ message: FollowedMessage, _ counts: [(code: UInt8, count: Int)]) {
    let begin = message.at / result.hours.step * result.hours.step
    if result.hours.at.last != begin {
      result.hours.at.append(begin)
      result.hours.messages.append(0)
      result.hours.decisions.append(0)
      result.hours.pushes.append(0)
      byHour.addRow()
    }
    let last = byHour.rowCount - 1
    for (code, count) in counts {
      let column = columns.column(of: code)
      totals.add(count, row: 0, column: column)
      byHour.add(count, row: last, column: column)
      result.hours.decisions[last] += count
      result.hours.pushes[last] += count * Int(code & 1)
    }
    result.hours.messages[last] += 1
    result.count += 1
    result.messages.append(message)
    // Seldom, as the others move.
    if result.messages.count == 2 * FollowResult.limit {
      result.messages.removeFirst(FollowResult.limit)
    }
  }

  func finish() -> FollowResult {
    var result = result
    result.messages.removeFirst(max(0, result.messages.count - FollowResult.limit))
    let order = columns.sorted
    result.outcomes = order.map { outcome, column in
      OutcomeTotal(
        action: outcome.action.name, reason: outcome.reason.name, scope: outcome.scope?.name,
        count: totals.value(row: 0, column: column))
    }
    result.hours.outcomes = order.map { byHour.column($0.column) }
    return result
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

  /// A message that was just decided, and how often it had which outcome that is followed; nil if it
  /// is not followed: it is in another room, or the user is no recipient.
  func follow(
    _ message: Message, _ counts: FanoutCounts, _ timeline: FanoutTimeline
  ) -> (message: FollowedMessage, counts: [(code: UInt8, count: Int)])? {
    guard conversation == nil || message.conversation == conversation else { return nil }
    var followed = FollowedMessage(
      id: message.id.text, conversation: message.conversation.text, at: message.at.milliseconds,
      outcome: nil)
    let mentions = timeline.mentions(of: message)
    var outcomes: [(code: UInt8, count: Int)] = []
    if let user {
      guard let outcome = timeline.decidedOutcome(of: user) else { return nil }
      followed.outcome = FollowedOutcome(outcome)
      outcomes.append((outcome.code, 1))
      followed.mentions =
        timeline.rank(of: user, in: message.conversation).map(mentions.ranks.contains) ?? false
    } else {
      // Of equals the first code.
      let most = counts.nonZero.max { $0.count < $1.count }
      followed.outcome = most.map { FollowedOutcome($0.outcome) }
      followed.recipients = counts.recipientCount
      followed.pushes = counts.pushCount
      followed.mentions = !mentions.ranks.isEmpty
      counts.forEach { outcomes.append(($0, Int($1))) }
    }
    followed.sender = message.sender?.text
    followed.mentionsEveryone = mentions.everyone
    return (followed, outcomes)
  }
}
