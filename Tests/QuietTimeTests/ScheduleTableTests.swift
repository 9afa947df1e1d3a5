import PushModel
@testable import QuietTime
import TestSupport
import Testing

/// Goal: each distinct schedule has one index, and means what the app's options and the zones of
/// the app, the user and the window say, also after the app's settings change.
@Suite struct ScheduleTableTests {
  @Test func theSameScheduleHasTheSameIndex() throws {
    var table = ScheduleTable(app: AppSettings())
    #expect(table.count == 1)
    #expect(table[0] == QuietSettings())
    #expect(try table.insert(QuietSettings()) == 0)
    let night = try interval("22:00", "8:00")
    let schedules = [
      QuietSettings(quietHours: night), QuietSettings(quietHours: night, timeZone: "UTC"),
      QuietSettings(quietHours: night, timeZone: "Asia/Kathmandu"),
      QuietSettings(timeZone: "Asia/Kathmandu"),
      QuietSettings(quietHours: try interval("22:00", "8:01")),
      QuietSettings(quietHours: try span("22:00:00", 600)),
      QuietSettings(quietHours: try span("22:00:00", 600, level: .mention)),
      QuietSettings(quietHours: try span("22:00:00", 600, zone: "UTC")),
    ]
    #expect(try schedules.map { try table.insert($0) } == [1, 2, 3, 4, 5, 6, 7, 8])
    #expect(try schedules.reversed().map { try table.insert($0) } == [8, 7, 6, 5, 4, 3, 2, 1])
    #expect(try table.insert(QuietSettings()) == 0)
    #expect(table.count == 9)
    #expect((1...8).map { table[$0] } == schedules)
  }

