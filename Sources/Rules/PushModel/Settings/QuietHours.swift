/// When a user wants no push, as a vendor's interface takes it.
///
/// What it means at an instant depends on the rule set's options and a time zone: that is worked
/// out in QuietTime (for speed) and in PushReference (for certainty).
public enum QuietHours: Hashable, Sendable {
  /// Easemob's `ignoreInterval`.
  case interval(QuietInterval)
  /// RongCloud's quiet hours.
  case span(QuietSpan)
  /// Open rules' windows of the week.
  case windows(QuietWindows)
}

/// The form in which a rule set has quiet hours.
@usableFromInline package enum QuietForm: CaseIterable {
  case interval, span, windows

  /// That a rule set with it has.
  @inlinable package var field: VendorFields {
    switch self {
    case .interval: .quietInterval
    case .span: .quietSpan
    case .windows: .quietWindows
    }
  }
}

extension RuleSet {
  /// The form of users' quiet hours; nil where they have none.
  package var quietForm: QuietForm? { QuietForm.allCases.first { fields.contains($0.field) } }
}

extension QuietHours {
  /// Whether a rule set has such a setting; another one passes over it.
  public func exists(under rules: RuleSet) -> Bool {
    rules.fields.contains(field)
  }

  /// The zone set with them; nil for the user's.
  public var timeZone: String? {
    guard case .span(let span) = self else { return nil }
    return span.timeZone
  }

  /// The same in a zone of their own, where a rule set has that.
  package func with(timeZone: String?) -> QuietHours {
    guard case .span(let span) = self else { return self }
    return .span(span.with(timeZone: timeZone))
  }

  /// A window from one minute of every day to another, that lets nothing through.
  ///
  /// - Throws: ``SettingsWriteError``; of a span also for two equal minutes.
  package init(
    daily start: (hour: Int, minute: Int), to end: (hour: Int, minute: Int), form: QuietForm
  ) throws(SettingsWriteError) {
    // Every form refuses what is no time of day.
    let interval = try QuietInterval(
      startHour: start.hour, startMinute: start.minute, endHour: end.hour, endMinute: end.minute)
    switch form {
    case .interval: self = .interval(interval)
    case .span:
      let minutes = (end.hour - start.hour) * 60 + end.minute - start.minute
      self = .span(
        try QuietSpan(
          hour: start.hour, minute: start.minute, second: 0, spanMinutes: (minutes + 1440) % 1440,
          level: .blocked))
    case .windows:
      let window = try QuietWindows.Window(
        start: "\(start.hour):\(start.minute)", end: "\(end.hour):\(end.minute)")
      self = .windows(try QuietWindows([window]))
    }
  }
}

/// Easemob's quiet hours: from a minute of the day to another, half-open by default (E-34).
///
/// An end before the start is on the next day (E-30); equal ends are all day (E-31), but 0:0-0:0 is
/// off unless an option changes that (E-32).
///
/// - Units: minutes since local midnight, 0 through 1,439.
/// - Source: E-4.
public struct QuietInterval: Hashable, Sendable {
  /// The first minute inside.
  public let startMinute: Int32
  /// The first minute after it; the last one inside under an option (E-34).
  public let endMinute: Int32

  /// - Throws: ``SettingsWriteError/hourOutOfRange(_:)`` or
  ///   ``SettingsWriteError/minuteOutOfRange(_:)``: hour 0-23, minute 0-59.
  public init(
    startHour: Int, startMinute: Int, endHour: Int, endMinute: Int
  ) throws(SettingsWriteError) {
    self.startMinute = try ClockText.minuteOfDay(startHour, startMinute)
    self.endMinute = try ClockText.minuteOfDay(endHour, endMinute)
  }

  private init(startMinute: Int32, endMinute: Int32) {
    self.startMinute = startMinute
    self.endMinute = endMinute
  }

  /// The interval of two clock times with one or two digits each, `"8:0"` or `"08:00"`.
  ///
  /// - Returns: nil when both are empty, which means not set.
  /// - Throws: ``SettingsWriteError/halfSetInterval`` when one is empty, otherwise
  ///   ``SettingsWriteError/malformedTime(_:expected:)`` or an hour or minute out of range.
  public static func parse(
    start: String, end: String
  ) throws(SettingsWriteError) -> QuietInterval? {
    if start.isEmpty && end.isEmpty { return nil }
    if start.isEmpty || end.isEmpty { throw .halfSetInterval }
    return QuietInterval(
      startMinute: try ClockText.minuteOfDay(start), endMinute: try ClockText.minuteOfDay(end))
  }

  /// The quiet hours of the settings before quiet hours had minutes: two whole hours, 0 through 24
  /// (E-15).
  ///
  /// Hour 24 is midnight. From 0 to 24 is all day, which is 12:00 to 12:00 (E-31), as 0:0 to 0:0 is
  /// off (E-32).
  ///
  /// - Throws: ``SettingsWriteError/legacyHourOutOfRange(_:)``.
  public static func legacy(
    noDisturbingStart startHour: Int, noDisturbingEnd endHour: Int
  ) throws(SettingsWriteError) -> QuietInterval {
    for hour in [startHour, endHour] where !(0...24).contains(hour) {
      throw .legacyHourOutOfRange(hour)
    }
    let isAllDay = endHour == 24 && startHour % 24 == 0
    let (start, end) = isAllDay ? (12, 12) : (startHour % 24, endHour % 24)
    return try QuietInterval(startHour: start, startMinute: 0, endHour: end, endMinute: 0)
  }
}

