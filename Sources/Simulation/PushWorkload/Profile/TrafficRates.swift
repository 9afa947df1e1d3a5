internal import Glibc

/// What messages are like: their mentions, when they are written, whether they reply.
struct TrafficRates {
  private var mentioning = GroupedMean()
  private var mentionCounts = [GroupedMean](repeating: GroupedMean(), count: 3)
  private var allInSmall = GroupedMean()
  private var allInBig = GroupedMean()
  private var replies = GroupedMean()
  private var inQuietHours = GroupedMean()
  /// Messages by hour of the day, by group of days: by the senders' clocks, and by UTC.
  private var ownHours = HourCounts()
  private var utcHours = HourCounts()
  /// Messages with a clock, and without.
  private var clocked = 0
  private var unclocked = 0
  /// Messages on weekends and on other days, by group of weeks.
  private var weekends = [Int](repeating: 0, count: GroupedMean.groupCount)
  private var weekdays = [Int](repeating: 0, count: GroupedMean.groupCount)
  /// Messages by the offset of the sender's clock, in seconds.
  private var offsets: [Int64: Int] = [:]
  private var time: ClosedRange<Int64>?

  private static let bigRoom = 1000
  private static let hour: Int64 = 3_600_000
  private static let day = DayCurve.dayMilliseconds

  /// Messages in each hour of the day.
  private struct HourCounts {
    var groups = [[Int]](
      repeating: [Int](repeating: 0, count: 24), count: GroupedMean.groupCount)

    mutating func add(_ local: Int64) {
      let hour = ((local / TrafficRates.hour) % 24 + 24) % 24
      groups[GroupedMean.group(local / TrafficRates.day)][Int(hour)] += 1
    }

    /// The busiest hour against the quietest; nil when there is an hour without messages.
    var ratio: RateEstimate? {
      let all = (0..<24).map { hour in groups.reduce(0) { $0 + $1[hour] } }
      return GroupedMean.jackknife(
        groups.map { $0.reduce(0, +) }, observations: all.reduce(0, +), "messages",
        bounds: 1...Double.infinity
      ) { without in
        let counts = (0..<24).map { all[$0] - (without.map { groups[$0] }?[$0] ?? 0) }
        guard let least = counts.min(), let most = counts.max(), least > 0 else { return nil }
        return Double(most) / Double(least)
      }
    }
  }

  mutating func add(_ message: ProfiledMessage) {
    let group = message.group
    time = (time?.lowerBound ?? message.at)...message.at
    if message.roomSize >= Self.bigRoom {
      allInBig.add(message.mentionsAll, group: group)
    } else {
      allInSmall.add(message.mentionsAll, group: group)
    }
    let mentions = message.mentions.count
    mentioning.add(mentions > 0, group: group)
    if mentions > 0 {
      for count in 0..<3 { mentionCounts[count].add(min(mentions, 3) == count + 1, group: group) }
    }
    replies.add(message.isReply, group: group)
    utcHours.add(message.at)
    let offset = message.clock?.offsetSeconds ?? 0
    let local = message.at + offset * 1000
    if let clock = message.clock {
      clocked += 1
      ownHours.add(local)
      if let isQuiet = clock.isInQuietHours { inQuietHours.add(isQuiet, group: group) }
    } else {
      unclocked += 1
    }
    offsets[offset, default: 0] += 1
    // 1970-01-01 was a Thursday; weeks begin on Monday.
    let day = local / Self.day + 3
    let week = GroupedMean.group(day / 7)
    if day % 7 >= 5 { weekends[week] += 1 } else { weekdays[week] += 1 }
  }

  // MARK: Rates

  func rates() -> [MeasuredRate] {
    let none = "no messages are given"
    let noMentions = "no message mentions anybody"
    let hasReplies = replies.sum > 0
    return [
      MeasuredRate(
        "hour-ratio", .number, clocked >= 9 * unclocked ? ownHours.ratio : nil,
        missing: clocked >= 9 * unclocked
          ? "an hour of the day has no messages" : "the users' time zones are not known"),
      MeasuredRate(
        "hour-ratio-utc", .number, utcHours.ratio, missing: "an hour of the day has no messages",
        isFlag: false),
      MeasuredRate(
        "weekend-ratio", .number, weekendRatio,
        missing: "there are less than a weekend and as many other days"),
      MeasuredRate(
        "quiet-writing-share", .share, inQuietHours.share("messages"),
        missing: "the senders' quiet hours are not known"),
      MeasuredRate(
        "reply-share", .share, hasReplies ? replies.share("messages") : nil,
        missing: "no message says that it is a reply"),
      MeasuredRate("mention-share", .share, mentioning.share("messages"), missing: none),
    ]
      + zip(["1", "2", "3 and more"], mentionCounts).map {
        MeasuredRate("mention-counts", part: $0, .share, $1.share("messages"), missing: noMentions)
      } + [
        MeasuredRate(
          "small-all-share", .share, allInSmall.share("messages"),
          missing: "no messages in rooms of less than 1,000"),
        MeasuredRate(
          "big-all-share", .share, allInBig.share("messages"),
          missing: "no messages in rooms of 1,000 and more"),
      ]
  }

  /// Messages a day of weekends against other days, by the senders' clocks: each as many as are
  /// found, for so long as the time from the first message to the last has of such days.
  private var weekendRatio: RateEstimate? {
    guard let time, time.upperBound > time.lowerBound else { return nil }
    var (weekend, all) = (0.0, 0.0)
    for (offset, count) in offsets {
      let local = time.lowerBound + offset * 1000...time.upperBound + offset * 1000
      let share = Double(Self.weekendTime(local)) / Double(local.upperBound - local.lowerBound)
      weekend += share * Double(count)
      all += Double(count)
    }
    let share = weekend / all
    let length = Double(time.upperBound - time.lowerBound)
    let shortest = 2 * Double(Self.day) * 0.9
    guard share * length >= shortest, (1 - share) * length >= shortest else { return nil }
    let (ends, days) = (weekends.reduce(0, +), weekdays.reduce(0, +))
    return GroupedMean.jackknife(
      zip(weekends, weekdays).map(+), observations: ends + days, "messages"
    ) { without in
      let end = ends - (without.map { weekends[$0] } ?? 0)
      let other = days - (without.map { weekdays[$0] } ?? 0)
      return other > 0 ? Double(end) / Double(other) * (1 - share) / share : nil
    }
  }

  /// How many milliseconds of a local time are on a Saturday or Sunday.
  private static func weekendTime(_ local: ClosedRange<Int64>) -> Int64 {
    // Monday, 1969-12-29, began three days before 1970; saturday(t) counts from there.
    let until = { (instant: Int64) in
      let (weeks, rest) = (instant + 3 * day).quotientAndRemainder(dividingBy: 7 * day)
      return weeks * 2 * day + max(0, rest - 5 * day)
    }
    return until(local.upperBound) - until(local.lowerBound)
  }
}
