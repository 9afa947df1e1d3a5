import Foundation
import QuietTime
import Testing

/// Goal: a window on the wall clock of a zone contains what Foundation's calendar says, and its
/// next turn is the first second at which that answer changes, above all where clocks change.
///
/// Method: windows whose edges lie before, in and after the missing or repeated time of each
/// change, against a naive check second by second.
@Suite struct QuietScheduleTests {
  struct Change: Sendable, CustomTestStringConvertible {
    let zone: String
    /// The first second with the new offset.
    let at: Int64

    init(_ zone: String, _ time: String) {
      self.zone = zone
      self.at = utc(time)
    }

    var testDescription: String { "\(zone) at \(text(at))" }
  }

  static let changes = [
    Change("Europe/Berlin", "2010-03-28T01:00:00Z"),
    Change("Europe/Berlin", "2024-10-27T01:00:00Z"),
    Change("Europe/Berlin", "2030-03-31T01:00:00Z"),
    Change("America/New_York", "2010-11-07T06:00:00Z"),
    Change("America/New_York", "2024-03-10T07:00:00Z"),
    Change("America/New_York", "2029-11-04T06:00:00Z"),
    Change("Australia/Lord_Howe", "2011-10-01T15:30:00Z"),
    Change("Australia/Lord_Howe", "2024-04-06T15:00:00Z"),
    Change("Australia/Lord_Howe", "2030-10-05T15:30:00Z"),
    // No clock change here since 1986: what holds elsewhere must not be assumed.
    Change("Asia/Kathmandu", "1985-12-31T18:30:00Z"),
    Change("Asia/Kathmandu", "2024-03-31T01:00:00Z"),
    // 30 December 2011 did not exist.
    Change("Pacific/Apia", "2011-12-30T10:00:00Z"),
    Change("Pacific/Apia", "2011-04-02T14:00:00Z"),
    Change("Pacific/Apia", "2012-09-29T14:00:00Z"),
    Change("Africa/Casablanca", "2018-06-14T02:00:00Z"),
    Change("Africa/Casablanca", "2024-03-10T02:00:00Z"),
    Change("Africa/Casablanca", "2024-04-14T02:00:00Z"),
    // Midnight itself is missing.
    Change("America/Sao_Paulo", "2018-11-04T03:00:00Z"),
  ]

  /// Second by second, four hours around the change: contains, and the next turn.
  @Test(arguments: changes)
  func everySecondAroundAChange(_ change: Change) throws {
    let zone = try pinned.zone(named: change.zone)
    let calendar = try calendar(change.zone)
    let end = change.at + 4 * 3600
    let seconds = Array((change.at - 4 * 3600)..<end)
    let local = seconds.map { localSecond($0, calendar) }
    for window in Self.windows(change, zone, step: 4) {
      let zoned = QuietSchedule(
        window, zone: zone)
      let naive = local.map { window.contains(localSecond: $0) }
      let found = seconds.map { zoned.isQuiet(at: $0) }
      #expect(found == naive, "\(window)")

      // The next turn of each second, worked out from the last to the first; nil is later.
      var next: Int?
      var wrong: [String] = []
      for index in naive.indices.dropLast().reversed() {
        let turnsHere = naive[index] != naive[index + 1]
        if turnsHere { next = index + 1 }
        let isNearby = index % 97 == 0 || turnsHere || next.map { $0 - index < 3 } ?? false
        guard isNearby || abs(seconds[index] - change.at) < 3 else { continue }
        let found = zoned.nextTransition(after: seconds[index])
        if let next {
          if found != seconds[next] { wrong.append("\(text(seconds[index])): \(found ?? -1)") }
        } else if let found, found < end {
          wrong.append("\(text(seconds[index])): \(found), but nothing turns")
        }
      }
      #expect(wrong.prefix(5) == [], "\(window)")
    }
  }

  /// All turns of three days around the change. Every edge and change is on a whole minute.
  @Test(arguments: changes)
  func allTurnsOfThreeDays(_ change: Change) throws {
    let zone = try pinned.zone(named: change.zone)
    let calendar = try calendar(change.zone)
    let first = change.at - 36 * 3600
    let minutes = Array(stride(from: first, through: first + 72 * 3600, by: 60))
    let local = minutes.map { localSecond($0, calendar) }
    for window in Self.windows(change, zone, step: 1) {
      let naive = local.map { window.contains(localSecond: $0) }
      let expected = minutes.indices.dropFirst().filter { naive[$0] != naive[$0 - 1] }
        .map { text(minutes[$0]) }

      let zoned = QuietSchedule(
        window, zone: zone)
      var found: [String] = []
      var now = first
      while let next = zoned.nextTransition(after: now), next <= minutes[minutes.count - 1] {
        found.append(text(next))
        guard next > now else { break }
        now = next
      }
      #expect(found == expected, "\(window)")
    }
  }

