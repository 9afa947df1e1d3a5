import Foundation
import QuietTime
import TestSupport
import Testing

/// Goal: a zone's table says what Foundation says, for every zone name, over the whole range of
/// instants that files allow.
///
/// Foundation's data come with the toolchain. When they are of another version than the pinned ones,
/// some zones may differ, and how many is limited.
@Suite struct ZoneTableTests {
  static let end = utc("2500-01-01T00:00:00Z")
  /// The last second of the last instant there is, 2^53 - 1 ms.
  static let lastSecond: Int64 = 9_007_199_254_740
  static let year1997 = utc("1997-01-01T00:00:00Z")
  /// No release of the database has changed the future of more zones, links included.
  static let differingLimit = TimeZone.timeZoneDataVersion == pinned.version ? 0 : 40

  @Test func aTableHasItsName() throws {
    #expect(try pinned.zone(named: "US/Pacific").name == "US/Pacific")
    #expect(pinned.version == "2025b")
  }

  /// Known from the IANA database by hand, so that Foundation is not the only judge.
  @Test func knownOffsets() throws {
    let expected: [(String, String, before: Int64, from: Int64)] = [
      ("Europe/Berlin", "2024-03-31T01:00:00Z", 3600, 7200),
      ("Europe/Berlin", "2024-10-27T01:00:00Z", 7200, 3600),
      ("Europe/Berlin", "2500-03-28T01:00:00Z", 3600, 7200),
      ("America/New_York", "2024-03-10T07:00:00Z", -18_000, -14_400),
      ("America/New_York", "2024-11-03T06:00:00Z", -14_400, -18_000),
      ("Australia/Lord_Howe", "2024-04-06T15:00:00Z", 39_600, 37_800),
      ("Asia/Kathmandu", "1985-12-31T18:30:00Z", 19_800, 20_700),
      ("Pacific/Apia", "2011-12-30T10:00:00Z", -36_000, 50_400),
      ("Africa/Casablanca", "2024-03-10T02:00:00Z", 3600, 0),
      ("Africa/Casablanca", "2024-04-14T02:00:00Z", 0, 3600),
      ("Africa/Monrovia", "1972-01-07T00:44:30Z", -2670, 0),
    ]
    var wrong: [String] = []
    for (name, time, before, from) in expected {
      let table = try pinned.zone(named: name)
      let at = utc(time)
      let found = [table.offsetSeconds(at: at - 1), table.offsetSeconds(at: at)]
      if found != [before, from] { wrong.append("\(name) \(time): \(found)") }
      let next = table.nextTransition(after: at - 1)
      if next != at { wrong.append("\(name) \(time): not the next transition") }
    }
    #expect(wrong == [])
  }

  /// Around each transition, what a wall clock shows leads back to the first second at which it
  /// shows that, and what it never shows leads to none.
  @Test func localTimesLeadBack() throws {
    var wrong: [String] = []
    for name in pinnedNames() {
      let table = try pinned.zone(named: name)
      var now: Int64 = 86_400
      while let next = table.nextTransition(after: now), next < Self.year1997 * 2 {
        now = next
        let (before, from) = (table.offsetSeconds(at: next - 1), table.offsetSeconds(at: next))
        for second in [next - 90_000, next - 1, next, next + 1, next + 90_000] {
          let local = second + table.offsetSeconds(at: second)
          // Those that a clock shows twice have it first before the transition.
          let isSecond = second >= next && second - next < before - from
          let expected = isSecond ? second - (before - from) : second
          if let found = table.firstSecond(ofLocal: local), found == expected { continue }
          // Another transition may be as near.
          let other = table.nextTransition(after: next).map { $0 - next < 200_000 } ?? false
          if !other { wrong.append("\(name) \(text(second))") }
        }
        guard from > before else { continue }
        for local in [next + before, next + from - 1] where table.firstSecond(ofLocal: local) != nil
        {
          wrong.append("\(name) \(text(next)): a time that clocks are put forward over")
        }
      }
    }
    #expect(wrong == [])
    #expect(try pinned.zone(named: "UTC").firstSecond(ofLocal: 5) == 5)
    // Samoa had no 30 December 2011.
    let apia = try pinned.zone(named: "Pacific/Apia")
    #expect(apia.firstSecond(ofLocal: utc("2011-12-30T12:00:00Z")) == nil)
    #expect(apia.firstSecond(ofDay: utc("2011-12-30T00:00:00Z")) == nil)
  }

