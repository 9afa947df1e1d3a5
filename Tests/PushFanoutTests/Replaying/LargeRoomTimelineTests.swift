import PushFanout
import PushModel
import TestSupport
import Testing

/// Goal: what a timeline derives from the interval before, in a room that is large enough for that, is
/// what a timeline that knows nothing yet computes.
@Suite struct LargeRoomTimelineTests {
  private static let count = 1500

  /// Members in five zones, half of them with quiet hours; some join in the course of the day, and
  /// some are muted until an hour of it.
  private static func settings(_ random: inout SeededGenerator) throws -> FanoutSettings {
    var settings = FanoutSettings()
    for number in 0..<count {
      let id = Identifier("u\(number)")
      var user = UserSettings()
      user.timeZone = RandomWorld.zones[number % 5]
      if random.chance(50) {
        user.quietHours = .interval(
          try QuietInterval(
            startHour: Int.random(in: 0..<24, using: &random),
            startMinute: random.pick([0, 15, 30, 45]),
            endHour: Int.random(in: 0..<24, using: &random), endMinute: 0))
      }
      settings.setUser(id, user)
      var member = MemberSettings()
      if random.chance(20) { member.since = instant(&random) }
      if random.chance(10) { member.mutedUntil = instant(&random) }
      settings.setMember(id, of: "g", member)
    }
    return settings
  }

  /// Any of the day.
  private static func instant(_ random: inout SeededGenerator) -> Instant {
    Instant(
      milliseconds: RandomWorld.noon + Int64.random(in: 0..<86_400, using: &random) * 1000)
  }

  private struct Answer: Equatable {
    var counts = FanoutCounts()
    var held = FanoutCounts()
    var released: [Int64: Int] = [:]
    var localHours = [Int](repeating: 0, count: 24)

    init(_ timeline: FanoutTimeline, _ message: Message) {
      timeline.keepsLargeConversations = true
      counts = timeline.counts(message, held: &held) { released[$0, default: 0] += $1 }
      released = released.filter { $0.value != 0 }
      timeline.addPushes(byLocalHour: &localHours)
    }
  }

  @Test(arguments: [31, 32])
  func aDay(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let fanout = try Fanout(try Self.settings(&random), threads: 1)
    let timeline = FanoutTimeline(fanout.currentVersion)
    var wrong: [String] = []
    var hours: Set<[Int]> = []
    var now = RandomWorld.noon - 86_400_000
    for step in 0..<150 {
      now += Int64.random(in: 1...(step % 20 == 19 ? 7200 : 1500), using: &random) * 1000
      if step % 30 == 29 { now -= 3_600_000 }
      var message = Message(id: "m", conversation: "g", at: Instant(milliseconds: now))
      if random.chance(30) { message.sender = Identifier("u\(step)") }
      if random.chance(30) { message.mentions = [Identifier("u\(step * 3)")] }
      let found = Answer(timeline, message)
      let expected = Answer(FanoutTimeline(fanout.currentVersion), message)
      if found != expected { wrong.append("seed \(seed), step \(step): \(found), \(expected)") }
      hours.insert(found.localHours)
    }
    #expect(wrong == [])
    #expect(hours.count > 100)
  }

  /// Messages of three dates in turn, on one of which clocks change, while members get quiet hours
  /// that nobody had: schedules with the same pattern on one date have different ones on another.
  @Test(arguments: [33, 34])
  func datesInTurn(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let fanout = try Fanout(try Self.settings(&random), threads: 1)
    let timeline = FanoutTimeline(fanout.currentVersion)
    let midnight = RandomWorld.noon / 86_400_000 * 86_400_000
    var wrong: [Int] = []
    var now = 0
    for step in 0..<240 {
      // Mostly some minutes later on the same date: the counts are derived from those before.
      now = (now + Int.random(in: 60...900, using: &random)) % 86_400
      let date = random.oneIn(4) ? Int64.random(in: -1...1, using: &random) : Int64(step / 80 - 1)
      if step % 5 == 4 {
        let interval = try QuietInterval(
          startHour: step % 24, startMinute: step % 60, endHour: (step + 7) % 24,
          endMinute: (step * 7) % 60)
        let user = Identifier("u\(Int.random(in: 0..<Self.count, using: &random))")
        try fanout.update { (update) throws(FanoutError) in
          try update.updateUser(user) { $0.quietHours = .interval(interval) }
        }
        timeline.follow(fanout.currentVersion)
      }
      let at = midnight + date * 86_400_000 + Int64(now) * 1000
      let message = Message(id: "m", conversation: "g", at: Instant(milliseconds: at))
      let expected = Answer(FanoutTimeline(fanout.currentVersion), message)
      if Answer(timeline, message) != expected { wrong.append(step) }
    }
    #expect(wrong == [], "seed \(seed)")
  }
}
