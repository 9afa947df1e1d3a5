/// Windows of the week in which a person wants no push, or fewer: open rules' `quiet` (O-11).
///
/// Times are of the wall clock of the user's zone, else the app's.
public struct QuietWindows: Hashable, Sendable {
  /// A window that starts at one time of some days.
  public struct Window: Hashable, Sendable {
    /// The days on which it starts: bit 0 is Monday, bit 6 Sunday.
    public let days: UInt8
    /// The first minute inside, 0 ..< 1,440, since local midnight.
    public let startMinute: Int32
    /// The first minute after it. One at or before the start is on the next day.
    public let endMinute: Int32
    /// What it lets through.
    public let allow: MessageClasses

    /// The names of the days, Monday first.
    public static let dayNames = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    /// Every day.
    public static let everyDay: UInt8 = 0x7F

    /// How many seconds it lasts, 60 ... 86,400.
    public var spanSeconds: Int32 {
      (endMinute - startMinute + (endMinute <= startMinute ? 1440 : 0)) * 60
    }

    /// A window of two clock times of one or two digits each, `"8:0"` or `"08:00"`.
    ///
    /// - Parameter days: a bit for each day on which it starts, of which there is at least one.
    /// - Throws: ``SettingsWriteError`` for days or times that there are not.
    public init(
      days: UInt8 = everyDay, start: String, end: String, allow: MessageClasses = []
    ) throws(SettingsWriteError) {
      try self.init(
        days: days, startMinute: ClockText.minuteOfDay(start),
        endMinute: ClockText.minuteOfDay(end), allow: allow)
    }

    /// A window of two minutes of the day.
    ///
    /// - Throws: ``SettingsWriteError`` for days or times that there are not.
    package init(
      days: UInt8, startMinute: Int32, endMinute: Int32, allow: MessageClasses
    ) throws(SettingsWriteError) {
      guard (1...Self.everyDay).contains(days) else { throw .noDays }
      for minute in [startMinute, endMinute] where !(0..<1440).contains(minute) {
        throw .hourOutOfRange(Int(minute) / 60)
      }
      self.days = days
      self.startMinute = startMinute
      self.endMinute = endMinute
      self.allow = allow
    }

    /// The days of their names.
    ///
    /// - Throws: ``SettingsWriteError`` for none, for another name, and for one that repeats.
    public static func days(_ names: [String]) throws(SettingsWriteError) -> UInt8 {
      var days: UInt8 = 0
      for name in names {
        guard let day = dayNames.firstIndex(of: name) else { throw .unknownDay(name) }
        guard days >> UInt8(day) & 1 == 0 else { throw .repeatedDay(name) }
        days |= 1 << UInt8(day)
      }
      guard days != 0 else { throw .noDays }
      return days
    }

    /// The names of its days, Monday first.
    public var namesOfDays: [String] {
      Self.dayNames.indices.filter { days >> UInt8($0) & 1 != 0 }.map { Self.dayNames[$0] }
    }
  }

  /// Where they overlap, what all of them let through passes (O-13).
  public let windows: [Window]

  /// Windows of a week; none for never.
  ///
  /// - Throws: ``SettingsWriteError/tooMany(_:_:limit:)`` for more than
  ///   ``OpenLimits/quietWindows``.
  public init(_ windows: [Window]) throws(SettingsWriteError) {
    guard windows.count <= OpenLimits.quietWindows else {
      throw .tooMany("quiet windows", windows.count, limit: OpenLimits.quietWindows)
    }
    self.windows = windows
  }

  /// No windows at all, also not the app's.
  public static let none = QuietWindows(none: ())
  private init(none: ()) { windows = [] }
}
