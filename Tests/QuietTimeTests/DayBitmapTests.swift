import PushModel
import QuietTime
import TestSupport
import Testing

/// Goal: the bitmap of a UTC date says of every second and every minute what a person worked out
/// from the words of the rules, above all where clocks change and where an edge has seconds.
@Suite struct DayBitmapTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let zone: String
    let date: String
    let window: DailyWindow
    /// Instead of the window.
    var schedule: QuietSchedule?
    /// The times in UTC that are inside, "8:00-10:00"; ascending, with a gap between each two.
    let inside: [String]
    /// The minutes, in UTC, with some seconds inside and some outside.
    let partial: [String]
    let why: String

    init(
      _ zone: String, _ date: String, _ window: DailyWindow, inside: [String],
      partial: [String] = [], _ why: String
    ) {
      (self.zone, self.date, self.window) = (zone, date, window)
      (self.inside, self.partial, self.why) = (inside, partial, why)
    }

    /// "22:00-8:00" on the wall clock of the zone.
    init(
      _ zone: String, _ date: String, _ window: String, inside: [String],
      partial: [String] = [], _ why: String
    ) {
      self.init(zone, date, local(window), inside: inside, partial: partial, why)
    }

    var testDescription: String { "\(zone) \(date): \(why)" }
  }

  @Test(
    arguments: ordinaryDays() + daysWithAClockChange() + unusualOffsets() + edgesWithSeconds()
      + boundaries() + alwaysAndNever())
  func edges(_ test: Case) throws {
    var bitmap = try bitmap(test.zone, test.date, test.window)
    if let schedule = test.schedule {
      bitmap = DayBitmap(schedule, day: utc("\(test.date)T00:00:00Z") / 86_400)
    }
    let spans = test.inside.map(seconds)
    let turns = spans.flatMap { [$0.lowerBound, $0.upperBound] }.filter { 0 < $0 && $0 < 86_400 }
    var everySecond = [Bool](repeating: false, count: 86_400)
    for second in spans.joined() { everySecond[second] = true }
    let partial = Set(test.partial.map { Int(clock($0)) / 60 })
    let everyMinute = (0..<1440).map { minute -> DayBitmap.Minute in
      partial.contains(minute) ? .partial : everySecond[minute * 60] ? .inside : .outside
    }
    #expect(bitmap.transitions.map(Int.init) == turns)
    #expect(firstDifference((0..<1440).map { bitmap[$0] }, everyMinute) == nil)
    let found = (0..<86_400).map { bitmap.contains(second: $0) }
    #expect(firstDifference(found, everySecond) == nil)
  }

  /// Equal answers are equal bitmaps, wherever they come from: plans share them.
  @Test func theSameAnswersAreTheSameBitmap() throws {
    let date = "2024-06-03"
    let inUTC = try bitmap("UTC", date, local("20:00-6:00"))
    #expect(try bitmap("Europe/Berlin", date, local("22:00-8:00")) == inUTC)
    #expect(try bitmap("UTC", "2024-06-04", local("20:00-6:00")) == inUTC)
    #expect(try bitmap("UTC", date, local("20:00-6:00:01")) != inUTC)
    #expect(try bitmap("UTC", date, local("6:00-20:00")) != inUTC)
    let all = DailyWindow(startSecond: 0, spanSeconds: 86_400)
    let none = DailyWindow(startSecond: 0, spanSeconds: 0)
    #expect(try bitmap("UTC", date, none) == .never)
    #expect(try bitmap("UTC", date, all) != .never)
    #expect(try bitmap("Europe/Berlin", "2024-03-31", local("2:15-2:45")) == .never)
    #expect(
      try bitmap("Europe/Berlin", "2024-03-31", local("3:00-2:00"))
        == bitmap("Asia/Kathmandu", date, all))
  }

  private func bitmap(_ zone: String, _ date: String, _ window: DailyWindow) throws -> DayBitmap {
    let table = try pinned.zone(named: zone)
    let day = utc("\(date)T00:00:00Z") / 86_400
    return DayBitmap(
      QuietSchedule(
        window, zone: table), day: day)
  }
}

// MARK: The cases

