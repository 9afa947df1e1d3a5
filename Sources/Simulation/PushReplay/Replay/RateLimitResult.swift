/// When pushes would be more than a provider takes.
///
/// Pushes arrive in the second of their message. In each second at most the limit is sent, what
/// waits longest first; the rest waits for the next second.
///
/// - Source: docs/replay.md, "A provider's rate limit".
public struct RateLimitResult: Codable, Equatable, Sendable {
  /// Pushes a second that the provider takes.
  public var perSecond: Int
  /// The most pushes that arrive in a second.
  public var most = 0
  /// Seconds in which more pushes arrive than the provider takes.
  public var secondsOver = 0
  /// Minutes with such a second.
  public var minutesOver = 0
  /// Pushes that are sent in a later second than they arrive.
  public var delayed = 0
  /// How often a backlog builds up.
  public var backlogs = 0
  /// Seconds at whose end pushes wait, all together.
  public var backlogSeconds = 0
  /// The backlog that lasts longest; of equals the first; nil without any.
  public var longest: Backlog?
  /// The backlog in which most pushes wait; of equals the first; nil without any.
  public var worst: Backlog?

  /// Nothing over a limit, in pushes a second.
  public init(perSecond: Int) { self.perSecond = perSecond }
}

/// A time in which pushes wait.
public struct Backlog: Codable, Equatable, Sendable {
  /// The second in which it begins, in milliseconds since the epoch.
  public var from: Int64
  /// How many seconds it lasts.
  public var seconds: Int
  /// The most pushes that wait at the end of a second.
  public var waiting: Int
  /// The first second at whose end so many wait.
  public var at: Int64

  /// A backlog; instants in milliseconds since the epoch.
  public init(from: Int64, seconds: Int, waiting: Int, at: Int64) {
    self.from = from
    self.seconds = seconds
    self.waiting = waiting
    self.at = at
  }
}
