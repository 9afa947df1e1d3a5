import PushModel
import Testing

/// Goal: every option about windows does at the edges what its rule says, and nothing else; and the
/// zone that counts is the right one. The instants are written by hand.
@Suite struct WindowOptionTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let world: @Sendable () -> World
    /// Instants at which the recipient is left in peace, and at which not.
    let quiet, open: [String]

    var testDescription: String { name }
  }

  @Test(arguments: easemobCases + rongcloudCases + zoneCases)
  func edges(_ test: Case) {
    let world = test.world()
    let quietKey =
      world.app.rules == .easemob ? "none/quietHours/app" : "none/quietHours/quietHours"
    #expect(
      world.outcomes(test.quiet.map(at)) == test.quiet.map { _ in quietKey }, "quiet at each")
    #expect(
      world.outcomes(test.open.map(at)) == test.open.map { _ in "push/allowed/default" },
      "open at each")
  }

  static func easemob(
    _ start: String, _ end: String, _ name: String, zero: EasemobOptions.ZeroZeroMeans = .off,
    end intervalEnd: EasemobOptions.IntervalEnd = .exclusive, quiet: [String], open: [String]
  ) -> Case {
    var options = EasemobOptions()
    options.zeroZeroMeans = zero
    options.intervalEnd = intervalEnd
    return Case(
      name: "Easemob \(start)-\(end): \(name)",
      world: { [options] in .easemob(start, end, options: options) }, quiet: quiet, open: open)
  }

  static let easemobCases = [
    easemob(  // E-34
      "8:0", "10:0", "the end minute is outside",
      quiet: ["2024-06-03T08:00:00Z", "2024-06-03T09:59:59.999Z"],
      open: ["2024-06-03T07:59:59.999Z", "2024-06-03T10:00:00Z", "2024-06-03T10:00:59.999Z"]),
    easemob(  // E-34
      "8:0", "10:0", "the end minute is inside", end: .inclusiveMinute,
      quiet: ["2024-06-03T08:00:00Z", "2024-06-03T10:00:00Z", "2024-06-03T10:00:59.999Z"],
      open: ["2024-06-03T07:59:59.999Z", "2024-06-03T10:01:00Z"]),
    easemob(  // E-30, E-34
      "22:0", "0:0", "the end minute is tomorrow's first", end: .inclusiveMinute,
      quiet: ["2024-06-03T22:00:00Z", "2024-06-03T23:59:59.999Z", "2024-06-04T00:00:59.999Z"],
      open: ["2024-06-03T21:59:59.999Z", "2024-06-04T00:01:00Z"]),
    easemob(  // E-34: at most a day
      "8:0", "7:59", "the end minute fills the day", end: .inclusiveMinute,
      quiet: ["2024-06-03T07:59:00Z", "2024-06-03T07:59:59.999Z", "2024-06-03T08:00:00Z"],
      open: []),
    easemob(  // E-31
      "8:0", "8:0", "equal ends are all day",
      quiet: [
        "2024-06-03T07:59:59.999Z", "2024-06-03T08:00:00Z", "2024-06-03T08:01:00Z",
        "2024-06-03T00:00:00Z", "2024-06-03T23:59:59.999Z",
      ], open: []),
    easemob(  // E-32
      "0:0", "0:0", "off", quiet: [],
      open: ["2024-06-03T00:00:00Z", "2024-06-03T12:00:00Z", "2024-06-03T23:59:59.999Z"]),
    easemob(  // E-32
      "00:00", "00:00", "off also with the end minute", end: .inclusiveMinute, quiet: [],
      open: ["2024-06-03T00:00:00Z", "2024-06-03T00:00:30Z", "2024-06-03T00:01:00Z"]),
    easemob(  // E-32
      "0:0", "0:0", "all day", zero: .allDay,
      quiet: ["2024-06-03T00:00:00Z", "2024-06-03T12:00:00Z", "2024-06-03T23:59:59.999Z"],
      open: []),
  ]

  static func rongcloud(
    _ start: String, _ span: Int, _ boundary: RongCloudOptions.Boundary,
    _ span1439: RongCloudOptions.Span1439 = .literal, quiet: [String], open: [String]
  ) -> Case {
    var options = RongCloudOptions()
    options.boundary = boundary
    options.span1439 = span1439
    return Case(
      name: "RongCloud \(start) for \(span) min, \(boundary), \(span1439)",
      world: { [options] in .rongcloud(start, span, options: options) }, quiet: quiet, open: open)
  }

  static let rongcloudCases = [
    rongcloud(  // R-22; milliseconds are dropped, §1
      "08:00:30", 60, .halfOpen,
      quiet: ["2024-06-03T08:00:30Z", "2024-06-03T09:00:29.999Z"],
      open: ["2024-06-03T08:00:29.999Z", "2024-06-03T09:00:30Z"]),
    rongcloud(
      "08:00:30", 60, .closed,
      quiet: ["2024-06-03T08:00:30Z", "2024-06-03T09:00:30Z", "2024-06-03T09:00:30.999Z"],
      open: ["2024-06-03T08:00:29.999Z", "2024-06-03T09:00:31Z"]),
    rongcloud(
      "08:00:30", 60, .neither,
      quiet: ["2024-06-03T08:00:31Z", "2024-06-03T09:00:29.999Z"],
      open: ["2024-06-03T08:00:30Z", "2024-06-03T08:00:30.999Z", "2024-06-03T09:00:30Z"]),
    rongcloud(  // across midnight, to the second
      "23:59:59", 1, .neither,
      quiet: ["2024-06-04T00:00:00Z", "2024-06-04T00:00:58.999Z"],
      open: ["2024-06-03T23:59:59Z", "2024-06-03T23:59:59.999Z", "2024-06-04T00:00:59Z"]),
    rongcloud(
      "23:59:59", 1, .closed,
      quiet: ["2024-06-03T23:59:59Z", "2024-06-04T00:00:59.999Z"],
      open: ["2024-06-03T23:59:58.999Z", "2024-06-04T00:01:00Z"]),
    rongcloud(  // one minute is open
      "22:00:00", 1439, .halfOpen,
      quiet: ["2024-06-03T21:58:59.999Z", "2024-06-03T22:00:00Z"],
      open: ["2024-06-03T21:59:00Z", "2024-06-03T21:59:59.999Z"]),
    rongcloud(
      "22:00:00", 1439, .closed,
      quiet: ["2024-06-03T21:59:00.999Z", "2024-06-03T22:00:00Z"],
      open: ["2024-06-03T21:59:01Z", "2024-06-03T21:59:59.999Z"]),
    rongcloud(
      "22:00:00", 1439, .neither,
      quiet: ["2024-06-03T21:58:59.999Z", "2024-06-03T22:00:01Z"],
      open: ["2024-06-03T21:59:00Z", "2024-06-03T22:00:00.999Z"]),
    rongcloud(  // boundary does not matter
      "22:00:00", 1439, .neither, .allDay,
      quiet: ["2024-06-03T21:59:00Z", "2024-06-03T21:59:59.999Z", "2024-06-03T22:00:00Z"],
      open: []),
    rongcloud(
      "22:00:00", 1438, .halfOpen, .allDay, quiet: ["2024-06-03T21:57:59.999Z"],
      open: ["2024-06-03T21:58:00Z", "2024-06-03T21:59:59.999Z"]),
  ]

  /// The app is in Berlin (UTC+2), the user in Kathmandu (UTC+5:45), the quiet hours in New York
  /// (UTC-4); a window from 22:00 to 23:00.
  static let zoneCases = [
    Case(  // E-36
      name: "Easemob: the app's zone", world: { .easemob("22:0", "23:0", zone: "Europe/Berlin") },
      quiet: ["2024-06-03T20:00:00Z", "2024-06-03T20:59:59.999Z"],
      open: ["2024-06-03T19:59:59.999Z", "2024-06-03T21:00:00Z", "2024-06-03T22:30:00Z"]),
    Case(  // E-36
      name: "Easemob: the user's zone",
      world: {
        var world = World.easemob("22:0", "23:0", zone: "Europe/Berlin")
        world.user.timeZone = "Asia/Kathmandu"
        return world
      }, quiet: ["2024-06-03T16:15:00Z", "2024-06-03T17:14:59.999Z"],
      open: ["2024-06-03T16:14:59.999Z", "2024-06-03T17:15:00Z", "2024-06-03T20:30:00Z"]),
    Case(
      name: "RongCloud: the app's zone",
      world: { .rongcloud("22:00:00", 60, zone: "Europe/Berlin") },
      quiet: ["2024-06-03T20:00:00Z", "2024-06-03T20:59:59.999Z"],
      open: ["2024-06-03T19:59:59.999Z", "2024-06-03T21:00:00Z", "2024-06-03T22:30:00Z"]),
    Case(
      name: "RongCloud: the user's zone",
      world: {
        var world = World.rongcloud("22:00:00", 60, zone: "Europe/Berlin")
        world.user.timeZone = "Asia/Kathmandu"
        return world
      }, quiet: ["2024-06-03T16:15:00Z", "2024-06-03T17:14:59.999Z"],
      open: ["2024-06-03T16:14:59.999Z", "2024-06-03T17:15:00Z", "2024-06-03T20:30:00Z"]),
    Case(
      name: "RongCloud: the quiet hours' own zone",
      world: {
        var world = World.rongcloud(
          "22:00:00", 60, zone: "Europe/Berlin", own: "America/New_York")
        world.user.timeZone = "Asia/Kathmandu"
        return world
      }, quiet: ["2024-06-04T02:00:00Z", "2024-06-04T02:59:59.999Z"],
      open: [
        "2024-06-04T01:59:59.999Z", "2024-06-04T03:00:00Z", "2024-06-03T16:30:00Z",
        "2024-06-03T20:30:00Z",
      ]),
  ]
}