extension DayBitmapTests {
  static func ordinaryDays() -> [Case] {
    let date = "2024-06-03"
    return [
      Case("UTC", date, "8:00-10:00", inside: ["8:00-10:00"], "inside a day"),
      Case("UTC", date, "22:00-8:00", inside: ["0:00-8:00", "22:00-24:00"], "across midnight"),
      Case("UTC", date, "0:00-8:00", inside: ["0:00-8:00"], "from midnight: no turn at second 0"),
      Case("UTC", date, "22:00-0:00", inside: ["22:00-24:00"], "to midnight: no turn at its end"),
      Case("UTC", date, "0:00-0:01", inside: ["0:00-0:01"], "the first minute"),
      Case("UTC", date, "23:59-0:00", inside: ["23:59-24:00"], "the last minute"),
      Case("UTC", date, "0:01-0:00", inside: ["0:01-24:00"], "all but the first minute"),
      Case("UTC", date, "23:59-23:58", inside: ["0:00-23:58", "23:59-24:00"], "all but one"),
      Case("UTC", date, "1:03-1:04", inside: ["1:03-1:04"], "the last minute of a word"),
      Case("UTC", date, "1:04-1:05", inside: ["1:04-1:05"], "the first minute of a word"),
      Case("UTC", date, "1:04-23:28", inside: ["1:04-23:28"], "whole words"),
      Case("UTC", "1970-01-01", "22:00-8:00", inside: ["0:00-8:00", "22:00-24:00"], "day 0"),
      Case("Europe/Berlin", date, "22:00-8:00", inside: ["0:00-6:00", "20:00-24:00"], "summer"),
      Case("Europe/Berlin", date, "2:00-4:00", inside: ["0:00-2:00"], "starts with the UTC date"),
      Case("Europe/Berlin", date, "0:00-2:00", inside: ["22:00-24:00"], "ends with the UTC date"),
      Case(
        "America/New_York", date, "22:00-8:00", inside: ["2:00-12:00"],
        "local midnight is inside the UTC date"),
      Case("Pacific/Kiritimati", date, "22:00-8:00", inside: ["8:00-18:00"], "14 hours ahead"),
      Case("Pacific/Midway", date, "22:00-8:00", inside: ["9:00-19:00"], "11 hours behind"),
    ]
  }

  static func daysWithAClockChange() -> [Case] {
    let (spring, autumn) = ("2024-03-31", "2024-10-27")
    let (april, october) = ("2024-04-06", "2024-10-05")
    let (berlin, lordHowe, apia) = ("Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia")
    return [
      Case(berlin, spring, "22:00-8:00", inside: ["0:00-6:00", "20:00-24:00"], "23 hours"),
      Case(berlin, spring, "2:15-2:45", inside: [], "the whole window is missing"),
      Case(berlin, spring, "2:30-4:00", inside: ["1:00-2:00"], "the start is missing"),
      Case(
        berlin, spring, "1:30-2:30", inside: ["0:30-1:00", "23:30-24:00"], "the end is missing"),
      Case(berlin, spring, "3:00-2:00", inside: ["0:00-24:00"], "all that is outside is missing"),
      Case(berlin, "2500-03-28", "2:30-4:00", inside: ["1:00-2:00"], "after the table's end"),
      Case(berlin, autumn, "22:00-8:00", inside: ["0:00-7:00", "21:00-24:00"], "25 hours"),
      Case(berlin, autumn, "2:15-2:45", inside: ["0:15-0:45", "1:15-1:45"], "twice"),
      Case(berlin, autumn, "2:30-4:00", inside: ["0:30-1:00", "1:30-3:00"], "the start is twice"),
      Case(berlin, autumn, "1:00-2:30", inside: ["0:00-0:30", "1:00-1:30"], "the end is twice"),
      Case(berlin, autumn, "2:00-3:00", inside: ["0:00-2:00"], "the repeated hour is one piece"),
      Case(lordHowe, april, "22:00-8:00", inside: ["11:00-21:30"], "24.5 hours"),
      Case(
        lordHowe, april, "1:45-2:15", inside: ["14:45-15:00", "15:15-15:45"], "the start twice"),
      Case(lordHowe, october, "22:00-8:00", inside: ["11:30-21:00"], "23.5 hours"),
      Case(lordHowe, october, "1:45-2:15", inside: ["15:15-15:30"], "the end is missing"),
      Case(lordHowe, october, "2:05-2:25", inside: [], "the whole window is missing"),
      Case(apia, "2011-12-30", "22:00-8:00", inside: ["8:00-18:00"], "a day that does not exist"),
      Case(apia, "2011-12-30", "23:30-0:30", inside: ["9:30-10:30"], "midnight of that day"),
      Case(apia, "2011-12-30", "0:00-22:00", inside: ["0:00-8:00", "10:00-24:00"], "around it"),
    ]
  }

