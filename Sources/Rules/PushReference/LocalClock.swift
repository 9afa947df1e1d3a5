internal import PushModel

/// The wall clock of time zones.
struct LocalClock {
  /// Seconds east of UTC in a zone at an instant; nil for a name that is none.
  let offset: (String, Instant) -> Int?

  /// The second of the local day, 0 ..< 86,400. Milliseconds are dropped (§1).
  ///
  /// - Precondition: `zone` is the name of a zone.
  func secondOfDay(at instant: Instant, in zone: String) -> Int {
    time(at: instant, in: zone).secondOfDay
  }

  /// The local weekday, 0 for Monday to 6 for Sunday, and the second of the local day.
  func time(at instant: Instant, in zone: String) -> (weekday: Int, secondOfDay: Int) {
    guard let ahead = offset(zone, instant) else {
      preconditionFailure("\"\(zone)\" is not a time zone")
    }
    let local = Int(instant.seconds) + ahead
    let second = (local % 86_400 + 86_400) % 86_400
    let day = (local - second) / 86_400
    // 1970-01-01 was a Thursday.
    return (((day + 3) % 7 + 7) % 7, second)
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
    case .neither: return 0 < sinceStart && sinceStart < span
    }
  }
}

extension QuietWindows {
  /// The windows that a local time is inside of (O-12).
  ///
  /// A window is of the day on which it starts, so it is looked for from today and from yesterday.
  func inside(weekday: Int, secondOfDay: Int) -> [Window] {
    windows.filter { window in
      (0...1).contains { daysAgo in
        let startDay = (weekday + 7 - daysAgo) % 7
        let sinceStart = secondOfDay + daysAgo * 86_400 - Int(window.startMinute) * 60
        return window.days & (1 << startDay) != 0 && 0 <= sinceStart
          && sinceStart < Int(window.spanSeconds)
      }
    }
  }
}
