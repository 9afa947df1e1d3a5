import PushReference
import PushModel
import QuietTime
import TestSupport
import Testing

@testable import PushFanout

/// Goal: quiet hours are those of the reference at every quarter of an hour, across midnight, for
/// schedules that were added later too.
@Suite struct QuietHoursTests {
  /// 2024-06-03T00:00:00Z.
  private static let midnight: Int64 = 1_717_372_800_000
  private static let hour: Int64 = 3_600_000

  private static func user(_ start: Int, _ end: Int) throws -> UserSettings {
    var user = UserSettings()
    user.quietHours = .interval(
      try QuietInterval(startHour: start, startMinute: 15, endHour: end, endMinute: 45))
    return user
  }

  @Test func theNextDayIsPrepared() throws {
    var settings = FanoutSettings()
    for number in 0..<100 {
      settings.setUser(Identifier("u\(number)"), try Self.user(number % 24, number * 7 % 24))
      settings.setMember(Identifier("u\(number)"), of: "g")
    }
    let fanout = try Fanout(settings, threads: 1)
    _ = fanout.decide(
      Message(id: "m", conversation: "g", at: Instant(milliseconds: Self.midnight)))

    fanout.advance(to: Instant(milliseconds: Self.midnight + 23 * Self.hour))

    let late = try Self.user(23, 5)
    settings.setUser("late", late)
    settings.setMember("late", of: "g")
    try fanout.update { (update) throws(FanoutError) in
      try update.setUser("late", late)
      try update.setMember("late", of: "g")
    }
    var evaluator = ReferenceEvaluator(settings)
    for quarter in 0..<96 {
      let at = Self.midnight + 24 * Self.hour + Int64(quarter) * Self.hour / 4
      let message = Message(id: "m", conversation: "g", at: Instant(milliseconds: at))
      var expected: [String] = []
      evaluator.decide(message) { expected.append("\($0.rawValue) \($1.outcome.key)") }
      fanout.advance(to: message.at)
      var found: [String] = []
      fanout.decide(message).forEachRecipient { found.append("\($0.rawValue) \($1.key)") }
      #expect(found == expected, "quarter \(quarter)")
    }
  }

  /// Time passes, and settings change, before the first message.
  @Test func timePassesBeforeTheFirstDecision() throws {
    var settings = FanoutSettings()
    for number in 0..<200 {
      var user = try Self.user(number % 24, number * 7 % 24)
      if number % 3 == 0 {
        user.mutedUntil = Instant(milliseconds: Self.midnight + Int64(number) * Self.hour / 10)
      }
      settings.setUser(Identifier("u\(number)"), user)
      settings.setMember(Identifier("u\(number)"), of: "g")
    }
    let fanout = try Fanout(settings, threads: 1)
    fanout.advance(to: Instant(milliseconds: Self.midnight))
    for minute in 1...30 {
      fanout.advance(to: Instant(milliseconds: Self.midnight + Int64(minute) * 60_000))
    }
    let changed = UserSettings()
    settings.setUser("u7", changed)
    try fanout.update { (update) throws(FanoutError) in try update.setUser("u7", changed) }

    var evaluator = ReferenceEvaluator(settings)
    for quarter in 2..<120 {
      let at = Self.midnight + Int64(quarter) * Self.hour / 4
      let message = Message(id: "m", conversation: "g", at: Instant(milliseconds: at))
      var expected: [String] = []
      evaluator.decide(message) { expected.append("\($0.rawValue) \($1.outcome.key)") }
      fanout.advance(to: message.at)
      var found: [String] = []
      if quarter >= 40 {
        fanout.decide(message).forEachRecipient { found.append("\($0.rawValue) \($1.key)") }
        #expect(found == expected, "quarter \(quarter)")
      }
    }
  }

  /// A window that is set after a conversation was cached begins before any other does.
  @Test func aNewWindowTurnsOnTime() throws {
    var settings = FanoutSettings()
    for number in 0..<100 {
      settings.setUser(Identifier("u\(number)"), try Self.user(20, 21))
      settings.setMember(Identifier("u\(number)"), of: "g")
    }
    let fanout = try Fanout(settings, threads: 1)
    var message = Message(id: "m", conversation: "g", at: Instant(milliseconds: Self.midnight))
    fanout.advance(to: message.at)
    _ = fanout.decide(message)
    let user = try Self.user(5, 6)
    try fanout.update { (update) throws(FanoutError) in try update.setUser("u7", user) }
    let quarter = Self.hour / 4
    let turns = [5 * Self.hour + quarter, 6 * Self.hour + 3 * quarter]
    for (at, isQuiet) in [
      (turns[0] - 1000, false), (turns[0], true), (turns[1] - 1000, true), (turns[1], false),
    ] {
      message.at = Instant(milliseconds: Self.midnight + at)
      let outcome = fanout.decide(message).outcome(of: "u7")
      #expect(outcome?.reason == (isQuiet ? .quietHours : .allowed), "\(at / 1000) s")
    }
  }

  /// A user without listed devices has a device with an id, too (E-50).
  @Test(arguments: [true, false]) func aFilterMeetsTheDefaultDevice(ignores: Bool) throws {
    var settings = FanoutSettings()
    var listed = UserSettings()
    listed.devices = [Device(id: "p1")]
    settings.setUser("listed", listed)
    for user: Identifier in ["listed", "unlisted"] { settings.setMember(user, of: "g") }
    var message = Message(id: "m", conversation: "g", at: Instant(milliseconds: Self.midnight))
    var filter = DeviceFilter()
    if ignores {
      filter.ignoreDeviceIDs = ["default"]
    } else {
      filter.acceptDeviceIDs = ["default"]
    }
    message.filter = filter
    let fanout = try Fanout(settings, threads: 1)
    let result = fanout.decide(message)
    let filtered = Outcome(.suppress, .filtered)
    let pushed = Outcome(.push, .allowed, .default)
    #expect(result.outcome(of: "unlisted") == (ignores ? filtered : pushed))
    #expect(result.outcome(of: "listed") == (ignores ? pushed : filtered))
    #expect(result.pushes.ids.map(\.text) == [ignores ? "listed" : "unlisted"])
    #expect(fanout.decision(message, for: "unlisted")?.outcome == (ignores ? filtered : pushed))
  }
}
