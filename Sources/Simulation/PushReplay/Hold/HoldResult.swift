/// What became of suppressed decisions when they were asked again as time passed.
///
/// A decision is *held* when the same message, decided with the settings of its own instant but at
/// a later one, would push; it is *released* at the first such instant.
///
/// - Source: docs/replay.md, "Held messages".
public struct HoldResult: Codable, Equatable, Sendable {
  /// Suppressed decisions that will push.
  public var held = 0
  /// Suppressed decisions that never will.
  public var never = 0
  /// The same by outcome; only those that were suppressed.
  public var outcomes: [HoldOutcome] = []
  /// Every hour in which something was held or released.
  public var hours = HoldSeries(step: 3_600_000)
  /// Every such minute; nil when there were more than the limit of the replay.
  public var minutes: HoldSeries?
  /// The minutes of the UTC day of the minute with most releases.
  public var peakDay = HoldSeries(step: 60_000)
  /// The minutes from 18 hours before ``releasePeak`` to 18 hours after it; nil when nothing is
  /// released.
  public var aroundPeak: HoldSeries?
  /// The minute in which most are released; nil when nothing is.
  public var releasePeak: HoldPeak?
  /// The zones whose users' quiet hours end in that minute, by the settings at the end; at most five,
  /// the one with most users first.
  public var windowsEnd: [WindowEnd] = []
  /// The minute at whose end most wait; nil when nothing does.
  public var waitingPeak: HoldPeak?

  /// An empty result.
  public init() {}
}

/// One suppressed outcome.
public struct HoldOutcome: Codable, Equatable, Sendable {
  /// The name of the reason, as in decisions.
  public var reason: String
  /// The name of the scope; nil when no setting decided.
  public var scope: String?
  /// Decisions that will push.
  public var held: Int
  /// Decisions that never will.
  public var never: Int

  /// An outcome with its counts.
  public init(reason: String, scope: String?, held: Int, never: Int) {
    self.reason = reason
    self.scope = scope
    self.held = held
    self.never = never
  }
}

/// Held pushes along time, in columns; a step in which nothing changes has no row.
public struct HoldSeries: Codable, Equatable, Sendable {
  /// Milliseconds from one step to the next.
  public var step: Int64
  /// When each row's step begins, ascending.
  public var at: [Int64] = []
  /// Decisions that were suppressed in the step and are held.
  public var held: [Int] = []
  /// Decisions that are released in the step.
  public var released: [Int] = []
  /// How many wait at the end of the step.
  public var waiting: [Int] = []

  /// A series without rows; `step` in milliseconds.
  public init(step: Int64) { self.step = step }

  /// Reads a series.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    step = try fields.decode(Int64.self, forKey: .step)
    at = try fields.instants(forKey: .at)
    held = try fields.wholeNumbers(forKey: .held)
    released = try fields.wholeNumbers(forKey: .released)
    waiting = try fields.wholeNumbers(forKey: .waiting)
  }
}

/// A minute and a count.
public struct HoldPeak: Codable, Equatable, Sendable {
  /// When the minute begins.
  public var at: Int64
  /// Decisions released in the minute, or waiting at its end.
  public var count: Int

  /// A count and its minute; `at` in milliseconds since the epoch.
  public init(at: Int64, count: Int) {
    self.at = at
    self.count = count
  }
}
