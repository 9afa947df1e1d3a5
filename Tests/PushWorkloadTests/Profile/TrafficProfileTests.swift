import Foundation
import PushModel
import PushWorkload
import Testing

/// Goal: the rates of messages are those that can be counted by hand.
@Suite struct TrafficProfileTests {
  private typealias Input = ProfileInput

  @Test func mentionsRepliesAndBursts() {
    var input = Input()
    for user in ["a", "b", "c"] { input.addMember(user, of: "r") }
    input.addMessage(0, "r", "a")
    // Somebody else wrote within five minutes: the first is mentioned, then one who did not.
    input.addMessage(60, "r", "b", mentions: ["a"])
    input.addMessage(100, "r", "b", mentions: ["c", "c", "b"])
    // A pause of more than five minutes; then nobody else wrote within five, but within a day.
    input.addMessage(1000, "r", "a", mentions: ["b", "c", "d"])
    input.addMessage(1100, "r", "a", all: true, isReply: true)
    input.addMessage(1101, "r", nil)
    let profile = input.profile
    #expect(
      profile.values(of: [
        "mention-share", "mention-counts", "recent-share", "day-share", "small-all-share",
        "big-all-share", "reply-share", "burst-gap", "same-sender-share",
      ]) == [
        "mention-share": [0.6], "mention-counts": [0.333333, 0.333333, 0.333333],
        "recent-share": [0.5], "day-share": [0.4], "small-all-share": [0.2],
        "big-all-share": [nil], "reply-share": [0.2], "burst-gap": [66.666667],
        "same-sender-share": [0.666667],
      ])
    #expect(profile.counts.messages == 5 && profile.counts.otherMessages == 1)
    #expect(profile.time == Input.instant(0)...Input.instant(1101))
  }

  /// Who is left out writes nothing, is mentioned by nobody, and is no member.
  @Test func botsAreLeftOut() {
    var input = Input()
    for user in ["a", "b", "bot"] { input.addMember(user, of: "r") }
    input.leftOut = ["bot"]
    input.addMessage(0, "r", "a", mentions: ["bot"])
    input.addMessage(10, "r", "bot", mentions: ["a"])
    input.addMessage(20, "r", "b", mentions: ["a"])
    input.addChange(21, "bot")
    input.addPresence(22, "bot", true)
    input.addMessage(30, "r", "a")
    let profile = input.profile
    #expect(
      profile.values(of: ["mention-share", "mention-counts", "burst-gap", "changes"]) == [
        "mention-share": [0.333333], "mention-counts": [1, 0, 0], "burst-gap": [15],
        "changes": [nil],
      ])
    let counts = profile.counts
    #expect(([counts.users, counts.memberships, counts.messages] as [Int]) == [2, 2, 3])
    #expect(([counts.otherMessages, counts.presenceRows, counts.changes] as [Int]) == [1, 0, 0])
  }

  /// E-46: where the typed fields are absent, `em_at_list` mentions.
  @Test func mentionsOfTheExtensionCount() {
    var input = Input()
    input.addRoom("r", 3)
    input.addMessage(0, "r", "r-0") { $0.ext.atList = .ids(["r-1"]) }
    input.addMessage(1, "r", "r-0") { $0.ext.atList = .text("All") }
    input.addMessage(2, "r", "r-0", mentions: []) { $0.ext.atList = .ids(["r-1"]) }
    input.addMessage(3, "r", "r-0", mentions: ["r-1"]) { $0.isMentioned = false }
    let values = input.profile.values(of: ["mention-share", "small-all-share"])
    #expect(values == ["mention-share": [0.25], "small-all-share": [0.25]])
  }

  /// Two people twelve hours apart: by UTC all hours are alike.
  @Test func hoursAreThoseOfTheSenders() {
    var input = Input()
    input.addRoom("r", 2)
    for hour in 0..<24 {
      for number in 0..<4 {
        let isMorning = hour < 12
        let isFirst = number < (isMorning ? 3 : 1)
        input.addMessage(
          Double(hour) * Input.hour + Double(number), "r", isFirst ? "r-0" : "r-1",
          clock: SenderClock(offsetSeconds: isFirst ? 0 : 43_200))
      }
    }
    let values = input.profile.values(of: ["hour-ratio", "hour-ratio-utc"])
    #expect(values == ["hour-ratio": [3], "hour-ratio-utc": [1]])
  }

  @Test func hoursNeedClocksAndMessagesInEachHour() {
    var input = Input()
    for hour in 0..<24 { input.addMessage(Double(hour) * Input.hour, "r", "a") }
    let profile = input.profile
    #expect(
      profile.values(of: ["hour-ratio", "hour-ratio-utc"])
        == ["hour-ratio": [nil], "hour-ratio-utc": [1]])
    #expect(profile.rate("hour-ratio")?.reason == "the users' time zones are not known")
    var empty = Input()
    empty.addMessage(0, "r", "a", clock: SenderClock(offsetSeconds: 0))
    #expect(
      empty.profile.rate("hour-ratio")?.reason == "an hour of the day has no messages")
  }

  /// Two weeks from a Monday on: two messages a weekday, one a weekend day, by a clock that is
  /// eight hours ahead.
  @Test func weekendsAreThoseOfTheSenders() {
    var input = Input()
    let ahead = SenderClock(offsetSeconds: 8 * 3600)
    let shift = -8 * Input.hour
    for day in 0..<14 {
      let midnight = Double(day) * Input.day + shift
      input.addMessage(midnight, "r", "a", clock: ahead)
      if day % 7 < 5 { input.addMessage(midnight + 100, "r", "a", clock: ahead) }
    }
    input.addMessage(13 * Input.day + shift + Input.day - 0.001, "r", "b", clock: ahead)
    // The last message is one on a Sunday: 5 against 20, of 4 and 10 days.
    let value = input.profile.rate("weekend-ratio")?.estimate?.value ?? 0
    #expect(abs(value - (5 / 4.0) / (20 / 10.0)) < 1e-6, "\(value)")
  }

  @Test func weekendsNeedAWeekend() {
    var input = Input()
    input.addMessage(0, "r", "a")
    input.addMessage(4 * Input.day, "r", "a")
    #expect(input.profile.values("weekend-ratio") == [nil])
  }

  /// Senders who have no window are not counted.
  @Test func writingInQuietHours() {
    var input = Input()
    for (second, isQuiet) in [true, false, false, nil, false].enumerated() {
      input.addMessage(
        Double(second), "r", "a",
        clock: SenderClock(offsetSeconds: 0, isInQuietHours: isQuiet))
    }
    #expect(input.profile.values("quiet-writing-share") == [0.25])
  }
}