  /// A time that occurs twice has a second pass, an hour behind the first in most zones; one that
  /// occurs once has none.
  @Test func aSecondPassIsFound() throws {
    let (berlin, howe) = (
      try pinned.zone(named: "Europe/Berlin"), try pinned.zone(named: "Australia/Lord_Howe")
    )
    for (zone, local, first, second) in [
      (berlin, "2024-10-27T02:00:00Z", "2024-10-27T00:00:00Z", "2024-10-27T01:00:00Z"),
      (berlin, "2024-10-27T02:59:59Z", "2024-10-27T00:59:59Z", "2024-10-27T01:59:59Z"),
      (berlin, "2024-10-27T03:00:00Z", "2024-10-27T02:00:00Z", nil),
      (berlin, "2024-10-27T01:59:59Z", "2024-10-26T23:59:59Z", nil),
      (howe, "2024-04-07T01:45:00Z", "2024-04-06T14:45:00Z", "2024-04-06T15:15:00Z"),
    ] {
      let found = try #require(zone.firstSecond(ofLocal: utc(local)))
      #expect(found == utc(first))
      #expect(zone.firstSecond(ofLocal: utc(local), from: found + 1) == second.map { utc($0) })
    }
  }

  /// Where clocks are put forward over midnight the day begins when they are.
  @Test func daysBegin() throws {
    for (name, day, first) in [
      ("Atlantic/Azores", "2026-03-29", "2026-03-29T01:00:00Z"),
      ("America/Santiago", "2024-09-08", "2024-09-08T04:00:00Z"),
      ("America/Havana", "2024-03-10", "2024-03-10T05:00:00Z"),
      ("Africa/Cairo", "2024-04-26", "2024-04-25T22:00:00Z"),
      ("Asia/Beirut", "2024-03-31", "2024-03-30T22:00:00Z"),
      // Midnight occurs twice.
      ("America/Havana", "2024-11-03", "2024-11-03T04:00:00Z"),
      ("Europe/Berlin", "2024-03-31", "2024-03-30T23:00:00Z"),
    ] {
      let zone = try pinned.zone(named: name)
      #expect(zone.firstSecond(ofDay: utc("\(day)T00:00:00Z")) == utc(first), "\(name)")
    }
  }

  /// Every day of every zone begins at the first second that shows its date.
  @Test func everyDayBeginsAtItsFirstSecond() throws {
    var wrong: [String] = []
    for name in pinnedNames() {
      let table = try pinned.zone(named: name)
      var now: Int64 = 86_400
      while let next = table.nextTransition(after: now), next < Self.year1997 * 2 {
        now = next
        for second in [next - 86_400, next, next + 86_400] {
          let day = (second + table.offsetSeconds(at: second)) / 86_400
          guard let first = table.firstSecond(ofDay: day * 86_400) else {
            wrong.append("\(name) \(text(second)): there is such a day")
            continue
          }
          let (date, before) = (
            (first + table.offsetSeconds(at: first)) / 86_400,
            (first - 1 + table.offsetSeconds(at: first - 1)) / 86_400
          )
          if date != day || before >= day { wrong.append("\(name) \(text(second))") }
        }
      }
    }
    #expect(wrong == [])
  }

  /// At each transition -1 s, 0 and +1 s, and regularly between them, for every name.
  @Test func everyTransitionIsFoundations() throws {
    var wrong: [String] = []
    for name in pinnedNames() {
      let (table, oracle) = try pair(name)
      var now: Int64 = 0
      while let next = table.nextTransition(after: now), next < Self.end {
        guard next > now else {
          wrong.append("\(name): \(text(next)) is not after \(text(now))")
          break
        }
        for at in [next - 1, next, next + 1] { check(at, table, oracle, &wrong) }
        if table.offsetSeconds(at: next - 1) == table.offsetSeconds(at: next) {
          wrong.append("\(name): nothing changes at \(text(next))")
        }
        now = next
      }
      // A transition that the table lacks would show here: 13 days and 7 hours, until 2040.
      for at in stride(from: 0, to: utc("2040-01-01T00:00:00Z"), by: 13 * 86_400 + 7 * 3600) {
        check(at, table, oracle, &wrong)
      }
    }
    expectEqual(wrong)
  }

