/// What a replay came to: the content of a result file, which `compare` and `report` read.
///
/// Instants are milliseconds since the epoch. A list that follows ``outcomes`` has a number for
/// each of them, in their order.
///
/// - Source: docs/replay.md, "The result file".
public struct ReplayResult: Codable, Equatable, Sendable {
  /// The version of the format that this library writes and reads.
  public static let format = 1

  /// The version of the format.
  public var pushFanoutReplay = ReplayResult.format
  /// `easemob` or `rongcloud`.
  public var rules: String
  /// The IANA zone of ``week``.
  public var timeZone: String
  /// How many user ids the settings know at the end.
  public var users = 0
  /// How many conversations got a message.
  public var conversations = 0
  /// Messages that were decided.
  public var messages = 0
  /// Decisions: one for each recipient of each message.
  public var decisions = 0
  /// Decisions whose action is a push.
  public var pushes = 0
  /// Memberships that began within the messages' time.
  public var joins = 0
  /// Rows of presence that were applied.
  public var presenceRows = 0
  /// Records of settings changes that were applied.
  public var settingsChanges = 0
  /// Bad lines that were left out.
  public var skippedLines = 0
  /// When the first message came; nil without messages.
  public var first: Int64?
  /// When the last message came; nil without messages.
  public var last: Int64?

  /// Every outcome that occurred, in the byte order of their keys.
  public var outcomes: [OutcomeTotal] = []
  /// Every hour (of UTC) with messages, with counts by outcome.
  public var hours = TimeSeries(step: 3_600_000)
  /// Every minute with messages, with counts by outcome; nil when there were more than the limit of
  /// the replay.
  public var minutes: TimeSeries?
  /// The minutes of the UTC day of the minute with most pushes.
  public var peakDay = TimeSeries(step: 60_000)
  /// 168 rows, by weekday and hour of the day in ``timeZone``.
  public var week: [WeekHour] = []
  /// Pushes by the hour of the recipient's own day, 24 numbers: in the user's time zone, without one
  /// in that of the user's quiet hours, and else in the app's. nil if
  /// nobody asked for people.
  public var pushesByLocalHour: [Int]?
  /// Every conversation that got a message, the one with most decisions first.
  public var conversationTable: [ConversationTotal] = []
  /// By how many recipients a message had.
  public var sizes: [SizeClass] = []
  /// The busiest second and minute: by messages, by decisions, by pushes.
  public var peaks: [Peak] = []
  /// How many pushes people get a day; nil if that was not asked for.
  public var people: PeopleResult?
  /// Who gets most pushes, and whose messages make most; nil if people were not counted, or nobody
  /// was to be listed.
  public var top: TopPushes?
  /// With `--rate-limit` only.
  public var rateLimit: RateLimitResult?
  /// With `--follow-user` or `--follow-conversation` only.
  public var follow: FollowResult?
  /// With `--hold` only.
  public var hold: HoldResult?
  /// What the run cost; not the same in every run.
  public var cost: ReplayCost?

  /// An empty result; `timeZone` is an IANA name.
  public init(rules: String, timeZone: String) {
    self.rules = rules
    self.timeZone = timeZone
  }
}

extension ReplayResult {
  /// Names the conversations.
  ///
  /// - Parameter name: the name of an id; nil for none.
  /// - Complexity: O(conversations).
  public mutating func nameConversations(_ name: (String) -> String?) {
    for index in conversationTable.indices {
      conversationTable[index].name = name(conversationTable[index].id)
    }
  }
}

/// How often an outcome occurred.
public struct OutcomeTotal: Codable, Equatable, Sendable {
  /// `push`, `local` or `suppress`.
  public var action: String
  /// The name of the reason, as in decisions.
  public var reason: String
  /// nil when no setting decided.
  public var scope: String?
  /// Decisions with this outcome.
  public var count: Int

  /// An outcome and its count.
  public init(action: String, reason: String, scope: String?, count: Int) {
    self.action = action
    self.reason = reason
    self.scope = scope
    self.count = count
  }
}

/// Counts along time, in columns; a step without messages has no row.
public struct TimeSeries: Codable, Equatable, Sendable {
  /// Milliseconds from one step to the next.
  public var step: Int64
  /// When each row's step begins, ascending.
  public var at: [Int64] = []
  /// Messages of each row.
  public var messages: [Int] = []
  /// Decisions of each row.
  public var decisions: [Int] = []
  /// Pushes of each row.
  public var pushes: [Int] = []
  /// A column for each of the result's outcomes; nil where they are not kept.
  public var outcomes: [[Int]]?