  @Test func aScheduleWithAnUnknownZoneHasNoIndex() throws {
    for rules in [RuleSet.easemob, .rongcloud] {
      var table = ScheduleTable(app: AppSettings(rules: rules))
      let night = try interval("22:00", "8:00")
      let refused = [
        QuietSettings(quietHours: night, timeZone: "Mars/Phobos"), QuietSettings(timeZone: "GMT+8"),
        QuietSettings(quietHours: night, timeZone: "europe/berlin"), QuietSettings(timeZone: ""),
        QuietSettings(quietHours: try span("22:00:00", 600), timeZone: "Mars/Phobos"),
        QuietSettings(quietHours: try span("22:00:00", 600, zone: "Mars/Phobos")),
        QuietSettings(quietHours: try span("22:00:00", 600, zone: "Mars/Phobos"), timeZone: "UTC"),
        QuietSettings(quietHours: try span("22:00:00", 600, zone: "UTC"), timeZone: "Mars/Phobos"),
      ]
      for _ in 0..<2 {
        #expect(refused.filter { (try? table.insert($0)) != nil } == [], "\(rules)")
      }
      #expect(table.count == 1)
      #expect(
        try table.insert(QuietSettings(quietHours: night)) == 1, "a refused one takes no index")
    }
  }

  @Test func anAppWithAnUnknownZone() throws {
    var table = ScheduleTable(app: AppSettings(timeZone: "Mars/Phobos"))
    let night = try interval("22:00", "8:00")
    let problem = ZoneDataError.unknownName("Mars/Phobos")
    #expect(throws: problem) { try table.insert(QuietSettings(quietHours: night)) }
    let own = try table.insert(QuietSettings(quietHours: night, timeZone: "UTC"))
    try table.setApp(AppSettings())
    let apps = try table.insert(QuietSettings(quietHours: night))
    #expect([own, apps] == [1, 2])
    #expect(table.schedule(own) == table.schedule(apps))
    #expect(try table.schedule(own) == zoned("22:00", 36_000, "UTC"))
  }

  /// E-36: the user's zone, else the app's.
  @Test func zonesOfEasemob() throws {
    var table = ScheduleTable(app: AppSettings(rules: .easemob, timeZone: "Asia/Kathmandu"))
    let night = try interval("22:00", "8:00")
    let expected = try [
      (QuietSettings(), nil),
      (QuietSettings(timeZone: "Europe/Berlin"), nil),
      (QuietSettings(quietHours: night), zoned("22:00", 36_000, "Asia/Kathmandu")),
      (
        QuietSettings(quietHours: night, timeZone: "Europe/Berlin"),
        zoned("22:00", 36_000, "Europe/Berlin")
      ),
      // A window of the other vendor's is none.
      (QuietSettings(quietHours: span("22:00:00", 600, level: .mention)), nil),
    ]
    for (schedule, window) in expected {
      let index = try table.insert(schedule)
      #expect(table.schedule(index) == window, "\(schedule)")
    }
  }

  /// the window's own zone, else the user's, else the app's.
  @Test func zonesOfRongCloud() throws {
    var table = ScheduleTable(app: AppSettings(rules: .rongcloud, timeZone: "Asia/Kathmandu"))
    for level in [NotificationLevel.unset, .mention, .blocked] {
      let app = try zoned("22:00:30", 36_000, "Asia/Kathmandu", level)
      let user = try zoned("22:00:30", 36_000, "Europe/Berlin", level)
      let own = try zoned("22:00:30", 36_000, "Pacific/Apia", level)
      let hours = try span("22:00:30", 600, level: level)
      let withZone = try span("22:00:30", 600, level: level, zone: "Pacific/Apia")
      for (schedule, window) in [
        (QuietSettings(quietHours: hours), app),
        (QuietSettings(quietHours: hours, timeZone: "Europe/Berlin"), user),
        (QuietSettings(quietHours: withZone), own),
        (QuietSettings(quietHours: withZone, timeZone: "Europe/Berlin"), own),
      ] {
        let index = try table.insert(schedule)
        #expect(table.schedule(index) == window, "\(schedule)")
      }
    }
    // A window of the other vendor's is none.
    let index = try table.insert(QuietSettings(quietHours: interval("22:00", "8:00")))
    #expect(table.schedule(index) == nil)
  }

  @Test func otherSettingsOfTheAppAreReadIntoEverySchedule() throws {
    var table = ScheduleTable(app: AppSettings())
    let schedules = try [
      QuietSettings(quietHours: interval("0:00", "0:00")),
      QuietSettings(quietHours: interval("8:00", "9:00")),
      QuietSettings(quietHours: interval("8:00", "9:00"), timeZone: "Europe/Berlin"),
      QuietSettings(quietHours: span("8:00:00", 60, level: .mention)),
      QuietSettings(quietHours: span("8:00:00", 1439, zone: "Pacific/Apia")),
      QuietSettings(timeZone: "UTC"),
    ]
    #expect(try schedules.map { try table.insert($0) } == [1, 2, 3, 4, 5, 6])
    func expect(_ app: AppSettings, _ windows: [QuietSchedule?], _ why: String) throws {
      try table.setApp(app)
      #expect(table.app == app, "\(why)")
      #expect((0...6).map { table.schedule($0) } == [nil] + windows + [nil], "\(why)")
      #expect(try schedules.map { try table.insert($0) } == [1, 2, 3, 4, 5, 6], "\(why)")
    }
    let (utc, kathmandu, berlin) = ("UTC", "Asia/Kathmandu", "Europe/Berlin")
    let apia = "Pacific/Apia"
    var app = AppSettings()
    try expect(
      app, [nil, zoned("8:00", 3600, utc), zoned("8:00", 3600, berlin), nil, nil], "as before")
    app.easemob.zeroZeroMeans = .allDay  // E-32
    app.easemob.intervalEnd = .inclusiveMinute  // E-34
    try expect(
      app,
      [
        zoned("0:00", 86_400, utc), zoned("8:00", 3660, utc), zoned("8:00", 3660, berlin), nil, nil,
      ],
      "0:0-0:0 is all day, and end minutes are inside")
    app.timeZone = kathmandu  // E-36
    try expect(
      app,
      [
        zoned("0:00", 86_400, kathmandu), zoned("8:00", 3660, kathmandu),
        zoned("8:00", 3660, berlin), nil, nil,
      ], "another zone")
    app.rules = .rongcloud
    try expect(
      app, [nil, nil, nil, zoned("8:00", 3600, kathmandu, .mention), zoned("8:00", 86_340, apia)],
      "the other rules")
    app.rongcloud.boundary = .closed
    try expect(
      app, [nil, nil, nil, zoned("8:00", 3601, kathmandu, .mention), zoned("8:00", 86_341, apia)],
      "closed")
    app.rongcloud.boundary = .neither
    app.rongcloud.span1439 = .allDay
    try expect(
      app,
      [nil, nil, nil, zoned("8:00:01", 3599, kathmandu, .mention), zoned("8:00", 86_400, apia)],
      "open")
    try expect(
      AppSettings(), [nil, zoned("8:00", 3600, utc), zoned("8:00", 3600, berlin), nil, nil],
      "back again")
  }

  @Test func anUnknownZoneOfTheAppChangesNothing() throws {
    let app = AppSettings(timeZone: "Europe/Berlin")
    var table = ScheduleTable(app: app)
    let night = try interval("22:00", "8:00")
    #expect(try table.insert(QuietSettings(quietHours: night)) == 1)
    #expect(try table.insert(QuietSettings(quietHours: try interval("0:00", "0:00"))) == 2)
    let before = (0..<3).map { table.schedule($0) }
    var other = AppSettings(timeZone: "Mars/Phobos")
    other.easemob.zeroZeroMeans = .allDay
    #expect(throws: ZoneDataError.unknownName("Mars/Phobos")) { try table.setApp(other) }
    #expect(table.app == app)
    #expect((0..<3).map { table.schedule($0) } == before)
    let next = try table.insert(QuietSettings(quietHours: interval("22:00", "9:00")))
    #expect(next == 3)
    #expect(try table.schedule(next) == zoned("22:00", 39_600, "Europe/Berlin"))
  }

  /// More settings than there is room for at first, each several times and in any order.
  @Test func settingsAreFoundAgain() throws {
    var settings: [QuietSettings] = []
    for start in 0..<1440 {
      // Two hash alike.
      for zone in ["America/Louisville", "America/Kentucky/Louisville", nil] {
        let interval = try QuietInterval(
          startHour: start / 60, startMinute: start % 60, endHour: 8, endMinute: 0)
        settings.append(QuietSettings(quietHours: .interval(interval), timeZone: zone))
        for days: UInt8 in [1, 2, 0x7F] {
          let window = try QuietWindows.Window(
            days: days, start: "\(start / 60):\(start % 60)", end: "8:0", allow: .direct)
          settings.append(
            QuietSettings(quietHours: .windows(try QuietWindows([window])), timeZone: zone))
        }
      }
    }
    var table = ScheduleTable(app: AppSettings())
    let list = QuietSettingsList()
    let expected = settings.indices.map { UInt32($0) }
    for _ in 0..<2 {
      #expect(try settings.map { try table.insert($0) } == expected.map { $0 + 1 })
      #expect(settings.map { list.index(of: $0) } == expected)
    }
    #expect(
      try settings.reversed().map { try table.insert($0) } == expected.reversed().map { $0 + 1 })
    #expect(settings.indices.map { list[$0] } == settings)
    #expect(list.count == settings.count)
    #expect(throws: ZoneDataError.unknownName("Nowhere")) {
      try table.insert(QuietSettings(timeZone: "Nowhere"))
    }
    #expect(try table.insert(QuietSettings()) == 0)
  }
}

private func interval(_ start: String, _ end: String) throws -> QuietHours {
  .interval(try #require(try QuietInterval.parse(start: start, end: end)))
}

private func span(
  _ start: String, _ minutes: Int, level: NotificationLevel = .blocked, zone: String? = nil
) throws -> QuietHours {
  let padded = start.count < 8 ? "0" + start : start
  let span = try QuietSpan.parse(
    start: padded, spanMinutes: minutes, level: level, timeZone: zone)
  return .span(try #require(span))
}

private func zoned(
  _ start: String, _ seconds: Int32, _ zone: String, _ level: NotificationLevel = .blocked
) throws -> QuietSchedule {
  QuietSchedule(
    startSecond: Int32(clock(start)), spanSeconds: seconds, level: level,
    zone: try ZoneTable(named: zone))
}
