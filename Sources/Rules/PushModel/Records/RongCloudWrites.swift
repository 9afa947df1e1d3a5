/// The two states that RongCloud's clients knew before levels.
public enum LegacyNotificationState: Hashable, Sendable {
  /// No message notifies.
  case doNotDisturb
  /// Every message notifies.
  case notify

  /// The level that an old client writes: do not disturb is none, notify is all.
  public var level: NotificationLevel {
    switch self {
    case .doNotDisturb: .blocked
    case .notify: .all
    }
  }

  /// The state that an old client reads: all and unset notify, every other level does not.
  public init(reading level: NotificationLevel) {
    self = level == .all || level == .unset ? .notify : .doNotDisturb
  }
}

extension NotificationLevel {
  /// What removing a level writes: 0, so that the next scope decides.
  public static let removed = NotificationLevel.unset
}

extension UserSettings {
  /// Sets RongCloud's quiet hours, replacing the ones there were; span 0 removes them.
  ///
  /// - Throws: ``SettingsWriteError`` for a start, span or level out of range; then nothing has
  ///   changed.
  public mutating func setQuietHours(
    start: String, spanMinutes: Int, level: NotificationLevel, timeZone: String? = nil
  ) throws(SettingsWriteError) {
    let span = try QuietSpan.parse(
      start: start, spanMinutes: spanMinutes, level: level, timeZone: timeZone)
    quietHours = span.map { .span($0) }
  }

  /// Removes quiet hours.
  public mutating func removeQuietHours() { quietHours = nil }
}
