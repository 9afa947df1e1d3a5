import PushModel
import Testing

/// Goal: at every edge of a window, the millisecond before and the edge itself, both vendors answer
/// what a person worked out from the rules and the zone, above all on days with a clock change.
///
/// Rules: E-21, E-30 to E-36, R-12, R-20 to R-24, and §1: the window follows the wall clock.
@Suite struct WindowEdgeTests {
  enum Answer: Sendable { case open, quiet }

  struct Case: Sendable, CustomTestStringConvertible {
    let zone, start, end, why: String
    /// Instants in UTC, and whether the recipient is to be left in peace.
    let expected: [(String, Answer)]

    init(
      _ zone: String, _ start: String, _ end: String, _ why: String,
      _ expected: [(String, Answer)]
    ) {
      (self.zone, self.start, self.end, self.why) = (zone, start, end, why)
      self.expected = expected
    }

    var instants: [Instant] { expected.map { at($0.0) } }
    var testDescription: String { "\(zone) \(start)-\(end): \(why)" }
  }

  @Test(arguments: plainDays + berlin + otherZones + midnights)
  func easemob(_ test: Case) {
    let world = World.easemob(test.start, test.end, zone: test.zone)
    #expect(
      world.outcomes(test.instants)
        == test.expected.map { $0.1 == .quiet ? "none/quietHours/app" : "push/allowed/default" })
  }

  @Test(arguments: plainDays + berlin + otherZones + midnights)
  func rongcloud(_ test: Case) throws {
    let interval = try #require(try QuietInterval.parse(start: test.start, end: test.end))
    let span = Int(interval.endMinute - interval.startMinute + 1440) % 1440
    let world = World.rongcloud("\(test.start):00", span, zone: test.zone)
    #expect(
      world.outcomes(test.instants)
        == test.expected.map {
          $0.1 == .quiet ? "none/quietHours/quietHours" : "push/allowed/default"
        })
  }

  static let plainDays = [
    Case(
      "Europe/Berlin", "22:00", "07:00", "a summer night, UTC+2",
      [
        ("2024-06-03T19:59:59.000Z", .open), ("2024-06-03T19:59:59.999Z", .open),
        ("2024-06-03T20:00:00.000Z", .quiet), ("2024-06-03T21:59:59.999Z", .quiet),
        ("2024-06-03T22:00:00.000Z", .quiet), ("2024-06-04T04:59:59.999Z", .quiet),
        ("2024-06-04T05:00:00.000Z", .open), ("2024-06-04T05:00:00.001Z", .open),
      ]),
    Case(
      "Europe/Berlin", "22:00", "07:00", "a winter night, UTC+1",
      [
        ("2024-01-15T20:59:59.999Z", .open), ("2024-01-15T21:00:00Z", .quiet),
        ("2024-01-16T05:59:59.999Z", .quiet), ("2024-01-16T06:00:00Z", .open),
      ]),
    Case(
      "Asia/Kathmandu", "22:00", "07:00", "UTC+5:45",
      [
        ("2024-06-03T16:14:59.999Z", .open), ("2024-06-03T16:15:00Z", .quiet),
        ("2024-06-04T01:14:59.999Z", .quiet), ("2024-06-04T01:15:00Z", .open),
      ]),
    Case(
      "America/New_York", "09:00", "17:30", "by day, UTC-4",
      [
        ("2024-07-01T12:59:59.999Z", .open), ("2024-07-01T13:00:00Z", .quiet),
        ("2024-07-01T21:29:59.999Z", .quiet), ("2024-07-01T21:30:00Z", .open),
      ]),
  ]

  /// Berlin: 2024-03-31 at 01:00Z from 2:00 to 3:00; 2024-10-27 at 01:00Z from 3:00 to 2:00.
  static let berlin = [
    Case(
      "Europe/Berlin", "02:30", "04:00", "the start is missing: it begins with the jump",
      [
        ("2024-03-31T00:59:59Z", .open), ("2024-03-31T00:59:59.999Z", .open),
        ("2024-03-31T01:00:00Z", .quiet), ("2024-03-31T01:00:00.001Z", .quiet),
        ("2024-03-31T01:59:59.999Z", .quiet), ("2024-03-31T02:00:00Z", .open),
      ]),
    Case(
      "Europe/Berlin", "01:00", "02:30", "the end is missing: it is over with the jump",
      [
        ("2024-03-30T23:59:59.999Z", .open), ("2024-03-31T00:00:00Z", .quiet),
        ("2024-03-31T00:59:59.999Z", .quiet), ("2024-03-31T01:00:00Z", .open),
        ("2024-03-31T01:30:00Z", .open),
      ]),
    Case(
      "Europe/Berlin", "02:15", "02:45", "all of it is missing, on that day only",
      [
        ("2024-03-30T01:14:59.999Z", .open), ("2024-03-30T01:15:00Z", .quiet),
        ("2024-03-30T01:44:59.999Z", .quiet), ("2024-03-30T01:45:00Z", .open),
        ("2024-03-31T00:15:00Z", .open), ("2024-03-31T00:59:59.999Z", .open),
        ("2024-03-31T01:00:00Z", .open), ("2024-03-31T01:15:00Z", .open),
        ("2024-04-01T00:14:59.999Z", .open), ("2024-04-01T00:15:00Z", .quiet),
        ("2024-04-01T00:45:00Z", .open),
      ]),
    Case(
      "Europe/Berlin", "22:00", "07:00", "an hour short: eight hours of nine",
      [
        ("2024-03-30T20:59:59.999Z", .open), ("2024-03-30T21:00:00Z", .quiet),
        ("2024-03-31T04:59:59.999Z", .quiet), ("2024-03-31T05:00:00Z", .open),
      ]),
    Case(
      "Europe/Berlin", "22:00", "07:00", "an hour long: ten hours of nine",
      [
        ("2024-10-26T19:59:59.999Z", .open), ("2024-10-26T20:00:00Z", .quiet),
        ("2024-10-27T05:59:59.999Z", .quiet), ("2024-10-27T06:00:00Z", .open),
      ]),
    Case(
      "Europe/Berlin", "02:30", "04:00", "the start comes twice: a break of half an hour",
      [
        ("2024-10-27T00:29:59.999Z", .open), ("2024-10-27T00:30:00Z", .quiet),
        ("2024-10-27T00:59:59.999Z", .quiet), ("2024-10-27T01:00:00Z", .open),
        ("2024-10-27T01:29:59.999Z", .open), ("2024-10-27T01:30:00Z", .quiet),
        ("2024-10-27T02:59:59.999Z", .quiet), ("2024-10-27T03:00:00Z", .open),
      ]),
    Case(
      "Europe/Berlin", "01:00", "02:30", "the end comes twice: it begins again in between",
      [
        ("2024-10-26T22:59:59.999Z", .open), ("2024-10-26T23:00:00Z", .quiet),
        ("2024-10-27T00:29:59.999Z", .quiet), ("2024-10-27T00:30:00Z", .open),
        ("2024-10-27T00:59:59.999Z", .open), ("2024-10-27T01:00:00Z", .quiet),
        ("2024-10-27T01:29:59.999Z", .quiet), ("2024-10-27T01:30:00Z", .open),
      ]),
    Case(
      "Europe/Berlin", "02:00", "03:00", "exactly the repeated hour, for two hours",
      [
        ("2024-10-26T23:59:59.999Z", .open), ("2024-10-27T00:00:00Z", .quiet),
        ("2024-10-27T00:59:59.999Z", .quiet), ("2024-10-27T01:00:00Z", .quiet),
        ("2024-10-27T01:59:59.999Z", .quiet), ("2024-10-27T02:00:00Z", .open),
      ]),
  ]

  static let otherZones = [
    // 2024-03-10 at 07:00Z from 2:00 to 3:00; 2024-11-03 at 06:00Z from 2:00 to 1:00.
    Case(
      "America/New_York", "23:00", "02:30", "the end is missing",
      [
        ("2024-03-10T03:59:59.999Z", .open), ("2024-03-10T04:00:00Z", .quiet),
        ("2024-03-10T06:59:59.999Z", .quiet), ("2024-03-10T07:00:00Z", .open),
      ]),
    Case(
      "America/New_York", "01:30", "01:45", "all of it comes twice",
      [
        ("2024-11-03T05:29:59.999Z", .open), ("2024-11-03T05:30:00Z", .quiet),
        ("2024-11-03T05:44:59.999Z", .quiet), ("2024-11-03T05:45:00Z", .open),
        ("2024-11-03T06:00:00Z", .open), ("2024-11-03T06:29:59.999Z", .open),
        ("2024-11-03T06:30:00Z", .quiet), ("2024-11-03T06:44:59.999Z", .quiet),
        ("2024-11-03T06:45:00Z", .open),
      ]),
    // Half an hour: 2024-10-05 at 15:30Z from 2:00 to 2:30; 2024-04-06 at 15:00Z from 2:00 to 1:30.
    Case(
      "Australia/Lord_Howe", "02:15", "06:00", "the start is missing",
      [
        ("2024-10-05T15:29:59.999Z", .open), ("2024-10-05T15:30:00Z", .quiet),
        ("2024-10-05T18:59:59.999Z", .quiet), ("2024-10-05T19:00:00Z", .open),
      ]),
    Case(
      "Australia/Lord_Howe", "01:30", "02:00", "exactly the repeated half hour, for an hour",
      [
        ("2024-04-06T14:29:59.999Z", .open), ("2024-04-06T14:30:00Z", .quiet),
        ("2024-04-06T14:59:59.999Z", .quiet), ("2024-04-06T15:00:00Z", .quiet),
        ("2024-04-06T15:29:59.999Z", .quiet), ("2024-04-06T15:30:00Z", .open),
      ]),
    Case(
      "Australia/Lord_Howe", "01:45", "01:50", "all of it comes twice",
      [
        ("2024-04-06T14:44:59.999Z", .open), ("2024-04-06T14:45:00Z", .quiet),
        ("2024-04-06T14:50:00Z", .open), ("2024-04-06T15:00:00Z", .open),
        ("2024-04-06T15:14:59.999Z", .open), ("2024-04-06T15:15:00Z", .quiet),
        ("2024-04-06T15:19:59.999Z", .quiet), ("2024-04-06T15:20:00Z", .open),
      ]),
    // One hour less in Ramadan: 2024-03-10 at 02:00Z from 3:00 to 2:00; 2024-04-14 back again.
    Case(
      "Africa/Casablanca", "02:30", "03:00", "all of it comes twice",
      [
        ("2024-03-10T01:29:59.999Z", .open), ("2024-03-10T01:30:00Z", .quiet),
        ("2024-03-10T01:59:59.999Z", .quiet), ("2024-03-10T02:00:00Z", .open),
        ("2024-03-10T02:29:59.999Z", .open), ("2024-03-10T02:30:00Z", .quiet),
        ("2024-03-10T02:59:59.999Z", .quiet), ("2024-03-10T03:00:00Z", .open),
      ]),
    Case(
      "Africa/Casablanca", "02:00", "02:59", "all of it is missing",
      [
        ("2024-04-13T01:59:59.999Z", .open), ("2024-04-13T02:00:00Z", .quiet),
        ("2024-04-13T02:59:00Z", .open), ("2024-04-14T01:59:59.999Z", .open),
        ("2024-04-14T02:00:00Z", .open), ("2024-04-15T00:59:59.999Z", .open),
        ("2024-04-15T01:00:00Z", .quiet), ("2024-04-15T01:59:00Z", .open),
      ]),
  ]

  /// Clock changes at midnight. In Apia 29 December 2011 ends at 10:00Z, and the 31st follows.
  static let midnights = [
    Case(
      "Pacific/Apia", "23:00", "01:00", "a whole day is missing in the middle",
      [
        ("2011-12-30T08:59:59.999Z", .open), ("2011-12-30T09:00:00Z", .quiet),
        ("2011-12-30T09:59:59.999Z", .quiet), ("2011-12-30T10:00:00Z", .quiet),
        ("2011-12-30T10:59:59.999Z", .quiet), ("2011-12-30T11:00:00Z", .open),
      ]),
    Case(
      "Pacific/Apia", "00:00", "00:30", "it begins with the day after the missing one",
      [
        ("2011-12-30T09:59:59.999Z", .open), ("2011-12-30T10:00:00Z", .quiet),
        ("2011-12-30T10:29:59.999Z", .quiet), ("2011-12-30T10:30:00Z", .open),
      ]),
    Case(
      "America/Sao_Paulo", "23:30", "00:30", "2018-11-04 at 03:00Z from 0:00 to 1:00",
      [
        ("2018-11-04T02:29:59.999Z", .open), ("2018-11-04T02:30:00Z", .quiet),
        ("2018-11-04T02:59:59.999Z", .quiet), ("2018-11-04T03:00:00Z", .open),
      ]),
    Case(
      "America/Sao_Paulo", "23:30", "00:00", "2018-02-18 at 02:00Z from 0:00 to 23:00",
      [
        ("2018-02-18T01:29:59.999Z", .open), ("2018-02-18T01:30:00Z", .quiet),
        ("2018-02-18T01:59:59.999Z", .quiet), ("2018-02-18T02:00:00Z", .open),
        ("2018-02-18T02:29:59.999Z", .open), ("2018-02-18T02:30:00Z", .quiet),
        ("2018-02-18T02:59:59.999Z", .quiet), ("2018-02-18T03:00:00Z", .open),
      ]),
  ]
}