/// RongCloud's quiet hours: a start to the second, a span in minutes, and what they let through.
///
/// - Units: seconds since local midnight, 0 through 86,399; minutes, 1 through 1,439.
/// - Source.
public struct QuietSpan: Hashable, Sendable {
  /// The spans that exist, in minutes.
  public static let spanMinutesRange = 1...1439

  /// The first second inside, from local midnight.
  public let startSecond: Int32
  /// How long it lasts, in minutes.
  public let spanMinutes: Int32
  /// What the window lets through: none, mention or unset.
  public let level: NotificationLevel
  /// The window's own zone, nil for the user's.
  public let timeZone: String?

  /// - Throws: ``SettingsWriteError``: hour 0-23, minute and second 0-59, span 1...1,439, level
  ///   none, mention or unset.
  public init(
    hour: Int, minute: Int, second: Int, spanMinutes: Int, level: NotificationLevel,
    timeZone: String? = nil
  ) throws(SettingsWriteError) {
    guard 0 <= hour, hour < 24 else { throw .hourOutOfRange(hour) }
    guard 0 <= minute, minute < 60 else { throw .minuteOutOfRange(minute) }
    guard 0 <= second, second < 60 else { throw .secondOutOfRange(second) }
    guard Self.spanMinutesRange.contains(spanMinutes) else { throw .spanOutOfRange(spanMinutes) }
    guard level == .unset || level == .mention || level == .blocked else {
      throw .quietLevel(level)
    }
    self.startSecond = Int32(hour * 3600 + minute * 60 + second)
    self.spanMinutes = Int32(spanMinutes)
    self.level = level
    self.timeZone = timeZone
  }

  /// The same window in a zone of its own.
  package func with(timeZone: String?) -> QuietSpan { with(levelOf: self, timeZone: timeZone) }

  /// The same window that lets through what another does, in a zone of its own; without another, what
  /// the user's settings say.
  package func with(levelOf other: QuietSpan?, timeZone: String?) -> QuietSpan {
    QuietSpan(self, other?.level ?? .unset, timeZone)
  }

  private init(_ other: QuietSpan, _ level: NotificationLevel, _ timeZone: String?) {
    startSecond = other.startSecond
    spanMinutes = other.spanMinutes
    self.level = level
    self.timeZone = timeZone
  }

  /// The window of a start `HH:MM:SS`, two digits each, and a span.
  ///
  /// - Returns: nil when the span is 0, which means not set. The rest is checked all the
  ///   same.
  /// - Throws: as ``init(hour:minute:second:spanMinutes:level:timeZone:)``, and
  ///   ``SettingsWriteError/malformedTime(_:expected:)``.
  public static func parse(
    start: String, spanMinutes: Int, level: NotificationLevel, timeZone: String? = nil
  ) throws(SettingsWriteError) -> QuietSpan? {
    guard let clock = ClockText(start, digits: 2...2), let second = clock.second else {
      throw .malformedTime(start, expected: "HH:MM:SS")
    }
    let span = try QuietSpan(
      hour: clock.hour, minute: clock.minute, second: second,
      spanMinutes: spanMinutes == 0 ? 1 : spanMinutes, level: level, timeZone: timeZone)
    return spanMinutes == 0 ? nil : span
  }
}

/// A clock time as it is written: two or three numbers with colons between.
struct ClockText {
  var hour = 0
  var minute = 0
  /// nil when only hour and minute are given.
  var second: Int?

  /// The minute of the day of a text `H:M`.
  static func minuteOfDay(_ text: String) throws(SettingsWriteError) -> Int32 {
    guard let clock = ClockText(text, digits: 1...2), clock.second == nil else {
      throw .malformedTime(text, expected: "H:M")
    }
    return try minuteOfDay(clock.hour, clock.minute)
  }

  static func minuteOfDay(_ hour: Int, _ minute: Int) throws(SettingsWriteError) -> Int32 {
    guard 0 <= hour, hour < 24 else { throw .hourOutOfRange(hour) }
    guard 0 <= minute, minute < 60 else { throw .minuteOutOfRange(minute) }
    return Int32(hour * 60 + minute)
  }

  /// nil for a text of another form, or numbers that do not have so many ASCII digits.
  init?(_ text: String, digits: ClosedRange<Int>) {
    var parts = 0
    var value = 0
    var count = 0
    var index = text.utf8.startIndex
    while true {
      let byte = index < text.utf8.endIndex ? text.utf8[index] : UInt8(ascii: ":")
      if byte == UInt8(ascii: ":") {
        guard digits.contains(count), parts < 3 else { return nil }
        switch parts {
        case 0: hour = value
        case 1: minute = value
        default: second = value
        }
        parts += 1
        (value, count) = (0, 0)
        if index == text.utf8.endIndex { break }
      } else {
        guard (0x30...0x39).contains(byte), count < 2 else { return nil }
        value = value * 10 + Int(byte) - 0x30
        count += 1
      }
      index = text.utf8.index(after: index)
    }
    guard parts >= 2 else { return nil }
  }
}
