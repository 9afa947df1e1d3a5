internal import Foundation
internal import PushModel

/// The wall clock of time zones, by Foundation's calendar.
struct LocalClock {
  private var calendars: [String: Calendar] = [:]
  /// Seconds east of UTC in a zone; nil for Foundation's own data.
  private let offset: ((String, Instant) -> Int?)?

  init(offset: ((String, Instant) -> Int?)? = nil) { self.offset = offset }

  /// The second of the local day, 0 ..< 86,400. Milliseconds are dropped (§1).
  ///
  /// - Precondition: `zone` is a name of a zone in `offset` or, without it, in Foundation's data.
  mutating func secondOfDay(at instant: Instant, in zone: String) -> Int {
    time(at: instant, in: zone).secondOfDay
  }

  /// The local weekday, 0 for Monday to 6 for Sunday, and the second of the local day.
  mutating func time(
    at instant: Instant, in zone: String
  ) -> (weekday: Int, secondOfDay: Int) {
    var seconds = TimeInterval(instant.seconds)
    var zone = zone
    if let offset {
      // A calendar of UTC, as many seconds ahead as the zone is.
      guard let ahead = offset(zone, instant) else {
        preconditionFailure("\"\(zone)\" is not a time zone")
      }
      seconds += TimeInterval(ahead)
      zone = "UTC"
    }
    let parts = calendar(of: zone).dateComponents(
      [.weekday, .hour, .minute, .second], from: Date(timeIntervalSince1970: seconds))
    // Foundation counts from 1, for Sunday.
    let weekday = (parts.weekday! + 5) % 7
    return (weekday, parts.hour! * 3600 + parts.minute! * 60 + parts.second!)
  }

  private mutating func calendar(of zone: String) -> Calendar {
    if let calendar = calendars[zone] { return calendar }
    guard let timeZone = TimeZone(identifier: zone) else {
      preconditionFailure("\"\(zone)\" is not a time zone")
    }
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = timeZone
    calendars[zone] = calendar
    return calendar
  }
}

extension QuietInterval {
  /// Whether a second of the local day is inside Easemob's quiet hours.
  func contains(secondOfDay: Int, options: EasemobOptions) -> Bool {
    let (start, end, now) = (Int(startMinute), Int(endMinute), secondOfDay / 60)
    if start == 0, end == 0, options.zeroZeroMeans == .off { return false }  // E-32
    if start == end { return true }  // E-31
    if now == end { return options.intervalEnd == .inclusiveMinute }  // E-34
    if start < end { return start <= now && now < end }
    return start <= now || now < end  // E-30: until tomorrow
  }
}

extension QuietSpan {
  /// Whether a second of the local day is inside RongCloud's quiet hours.
  func contains(secondOfDay: Int, options: RongCloudOptions) -> Bool {
    if spanMinutes == 1439, options.span1439 == .allDay { return true }
    let sinceStart = (secondOfDay - Int(startSecond) + 86_400) % 86_400
    let span = Int(spanMinutes) * 60
    switch options.boundary {
    case .halfOpen: return sinceStart < span
    case .closed: return sinceStart <= span
    case .open: return 0 < sinceStart && sinceStart < span
    }
  }
}

extension QuietWindows {
  /// The strictest level of the windows that a local time is inside of; nil for none.
  ///
  /// A window is of the day on which it starts, so it is looked for from today and from yesterday.
  func level(weekday: Int, secondOfDay: Int) -> NotificationLevel? {
    var found: NotificationLevel?
    for window in windows {
      for daysAgo in 0...1 {
        let startDay = (weekday + 7 - daysAgo) % 7
        let sinceStart = secondOfDay + daysAgo * 86_400 - Int(window.startSecond)
        guard window.days & (1 << startDay) != 0, 0 <= sinceStart,
          sinceStart < Int(window.spanSeconds)
        else { continue }
        let isStricter =
          switch found {
          case nil, .unset: true
          case .mention: window.level == .blocked
          default: false
          }
        if isStricter { found = window.level }
      }
    }
    return found
  }
}
