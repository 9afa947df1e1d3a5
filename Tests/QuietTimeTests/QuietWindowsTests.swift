import Foundation
import PushModel
import PushSupport
import TestSupport
import Testing

@testable import QuietTime

/// Goal: a schedule of several windows and weekdays says what Foundation's calendar and the words of
/// ``QuietWindows`` say, also where clocks change; its transitions are all there are; and what says
/// the same is the same.
@Suite struct QuietWindowsTests {
  /// The weeks around clock changes, in March 2024, and one without.
  static let weeks = ["2024-03-27T00:00:00Z", "2024-10-24T00:00:00Z", "2011-12-27T00:00:00Z"]
  static let zones = [
    "UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia",
    "Asia/Kathmandu",
  ]

  @Test(.tags(.slow), .unlessFast, arguments: seeds, weeks)
  func everyMinuteOfAWeek(seed: UInt64, week: String) throws {
    var random = SeededGenerator(seed: seed)
    var severalLevels = 0
    for _ in 0..<12 {
      let (windows, name) = (try Self.windows(&random), random.pick(Self.zones))
      let schedule = QuietSchedule(windows, zone: try pinned.zone(named: name))
      if schedule.distinctLevels.count > 2 { severalLevels += 1 }
      var calendar = Calendar(identifier: .gregorian)
      calendar.timeZone = try #require(TimeZone(identifier: name))
      // Edges and clock changes are on whole or half minutes.
      let instants = (0...(8 * 2880)).map { utc(week) + Int64($0) * 30 }
      let expected = instants.map { Self.level(windows, calendar, $0) }
      let said: Comment = "\(windows), \(name), \(week), seed \(seed)"
      #expect(firstDifference(instants.map { schedule.level(at: $0) }, expected) == nil, said)
      #expect(instants.filter { schedule.isQuiet(at: $0) != (schedule.level(at: $0) != nil) } == [])

      let changes = instants.indices.dropFirst().filter { expected[$0] != expected[$0 - 1] }
      var found: [Int64] = []
      var now = instants[0]
      while let next = schedule.nextTransition(after: now), next <= instants[instants.count - 1] {
        found.append(next)
        now = next
      }
      #expect(firstDifference(found, changes.map { instants[$0] }) == nil, said)
      Self.checkBitmaps(schedule, from: utc(week) / 86_400, said)
    }
    #expect(severalLevels > 3, "seed \(seed)")
  }

