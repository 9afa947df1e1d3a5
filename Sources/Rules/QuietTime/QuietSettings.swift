public import PushModel
package import PushSupport

/// A user's quiet hours and the zone the user has set, as they were written.
///
/// Many users share them: ten million users have a few thousand distinct ones. Their meaning is a
/// ``QuietSchedule``.
public struct QuietSettings: Hashable, Sendable {
  /// As the user has set them; nil for none.
  public var quietHours: QuietHours?
  /// nil for the app's (E-36, R-24).
  public var timeZone: String?

  /// Quiet hours in a zone; by default none.
  public init(quietHours: QuietHours? = nil, timeZone: String? = nil) {
    self.quietHours = quietHours
    self.timeZone = timeZone
  }

  /// The quiet hours and zone of a user's settings.
  public init(_ user: UserSettings) {
    self.init(quietHours: user.quietHours, timeZone: user.timeZone)
  }
}

extension QuietSchedule {
  /// What settings mean under an app's rules and options; nil when they never hold.
  ///
  /// - Parameter zone: the table of an IANA name.
  /// - Throws: ``ZoneDataError`` for any zone that is named.
  public init?(
    _ settings: QuietSettings, app: AppSettings,
    zone: (String) throws(ZoneDataError) -> ZoneTable
  ) throws(ZoneDataError) {
    let usersZone = try zone(settings.timeZone ?? app.timeZone)
    switch settings.quietHours ?? app.quietHours {  // O-11
    case nil: return nil
    case .interval(let interval):  // E-36
      guard app.rules.fields.contains(.quietInterval), let window = interval.window(app.easemob)
      else { return nil }
      self.init(startSecond: window.start, spanSeconds: window.span, zone: usersZone)
    case .span(let span):
      var ownZone = usersZone
      if let name = span.timeZone { ownZone = try zone(name) }
      guard app.rules.fields.contains(.quietSpan) else { return nil }
      let window = span.window(app.rongcloud)
      self.init(
        startSecond: window.start, spanSeconds: window.span, level: span.level, zone: ownZone)
    case .windows(let windows):  // O-12
      guard app.rules.fields.contains(.quietWindows), !windows.windows.isEmpty else { return nil }
      self.init(windows, zone: usersZone)
    }
  }
}

extension QuietInterval {
  /// Easemob's quiet hours as a start and a span, in seconds; nil when they are off (E-30 to E-34).
  fileprivate func window(_ options: EasemobOptions) -> (start: Int32, span: Int32)? {
    if startMinute == 0, endMinute == 0, options.zeroZeroMeans == .off { return nil }  // E-32
    let minutes = (endMinute - startMinute + 1440) % 1440
    let span = minutes == 0 ? 86_400 : minutes * 60  // E-31
    let extra: Int32 = options.intervalEnd == .inclusiveMinute ? 60 : 0  // E-34
    return (startMinute * 60, min(span + extra, 86_400))
  }
}

extension QuietSpan {
  /// RongCloud's quiet hours as a start and a span, in seconds.
  fileprivate func window(_ options: RongCloudOptions) -> (start: Int32, span: Int32) {
    if spanMinutes == 1439, options.span1439 == .allDay { return (startSecond, 86_400) }
    let seconds = spanMinutes * 60
    switch options.boundary {
    case .halfOpen: return (startSecond, seconds)
    case .closed: return (startSecond, seconds + 1)
    case .neither: return ((startSecond + 1) % 86_400, seconds - 1)
    }
  }
}

// MARK: As bytes

extension QuietSettings {
  /// Writes the settings as bytes, or reads and checks them.
  package mutating func code(_ coder: inout some ByteCoder) throws(Malformed) {
    var form: UInt8 =
      switch quietHours {
      case nil: 0
      case .interval: 1
      case .span: 2
      case .windows: 3
      }
    try coder.code(&form)
    do {
      switch form {
      case 0: quietHours = nil
      case 1: quietHours = .interval(try interval(&coder))
      case 2: quietHours = .span(try span(&coder))
      case 3: quietHours = .windows(try windows(&coder))
      default: throw Malformed("unknown kind of quiet hours")
      }
    } catch let error as Malformed {
      throw error
    } catch {
      throw Malformed("invalid quiet hours")
    }
    try coder.code(&timeZone)
  }

  private func interval(_ coder: inout some ByteCoder) throws -> QuietInterval {
    var (start, end): (Int32, Int32) = (0, 0)
    if case .interval(let own) = quietHours { (start, end) = (own.startMinute, own.endMinute) }
    try coder.code(&start)
    try coder.code(&end)
    return try QuietInterval(
      startHour: Int(start / 60), startMinute: Int(start % 60), endHour: Int(end / 60),
      endMinute: Int(end % 60))
  }

  private func span(_ coder: inout some ByteCoder) throws -> QuietSpan {
    var (start, minutes): (Int32, Int32) = (0, 0)
    var level: UInt8 = 0
    var zone: String?
    if case .span(let own) = quietHours {
      (start, minutes, level) = (own.startSecond, own.spanMinutes, own.level.vendorCode)
      zone = own.timeZone
    }
    try coder.code(&start)
    try coder.code(&minutes)
    try coder.code(&level)
    try coder.code(&zone)
    guard let level = NotificationLevel(vendorCode: level) else { throw Malformed("invalid level") }
    return try QuietSpan(
      hour: Int(start / 3600), minute: Int(start / 60 % 60), second: Int(start % 60),
      spanMinutes: Int(minutes), level: level, timeZone: zone)
  }

  private func windows(_ coder: inout some ByteCoder) throws -> QuietWindows {
    var windows: [QuietWindows.Window] = []
    if case .windows(let own) = quietHours { windows = own.windows }
    var count = windows.count
    try coder.code(count: &count, atLeast: 13)
    let initial = try QuietWindows.Window(days: 1, startMinute: 0, endMinute: 0, allow: [])
    // Not as a list of the coder, which is generic over its elements: with one, the settings of a
    // snapshot take 1.6 times as long to read.
    windows.removeLast(max(0, windows.count - count))
    windows.append(contentsOf: repeatElement(initial, count: count - windows.count))
    for index in 0..<count { try windows[index].code(&coder) }
    return try QuietWindows(windows)
  }
}

extension QuietWindows.Window {
  fileprivate mutating func code(_ coder: inout some ByteCoder) throws(Malformed) {
    var (days, start, end, classes) = (days, startMinute, endMinute, Int32(allow.rawValue))
    try coder.code(&days)
    try coder.code(&start)
    try coder.code(&end)
    try coder.code(&classes)
    guard (0...Int32(MessageClasses.all.rawValue)).contains(classes) else {
      throw Malformed("invalid classes")
    }
    do throws(SettingsWriteError) {
      self = try QuietWindows.Window(
        days: days, startMinute: start, endMinute: end,
        allow: MessageClasses(rawValue: UInt16(classes)))
    } catch {
      throw Malformed("invalid quiet hours")
    }
  }
}

extension ByteCoder {
  fileprivate mutating func code(_ text: inout String?) throws(Malformed) {
    var isSet = text != nil
    try code(&isSet)
    var own = text ?? ""
    if isSet { try code(&own) }
    text = isSet ? own : nil
  }
}
