import PushModel
import QuietTime
import TestSupport
import Testing

@testable import PushFanout

/// Goal: the levels of all schedules at an instant, and the interval in which they hold, are those
/// of each schedule's own bitmap, in whatever order instants and dates are asked for, and whenever
/// the schedules were inserted.
@Suite struct QuietCalendarTests {
  /// 1972-01-07, 2011-12-30, 2024-03-31, 2024-06-03 and 2024-10-27, in days since 1970: an ordinary
  /// date, and dates on which the clocks of some of ``zones`` change; and the dates after them.
  private static let dates: [Int64] = [736, 15_338, 19_813, 19_877, 20_023].flatMap {
    [$0, $0 + 1]
  }
  private static let zones = [
    "UTC", "Africa/Monrovia", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe",
    "Europe/Berlin", "Pacific/Apia",
  ]

  /// What a calendar answers: the levels of all schedules, and the interval in seconds.
  private struct Answer: Equatable {
    var levels: [UInt8]
    var from: Int64
    var until: Int64

    init(_ levels: [UInt8], from: Int64, until: Int64) {
      (self.levels, self.from, self.until) = (levels, from, until)
    }

    init(_ calendar: QuietCalendar, at second: Int64, _ table: ScheduleTable) {
      let found = calendar.phases(at: second * 1000, table)
      levels = (0..<found.count).map { UInt8(found.phases[$0]) }
      (from, until) = (found.from / 1000, found.until / 1000)
    }
  }

  @Test func anEmptyTable() {
    let table = ScheduleTable(app: AppSettings())
    let calendar = QuietCalendar(RuleTables(table.app))
    let midnight: Int64 = 19_877 * 86_400
    for second in [0, 1, 86_399] as [Int64] {
      #expect(
        Answer(calendar, at: midnight + second, table)
          == Answer([0], from: midnight, until: midnight + 86_400))
    }
  }

  @Test(arguments: seeds, RuleSet.allCases)
  func levelsAreThoseOfTheBitmaps(seed: UInt64, rules: RuleSet) throws {
    var random = SeededGenerator(seed: seed)
    let table = try Self.table(rules, 120, &random)
    let ruleTables = RuleTables(table.app)
    let phases = QuietPhases(ruleTables)
    let calendar = QuietCalendar(ruleTables)
    for date in Self.dates.shuffled(using: &random) {
      let bitmaps = Self.bitmaps(table, day: date)
      func levels(_ second: Int) -> [UInt8] {
        bitmaps.enumerated().map { index, bitmap in
          phases[bitmap.level(second: second), table.areApps(UInt32(index))]
        }
      }
      // Under some options a level that changes is the same to the rules.
      let all = Set(bitmaps.flatMap(\.transitions)).sorted().map(Int.init)
      let transitions = all.filter { levels($0) != levels($0 - 1) }
      #expect(transitions.count > 10, "\(date), seed \(seed)")
      let drawn = (0..<20).map { _ in Int.random(in: 0..<86_400, using: &random) }
      let seconds = transitions.flatMap { [$0 - 1, $0] } + drawn + [0, 86_399]
      let midnight = date * 86_400
      var wrong: [Int] = []
      for second in seconds.shuffled(using: &random) {
        let expected = Answer(
          levels(second),
          from: midnight + Int64(transitions.last { $0 <= second } ?? 0),
          until: midnight + Int64(transitions.first { $0 > second } ?? 86_400))
        if Answer(calendar, at: midnight + Int64(second), table) != expected {
          wrong.append(second)
        }
      }
      #expect(wrong == [], "\(date), seed \(seed)")
    }
  }

  /// Transitions by hand; the windows of RongCloud begin and end at seconds.
  @Test func nextTransitions() throws {
    var table = ScheduleTable(app: AppSettings(rules: .rongcloud))
    for (hour, second, minutes) in [(22, 30, 600), (8, 0, 60), (8, 30, 60)] {
      let span = try QuietSpan(
        hour: hour, minute: 0, second: second, spanMinutes: minutes, level: .blocked)
      _ = try table.insert(QuietSettings(quietHours: .span(span)))
    }
    let calendar = QuietCalendar(RuleTables(table.app))
    let midnight: Int64 = 19_877 * 86_400
    var found: [Int64] = []
    var now = midnight
    while now < midnight + 86_400, found.count < 10 {
      now = Answer(calendar, at: now, table).until
      found.append(now - midnight)
    }
    let hour: Int64 = 3600
    #expect(
      found == [8 * hour, 8 * hour + 30, 9 * hour, 9 * hour + 30, 22 * hour + 30, 24 * hour])
  }

  /// Schedules that are inserted while a calendar is used, by versions that share it.
  @Test(arguments: seeds)
  func aCalendarFollowsAGrowingTable(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var table = ScheduleTable(app: AppSettings(rules: .rongcloud))
    let calendar = QuietCalendar(RuleTables(table.app))
    for step in 1...12 {
      for _ in 0..<step { _ = try table.insert(Self.schedule(.rongcloud, &random)) }
      for date in [19_813, 19_814, 19_877] as [Int64] {
        let seconds = (0..<24).map { date * 86_400 + $0 * 3600 + Int64(step) * 60 }
        #expect(
          seconds.map { Answer(calendar, at: $0, table) }
            == seconds.map { Answer(QuietCalendar(RuleTables(table.app)), at: $0, table) },
          "\(date), step \(step), seed \(seed)")
      }
    }
    #expect(table.count > 40, "seed \(seed)")
  }

  /// Two dates have the same patterns, until schedules are inserted that have the same hours on one
  /// of them, and on the other not: in Berlin clocks change in between.
  @Test func datesPart() throws {
    func interval(_ start: Int, _ zone: String) throws -> QuietSettings {
      let hours = try QuietInterval(
        startHour: start, startMinute: 0, endHour: (start + 10) % 24, endMinute: 0)
      return QuietSettings(quietHours: .interval(hours), timeZone: zone)
    }
    var table = ScheduleTable(app: AppSettings())
    _ = try table.insert(interval(22, "Asia/Kathmandu"))
    let calendar = QuietCalendar(RuleTables(table.app))
    func transitions() -> [QuietTransitions] {
      [19_812, 19_814].map { calendar.phases(at: $0 * 86_400_000, table).transitions }
    }
    let before = transitions()
    #expect(before[0].id == before[1].id)
    _ = try table.insert(interval(22, "Europe/Berlin"))
    _ = try table.insert(interval(21, "UTC"))
    let after = transitions()
    #expect(after.map(\.id) == [after[0].id, before[0].id])
    #expect(after[0].id != before[0].id)
    #expect(Set(after.map(\.patterns)) == [[0, 1, 2, 2], [0, 1, 2, 3]])
  }

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
    if rules == .open {
      let windows = try (0..<random.pick([1, 1, 2, 4])).map { number in
        try QuietWindows.Window(
          days: random.pick([127, 31, .random(in: 1...127, using: &random)]),
          start: "\((hour + number * 5) % 24):\(minute)",
          end: "\(Int.random(in: 0..<24, using: &random)):\(random.pick([0, 30, 59]))",
          allow: random.pick([[], .mentionsMe, [.plain, .keyword]]))
      }
      return QuietSettings(quietHours: .windows(try QuietWindows(windows)), timeZone: zone)
    }
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
