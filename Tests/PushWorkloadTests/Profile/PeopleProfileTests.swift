import Foundation
import PushModel
import PushWorkload
import Testing

/// Goal: the rates of settings, presence and changes are those that can be counted by hand.
@Suite struct PeopleProfileTests {
  private typealias Input = ProfileInput

  private static func interval(_ start: (Int, Int), _ end: (Int, Int)) throws -> QuietHours {
    .interval(
      try QuietInterval(
        startHour: start.0, startMinute: start.1, endHour: end.0, endMinute: end.1))
  }

  private static func user(
    _ quietHours: QuietHours? = nil, _ level: NotificationLevel = .unset, zone: String? = nil
  ) -> UserSettings {
    var user = UserSettings()
    user.quietHours = quietHours
    user.level = level
    user.timeZone = zone
    return user
  }

  /// Windows from 23:00 for 8 h and from 1:00 for 6 h: by the clock they begin at midnight in the
  /// mean. The deviation of two numbers is their difference by √2.
  @Test func windowsAndLevels() throws {
    var input = Input()
    let users = [
      Self.user(try Self.interval((23, 0), (7, 0)), .mention),
      Self.user(try Self.interval((1, 0), (7, 0))), Self.user(try Self.interval((8, 0), (8, 0))),
      Self.user(try Self.interval((0, 0), (0, 0)), .blocked), Self.user(nil, .blocked),
    ]
    for (index, user) in users.enumerated() {
      input.settings.setUser(Identifier("u\(index)"), user)
    }
    input.addMember("undeclared", of: "r")
    let profile = input.profile
    let names = [
      "quiet-share", "silent-share", "quiet-start", "quiet-start-sd", "quiet-length",
      "quiet-length-sd", "quiet-mention-share", "mention-level-share", "none-level-share",
    ]
    #expect(
      profile.values(of: names) == [
        "quiet-share": [0.4], "silent-share": [0.2], "quiet-start": [0],
        "quiet-start-sd": [84.852814], "quiet-length": [420], "quiet-length-sd": [84.852814],
        "quiet-mention-share": [nil], "mention-level-share": [0.2], "none-level-share": [0.4],
      ])
    #expect(profile.rate("quiet-start")?.text == "00:00")
  }

  @Test func windowsOfRongCloud() throws {
    var input = Input()
    input.settings.app = AppSettings(rules: .rongcloud)
    let spans: [(Int, NotificationLevel)] = [
      (480, .blocked), (480, .mention), (480, .mention), (1439, .mention),
    ]
    for (index, (span, level)) in spans.enumerated() {
      var user = Self.user(
        .span(try QuietSpan(hour: 22, minute: 30, second: 0, spanMinutes: span, level: level)))
      user.levels[.group] = index == 0 ? .blocked : .mention
      input.settings.setUser(Identifier("u\(index)"), user)
    }
    let names = [
      "quiet-share", "silent-share", "quiet-mention-share", "mention-level-share",
      "none-level-share", "quiet-length-sd",
    ]
    #expect(
      input.profile.values(of: names) == [
        "quiet-share": [0.75], "silent-share": [0.25], "quiet-mention-share": [0.666667],
        "mention-level-share": [0.75], "none-level-share": [0.25], "quiet-length-sd": [0],
      ])
    #expect(input.profile.rate("quiet-start")?.text == "22:30")
  }

  /// Two of ten and five of twenty are muted, one of the seven for mentions too.
  @Test func mutes() {
    var input = Input()
    input.addRoom("a", 10) { [.blocked, .mention, .all][safe: $0] ?? .unset }
    input.addRoom("b", 20) { $0 < 5 ? .mention : .unset }
    let profile = input.profile
    #expect(
      profile.values(of: ["mute-shares", "mute-mention-share", "all-level-share"]) == [
        "mute-shares": [0.2, 0.25, nil, nil], "mute-mention-share": [0.857143],
        "all-level-share": [0.043478],
      ])
    var none = Input()
    none.addRoom("a", 10)
    #expect(none.profile.values("mute-shares") == [nil, nil, nil, nil])
  }

  /// Everybody is in two rooms of ten; who mutes one mutes both. With p = 0.5 and half of the people
  /// muting, m is where 1 - (1 - 0.5/m)^2 of m mute something: m = 0.5.
  @Test func muters() {
    var input = Input()
    for room in ["a", "b"] {
      for user in 0..<10 {
        input.addMember("u\(user)", of: room, user < 5 ? .blocked : .unset)
      }
    }
    #expect(input.profile.values("muters") == [0.5])
    // Everybody mutes one of the two: more mute something than any m explains, so m is 1.
    var spread = Input()
    for user in 0..<10 {
      spread.addMember("u\(user)", of: "a", user < 5 ? .blocked : .unset)
      spread.addMember("u\(user)", of: "b", user < 5 ? .unset : .blocked)
    }
    #expect(spread.profile.values("muters") == [1])
  }

  /// Pairs of one zone in a room of three: one of three. Of all pairs of the six users it is
  /// (3 · 2 + 3 · 2) / 30.
  @Test func sharedZones() {
    var input = Input()
    for (index, zone) in ["A", "A", "B", "A", "B", "B"].enumerated() {
      input.settings.setUser(Identifier("u\(index)"), Self.user(zone: zone))
    }
    for user in [0, 1, 3] { input.addMember("u\(user)", of: "same") }
    for user in [0, 1, 2] { input.addMember("u\(user)", of: "mixed") }
    // The mean of 1 and 1/3 is 2/3; chance is 0.4; the root of (2/3 - 0.4) / 0.6 is 2/3.
    #expect(input.profile.values("shared-zone") == [0.666667, nil, nil, nil])
  }

  /// Two users for 1,000 minutes: one for 100 and for 300, the other from the beginning for 500.
  @Test func presence() {
    var input = Input()
    input.addRoom("r", 4)
    let minute = 60.0
    input.addPresence(0, "r-1", true)
    input.addPresence(100 * minute, "r-0", true)
    input.addMessage(150 * minute, "r", "r-0")
    input.addPresence(200 * minute, "r-0", false)
    input.addMessage(250 * minute, "r", "r-0")
    input.addPresence(500 * minute, "r-1", false)
    input.addPresence(600 * minute, "r-0", true)
    input.addPresence(900 * minute, "r-0", false)
    input.addPresence(1000 * minute, "r-2", true)
    // Behind the last row nobody knows.
    input.addMessage(1001 * minute, "r", "r-2")
    let profile = input.profile
    #expect(
      profile.values(of: ["online-share", "sender-online-share", "session-minutes"]) == [
        "online-share": [0.225], "sender-online-share": [0.5], "session-minutes": [nil, nil, nil],
      ])
  }

  /// 81 sessions of 10 minutes, ten of 100, and nine that are open for 1,000 minutes at the end.
  @Test func sessionLengthsWithOpenOnes() throws {
    var input = Input()
    input.addPresence(0, "first", true)
    for user in 0..<100 {
      input.addPresence(60, "u\(user)", true)
      if user < 91 { input.addPresence(60 + (user < 81 ? 600 : 6000), "u\(user)", false) }
    }
    input.addPresence(60_060, "first", false)
    let estimates = input.profile.rates.filter { $0.name == "session-minutes" }
    let minutes = estimates.map { ($0.estimate?.value ?? 0).rounded() }
    #expect(minutes[0] == 10 && minutes[1] == 10, "\(minutes)")
    #expect(abs(minutes[2] - 100) <= 2, "\(minutes)")
    #expect(estimates.map { $0.estimate?.observations } == [100, 100, 100])
  }

  /// Of a conversation's presence, its members are everybody.
  @Test func presenceOfConversations() {
    var input = Input()
    input.addRoom("r", 2)
    input.addRoom("other", 20)
    input.addMember("later", of: "r", since: 200)
    input.addPresence(0, "r-0", true, in: "r")
    input.addMessage(10, "r", "r-0")
    input.addMessage(20, "other", "r-0")
    input.addPresence(100, "r-0", false, in: "r")
    let values = input.profile.values(of: ["online-share", "sender-online-share"])
    #expect(values == ["online-share": [0.5], "sender-online-share": [0.5]])
  }

  /// Six changes of four users in two days.
  @Test func changes() {
    var input = Input()
    input.addRoom("r", 4)
    input.addMessage(0, "r", "r-0")
    for number in 0..<6 { input.addChange(Double(number), "r-\(number % 4)") }
    input.addMessage(2 * Input.day, "r", "r-0")
    #expect(input.profile.values("changes") == [0.75])
  }
}

extension Array {
  fileprivate subscript(safe index: Int) -> Element? { indices ~= index ? self[index] : nil }
}