  static func unusualOffsets() -> [Case] {
    let (kathmandu, monrovia) = ("Asia/Kathmandu", "Africa/Monrovia")
    let date = "2024-06-03"
    return [
      Case(kathmandu, date, "22:00-7:00", inside: ["0:00-1:15", "16:15-24:00"], "5:45 ahead"),
      Case(
        kathmandu, date, "2:15:30-3:16:30", inside: ["20:30:30-21:31:30"],
        partial: ["20:30", "21:31"], "5:45 ahead, with seconds"),
      Case(
        kathmandu, "1985-12-31", "23:50-0:10", inside: ["18:20-18:30"],
        "a quarter of an hour is missing, with the end"),
      Case(
        kathmandu, "1985-12-31", "0:10-0:30", inside: ["18:30-18:45"],
        "a quarter of an hour is missing, with the start"),
      Case(
        monrovia, "1971-06-03", "22:00-7:00", inside: ["0:00-7:44:30", "22:44:30-24:00"],
        partial: ["7:44", "22:44"], "44:30 behind"),
      Case(
        monrovia, "1971-06-03", "22:00:30-7:00:30", inside: ["0:00-7:45", "22:45-24:00"],
        "seconds that make whole minutes of UTC"),
      Case(
        monrovia, "1972-01-07", "23:00-0:00", inside: ["0:00-0:44:30", "23:00-24:00"],
        partial: ["0:44"], "44:30 are missing, after the end"),
      Case(monrovia, "1972-01-07", "0:00-0:30", inside: [], "44:30 are missing, and the window"),
      Case(
        monrovia, "1972-01-07", "23:59:30-1:00", inside: ["0:44-1:00", "23:59:30-24:00"],
        partial: ["23:59"], "around the gap"),
      Case(
        monrovia, "1972-01-07", "0:10-1:00", inside: ["0:44:30-1:00"], partial: ["0:44"],
        "the clock change is the start"),
    ]
  }

  ///
  static func edgesWithSeconds() -> [Case] {
    let date = "2024-06-03"
    let (spring, autumn) = ("2024-03-31", "2024-10-27")
    return [
      Case(
        "UTC", date, "8:00:30-9:00:30", inside: ["8:00:30-9:00:30"], partial: ["8:00", "9:00"],
        "half minutes"),
      Case("UTC", date, "8:00:01-9:00", inside: ["8:00:01-9:00"], partial: ["8:00"], "all but one"),
      Case("UTC", date, "8:00-9:00:01", inside: ["8:00-9:00:01"], partial: ["9:00"], "one more"),
      Case("UTC", date, "7:59:59-9:00", inside: ["7:59:59-9:00"], partial: ["7:59"], "one early"),
      Case("UTC", date, "8:00-8:59:59", inside: ["8:00-8:59:59"], partial: ["8:59"], "one less"),
      Case(
        "UTC", date, "8:00:10-8:00:20", inside: ["8:00:10-8:00:20"], partial: ["8:00"],
        "both turns in one minute"),
      Case(
        "UTC", date, "8:00:20-8:00:10", inside: ["0:00-8:00:10", "8:00:20-24:00"],
        partial: ["8:00"], "both turns in one minute, which starts inside"),
      Case("UTC", date, "8:00-8:00:59", inside: ["8:00-8:00:59"], partial: ["8:00"], "59 seconds"),
      Case(
        "UTC", date, "23:59:59-0:00", inside: ["23:59:59-24:00"], partial: ["23:59"],
        "the last second"),
      Case("UTC", date, "0:00-0:00:01", inside: ["0:00-0:00:01"], partial: ["0:00"], "the first"),
      Case(
        "UTC", date, "23:59:59-0:00:01", inside: ["0:00-0:00:01", "23:59:59-24:00"],
        partial: ["0:00", "23:59"], "the last and the first"),
      Case(
        "Europe/Berlin", spring, "2:15:30-3:15:30", inside: ["1:00-1:15:30"], partial: ["1:15"],
        "the start is missing"),
      Case(
        "Europe/Berlin", autumn, "2:15:30-2:45:20",
        inside: ["0:15:30-0:45:20", "1:15:30-1:45:20"],
        partial: ["0:15", "0:45", "1:15", "1:45"], "twice"),
    ]
  }

