/// Several windows of the week in which a person wants no push, or fewer.
///
/// Neither vendor has them, so no file, column or operation can hold them yet; engine, reference
/// and tests know what they mean under both rule sets. Times are of the wall clock of the user's
/// zone, else the app's.
public struct QuietWindows: Hashable, Sendable {
  /// A window that starts at one time of some days.
  public struct Window: Hashable, Sendable {
    /// The days on which it starts: bit 0 is Monday, bit 6 Sunday.
    public let days: UInt8
    /// 0 ..< 86,400, in seconds since local midnight.
    public let startSecond: Int32
    /// 1 ... 86,400, in seconds; it may end on the next day.
    public let spanSeconds: Int32
    /// What it lets through under RongCloud: none, mention or unset. Easemob's windows
    /// let nothing through (E-21).
    public let level: NotificationLevel

    package init(days: UInt8, startSecond: Int32, spanSeconds: Int32, level: NotificationLevel) {
      precondition(days < 128, "a week has seven days")
      precondition((0..<86_400).contains(startSecond), "a start is a second of the day")
      precondition((1...86_400).contains(spanSeconds), "a window lasts up to a day")
      precondition(
        [.unset, .mention, .blocked].contains(level), "a window lets through none or mentions")
      self.days = days
      self.startSecond = startSecond
      self.spanSeconds = spanSeconds
      self.level = level
    }
  }

  /// Where they overlap, the strictest holds: none, then mention, then unset.
  public let windows: [Window]

  package init(_ windows: [Window]) { self.windows = windows }
}
