import Foundation
import PushFanout
import PushModel
import PushReplay
import TestSupport
import Testing

/// Goal: means are of as many hours as the time from the first message to the last has, in any zone,
/// and make equal what is equal on every day.
///
/// `PUSH_SEED=n swift test --filter CoveredHourTests` runs one more seed.
@Suite struct CoveredHourTests {
  private static func week(_ zone: String, _ instants: [Int64]) throws -> [WeekHour] {
    var options = ReplayOptions()
    options.timeZone = zone
    let replayer = try Replayer(try Fanout(ReplayerTests.world(3), threads: 1), options)
    for at in instants {
      try replayer.add(
        .message(Message(id: "m", conversation: "g", at: Instant(milliseconds: at))))
    }
    return replayer.finish().week
  }

  /// By Foundation's calendar, a minute at a time.
  private static func days(_ zone: String, _ first: Int64, _ last: Int64) -> [Double] {
    var calendar = Calendar(identifier: .iso8601)
    calendar.timeZone = TimeZone(identifier: zone)!
    func parts(_ minute: Int64) -> [Int] {
      let date = Date(timeIntervalSince1970: Double(minute) * 60)
      let parts = calendar.dateComponents([.weekday, .hour, .minute], from: date)
      return [(parts.weekday! + 5) % 7 * 24 + parts.hour!, parts.minute!]
    }
    var minutes = [Int](repeating: 0, count: 168)
    let from = first / 60_000 - Int64(parts(first / 60_000)[1])
    let to = last / 60_000 + 60 - Int64(parts(last / 60_000)[1])
    for minute in from..<to { minutes[parts(minute)[0]] += 1 }
    return minutes.map { Double($0) / 60 }
  }

  @Test func hoursAreThoseOfTheCalendar() throws {
    for seed in TestSupport.seeds([1, 2, 3, 4]) {
      var random = SeededGenerator(seed: seed)
      for zone in [
        "UTC", "Asia/Kolkata", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia",
      ] {
        let first = Int64.random(in: 1_293_840_000_000..<1_456_963_200_000, using: &random)
        let last =
          first + Int64.random(in: 0..<86_400_000 * random.pick([1, 9, 200]), using: &random)
        let found = try Self.week(zone, [first, last])
        #expect(found.map(\.days) == Self.days(zone, first, last), "seed \(seed), \(zone)")
      }
    }
  }

  /// Five Tuesdays with as many pushes as each of four Fridays are not more.
  @Test func whatIsEqualOnEveryDayIsEqual() throws {
    // March 2016, a message of two recipients at every sixth hour.
    let hours = stride(from: Int64(1_456_790_400_000), to: 1_459_468_800_000, by: 6 * 3_600_000)
    let week = try Self.week("UTC", hours + [1_459_468_799_000])
    let days = (0..<7).map { day in Array(week[day * 24..<day * 24 + 24]) }
    #expect(days.map { $0.reduce(0) { $0 + $1.days } / 24 } == [4, 5, 5, 5, 4, 4, 4])
    let means = days.map { day in
      // The last message stands alone.
      day.filter { $0.hour < 23 }.sumOfMeans(\.messages)
    }
    #expect(means == [4, 4, 4, 4, 4, 4, 4])
    let noon = week.filter { $0.hour == 12 }
    #expect(noon.mean(\.messages) == 1 && noon.mean(\.pushes) == Double(noon[0].pushes) / 4)
    #expect(week.filter { $0.days < 0 }.isEmpty && [WeekHour]().mean(\.messages) == 0)
  }

  /// The whole range of instants takes no time.
  @Test func allOfTimeHasAnEnd() throws {
    let week = try Self.week("America/New_York", [0, Instant.maximumMilliseconds])
    let sum = week.reduce(0) { $0 + $1.days }
    #expect(abs(sum - Double(Instant.maximumMilliseconds) / 3_600_000) < 2)
  }

  @Test func nothingHasNoDays() throws {
    #expect(try Self.week("UTC", []).allSatisfy { $0.days == 0 })
    #expect(try Self.week("UTC", [0]).map(\.days).reduce(0, +) == 1)
  }
}
