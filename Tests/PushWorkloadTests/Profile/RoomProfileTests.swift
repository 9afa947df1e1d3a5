import Foundation
import PushModel
import PushWorkload
import Testing

/// Goal: the rates of rooms are those that can be counted by hand.
@Suite struct RoomProfileTests {
  private typealias Input = ProfileInput

  /// Half of the rooms have four members or more; giants are no part of it. The exponent is where the
  /// likelihood of the rooms from the median on is greatest.
  @Test func sizes() throws {
    var input = Input()
    for (index, size) in [1, 2, 3, 3, 4, 4, 8, 8].enumerated() { input.addRoom("r\(index)", size) }
    #expect(input.profile.values("median-size") == [4])
    #expect(input.profile.values("size-exponent") == [nil])
    input.addRoom("r8", 3001)
    #expect(input.profile.giants == [3001])
    #expect(input.profile.values("median-size") == [4])
    for index in 10..<30 { input.addRoom("r\(index)", index < 25 ? 8 : 16) }
    let exponent = try #require(input.profile.rate("size-exponent")?.estimate)
    // 17 of 8 and 5 of 16, from 8 on.
    let likelihood = { (a: Double) in
      17 * log(1 - pow(8 / 9.0, a)) + 5 * (a * log(0.5) + log(1 - pow(16 / 17.0, a)))
    }
    let slope = exponent.value - 1
    #expect(likelihood(slope) > likelihood(slope + 0.01))
    #expect(likelihood(slope) > likelihood(slope - 0.01))
    #expect(exponent.observations == 22)
  }

  /// Of ten users one has five of fourteen memberships.
  @Test func topJoiners() {
    var input = Input()
    for user in 0..<10 { input.addMember("u\(user)", of: "r0") }
    #expect(input.profile.values("top-joiners-share") == [nil])
    for room in 1..<5 { input.addMember("u3", of: "r\(room)") }
    #expect(input.profile.values("top-joiners-share") == [0.357143])
  }

  /// Two of five joined while messages were written, on different days; one joins later.
  @Test func joins() {
    var input = Input()
    input.addRoom("a", 2)
    input.addMember("a-2", of: "a", since: -5)
    input.addMember("a-3", of: "a", since: 5)
    input.addMember("a-4", of: "a", since: 3 * Input.day)
    input.addMember("a-5", of: "a", since: 9 * Input.day)
    input.addMessage(0, "a", "a-0")
    input.addMessage(4 * Input.day, "a", "a-0")
    let values = input.profile.values(of: ["join-share", "join-days", "busiest-join-day"])
    #expect(values == ["join-share": [0.4], "join-days": [4], "busiest-join-day": [0.5]])
  }

  /// A room of each class on ten days, active on so many; one begins in the middle.
  @Test func activeDays() {
    var input = Input()
    let rooms = [("a", 3, 1), ("b", 49, 3), ("c", 50, 5), ("d", 999, 2), ("e", 1000, 10)]
    for (room, size, days) in rooms {
      input.addRoom(room, size, since: room == "d" ? 6 * Input.day : nil)
      for day in (10 - days)..<10 {
        for second in [0.0, 1] {
          input.addMessage(Double(day) * Input.day + second, room, "\(room)-0")
        }
      }
    }
    input.addRoom("silent", 9)
    input.addRoom("pair", 2)
    #expect(input.profile.values("active-shares") == [0.05, 0.3, 0.5, 0.5, 1])
  }

  /// Messages of eight days: 2, 0, 4, 0, 2, 0, 0 and 8 have a mean of 2 and a deviation of √7.
  @Test func daysThatDiffer() {
    var input = Input()
    for (day, count) in [2, 0, 4, 0, 2, 0, 0, 8].enumerated() {
      for number in 0..<count {
        input.addMessage(Double(day) * Input.day + Double(number), "a", "u")
      }
    }
    #expect(input.profile.values("day-deviation") == [1.322876])
    var short = Input()
    for day in 0..<6 { short.addMessage(Double(day) * Input.day, "a", "u") }
    #expect(short.profile.values("day-deviation") == [nil])
  }

  /// Three rooms of one size with 100, 200 and 400 messages: the logarithms differ by ln 2. Of 110
  /// members 60 write in each, and ten do not count.
  @Test func activityAndSilence() {
    var input = Input()
    for (index, count) in [100, 200, 400].enumerated() {
      input.addRoom("r\(index)", 110)
      for number in 0..<count {
        input.addMessage(Double(number) * 1000, "r\(index)", "r\(index)-\(number % 60)")
      }
    }
    let values = input.profile.values(of: ["activity-sd", "never-post-share"])
    #expect(values == ["activity-sd": [0.693147], "never-post-share": [0.5]])
  }

  /// A room whose senders of rank r have exactly the generator's share.
  @Test func senders() throws {
    var input = Input()
    var second = 0.0
    for rank in 1...20 {
      let share = log(Double(rank + 1) / Double(rank)) / log(21)
      for _ in 0..<Int((share * 1000).rounded()) {
        input.addMessage(second, "r", "u\(rank)")
        second += 1
      }
    }
    let value = try #require(input.profile.rate("sender-exponent")?.estimate?.value)
    #expect(abs(value - 1) < 0.01, "\(value)")
  }

  /// Ten bursts of one message and two of two, in rooms with few messages a day: the likelihood of
  /// their lengths is greatest there; a busy room does not count.
  @Test func bursts() throws {
    var input = Input()
    for burst in 0..<12 {
      let begin = Double(burst) * Input.hour
      input.addMessage(begin, "r", "u")
      if burst > 9 { input.addMessage(begin + 300, "r", "u") }
      for number in 0..<30 { input.addMessage(begin + Double(number), "busy", "u") }
    }
    let exponent = try #require(input.profile.rate("burst-exponent")?.estimate)
    let likelihood = { (a: Double) in
      10 * log(1 - pow(0.5, a)) + 2 * (log(pow(0.5, a) - pow(1 / 3.0, a)))
    }
    let slope = exponent.value - 1
    #expect(exponent.observations == 12)
    #expect(likelihood(slope) > likelihood(slope + 0.01))
    #expect(likelihood(slope) > likelihood(slope - 0.01))
  }

  /// A message in a thread is one of its group.
  @Test func threadsAreTheirGroup() {
    var input = Input()
    input.addRoom("group", 5)
    input.settings.setConversation(
      "thread", ConversationSettings(kind: .thread, parent: "group"))
    input.addMember("group-1", of: "thread")
    input.addMessage(0, "group", "group-0")
    input.addMessage(10, "thread", "group-1")
    let profile = input.profile
    #expect(profile.values("burst-gap") == [10])
    #expect(([profile.counts.rooms, profile.counts.memberships] as [Int]) == [1, 5])
  }
}