  @Test(arguments: seeds)
  func randomInstantsAreFoundations(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let fixed = [
      0, 1, Self.end - 1, Self.end, Self.end + 1, utc("2900-01-01T00:00:00Z"),
      utc("3000-02-28T23:59:59Z"), utc("3000-07-01T00:00:00Z"), utc("5000-01-15T12:00:00Z"),
      utc("5000-07-15T12:00:00Z"), Self.lastSecond - 15_000_000, Self.lastSecond,
    ]
    var wrong: [String] = []
    for name in pinnedNames() {
      let (table, oracle) = try pair(name)
      for at in fixed { check(at, table, oracle, &wrong) }
      for _ in 0..<60 { check(.random(in: 0..<Self.end, using: &random), table, oracle, &wrong) }
      for _ in 0..<20 {
        check(.random(in: Self.end...Self.lastSecond, using: &random), table, oracle, &wrong)
      }
    }
    expectEqual(wrong, "seed \(seed)")
  }

  /// Where the table ends and repeats its last 400 years: no transition is lost or doubled there.
  @Test(arguments: ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Auckland"])
  func transitionsGoOnAfterTheTable(name: String) throws {
    let (table, oracle) = try pair(name)
    for first in ["2498-06-01T00:00:00Z", "2899-06-01T00:00:00Z", "6499-06-01T00:00:00Z"] {
      var found: [Int64] = []
      var now = utc(first)
      let end = now + 3 * 366 * 86_400
      while let next = table.nextTransition(after: now), next < end {
        found.append(next)
        guard next > now else { break }
        now = next
      }
      // Clocks change on full half hours.
      let wanted = stride(from: utc(first), to: end, by: 1800).filter {
        oracle.secondsFromGMT(for: date($0)) != oracle.secondsFromGMT(for: date($0 - 1))
      }
      #expect(found == wanted, "\(name) from \(first)")
      #expect(!wanted.isEmpty)
    }
  }

  /// The second of the day is that of Foundation's calendar, from the first day to the last.
  @Test(arguments: seeds)
  func theWallClockIsTheCalendars(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let names = [
      "UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu",
      "Pacific/Apia", "Africa/Casablanca", "Africa/Monrovia", "Pacific/Kiritimati",
    ]
    for name in names {
      let (table, zone) = try pair(name)
      var calendar = Calendar(identifier: .gregorian)
      calendar.timeZone = zone
      var instants: [Int64] = [0, 1, 3600, 86_399, Self.end, Self.lastSecond - 1, Self.lastSecond]
      for limit in [86_400, Self.end, Self.lastSecond] {
        instants += (0..<50).map { _ in .random(in: 0...limit, using: &random) }
      }
      let expected = instants.map { instant in
        let parts = calendar.dateComponents([.hour, .minute, .second], from: date(instant))
        return Int64(parts.hour! * 3600 + parts.minute! * 60 + parts.second!)
      }
      #expect(instants.map { table.localSecond(at: $0) } == expected, "\(name), seed \(seed)")
    }
  }

  @Test func aZoneWithoutClockChangesHasNoTransition() throws {
    for name in ["UTC", "Etc/GMT+5", "Asia/Kolkata"] {
      let table = try pinned.zone(named: name)
      for at in [0, utc("2024-01-01T00:00:00Z"), Self.end, Self.lastSecond] {
        #expect(table.nextTransition(after: at) == nil)
      }
    }
  }

  private func pair(_ name: String) throws -> (ZoneTable, TimeZone) {
    (
      try pinned.zone(named: name),
      try #require(TimeZone(identifier: name), "\(name)")
    )
  }

  /// Expects no difference, or few zones with some if Foundation's data are of another version.
  private func expectEqual(
    _ wrong: [String], _ said: Comment = "", sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let zones = Set(wrong.map { $0.prefix { $0 != " " && $0 != ":" } })
    #expect(
      zones.count <= Self.differingLimit,
      "\(said) Foundation \(TimeZone.timeZoneDataVersion): \(wrong.prefix(20))",
      sourceLocation: sourceLocation)
  }

  private func date(_ second: Int64) -> Date { Date(timeIntervalSince1970: Double(second)) }

  private func check(
    _ at: Int64, _ table: ZoneTable, _ oracle: TimeZone, _ wrong: inout [String]
  ) {
    let expected = Int64(oracle.secondsFromGMT(for: date(at)))
    let found = table.offsetSeconds(at: at)
    let local = ((at + expected) % 86_400 + 86_400) % 86_400
    // Debian's data have these two as zones of their own, Foundation's as links.
    if ["EET", "WET"].contains(table.name), at < Self.year1997 { return }
    guard found != expected || table.localSecond(at: at) != local else { return }
    wrong.append(
      "\(table.name) at \(at): offset \(found) instead of \(expected), "
        + "local second \(table.localSecond(at: at)) instead of \(local)")
  }
}
