import TestSupport
import Testing

@testable import QuietTime

/// Goal: rules of every form that POSIX and RFC 9636 allow are read as they say, and nothing else is
/// taken for one.
@Suite struct ZoneRuleTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let rule: String
    let year: Int64
    /// The transitions of the year, in UTC, and the offsets, in minutes, that they begin.
    let expected: [(String, Int32)]
    var testDescription: String { "\(rule) in \(year)" }

    init(_ rule: String, _ year: Int64, _ expected: [(String, Int32)]) {
      self.rule = rule
      self.year = year
      self.expected = expected
    }
  }

  static let cases = [
    Case("<+03>-3", 2024, []), Case("EST5", 2024, []),
    Case(
      "CET-1CEST,M3.5.0,M10.5.0/3", 2024,
      [("2024-03-31T01:00:00Z", 120), ("2024-10-27T01:00:00Z", 60)]),
    Case(
      "EST5EDT,M3.2.0,M11.1.0", 2025,
      [("2025-03-09T07:00:00Z", -240), ("2025-11-02T06:00:00Z", -300)]),
    // South of the equator; with a name in brackets and half an hour of summer time.
    Case(
      "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", 2024,
      [("2024-04-06T15:00:00Z", 630), ("2024-10-05T15:30:00Z", 660)]),
    // Winter time that is earlier than the standard (Ireland).
    Case(
      "IST-1GMT0,M10.5.0,M3.5.0/1", 2024,
      [("2024-03-31T01:00:00Z", 60), ("2024-10-27T01:00:00Z", 0)]),
    // The day before, and hours beyond the day: Greenland, Israel, Gaza.
    Case(
      "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", 2024,
      [("2024-03-31T01:00:00Z", -60), ("2024-10-27T01:00:00Z", -120)]),
    Case(
      "IST-2IDT,M3.4.4/26,M10.5.0", 2024,
      [("2024-03-29T00:00:00Z", 180), ("2024-10-26T23:00:00Z", 120)]),
    Case(
      "EET-2EEST,M3.4.4/50,M10.4.4/50", 2023,
      [("2023-03-25T00:00:00Z", 180), ("2023-10-27T23:00:00Z", 120)]),
    Case(
      "KLM0NOP,M1.1.1/-167:59:59,M12.5.0/167", 2024,
      [("2023-12-25T00:00:01Z", 60), ("2025-01-04T22:00:00Z", 0)]),
    // Julian days do not count 29 February, days of the year do.
    Case("KLM0NOP,J60/0,J365", 2024, [("2024-03-01T00:00:00Z", 60), ("2024-12-31T01:00:00Z", 0)]),
    Case("KLM0NOP,J60/0,J59/1", 2023, [("2023-02-28T00:00:00Z", 0), ("2023-03-01T00:00:00Z", 60)]),
    Case("KLM0NOP,59/0,365/0", 2024, [("2024-02-29T00:00:00Z", 60), ("2024-12-30T23:00:00Z", 0)]),
    Case("KLM0NOP,59/0,0/0", 2023, [("2022-12-31T23:00:00Z", 0), ("2023-03-01T00:00:00Z", 60)]),
    Case(
      "ABC-1:30:15DEF-2:30:15,M2.5.4/0:0:1,M12.5.3", 2024,
      [("2024-02-28T22:29:46Z", 150), ("2024-12-24T23:29:45Z", 90)]),
    // Summer time all year: it begins as it ends.
    Case("KLM3EDT4,0/0,J365/23", 2024, [("2024-01-01T03:00:00Z", -240)]),
  ]

  @Test(arguments: cases)
  func transitions(_ test: Case) throws {
    let rule = try #require(ZoneRule(test.rule.utf8))
    let found = rule.transitions(in: test.year...test.year)
    guard !test.expected.isEmpty else { return #expect(found.isEmpty) }
    let isAllYear = test.expected.count == 1
    #expect(found.prefix(test.expected.count).map { text($0.at) } == test.expected.map(\.0))
    #expect(found.prefix(test.expected.count).map { $0.offset / 60 } == test.expected.map(\.1))
    #expect(found.count == 2 || isAllYear)
    for (at, offset) in found where !isAllYear {
      #expect(rule.offset(at: at) == offset)
      #expect(rule.offset(at: at - 1) != offset)
    }
  }

  /// No transition, also where the year and the 400 years of a table end.
  @Test func summerTimeAllYear() throws {
    let rule = try #require(ZoneRule("KLM3EDT4,0/0,J365/23".utf8))
    let all = rule.transitions(in: 2024...2026)
    #expect(all.dropLast().allSatisfy { $0.offset == -14_400 })
    #expect(rule.offset(at: utc("2025-01-01T03:00:00Z")) == -14_400)
    #expect(rule.offset(at: utc("2025-01-01T02:59:59Z")) == -14_400)
  }

  @Test func offsets() throws {
    let texts = ["UTC0", "<-00>0", "AAA-14", "AAA+12", "AAA24:59:59", "<+0545>-5:45", "AAA-0:0:1"]
    #expect(
      texts.map { ZoneRule($0.utf8)?.standardOffset }
        == [0, 0, 50_400, -43_200, -89_999, 20_700, 1])
  }

  @Test func refused() {
    let texts = [
      "", "U", "UT0", "UTC", "UTC+", "UTC25", "UTC0:60", "UTC0:0:60", "UTC1:", "<+3>", "<+03>",
      "<+03-3", "CET-1CEST", "CET-1CEST,", "CET-1CEST,M3.5.0", "CET-1CEST,M3.5.0,M10.5.0/168",
      "CET-1CEST,M3.5.0,M10.5.0/-168", "CET-1CEST,M0.5.0,M10.5.0", "CET-1CEST,M13.5.0,M10.5.0",
      "CET-1CEST,M3.0.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.5.7,M10.5.0",
      "CET-1CEST,J0,J365", "CET-1CEST,J1,J366", "CET-1CEST,0,366", "CET-1CEST,M3.5.0,M10.5.0/3x",
      "CET-1CEST,M3.5.0,M10.5.0,", "CET-1CEST,M3.5,M10.5.0", "CET-1CE,M3.5.0,M10.5.0",
      "CET-1CEST,1000,2", "CET-1CEST-26,M3.5.0,M10.5.0", "C\u{e4}T-1", ":CET", "UTC0\0",
    ]
    #expect(texts.filter { ZoneRule($0.utf8) != nil } == [])
  }
}