  /// with it.
  static func boundaries() -> [Case] {
    func rongcloud(
      _ start: String, _ minutes: Int, _ boundary: RongCloudOptions.Boundary,
      _ inside: [String], partial: [String]
    ) -> Case {
      var options = RongCloudOptions()
      options.boundary = boundary
      let span = try! QuietSpan.parse(start: start, spanMinutes: minutes, level: .blocked)!
      var test = Case(
        "UTC", "2024-06-03", DailyWindow(startSecond: 0, spanSeconds: 0), inside: inside,
        partial: partial, "\(start) for \(minutes) min, \(boundary)")
      test.schedule = schedule(
        of: .span(span), AppSettings(rules: .rongcloud, rongcloud: options))
      return test
    }
    return [
      rongcloud("08:00:00", 60, .halfOpen, ["8:00-9:00"], partial: []),
      rongcloud("08:00:00", 60, .closed, ["8:00-9:00:01"], partial: ["9:00"]),
      rongcloud("08:00:00", 60, .neither, ["8:00:01-9:00"], partial: ["8:00"]),
      rongcloud("08:00:30", 60, .closed, ["8:00:30-9:00:31"], partial: ["8:00", "9:00"]),
      rongcloud("08:00:30", 60, .neither, ["8:00:31-9:00:30"], partial: ["8:00", "9:00"]),
      rongcloud("08:00:59", 60, .closed, ["8:00:59-9:01"], partial: ["8:00"]),
      rongcloud("08:00:59", 60, .neither, ["8:01-9:00:59"], partial: ["9:00"]),
      rongcloud("23:00:00", 60, .halfOpen, ["23:00-24:00"], partial: []),
      rongcloud("23:00:00", 60, .closed, ["0:00-0:00:01", "23:00-24:00"], partial: ["0:00"]),
      rongcloud("23:00:00", 60, .neither, ["23:00:01-24:00"], partial: ["23:00"]),
      rongcloud("23:59:59", 1, .neither, ["0:00-0:00:59"], partial: ["0:00"]),
      rongcloud("00:00:00", 1439, .closed, ["0:00-23:59:01"], partial: ["23:59"]),
      rongcloud("00:00:00", 1439, .neither, ["0:00:01-23:59"], partial: ["0:00"]),
    ]
  }

  static func alwaysAndNever() -> [Case] {
    let days = [
      ("UTC", "2024-06-03"), ("Europe/Berlin", "2024-03-31"), ("Europe/Berlin", "2024-10-27"),
      ("Pacific/Apia", "2011-12-30"), ("Africa/Monrovia", "1972-01-07"),
    ]
    return days.flatMap { (zone, date) in
      [
        Case(
          zone, date, DailyWindow(startSecond: 7230, spanSeconds: 86_400), inside: ["0:00-24:00"],
          "always"),
        Case(zone, date, DailyWindow(startSecond: 7230, spanSeconds: 0), inside: [], "never"),
      ]
    }
  }
}

/// The daily window between two clock times, "22:00-8:00".
private func local(_ text: String) -> DailyWindow {
  let parts = text.split(separator: "-").map { clock(String($0)) }
  let span = (parts[1] - parts[0] + 86_400) % 86_400
  return DailyWindow(startSecond: Int32(parts[0]), spanSeconds: Int32(span))
}

/// The seconds of the day between two clock times; "24:00" is the end of the day.
private func seconds(_ text: String) -> Range<Int> {
  let parts = text.split(separator: "-").map { Int(clock(String($0))) }
  return parts[0]..<parts[1]
}

// MARK: Random windows

