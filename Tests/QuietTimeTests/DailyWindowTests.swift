import PushModel
import QuietTime
import Testing

/// Goal: both vendors' quiet hours come down to the right start and span under every option, and
/// the seconds around each edge are on the right side.
@Suite struct DailyWindowTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    /// nil: there is no window.
    let window: QuietSchedule?
    let expected: DailyWindow?
    /// Clock times inside and outside.
    let inside: [String]
    let outside: [String]

    var testDescription: String { name }
  }

  @Test(arguments: easemobCases() + rongcloudCases())
  func edges(_ test: Case) throws {
    let zone = try pinned.zone(named: "UTC")
    #expect(test.window == test.expected.map { QuietSchedule($0, zone: zone) })
    #expect(test.inside.filter { !test.contains($0) } == [], "these are inside")
    #expect(test.outside.filter { test.contains($0) } == [], "these are outside")
  }

  /// Each second of the day against the words of §1, for windows of all shapes.
  @Test(arguments: [
    (0, 0), (0, 1), (0, 86_399), (0, 86_400), (1, 86_399), (43_200, 43_200), (86_399, 1),
    (86_399, 2), (86_399, 86_400), (79_200, 32_400), (30_600, 1), (61, 86_398),
  ])
  func everySecondOfTheDay(start: Int, span: Int) throws {
    let window = QuietSchedule(
      startSecond: Int32(start), spanSeconds: Int32(span), zone: try pinned.zone(named: "UTC"))
    var expected = [Bool](repeating: false, count: 86_400)
    for step in 0..<span { expected[(start + step) % 86_400] = true }
    #expect((0..<86_400).map { window.isQuiet(at: $0) } == expected)
  }

  // MARK: Easemob

  static func easemobCases() -> [Case] {
    [
      easemob(
        "8:0", "10:0", .init(startSecond: 28_800, spanSeconds: 7200),
        inside: ["8:00", "8:00:01", "9:59:59"], outside: ["7:59:59", "10:00", "10:00:01", "0:00"]),
      easemob(  // E-30
        "22:0", "7:0", .init(startSecond: 79_200, spanSeconds: 32_400),
        inside: ["22:00", "23:59:59", "0:00", "0:00:01", "6:59:59"],
        outside: ["21:59:59", "7:00", "12:00"]),
      easemob(
        "23:59", "0:0", .init(startSecond: 86_340, spanSeconds: 60),
        inside: ["23:59", "23:59:59"], outside: ["23:58:59", "0:00", "0:00:01"]),
      easemob(
        "0:0", "23:59", .init(startSecond: 0, spanSeconds: 86_340),
        inside: ["0:00", "23:58:59"], outside: ["23:59", "23:59:59"]),
      easemob(
        "0:0", "0:1", .init(startSecond: 0, spanSeconds: 60),
        inside: ["0:00", "0:00:59"], outside: ["23:59:59", "0:01"]),
      easemob(  // E-31
        "8:0", "8:0", .init(startSecond: 28_800, spanSeconds: 86_400),
        inside: ["7:59:59", "8:00", "8:00:01", "0:00", "23:59:59"], outside: []),
      easemob(  // E-31
        "0:1", "0:1", .init(startSecond: 60, spanSeconds: 86_400),
        inside: ["0:00", "0:00:59", "0:01", "23:59:59"], outside: []),
      easemob("0:0", "0:0", nil, inside: [], outside: ["0:00", "12:00", "23:59:59"]),  // E-32
      easemob(  // E-32
        "0:0", "0:0", zero: .allDay, .init(startSecond: 0, spanSeconds: 86_400),
        inside: ["0:00", "12:00", "23:59:59"], outside: []),
      easemob(  // E-32: off also under inclusiveMinute
        "0:0", "0:0", end: .inclusiveMinute, nil, inside: [],
        outside: ["0:00", "0:00:30", "23:59:59"]),
      easemob(  // E-32 with E-34: never more than a day
        "0:0", "0:0", zero: .allDay, end: .inclusiveMinute,
        .init(startSecond: 0, spanSeconds: 86_400), inside: ["0:00", "23:59:59"], outside: []),
      easemob(  // zeroZeroMeans is of 0:0-0:0 only
        "8:0", "10:0", zero: .allDay, .init(startSecond: 28_800, spanSeconds: 7200),
        inside: ["8:00"], outside: ["10:00"]),
      easemob(  // E-34
        "8:0", "10:0", end: .inclusiveMinute, .init(startSecond: 28_800, spanSeconds: 7260),
        inside: ["8:00", "9:59:59", "10:00", "10:00:59"], outside: ["7:59:59", "10:01"]),
      easemob(  // E-30, E-34
        "22:0", "0:0", end: .inclusiveMinute, .init(startSecond: 79_200, spanSeconds: 7260),
        inside: ["22:00", "23:59:59", "0:00", "0:00:59"], outside: ["21:59:59", "0:01"]),
      easemob(  // E-34: one minute short of a day becomes a day
        "8:0", "7:59", end: .inclusiveMinute, .init(startSecond: 28_800, spanSeconds: 86_400),
        inside: ["7:58:59", "7:59", "7:59:59", "8:00"], outside: []),
      easemob(
        "8:0", "7:59", .init(startSecond: 28_800, spanSeconds: 86_340),
        inside: ["7:58:59", "8:00"], outside: ["7:59", "7:59:59"]),
      easemob(  // E-31, E-34: at most a day
        "8:0", "8:0", end: .inclusiveMinute, .init(startSecond: 28_800, spanSeconds: 86_400),
        inside: ["7:59:59", "8:00", "8:00:59", "8:01"], outside: []),
    ]
  }

  static func easemob(
    _ start: String, _ end: String, zero: EasemobOptions.ZeroZeroMeans = .off,
    end intervalEnd: EasemobOptions.IntervalEnd = .exclusive, _ expected: DailyWindow?,
    inside: [String], outside: [String]
  ) -> Case {
    var options = EasemobOptions()
    options.zeroZeroMeans = zero
    options.intervalEnd = intervalEnd
    let interval = try! QuietInterval.parse(start: start, end: end)!
    return Case(
      name: "\(start)-\(end), \(zero), \(intervalEnd)",
      window: schedule(of: .interval(interval), AppSettings(easemob: options)), expected: expected,
      inside: inside,
      outside: outside)
  }

  // MARK: RongCloud

  static func rongcloudCases() -> [Case] {
    [
      rongcloud(
        "08:00:30", 60, .halfOpen, .literal, .init(startSecond: 28_830, spanSeconds: 3600),
        inside: ["8:00:30", "8:00:31", "9:00:29"], outside: ["8:00:29", "9:00:30", "9:00:31"]),
      rongcloud(
        "08:00:30", 60, .closed, .literal, .init(startSecond: 28_830, spanSeconds: 3601),
        inside: ["8:00:30", "9:00:29", "9:00:30"], outside: ["8:00:29", "9:00:31"]),
      rongcloud(
        "08:00:30", 60, .neither, .literal, .init(startSecond: 28_831, spanSeconds: 3599),
        inside: ["8:00:31", "9:00:29"], outside: ["8:00:29", "8:00:30", "9:00:30"]),
      rongcloud(
        "23:59:59", 1, .halfOpen, .literal, .init(startSecond: 86_399, spanSeconds: 60),
        inside: ["23:59:59", "0:00", "0:00:58"], outside: ["23:59:58", "0:00:59"]),
      rongcloud(
        "23:59:59", 1, .closed, .literal, .init(startSecond: 86_399, spanSeconds: 61),
        inside: ["23:59:59", "0:00", "0:00:59"], outside: ["23:59:58", "0:01:00"]),
      rongcloud(  // the first second inside is on the next day
        "23:59:59", 1, .neither, .literal, .init(startSecond: 0, spanSeconds: 59),
        inside: ["0:00", "0:00:58"], outside: ["23:59:58", "23:59:59", "0:00:59"]),
      rongcloud(  // the end falls on midnight
        "22:00:00", 120, .halfOpen, .literal, .init(startSecond: 79_200, spanSeconds: 7200),
        inside: ["22:00", "23:59:59"], outside: ["21:59:59", "0:00"]),
      rongcloud(
        "22:00:00", 120, .closed, .literal, .init(startSecond: 79_200, spanSeconds: 7201),
        inside: ["22:00", "23:59:59", "0:00"], outside: ["21:59:59", "0:00:01"]),
      rongcloud(  // literal
        "22:00:00", 1439, .halfOpen, .literal, .init(startSecond: 79_200, spanSeconds: 86_340),
        inside: ["22:00", "0:00", "21:58:59"], outside: ["21:59", "21:59:59"]),
      rongcloud(
        "22:00:00", 1439, .closed, .literal, .init(startSecond: 79_200, spanSeconds: 86_341),
        inside: ["22:00", "21:59"], outside: ["21:59:01", "21:59:59"]),
      rongcloud(
        "22:00:00", 1439, .neither, .literal, .init(startSecond: 79_201, spanSeconds: 86_339),
        inside: ["22:00:01", "21:58:59"], outside: ["21:59", "22:00"]),
      rongcloud(  // all day, whatever the boundary
        "22:00:00", 1439, .halfOpen, .allDay, .init(startSecond: 79_200, spanSeconds: 86_400),
        inside: ["21:59", "21:59:59", "22:00"], outside: []),
      rongcloud(
        "22:00:00", 1439, .closed, .allDay, .init(startSecond: 79_200, spanSeconds: 86_400),
        inside: ["21:59", "21:59:59", "22:00"], outside: []),
      rongcloud(
        "22:00:00", 1439, .neither, .allDay, .init(startSecond: 79_200, spanSeconds: 86_400),
        inside: ["21:59", "21:59:59", "22:00", "22:00:01"], outside: []),
      rongcloud(  // span1439 is of 1,439 only
        "22:00:00", 1438, .halfOpen, .allDay, .init(startSecond: 79_200, spanSeconds: 86_280),
        inside: ["22:00", "21:57:59"], outside: ["21:58", "21:59:59"]),
    ]
  }

  static func rongcloud(
    _ start: String, _ spanMinutes: Int, _ boundary: RongCloudOptions.Boundary,
    _ span1439: RongCloudOptions.Span1439, _ expected: DailyWindow, inside: [String],
    outside: [String]
  ) -> Case {
    var options = RongCloudOptions()
    options.boundary = boundary
    options.span1439 = span1439
    let span = try! QuietSpan.parse(start: start, spanMinutes: spanMinutes, level: .blocked)!
    return Case(
      name: "\(start) for \(spanMinutes) min, \(boundary), \(span1439)",
      window: schedule(of: .span(span), AppSettings(rules: .rongcloud, rongcloud: options)),
      expected: expected, inside: inside,
      outside: outside)
  }
}

extension DailyWindowTests.Case {
  /// Whether the window, if there is one, contains a clock time.
  func contains(_ time: String) -> Bool { window?.isQuiet(at: clock(time)) ?? false }
}
