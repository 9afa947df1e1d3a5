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
    app.rongcloud.boundary = .open
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

  /// Guesses that are shared by tables, of later and earlier versions, are only guesses.
  @Test func guessesAreChecked() throws {
    var schedules: [QuietSettings] = []
    for start in 0..<1440 {
      for zone in ["Asia/Shanghai", "Europe/Berlin", nil] {
        let interval = try QuietInterval(
          startHour: start / 60, startMinute: start % 60, endHour: 8, endMinute: 0)
        schedules.append(QuietSettings(quietHours: .interval(interval), timeZone: zone))
      }
    }
    var table = ScheduleTable(app: AppSettings())
    let empty = table
    var recent = RecentSchedules()
    for _ in 0..<2 {
      #expect(
        try schedules.map { try table.insert($0, &recent) }
          == (1...UInt32(schedules.count)).map { $0 })
    }
    var other = empty
    #expect(
      try schedules.reversed().map { try other.insert($0, &recent) }
        == (1...UInt32(schedules.count)).map { $0 })
    #expect(throws: ZoneDataError.unknownName("Nowhere")) {
      try table.insert(QuietSettings(timeZone: "Nowhere"), &recent)
    }
    #expect(try table.insert(QuietSettings(), &recent) == 0)
  }
}

/// Goal: a plan of a date answers for every schedule what its own bitmap answers, and knows when
/// any of them turns, whenever the schedules were inserted.
@Suite struct DayPlanTests {
  /// An ordinary date, and dates on which the clocks of some of ``zones`` change.
  static let dates = ["1972-01-07", "2011-12-30", "2024-03-31", "2024-06-03", "2024-10-27"]
  static let zones = [
    "UTC", "Africa/Monrovia", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe",
    "Europe/Berlin", "Pacific/Apia",
  ]

  @Test func anEmptyTable() throws {
    let table = ScheduleTable(app: AppSettings())
    let plan = DayPlan(day: 19_877, table)
    #expect(plan.day == 19_877)
    try #require(plan.count == 1)
    #expect(plan[0] == .never)
    #expect(plan.inside(second: 0) == [false])
    #expect([-1, 0, 86_399].map { plan.nextTransition(after: $0) } == [86_400, 86_400, 86_400])
  }