  private static func checkBitmaps(_ schedule: QuietSchedule, from day: Int64, _ said: Comment) {
    for day in day..<day + 8 {
      let bitmap = DayBitmap(schedule, day: day)
      let seconds = Array(stride(from: 0, to: 86_400, by: 30))
      let expected = seconds.map { schedule.level(at: day * 86_400 + Int64($0)) }
      #expect(firstDifference(seconds.map { bitmap.level(second: $0) }, expected) == nil, said)
      #expect(
        firstDifference(seconds.map { bitmap.contains(second: $0) }, expected.map { $0 != nil })
          == nil, said)
      let minutes = (0..<1440).map { minute -> DayBitmap.Minute in
        let halves = [expected[minute * 2] != nil, expected[minute * 2 + 1] != nil]
        return halves[0] != halves[1] ? .partial : halves[0] ? .inside : .outside
      }
      #expect(firstDifference((0..<1440).map { bitmap[$0] }, minutes) == nil, said)
    }
  }

  /// By the calendar: of each window that the local time is in, begun today or yesterday.
  private static func level(
    _ windows: QuietWindows, _ calendar: Calendar, _ utcSeconds: Int64
  ) -> NotificationLevel? {
    let date = Date(timeIntervalSince1970: Double(utcSeconds))
    let parts = calendar.dateComponents([.weekday, .hour, .minute, .second], from: date)
    let second = parts.hour! * 3600 + parts.minute! * 60 + parts.second!
    let weekday = (parts.weekday! + 5) % 7
    let allowed = windows.windows.filter { window in
      let start = Int(window.startMinute) * 60
      var end = Int(window.endMinute) * 60
      if end <= start { end += 86_400 }
      let today = window.days >> UInt8(weekday) & 1 != 0 && start <= second && second < end
      let yesterday = window.days >> UInt8((weekday + 6) % 7) & 1 != 0 && second + 86_400 < end
      return today || yesterday
    }.map(\.allow)
    guard var left = allowed.first else { return nil }
    for allow in allowed { left = left.intersection(allow) }
    return NotificationLevel(left)
  }

  static func windows(_ random: inout SeededGenerator) throws -> QuietWindows {
    try QuietWindows(
      (0..<Int.random(in: 1...4, using: &random)).map { _ in
        let start = Int.random(in: 0..<96, using: &random) * 15 + random.pick([0, 0, 1])
        let end = (start + random.pick([1, 15, 60, 480, 721, 1439, 1440])) % 1440
        return try window(
          random.chance(20) ? 127 : .random(in: 1...127, using: &random), start, end,
          random.pick([[], [.mentionsMe], .mentions, [.mentionsMe, .keyword], .all]))
      })
  }

  /// - Parameters:
  ///   - start: in minutes since midnight.
  ///   - end: in minutes since midnight.
  static func window(
    _ days: UInt8, _ start: Int, _ end: Int, _ allow: MessageClasses = []
  ) throws -> QuietWindows.Window {
    try QuietWindows.Window(
      days: days, start: "\(start / 60):\(start % 60)", end: "\(end / 60):\(end % 60)",
      allow: allow)
  }

  // MARK: What says the same is the same

  @Test func canonicalForm() throws {
    let zone = try pinned.zone(named: "Europe/Berlin")
    func schedule(_ windows: [(days: UInt8, start: Int, end: Int)]) throws -> QuietSchedule {
      QuietSchedule(
        try QuietWindows(windows.map { try Self.window($0.days, $0.start * 60, $0.end * 60) }),
        zone: zone)
    }
    let night = QuietSchedule(startSecond: 79_200, spanSeconds: 36_000, zone: zone)
    #expect(night.repeatsDaily)
    #expect(try schedule([(127, 22, 8)]) == night)
    #expect(try schedule([(0b1010101, 22, 8), (0b0101010, 22, 8)]) == night)
    #expect(try schedule([(127, 22, 0), (127, 0, 8)]) == night)
    #expect(try schedule([(127, 22, 6), (127, 23, 8)]) == night)
    #expect(try schedule([(63, 22, 8)]) != night)
    #expect(try !schedule([(63, 22, 8)]).repeatsDaily)
    let always = QuietSchedule(startSecond: 5, spanSeconds: 86_400, zone: zone)
    #expect(try schedule([(127, 3, 3)]) == always)
    #expect(try schedule([(127, 0, 0)]) == always)
    #expect(always.nextTransition(after: 0) == nil)
    let never = QuietSchedule(startSecond: 5, spanSeconds: 0, zone: zone)
    #expect(try schedule([]) == never)
    #expect(!never.isQuiet(at: 0) && never.nextTransition(after: 0) == nil)
    #expect(
      night != QuietSchedule(startSecond: 79_200, spanSeconds: 36_000, level: .mention, zone: zone))
  }

  @Test func fridayNight() throws {
    let window = try QuietWindows.Window(
      days: QuietWindows.Window.days(["fri"]), start: "22:00", end: "7:0",
      allow: [.mentionsMe, .mentionsEveryone])
    let schedule = QuietSchedule(
      try QuietWindows([window]), zone: try pinned.zone(named: "Europe/Berlin"))
    // Friday, 29 March 2024; on Sunday clocks change.
    #expect(
      schedule.nextTransition(after: utc("2024-03-27T00:00:00Z")).map(text)
        == "2024-03-29T21:00:00Z")
    #expect(schedule.level(at: utc("2024-03-30T05:59:59Z")) == .mention)
    #expect(
      schedule.nextTransition(after: utc("2024-03-29T21:00:00Z")).map(text)
        == "2024-03-30T06:00:00Z")
    #expect(
      schedule.nextTransition(after: utc("2024-03-30T06:00:00Z")).map(text)
        == "2024-04-05T20:00:00Z")
  }

  // MARK: The next change, and bytes

  /// A change that only the second of three levels brings is found, and levels that all answer alike
  /// end the search.
  @Test func theNextChangeLooksAtEveryLevel() throws {
    var user = UserSettings()
    user.quietHours = .windows(
      try QuietWindows([
        Self.window(1, 0, 60, [.mentionsMe, .mentionsEveryone]), Self.window(64, 0, 60),
      ]))
    let dependence = try NextChangeSolver(
      app: AppSettings(rules: .open), user: user, records: [])
    let zone = try ZoneTable(named: "UTC")
    guard case .windows(let windows) = user.quietHours else { return }
    let schedule = QuietSchedule(windows, zone: zone)
    let tuesday = Instant(milliseconds: utc("2024-06-04T12:00:00Z") * 1000)
    func next(_ answer: @escaping (NotificationLevel?) -> Bool) -> String? {
      dependence.nextChange(after: tuesday) { answer(schedule.level(at: $0.seconds)) }?.rfc3339
    }
    #expect(next { $0 == .blocked } == "2024-06-09T00:00:00Z")
    #expect(next { $0 == .mention } == "2024-06-10T00:00:00Z")
    #expect(next { _ in true } == nil)
  }

  @Test(arguments: seeds)
  func settingsAsBytes(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var accepted = 0
    for number in 0..<600 {
      var settings = QuietSettings(timeZone: random.chance(50) ? random.pick(Self.zones) : nil)
      switch number % 4 {
      case 0: settings.quietHours = .windows(try Self.windows(&random))
      case 1:
        settings.quietHours = .interval(
          try QuietInterval(startHour: number % 24, startMinute: 5, endHour: 7, endMinute: 59))
      case 2:
        settings.quietHours = .span(
          try QuietSpan(
            hour: 1, minute: 2, second: number % 60, spanMinutes: 1 + number, level: .mention,
            timeZone: random.chance(50) ? "UTC" : nil))
      default: break
      }
      var sink = ByteSink()
      try settings.code(&sink)
      let bytes = sink.bytes
      var (source, read) = (ByteSource(bytes + [1, 2, 3]), QuietSettings())
      try read.code(&source)
      #expect(read == settings && source.remaining == 3)
      // Damaged: refused, or other settings that can be written.
      for _ in 0..<20 {
        var changed = bytes
        changed[Int.random(in: 0..<bytes.count, using: &random)] = .random(
          in: 0...255, using: &random)
        var cut = ByteSource(Array(changed.prefix(.random(in: 0...bytes.count, using: &random))))
        _ = try? read.code(&cut)
        var (whole, other) = (ByteSource(changed), QuietSettings())
        do { try other.code(&whole) } catch { continue }
        accepted += 1
        var again = ByteSink()
        try other.code(&again)
        #expect(again.bytes == changed.dropLast(whole.remaining))
      }
    }
    #expect(accepted > 100, "seed \(seed)")
  }
}