  /// A series without rows; `step` in milliseconds.
  public init(step: Int64) { self.step = step }

  /// Reads a series.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    step = try fields.decode(Int64.self, forKey: .step)
    at = try fields.instants(forKey: .at)
    messages = try fields.wholeNumbers(forKey: .messages)
    decisions = try fields.wholeNumbers(forKey: .decisions)
    pushes = try fields.wholeNumbers(forKey: .pushes)
    outcomes = try fields.wholeNumberColumnsIfPresent(forKey: .outcomes)
  }
}

/// An hour of the week, all weeks together.
public struct WeekHour: CoveredHour, Codable, Equatable, Sendable {
  /// 1 is Monday, 7 is Sunday.
  public var weekday: Int
  /// 0 ..< 24.
  public var hour: Int
  /// How many such hours lie between the first message and the last: less than a whole one where
  /// clocks change. The hours of both messages are counted whole.
  public var days = 0.0
  /// Messages of the hour.
  public var messages = 0
  /// Decisions of the hour.
  public var decisions = 0
  /// Pushes of the hour.
  public var pushes = 0
  /// Follows the result's outcomes.
  public var outcomes: [Int] = []

  /// An hour without messages.
  public init(weekday: Int, hour: Int) {
    self.weekday = weekday
    self.hour = hour
  }
}

/// One conversation.
public struct ConversationTotal: Codable, Equatable, Sendable {
  /// The conversation's id.
  public var id: String
  /// What the conversation is called; nil if nothing says so.
  public var name: String?
  /// How many members it has at the end, joined or still to join.
  public var members: Int
  /// Its messages.
  public var messages: Int
  /// Its decisions.
  public var decisions: Int
  /// Its pushes.
  public var pushes: Int
  /// When its first message came.
  public var first: Int64
  /// When its last message came.
  public var last: Int64
  /// Follows the result's outcomes.
  public var outcomes: [Int] = []

  /// A conversation without counts by outcome; instants in milliseconds.
  public init(
    id: String, members: Int, messages: Int, decisions: Int, pushes: Int, first: Int64, last: Int64
  ) {
    self.id = id
    self.members = members
    self.messages = messages
    self.decisions = decisions
    self.pushes = pushes
    self.first = first
    self.last = last
  }
}

/// Messages by their number of recipients: 0, 1...9, 10...99 and so on.
public struct SizeClass: Codable, Equatable, Sendable {
  /// The least number of recipients in the class.
  public var from: Int
  /// Messages of this class.
  public var messages = 0
  /// Their decisions.
  public var decisions = 0
  /// Their pushes.
  public var pushes = 0
  /// Conversations whose largest message is of this class.
  public var conversations = 0

  /// A class without messages.
  public init(from: Int) { self.from = from }
}

/// The busiest second or minute; of equals the first.
public struct Peak: Codable, Equatable, Sendable {
  /// `second` or `minute`.
  public var unit: String
  /// What there was most of: `messages`, `decisions` or `pushes`.
  public var by: String
  /// When it begins.
  public var at: Int64
  /// Messages within it.
  public var messages: Int
  /// Decisions within it.
  public var decisions: Int
  /// Pushes within it.
  public var pushes: Int
  /// The conversation with most of what ``by`` names.
  public var conversation: String
  /// How much of what ``by`` names that conversation has.
  public var share: Int
  /// How long its messages took to decide, all threads together; not the same in every run.
  public var decidingSeconds: Double?

  /// A peak without a cost.
  public init(
    unit: String, by: String, at: Int64, messages: Int, decisions: Int, pushes: Int,
    conversation: String, share: Int
  ) {
    self.unit = unit
    self.by = by
    self.at = at
    self.messages = messages
    self.decisions = decisions
    self.pushes = pushes
    self.conversation = conversation
    self.share = share
  }
}

extension ReplayResult: ResultFrame {
  /// The name of ``pushFanoutReplay`` in files.
  public static let formatField = "pushFanoutReplay"
  /// The same as ``pushFanoutReplay``.
  public var formatVersion: Int { pushFanoutReplay }
}