  /// Windows between every two of: an hour before the change by the old clock, around its local
  /// time by the old and by the new clock, and an hour after.
  static func windows(_ change: Change, _ zone: ZoneTable, step: Int) -> [DailyWindow] {
    let old = zone.localSecond(at: change.at - 1) + 1
    let new = zone.localSecond(at: change.at)
    let middle = (old + new) / 2
    let minute: Int64 = 60
    let edges = [
      old - 60 * minute, old, old + 10 * minute, middle, new - 10 * minute, new, new + 60 * minute,
    ].map { (($0 / 60 * 60) + 86_400) % 86_400 }
    var windows: Set<[Int32]> = []
    for start in edges {
      for end in edges {
        windows.insert([Int32(start), Int32((end - start + 86_400) % 86_400)])
      }
    }
    return windows.sorted { $0.lexicographicallyPrecedes($1) }
      .enumerated().filter { $0.offset % step == 0 }
      .map { DailyWindow(startSecond: $0.element[0], spanSeconds: $0.element[1]) }
  }

  private func calendar(_ zone: String) throws -> Calendar {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(identifier: zone))
    return calendar
  }

  private func localSecond(_ utcSeconds: Int64, _ calendar: Calendar) -> Int64 {
    let date = Date(timeIntervalSince1970: Double(utcSeconds))
    let parts = calendar.dateComponents([.hour, .minute, .second], from: date)
    return Int64(parts.hour! * 3600 + parts.minute! * 60 + parts.second!)
  }
}

/// Goal: next turns that a person worked out, and windows that never turn.
@Suite struct NextTurnTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let zone: String
    let start, end: String
    let after: String
    let turn: String
    let why: String

    init(
      _ zone: String, _ start: String, _ end: String, _ after: String, _ turn: String,
      _ why: String
    ) {
      (self.zone, self.start, self.end) = (zone, start, end)
      (self.after, self.turn, self.why) = (after, turn, why)
    }

    var testDescription: String { "\(zone) \(start)-\(end): \(why)" }
  }

  @Test(arguments: [
    Case(
      "UTC", "22:00", "7:00", "2024-06-03T12:00:00Z", "2024-06-03T22:00:00Z", "the start"),
    Case(
      "UTC", "22:00", "7:00", "2024-06-03T21:59:59Z", "2024-06-03T22:00:00Z", "a second before"),
    Case(
      "UTC", "22:00", "7:00", "2024-06-03T22:00:00Z", "2024-06-04T07:00:00Z", "at the start"),
    Case(
      "UTC", "22:00", "7:00", "2024-06-04T07:00:00Z", "2024-06-04T22:00:00Z", "at the end"),
    Case(
      "Europe/Berlin", "2:30", "4:00", "2024-03-31T00:00:00Z", "2024-03-31T01:00:00Z",
      "the start is missing, the end is not"),
    Case(
      "Europe/Berlin", "1:00", "2:30", "2024-03-31T00:00:00Z", "2024-03-31T01:00:00Z",
      "the end is missing"),
    Case(
      "Europe/Berlin", "2:15", "2:45", "2024-03-30T01:45:00Z", "2024-04-01T00:15:00Z",
      "the whole window is missing"),
    Case(
      "Europe/Berlin", "2:30", "4:00", "2024-10-27T00:30:00Z", "2024-10-27T01:00:00Z",
      "set back before the start"),
    Case(
      "Europe/Berlin", "2:30", "4:00", "2024-10-27T01:00:00Z", "2024-10-27T01:30:00Z",
      "the start comes again"),
    Case(
      "Europe/Berlin", "2:30", "4:00", "2500-03-28T00:00:00Z", "2500-03-28T01:00:00Z",
      "after the end of the table"),
    Case(
      "Europe/Berlin", "22:00", "7:00", "2499-12-31T22:00:00Z", "2500-01-01T06:00:00Z",
      "across the end of the table"),
    Case(
      "Pacific/Apia", "23:00", "1:00", "2011-12-30T09:00:00Z", "2011-12-30T11:00:00Z",
      "a whole day is missing in the middle"),
    Case(
      "Asia/Kathmandu", "22:00", "7:00", "2024-06-03T16:00:00Z", "2024-06-03T16:15:00Z",
      "five hours and 45 minutes ahead"),
    Case(
      "America/Sao_Paulo", "23:30", "0:30", "2018-11-04T02:30:00Z", "2018-11-04T03:00:00Z",
      "midnight to one is missing"),
  ])
  func turns(_ test: Case) throws {
    let span = (clock(test.end) - clock(test.start) + 86_400) % 86_400
    let window = QuietSchedule(
      DailyWindow(startSecond: Int32(clock(test.start)), spanSeconds: Int32(span)),
      zone: try pinned.zone(named: test.zone))
    #expect(window.nextTransition(after: utc(test.after)).map(text) == test.turn)
  }

  @Test(arguments: ["UTC", "Europe/Berlin", "Pacific/Apia"])
  func neverAndAlwaysDoNotTurn(name: String) throws {
    let zone = try pinned.zone(named: name)
    for span: Int32 in [0, 86_400] {
      let window = QuietSchedule(
        DailyWindow(startSecond: 7200, spanSeconds: span), zone: zone)
      for time in ["1970-01-01T00:00:00Z", "2024-03-31T00:59:59Z", "3000-01-01T00:00:00Z"] {
        #expect(window.nextTransition(after: utc(time)) == nil)
        #expect(window.isQuiet(at: utc(time)) == (span > 0))
      }
    }
  }
}
