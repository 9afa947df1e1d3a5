/// What a comparison came to: how the outcomes of the same messages differ between two worlds.
///
/// Instants are milliseconds since the epoch. A recipient on one side only counts as changed too.
///
/// - Source: docs/compare.md, "The result file".
public struct CompareResult: Codable, Equatable, Sendable {
  /// The version of the format that this library writes and reads.
  public static let format = 1

  /// The version of the format.
  public var pushFanoutCompare = CompareResult.format
  /// The first world, usually the one as it is.
  public var a: ComparedSide
  /// The second world, usually the changed one.
  public var b: ComparedSide
  /// The IANA zone of ``week``.
  public var timeZone: String
  /// Messages that were decided on both sides.
  public var messages = 0
  /// Conversations that got a message.
  public var conversations = 0
  /// When the first message came; nil without messages.
  public var first: Int64?
  /// When the last message came; nil without messages.
  public var last: Int64?
  /// Decisions whose action, reason or scope differ.
  public var changed = 0
  /// Pushes in B only.
  public var gained = 0
  /// Pushes in A only.
  public var lost = 0
  /// Of ``lost``, those whose message mentioned the recipient by name.
  public var mentionsLost = 0
  /// Of ``lost``, those whose message mentioned everyone and not the recipient by name.
  public var everyoneMentionsLost = 0
  /// Of ``lost``, those whose message had other classes for the recipient; nil where A's rules have
  /// none.
  public var classesLost: LostClasses?
  /// How often each outcome occurred on each side, in the byte order of their keys.
  public var outcomes: [ComparedOutcome] = []
  /// From which outcome to which, the most frequent change first.
  public var changes: [OutcomeChange] = []
  /// Every hour (of UTC) with messages.
  public var hours = ComparedSeries(step: 3_600_000)
  /// 168 rows, by weekday and hour of the day in ``timeZone``.
  public var week: [ComparedWeekHour] = []
  /// Pushes by the hour of the recipient's own day, as ``ReplayResult/pushesByLocalHour``, on both
  /// sides; nil for changes that leave quiet hours alone.
  public var pushesByLocalHour: ComparedHours?
  /// Every conversation that got a message, the one with most pushes gained or lost first.
  public var conversationTable: [ComparedConversation] = []
  /// What it is for users.
  public var users = ComparedUsers()
  /// How many pushes people get a day; nil if that was not asked for.
  public var people: ComparedPeople?
  /// What the run cost; not the same in every run.
  public var cost: ReplayCost?

  /// An empty result; `timeZone` is an IANA name.
  public init(a: ComparedSide, b: ComparedSide, timeZone: String) {
    self.a = a
    self.b = b
    self.timeZone = timeZone
  }
}

/// Lost pushes by classes that only open rules have (O-1), by A's settings. A push with several of
/// them is counted in each, and beside the mentions.
public struct LostClasses: Codable, Equatable, Sendable {
  /// The message mentioned a role of the recipient.
  public var role = 0
  /// It answered the recipient.
  public var reply = 0
  /// It had a keyword of the recipient.
  public var keyword = 0
  /// Its sender was important to the recipient.
  public var sender = 0

  /// None.
  public init() {}
}

/// One of the two worlds.
public struct ComparedSide: Codable, Equatable, Sendable {
  /// What readers call it: what the caller said, or ``what`` in words.
  public var name: String
  /// What was asked for, as it was written; empty for the world as it is.
  public var what: [String]
  /// Which users and members each of them changed, none for a change that is not of users; empty if
  /// nobody counted.
  public var reach: [ChangeReach] = []
  /// The rule set: `easemob`, `rongcloud` or `open`.
  public var rules: String
  /// User ids that the settings know at the end.
  public var users = 0
  /// Decisions: one for each recipient of each message.
  public var decisions = 0
  /// Decisions whose action is a push.
  public var pushes = 0
  /// With `--rate-limit` only.
  public var rateLimit: RateLimitResult?

  /// A side without counts yet.
  public init(name: String? = nil, what: [String], rules: String) {
    self.name = name ?? WhatIf.words(what)
    self.what = what
    self.rules = rules
  }
}

