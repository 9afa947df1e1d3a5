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
  public var a: ComparedSide
  public var b: ComparedSide
  /// The IANA zone of ``week``.
  public var timeZone: String
  public var messages = 0
  public var conversations = 0
  /// When the first and the last message came; nil without messages.
  public var first: Int64?
  public var last: Int64?
  /// Decisions whose action, reason or scope differ.
  public var changed = 0
  /// Pushes in B only, and in A only.
  public var gained = 0
  public var lost = 0
  /// How often each outcome occurred on each side, in the byte order of their keys.
  public var outcomes: [ComparedOutcome] = []
  /// From which outcome to which, the most frequent change first.
  public var changes: [OutcomeChange] = []
  /// Every hour (of UTC) with messages.
  public var hours = ComparedSeries(step: 3_600_000)
  /// 168 rows, by weekday and hour of the day in ``timeZone``.
  public var week: [ComparedWeekHour] = []
  /// Every conversation that got a message, the one with most pushes gained or lost first.
  public var conversationTable: [ComparedConversation] = []
  /// What it is for users.
  public var users = ComparedUsers()
  /// What the run cost; not the same in every run.
  public var cost: ReplayCost?

  public init(a: ComparedSide, b: ComparedSide, timeZone: String) {
    self.a = a
    self.b = b
    self.timeZone = timeZone
  }
}

/// One of the two worlds.
public struct ComparedSide: Codable, Equatable, Sendable {
  /// What was asked for, as it was written; empty for the world as it is.
  public var what: [String]
  /// `easemob` or `rongcloud`.
  public var rules: String
  public var users = 0
  public var decisions = 0
  public var pushes = 0

  public init(what: [String], rules: String) {
    self.what = what
    self.rules = rules
  }
}

/// How often an outcome occurred on each side.
public struct ComparedOutcome: Codable, Equatable, Sendable {
  public var action: String
  public var reason: String
  /// nil when no setting decided.
  public var scope: String?
  public var a: Int
  public var b: Int
}

/// How often one outcome became another.
public struct OutcomeChange: Codable, Equatable, Sendable {
  /// `action/reason` or `action/reason/scope`; nil for who is no recipient on that side.
  public var from: String?
  public var to: String?
  public var count: Int
}

/// Pushes on both sides along time, in columns; a step without messages has no row.
public struct ComparedSeries: Codable, Equatable, Sendable {
  /// Milliseconds from one step to the next.
  public var step: Int64
  /// When each row's step begins, ascending.
  public var at: [Int64] = []
  public var messages: [Int] = []
  public var a: [Int] = []
  public var b: [Int] = []
  public var gained: [Int] = []
  public var lost: [Int] = []

  public init(step: Int64) { self.step = step }
}

/// An hour of the week, all weeks together.
public struct ComparedWeekHour: Codable, Equatable, Sendable {
  /// 1 is Monday, 7 is Sunday.
  public var weekday: Int
  /// 0 ..< 24.
  public var hour: Int
  public var messages = 0
  /// Pushes.
  public var a = 0
  public var b = 0

  init(weekday: Int, hour: Int) {
    self.weekday = weekday
    self.hour = hour
  }
}

/// One conversation.
public struct ComparedConversation: Codable, Equatable, Sendable {
  public var id: String
  public var messages = 0
  /// Decisions of the side that has more.
  public var decisions = 0
  /// Pushes.
  public var a = 0
  public var b = 0
  public var gained = 0
  public var lost = 0

  init(id: String) { self.id = id }
}

/// What a comparison is for the users.
public struct ComparedUsers: Codable, Equatable, Sendable {
  /// How many get more pushes in B, fewer, and as many though others.
  public var more = 0
  public var fewer = 0
  public var asMany = 0
  /// Those who gain and lose most, the first most.
  public var gainers: [ComparedUser] = []
  public var losers: [ComparedUser] = []

  public init() {}
}

/// One user.
public struct ComparedUser: Codable, Equatable, Sendable {
  public var id: String
  public var gained: Int
  public var lost: Int
}
