/// How long a do-not-disturb lasts from the moment it is written (E-5).
///
/// What is stored and read back is the absolute expiry, never the duration (E-6).
public struct MuteDuration: Hashable, Sendable {
  /// The durations that the SDK accepts, in minutes: up to seven days (E-5).
  public static let minutesRange: ClosedRange<Int64> = 0...10_080
  /// The durations that the REST interface accepts, in milliseconds: up to seven days (E-5).
  public static let millisecondsRange: ClosedRange<Int64> = 0...604_800_000

  /// The duration in milliseconds; 0 for none.
  public let milliseconds: Int64

  /// A duration as the SDK takes it. Zero is no duration.
  ///
  /// - Throws: ``SettingsWriteError/durationMinutesOutOfRange(_:)`` outside 0...10,080.
  public init(minutes: Int64) throws(SettingsWriteError) {
    guard Self.minutesRange.contains(minutes) else { throw .durationMinutesOutOfRange(minutes) }
    self.milliseconds = minutes * 60_000
  }

  /// A duration as the REST interface takes it. Zero is no duration.
  ///
  /// - Throws: ``SettingsWriteError/durationMillisecondsOutOfRange(_:)`` outside 0...604,800,000.
  public init(milliseconds: Int64) throws(SettingsWriteError) {
    guard Self.millisecondsRange.contains(milliseconds) else {
      throw .durationMillisecondsOutOfRange(milliseconds)
    }
    self.milliseconds = milliseconds
  }

  /// When a duration written at `now` is over; zero for no duration.
  public func expiry(from now: Instant) -> Instant {
    guard milliseconds > 0 else { return .zero }
    return Instant(milliseconds: now.milliseconds + milliseconds)
  }
}

/// One write of Easemob's silent mode, to the app or to a conversation.
///
/// A write merges: what is nil here stays as it is (E-2).
public struct SilentModeWrite: Hashable, Sendable {
  /// What a write does to quiet hours.
  public enum IntervalChange: Hashable, Sendable {
    /// Replaces the window (E-4).
    case set(QuietInterval)
    /// Removes the window.
    case remove
  }

  /// Something in a write that has no effect where it was written.
  public enum Ignored: Hashable, Sendable {
    /// Quiet hours exist on the app level only (E-4).
    case quietHours
  }

  /// The level; `unset` is the vendor's DEFAULT.
  public var level: NotificationLevel?
  /// How long do-not-disturb lasts; nil leaves the stored expiry as it is.
  public var duration: MuteDuration?
  /// What happens to quiet hours; nil leaves them as they are. App level only (E-4).
  public var interval: IntervalChange?

  /// A write of the given parts; nil for a part that stays as it is.
  public init(
    level: NotificationLevel? = nil, duration: MuteDuration? = nil,
    interval: IntervalChange? = nil
  ) {
    self.level = level
    self.duration = duration
    self.interval = interval
  }

  /// Writes to a user's app settings at `now`.
  ///
  /// `DEFAULT` means unset here (E-3). A duration counts from now, and a new one
  /// starts again (E-5); a new window replaces the old one (E-4).
  ///
  /// - Throws: ``SettingsWriteError/levelNotAvailable(_:_:)`` for a level that Easemob does not
  ///   have; then nothing has changed.
  public func apply(to user: inout UserSettings, now: Instant) throws(SettingsWriteError) {
    try checkLevel()
    if let level { user.level = level }
    if let duration { user.mutedUntil = duration.expiry(from: now) }
    switch interval {
    case .set(let interval): user.quietHours = .interval(interval)
    case .remove: user.quietHours = nil
    case nil: break
    }
  }

  /// Writes to a member's settings of a conversation at `now`.
  ///
  /// - Returns: what had no effect: quiet hours, which a conversation cannot have (E-4).
  /// - Throws: ``SettingsWriteError/levelNotAvailable(_:_:)``; then nothing has changed.
  public func apply(
    to member: inout MemberSettings, now: Instant
  ) throws(SettingsWriteError) -> [Ignored] {
    try checkLevel()
    if let level { member.level = level }
    if let duration { member.mutedUntil = duration.expiry(from: now) }
    return interval == nil ? [] : [.quietHours]
  }

  private func checkLevel() throws(SettingsWriteError) {
    if let level, !level.exists(under: .easemob) { throw .levelNotAvailable(level, .easemob) }
  }
}

extension MemberSettings {
  /// `clearRemindType`: clears the level only; a running duration stays (E-11).
  public mutating func clearLevel() { level = .unset }

  /// An entry of the old lists of groups and users without push: level none (E-15).
  public static let legacyNoPush = MemberSettings(level: .blocked)

  /// Whether a batched read at `now` leaves this out: it inherits, or its setting has expired
  /// (E-10).
  public func isLeftOutOfBatchedRead(at now: Instant) -> Bool {
    !level.isSet && mutedUntil <= now
  }
}

/// The limit of a batched read.
public enum BatchedRead {
  /// The most conversations of one batched read (E-10).
  public static let conversationLimit = 20

  /// - Throws: ``SettingsWriteError/tooManyConversations(_:)`` for more than twenty (E-10).
  public static func check(conversationCount: Int) throws(SettingsWriteError) {
    guard conversationCount <= conversationLimit else {
      throw .tooManyConversations(conversationCount)
    }
  }
}