  @Test(arguments: seeds, dates)
  func everyScheduleHasItsBitmap(seed: UInt64, date: String) throws {
    for rules in [RuleSet.easemob, .rongcloud] {
      var random = SeededGenerator(seed: seed)
      let table = try Self.table(rules, 120, &random)
      let plan = DayPlan(day: day(date), table)
      let said: Comment = "\(rules), seed \(seed)"
      let expected = Self.bitmaps(table, day: day(date))
      try #require(plan.count == table.count, said)
      #expect((0..<UInt32(plan.count)).map { plan[$0] } == expected, said)
      #expect(expected.contains { !$0.transitions.isEmpty }, said)

      // Every second at which some answer turns, the one before, and some others.
      let turns = Set(expected.flatMap(\.transitions)).sorted().map(Int.init)
      let drawn = (0..<20).map { _ in Int.random(in: 0..<86_400, using: &random) }
      let seconds = turns.flatMap { [$0 - 1, $0] } + drawn + [0, 86_399]
      var wrong: [Int] = []
      for second in seconds {
        let oneByOne = expected.map { $0.contains(second: second) }
        if plan.inside(second: second) != oneByOne { wrong.append(second) }
      }
      #expect(wrong == [], said)
      let second = seconds[0]
      #expect(
        (0..<UInt32(plan.count)).map { (plan.level($0, second: second) != nil) }
          == expected.map { $0.contains(second: second) }, said)
      #expect(
        seconds.map { plan.nextTransition(after: $0) }
          == seconds.map { second in turns.first { $0 > second } ?? 86_400 }, said)
    }
  }

  /// Turns by hand; the windows of RongCloud turn at seconds.
  @Test func nextTransitions() throws {
    var table = ScheduleTable(app: AppSettings(rules: .rongcloud))
    for (start, minutes) in [("22:00:30", 600), ("08:00:00", 60), ("08:00:30", 60)] {
      _ = try table.insert(QuietSettings(quietHours: span(start, minutes)))
    }
    let plan = DayPlan(day: day("2024-06-03"), table)
    var turns: [Int] = []
    var now = -1
    while now < 86_400, turns.count < 10 {
      now = plan.nextTransition(after: now)
      turns.append(now)
    }
    let expected = ["8:00", "8:00:30", "9:00", "9:00:30", "22:00:30", "24:00"]
    #expect(turns == expected.map { Int(clock($0)) })
  }

  @Test(arguments: seeds)
  func aPlanThatIsExtendedIsAFreshOne(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let date = day("2024-03-31")
    var table = ScheduleTable(app: AppSettings(rules: .rongcloud))
    var plan = DayPlan(day: date, table)
    for step in 1...12 {
      for _ in 0..<step {
        _ = try table.insert(Self.schedule(.rongcloud, &random))
      }
      plan.extend(table)
      let once = plan
      plan.extend(table)
      let fresh = DayPlan(day: date, table)
      let said: Comment = "step \(step), seed \(seed)"
      for found in [once, plan] {
        try #require(found.count == fresh.count, said)
        let indices = 0..<UInt32(fresh.count)
        #expect(indices.map { found[$0] } == indices.map { fresh[$0] }, said)
        let seconds =
          indices.flatMap { fresh[$0].transitions }.flatMap { [Int($0) - 1, Int($0)] } + [0]
        #expect(
          seconds.filter { found.inside(second: $0) != fresh.inside(second: $0) } == [], said)
        #expect(
          seconds.map { found.nextTransition(after: $0) }
            == seconds.map { fresh.nextTransition(after: $0) }, said)
      }
    }
    #expect(plan.count > 40, "seed \(seed)")
  }

  /// Seen by the memory of their turns, which copies of one bitmap have in common.
  @Test func schedulesThatComeOutTheSameShareABitmap() throws {
    var table = ScheduleTable(app: AppSettings())
    let same = try [
      QuietSettings(quietHours: interval("20:00", "6:00")),
      QuietSettings(quietHours: interval("20:00", "6:00"), timeZone: "UTC"),
      QuietSettings(quietHours: interval("22:00", "8:00"), timeZone: "Europe/Berlin"),
      QuietSettings(quietHours: interval("22:00", "8:00"), timeZone: "Europe/Paris"),
    ]
    let other = try QuietSettings(quietHours: interval("22:00", "8:00"))
    for schedule in [same[0], same[1], other, same[2]] {
      _ = try table.insert(schedule)
    }
    var plan = DayPlan(day: day("2024-06-03"), table)
    _ = try table.insert(same[3])
    plan.extend(table)
    try #require(plan.count == 6)
    let places = (0..<UInt32(plan.count)).map { memory(plan[$0].words) }
    #expect([1, 2, 4, 5].map { places[$0] == places[1] } == [true, true, true, true])
    #expect(places[3] != places[1])
  }

  private func memory(_ words: [UInt64]) -> UInt {
    unsafe words.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
  }

  private func day(_ date: String) -> Int64 { utc("\(date)T00:00:00Z") / 86_400 }

  private static func bitmaps(_ table: ScheduleTable, day: Int64) -> [DayBitmap] {
    (0..<UInt32(table.count)).map { index in
      table.schedule(index).map { DayBitmap($0, day: day) } ?? .never
    }
  }

  private static func table(
    _ rules: RuleSet, _ count: Int, _ random: inout SeededGenerator
  ) throws -> ScheduleTable {
    var app = AppSettings(rules: rules, timeZone: random.pick(zones))
    app.rongcloud.boundary = random.pick(RongCloudOptions.Boundary.allCases)
    app.easemob.intervalEnd = random.pick(EasemobOptions.IntervalEnd.allCases)
    var table = ScheduleTable(app: app)
    for _ in 0..<count { _ = try table.insert(schedule(rules, &random)) }
    return table
  }

  /// Sometimes without quiet hours, or with the other vendor's, which never hold.
  private static func schedule(
    _ rules: RuleSet, _ random: inout SeededGenerator
  ) throws -> QuietSettings {
    let zone = random.chance(60) ? random.pick(zones) : nil
    if random.oneIn(8) { return QuietSettings(timeZone: zone) }
    let hour = Int.random(in: 0..<24, using: &random)
    let minute = random.pick([0, 15, 30, 59])
    let isInterval = (rules == .easemob) != random.oneIn(8)
    if isInterval {
      let end = Int.random(in: 0..<24, using: &random)
      let interval = try QuietInterval(
        startHour: hour, startMinute: minute, endHour: end, endMinute: random.pick([0, 30, 59]))
      return QuietSettings(quietHours: .interval(interval), timeZone: zone)
    }
    let span = try QuietSpan(
      hour: hour, minute: minute, second: random.pick([0, 0, 1, 30, 59]),
      spanMinutes: random.pick([1, 60, 600, 1439]), level: .blocked,
      timeZone: random.oneIn(3) ? random.pick(zones) : nil)
    return QuietSettings(quietHours: .span(span), timeZone: zone)
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