extension CompareResult {
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

/// How often an outcome occurred on each side.
public struct ComparedOutcome: Codable, Equatable, Sendable {
  /// `push`, `local` or `suppress`.
  public var action: String
  /// The name of the reason, as in decisions.
  public var reason: String
  /// nil when no setting decided.
  public var scope: String?
  /// Decisions with this outcome in A.
  public var a: Int
  /// Decisions with this outcome in B.
  public var b: Int
}

/// How often one outcome became another.
public struct OutcomeChange: Codable, Equatable, Sendable {
  /// `action/reason` or `action/reason/scope`; nil for who is no recipient on that side.
  public var from: String?
  /// The outcome in B, in the same form; nil for who is no recipient there.
  public var to: String?
  /// Decisions that changed in this way.
  public var count: Int
}

/// Pushes on both sides along time, in columns; a step without messages has no row.
public struct ComparedSeries: Codable, Equatable, Sendable {
  /// Milliseconds from one step to the next.
  public var step: Int64
  /// When each row's step begins, ascending.
  public var at: [Int64] = []
  /// Messages of each row.
  public var messages: [Int] = []
  /// Pushes in A of each row.
  public var a: [Int] = []
  /// Pushes in B of each row.
  public var b: [Int] = []
  /// Pushes in B only, of each row.
  public var gained: [Int] = []
  /// Pushes in A only, of each row.
  public var lost: [Int] = []

  /// A series without rows; `step` in milliseconds.
  public init(step: Int64) { self.step = step }
}

/// An hour of the week, all weeks together.
public struct ComparedWeekHour: CoveredHour, Codable, Equatable, Sendable {
  /// 1 is Monday, 7 is Sunday.
  public var weekday: Int
  /// 0 ..< 24.
  public var hour: Int
  /// As that of a ``WeekHour``.
  public var days = 0.0
  /// Messages of the hour.
  public var messages = 0
  /// Pushes in A.
  public var a = 0
  /// Pushes in B.
  public var b = 0

  init(weekday: Int, hour: Int) {
    self.weekday = weekday
    self.hour = hour
  }
}

/// Counts by the hour of the day on both sides.
public struct ComparedHours: Codable, Equatable, Sendable {
  /// 24 numbers in A.
  public var a = [Int](repeating: 0, count: 24)
  /// 24 numbers in B.
  public var b = [Int](repeating: 0, count: 24)

  /// Hours without pushes.
  public init() {}
}

/// One conversation.
public struct ComparedConversation: Codable, Equatable, Sendable {
  /// The conversation's id.
  public var id: String
  /// What the conversation is called; nil if nothing says so.
  public var name: String?
  /// Its members when its first message came, on the side that had more.
  public var members = 0
  /// Its messages.
  public var messages = 0
  /// Decisions; of each message those of the side that has more.
  public var decisions = 0
  /// Pushes in A.
  public var a = 0
  /// Pushes in B.
  public var b = 0
  /// Pushes in B only.
  public var gained = 0
  /// Pushes in A only.
  public var lost = 0

  init(id: String) { self.id = id }
}

/// What a comparison is for the users.
public struct ComparedUsers: Codable, Equatable, Sendable {
  /// Users with more pushes in B.
  public var more = 0
  /// Users with fewer pushes in B.
  public var fewer = 0
  /// Users with as many pushes on both sides, but for other messages.
  public var asMany = 0
  /// The users with the largest net gain of pushes, the largest first.
  public var gainers: [ComparedUser] = []
  /// The users with the largest net loss of pushes, the largest first.
  public var losers: [ComparedUser] = []
  /// How many users have each of the largest net gains, the largest first.
  public var gains: [ComparedUsersStep] = []
  /// How many users have each of the largest net losses, the largest first.
  public var losses: [ComparedUsersStep] = []
  /// How many users lost a push of a message that mentions them by name; nil if nobody did.
  public var lostMentions: Int?
  /// Users and rooms with most such pushes lost, the most first; of equals the first by id. nil if
  /// nobody lost one.
  public var mentionLosers: [MentionLoser]?

  /// No users.
  public init() {}
}

/// Users with the same net gain or loss of pushes.
public struct ComparedUsersStep: Codable, Equatable, Sendable {
  /// Pushes that each of them gains or loses.
  public var pushes: Int
  /// How many users they are.
  public var users: Int
  /// Three of them at most, the first in the order of bytes.
  public var examples: [String]

  /// Users with the same difference.
  public init(pushes: Int, users: Int, examples: [String] = []) {
    self.pushes = pushes
    self.users = users
    self.examples = examples
  }
}

/// A user who lost mentions by name in a room.
public struct MentionLoser: Codable, Equatable, Sendable {
  /// The user's id.
  public var id: String
  /// The room.
  public var conversation: String
  /// Lost pushes of messages in the room that mention the user by name.
  public var mentions: Int

  /// A user and a room.
  public init(id: String, conversation: String, mentions: Int) {
    self.id = id
    self.conversation = conversation
    self.mentions = mentions
  }
}

/// One user.
public struct ComparedUser: Codable, Equatable, Sendable {
  /// The user's id.
  public var id: String
  /// Pushes in B only.
  public var gained: Int
  /// Pushes in A only.
  public var lost: Int
}

extension CompareResult: ResultFrame {
  /// The name of ``pushFanoutCompare`` in files.
  public static let formatField = "pushFanoutCompare"
  /// The same as ``pushFanoutCompare``.
  public var formatVersion: Int { pushFanoutCompare }
}