/// Goal: whatever the window, the zone and the date, a bitmap gives the answers of the window
/// itself, and its turns are all there are.
@Suite struct RandomDayBitmapTests {
  static let names = pinnedNames()
  static let daysUntil2401 = utc("2401-01-01T00:00:00Z") / 86_400

  @Test(arguments: seeds)
  func answersAreTheWindows(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var wrong: [String] = []
    var clockChanges = 0
    for _ in 0..<300 {
      let zone = try Self.zone(&random)
      let (window, day) = Self.windowAndDay(zone, &random)
      let bitmap = DayBitmap(window, day: day)
      let start = day * 86_400
      if let change = zone.nextTransition(after: start), change < start + 86_400 {
        clockChanges += 1
      }
      let around = bitmap.transitions.flatMap { [Int($0) - 1, Int($0), Int($0) + 1] }
      let drawn = (0..<60).map { _ in Int.random(in: 0..<86_400, using: &random) }
      let seconds = (around + drawn + [0, 1, 59, 60, 86_399]).filter { (0..<86_400).contains($0) }
      let expected = seconds.map { window.isQuiet(at: start + Int64($0)) }
      let minutes = Set(around.map { $0 / 60 } + drawn.prefix(8).map { $0 / 60 } + [0, 1439])
        .filter { (0..<1440).contains($0) }.sorted()
      if seconds.map({ bitmap.contains(second: $0) }) != expected
        || minutes.map({ bitmap[$0] }) != minutes.map({ Self.brute(window, start, minute: $0) })
      {
        wrong.append("\(window), \(zone.name), \(text(start))")
      }
    }
    #expect(wrong.prefix(10) == [], "seed \(seed)")
    #expect(clockChanges > 30, "seed \(seed)")
  }

  @Test(arguments: seeds)
  func turnsAreAllThereAre(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<12 {
      let zone = try Self.zone(&random)
      let (window, day) = Self.windowAndDay(zone, &random)
      let bitmap = DayBitmap(window, day: day)
      let answers = (0..<86_400).map { window.isQuiet(at: day * 86_400 + $0) }
      let turns = answers.indices.dropFirst().filter { answers[$0] != answers[$0 - 1] }
      #expect(
        bitmap.transitions.map(Int.init) == turns,
        "\(window), \(zone.name), \(text(day * 86_400)), seed \(seed)")
    }
  }

  private static func zone(_ random: inout SeededGenerator) throws -> ZoneTable {
    let name = random.oneIn(10) ? "Africa/Monrovia" : random.pick(names)
    return try pinned.zone(named: name)
  }

  /// A window of any length, and a date; half of the dates have a clock change if the zone has
  /// one, and half of the windows on them an edge near it. A fifth of all windows start about when
  /// the date does.
  private static func windowAndDay(
    _ zone: ZoneTable, _ random: inout SeededGenerator
  ) -> (QuietSchedule, day: Int64) {
    var day = Int64.random(in: 0..<daysUntil2401, using: &random)
    if zone.name == "Africa/Monrovia" { day = .random(in: 700..<740, using: &random) }
    var start = Int64.random(in: 0..<86_400, using: &random)
    if random.chance(50), let change = zone.nextTransition(after: day * 86_400) {
      day = change / 86_400
      let near = zone.localSecond(at: change) + .random(in: -5400...5400, using: &random)
      if random.chance(50) { start = (near + 86_400) % 86_400 }
    }
    if random.chance(20) {
      let near = zone.localSecond(at: day * 86_400) + .random(in: -70...70, using: &random)
      start = (near + 86_400) % 86_400
    }
    let spans: [ClosedRange<Int32>] = [
      0...0, 1...130, 1...7200, 1...86_399, 1...86_399, 86_270...86_399, 86_400...86_400,
    ]
    let span = Int32.random(in: random.pick(spans), using: &random)
    let window = DailyWindow(startSecond: Int32(start), spanSeconds: span)
    return (
      QuietSchedule(
        window, zone: zone), day
    )
  }

  /// A minute by its 60 seconds.
  private static func brute(
    _ window: QuietSchedule, _ start: Int64, minute: Int
  ) -> DayBitmap.Minute {
    let first = start + Int64(minute) * 60
    let inside = (first..<first + 60).count { window.isQuiet(at: $0) }
    return inside == 0 ? .outside : inside == 60 ? .inside : .partial
  }
}
