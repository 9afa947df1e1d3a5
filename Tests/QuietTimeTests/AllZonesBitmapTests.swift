import Foundation
import QuietTime
import TestSupport
import Testing

/// Goal: for every IANA zone and every day of 2024-2030 with an offset change, and the days next
/// to it, bitmaps equal Foundation's calendar minute by minute.
///
/// Method: what is expected comes from Foundation alone: the offset at each of the 1,440 minutes of
/// the UTC date, and the clock that it gives. The offsets are checked against the calendar's hour,
/// minute and second in the two minutes around each half hour. Zones that have the same offsets
/// throughout a date are expected to give the same answers, which are worked out once; every zone
/// is asked for its offsets and has its bitmaps compared.
@Suite struct AllZonesBitmapTests {
  struct Window: Hashable, Sendable {
    let start, end: Int64
    /// The windows with seconds are looked at behind the first second of each minute too.
    let hasSeconds: Bool

    init(_ start: String, _ end: String) {
      (self.start, self.end) = (clock(start), clock(end))
      hasSeconds = self.start % 60 != 0 || self.end % 60 != 0
    }

    /// Said without the modulus that the sources use.
    func contains(_ local: Int64) -> Bool {
      start < end ? start <= local && local < end : start <= local || local < end
    }

    func zoned(_ zone: ZoneTable) -> QuietSchedule {
      let span = end > start ? end - start : 86_400 - start + end
      return QuietSchedule(
        DailyWindow(startSecond: Int32(start), spanSeconds: Int32(span)), zone: zone)
    }
  }

  /// The last is 61 minutes long and starts with half a minute.
  static let windows = [
    Window("22:00", "8:00"), Window("1:30", "2:30"), Window("2:00", "3:00"),
    Window("23:30", "0:30"), Window("2:15:30", "3:16:30"),
  ]

  @Test(.tags(.slow), .unlessFast) func everyZoneAndEveryDayWithAnOffsetChange() throws {
    var comparison = Comparison()
    for name in pinnedNames() {
      let zone = try #require(TimeZone(identifier: name))
      let table = try pinned.zone(named: name)
      for day in Self.days(zone) { comparison.compare(zone, table, day: day) }
    }
    #expect(comparison.wrong.prefix(20) == [])
    // 2,821 and 10,257 in version 2025b; a later one may have fewer clock changes.
    #expect(comparison.changes > 2500)
    #expect(comparison.zoneDays > 9000)
    #expect(comparison.bitmaps == comparison.zoneDays * Self.windows.count)
  }

  /// The UTC dates, in days since 1970-01-01, on which the offset changes, and those next to them;
  /// and 29 February 2024 for every zone.
  static func days(_ zone: TimeZone) -> [Int64] {
    let (first, last) = (utc("2024-01-01T00:00:00Z") / 86_400, utc("2030-12-31T00:00:00Z") / 86_400)
    var changes: Set<Int64> = []
    var now = date(first * 86_400 - 1)
    while let next = zone.nextDaylightSavingTimeTransition(after: now), next > now {
      let day = Int64(next.timeIntervalSince1970) / 86_400
      guard day <= last else { break }
      changes.insert(day)
      now = next
    }
    // A change that is left out above shows from the last second of a date to that of the next.
    var before = zone.secondsFromGMT(for: date(first * 86_400 - 1))
    for day in first...last {
      let after = zone.secondsFromGMT(for: date(day * 86_400 + 86_399))
      if after != before { changes.insert(day) }
      before = after
    }
    changes.insert(utc("2024-02-29T00:00:00Z") / 86_400)
    return Set(changes.flatMap { [$0 - 1, $0, $0 + 1] }).sorted()
  }
}

private func date(_ utcSeconds: Int64) -> Date {
  Date(timeIntervalSince1970: Double(utcSeconds))
}

/// Compares days of zones, and counts them.
private struct Comparison {
  /// The offsets of a date: what the answers of a window follow from.
  struct Key: Hashable {
    let window: AllZonesBitmapTests.Window
    let second: Int
    let day: Int64
    let offsets: [Int32]
  }

  /// A bitmap's answers at a second of each minute. Equal bitmaps give equal answers.
  struct Read: Hashable {
    let bitmap: DayBitmap
    let second: Int
  }

  private(set) var zoneDays = 0
  /// The days of zones on which the offset is another at the end than before the start.
  private(set) var changes = 0
  private(set) var bitmaps = 0
  private(set) var wrong: [String] = []
  private var expected: [Key: [Bool]] = [:]
  private var found: [Read: [Bool]] = [:]

  mutating func compare(_ zone: TimeZone, _ table: ZoneTable, day: Int64) {
    // The first seconds of minutes, and the second before or at an edge with seconds.
    let inMinute = 29 + Int(day % 2)
    var offsets: [Int: [Int32]] = [:]
    for second in [0, inMinute] {
      offsets[second] = Self.offsets(zone, day: day, second: second)
    }
    let first = offsets[0]!
    checkCalendar(zone, day: day, first)
    zoneDays += 1
    let before = zone.secondsFromGMT(for: date(day * 86_400 - 1))
    if Int(first[1439]) != before { changes += 1 }
    for window in AllZonesBitmapTests.windows {
      let bitmap = DayBitmap(window.zoned(table), day: day)
      bitmaps += 1
      for second in window.hasSeconds ? [0, inMinute] : [0] {
        let wanted = answers(
          Key(window: window, second: second, day: day, offsets: offsets[second]!))
        let given = answers(Read(bitmap: bitmap, second: second))
        guard given != wanted else { continue }
        let minute = wanted.indices.first { wanted[$0] != given[$0] }!
        let at = text(day * 86_400 + Int64(minute * 60 + second))
        wrong.append("\(table.name), \(window): \(at) should be \(wanted[minute])")
      }
    }
  }

  /// The offset at a second of each minute of a date.
  private static func offsets(_ zone: TimeZone, day: Int64, second: Int) -> [Int32] {
    var offsets: [Int32] = []
    offsets.reserveCapacity(1440)
    var now = Double(day * 86_400 + Int64(second))
    for _ in 0..<1440 {
      offsets.append(Int32(zone.secondsFromGMT(for: Date(timeIntervalSince1970: now))))
      now += 60
    }
    return offsets
  }

  private mutating func checkCalendar(_ zone: TimeZone, day: Int64, _ offsets: [Int32]) {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = zone
    for minute in 0..<1440 where (minute + 1) % 30 < 2 {
      let now = day * 86_400 + Int64(minute * 60)
      let parts = calendar.dateComponents([.hour, .minute, .second], from: date(now))
      let local = Int64(parts.hour! * 3600 + parts.minute! * 60 + parts.second!)
      if local != (now + Int64(offsets[minute]) + 86_400) % 86_400 {
        wrong.append("\(zone.identifier): the calendar has another clock at \(text(now))")
      }
    }
  }

  private mutating func answers(_ key: Key) -> [Bool] {
    if let known = expected[key] { return known }
    let start = key.day * 86_400 + Int64(key.second)
    let answers = (0..<1440).map { minute in
      key.window.contains((start + Int64(minute * 60) + Int64(key.offsets[minute])) % 86_400)
    }
    expected[key] = answers
    return answers
  }

  private mutating func answers(_ read: Read) -> [Bool] {
    if let known = found[read] { return known }
    let answers = (0..<1440).map { read.bitmap.contains(second: $0 * 60 + read.second) }
    found[read] = answers
    return answers
  }
}
