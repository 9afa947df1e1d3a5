internal import PushModel

extension WorkloadOptions {
  /// The most users a world may have.
  public static let maximumUsers = 100_000_000
  /// The most messages a world may have.
  public static let maximumMessages = 10_000_000_000

  /// Checks every knob, and those that depend on each other.
  public func validate() throws(WorkloadError) {
    try validateSizes()
    try validatePeople()
    try validateTraffic()
    for (knob, share) in openShares { try check(knob, share, 0...1) }
    // Less would be a session in many years.
    if let share = presence.onlineShare, share != 0 {
      try check("online-share", share, 0.0001...0.5)
    }
    try check("sender-online-share", presence.senderOnlineShare, 0...1)
    try check("visit-minutes", presence.visitMinutes, 0.1...1440)
    let sessions = presence.sessionMinutes
    if sessions.count != 3 { throw .wrongCount(knob: "session-minutes", count: 3) }
    for minutes in sessions { try check("session-minutes", minutes, 0.1...4000) }
    if sessions[0] > sessions[1] || sessions[1] > sessions[2] {
      throw .notAscending(knob: "session-minutes")
    }
  }

  private func validateSizes() throws(WorkloadError) {
    let users = sizes.users
    try check("users", users, 1...Self.maximumUsers)
    if sizes.rooms != nil, sizes.memberships != nil { throw .roomsAndMemberships }
    if let rooms = sizes.rooms { try check("rooms", rooms, 0...Int(UInt32.max)) }
    if let members = sizes.memberships { try check("memberships", members, 0...(1 << 40)) }
    try check("size-exponent", sizes.sizeExponent, 1.1...10)
    try check("median-size", sizes.medianSize, 1...1e6)
    try check("top-joiners-share", sizes.topJoinersShare, 0.1...1)
    try check("join-share", sizes.joinShare, 0...1)
    try check("join-days", sizes.joinDays, 0...3660)
    try check("join-burst-share", sizes.joinBurstShare, 0...1)
    if ![1, DayActivity.classes].contains(sizes.sharedZone.count) {
      throw .wrongCount(knob: "shared-zone", count: DayActivity.classes)
    }
    for share in sizes.sharedZone { try check("shared-zone", share, 0...1) }
    if let limit = sizes.maximumSize {
      try check("size-max", limit, 1...Self.maximumUsers)
      if limit > users { throw .roomLargerThanUsers(knob: "size-max", size: limit, users: users) }
    }
    for giant in sizes.giants ?? [] {
      try check("giants", giant, 1...Self.maximumUsers)
      if giant > users { throw .roomLargerThanUsers(knob: "giants", size: giant, users: users) }
    }
    let giants = sizes.giants ?? []
    if let rooms = sizes.rooms, giants.count > rooms {
      throw .moreGiantsThanRooms(giants: giants.count, rooms: rooms)
    }
    let members = giants.reduce(0, +)
    if let given = sizes.memberships, members > given {
      throw .moreMembersThanGiven(giants: members, memberships: given)
    }
  }

  private func validatePeople() throws(WorkloadError) {
    try check("quiet-share", people.quietShare, 0...1)
    try check("silent-share", people.silentShare, 0...1)
    if people.quietShare + people.silentShare > 1 {
      throw .moreThanAll(knob: "quiet-share", and: "silent-share")
    }
    try check("quiet-start", people.quietStartMinute, 0...1439)
    try check("quiet-start-sd", people.quietStartDeviationMinutes, 0...720)
    try check("quiet-length", people.quietLengthMinutes, 30...1410)
    try check("quiet-length-sd", people.quietLengthDeviationMinutes, 0...720)
    try check("quiet-mention-share", people.quietMentionShare, 0...1)
    try check("quiet-weekday-share", people.quietWeekdayShare, 0...1)
    if let share = people.quietWritingShare { try check("quiet-writing-share", share, 0...1) }
    try check("changes", people.changes, 0...100)
    try check("mention-level-share", people.mentionLevelShare, 0...1)
    try check("none-level-share", people.noneLevelShare, 0...1)
    if people.mentionLevelShare + people.noneLevelShare > 1 {
      throw .moreThanAll(knob: "mention-level-share", and: "none-level-share")
    }
    try check("muters", people.muters, 0...1)
    if people.muteShares.count != 4 { throw .wrongCount(knob: "mute-shares", count: 4) }
    for share in people.muteShares {
      try check("mute-shares", share, 0...1)
      if share > people.muters {
        throw .muteShareAboveMuters(share: share, muters: people.muters)
      }
    }
    try check("mute-mention-share", people.muteMentionShare, 0...1)
    try check("all-level-share", people.allLevelShare, 0...1)
    try check("android-share", people.androidShare, 0...1)
    try check("android-push", people.androidPushShare, 0...1)
    try check("ios-push", people.iosPushShare, 0...1)
  }

  private func validateTraffic() throws(WorkloadError) {
    if let messages = traffic.messages { try check("messages", messages, 0...Self.maximumMessages) }
    if let messages = traffic.messages, messages > 0, sizes.rooms == 0 || sizes.memberships == 0 {
      throw .messagesWithoutRooms(messages: messages)
    }
    // Sessions that are open at the start begin up to three days before.
    let start = traffic.start.milliseconds
    if !(Self.startRange ~= start) {
      throw .outOfRange(
        knob: "start", value: traffic.start.rfc3339,
        range: "1971-01-01T00:00:00Z...2200-01-01T00:00:00Z")
    }
    let day = DayCurve.dayMilliseconds
    if !(60_000...(3660 * day) ~= traffic.durationMilliseconds) {
      throw .outOfRange(
        knob: "duration", value: "\(traffic.durationMilliseconds) ms", range: "1m...3660d")
    }
    if let ratio = traffic.hourRatio { try check("hour-ratio", ratio, 1...100) }
    try check("weekend-ratio", traffic.weekendRatio, 0.01...10)
    try check("day-deviation", traffic.dayDeviation, 0...5)
    if let shares = traffic.activeShares {
      if shares.count != 5 { throw .wrongCount(knob: "active-shares", count: 5) }
      for share in shares { try check("active-shares", share, 0.0001...1) }
    }
    try check("reply-share", traffic.replyShare, 0...1)
    try check("activity-sd", traffic.activityDeviation, 0...3)
    try check("never-post-share", traffic.neverPostShare, 0...1)
    try check("sender-exponent", traffic.senderExponent, 0...3)
    try check("burst-exponent", traffic.burstExponent, 1.1...10)
    try check("burst-max", traffic.burstMaximum, 1...10_000)
    try check("burst-gap", traffic.burstGapSeconds, 0.001...300)
    try check("same-sender-share", traffic.sameSenderShare, 0...1)
    try check("mention-share", traffic.mentionShare, 0...1)
    if traffic.mentionCountShares.count != 3 {
      throw .wrongCount(knob: "mention-counts", count: 3)
    }
    for share in traffic.mentionCountShares { try check("mention-counts", share, 0...1) }
    let sum = traffic.mentionCountShares.reduce(0, +)
    if abs(sum - 1) > 1e-9 {
      throw .outOfRange(knob: "mention-counts", value: "with the sum \(sum)", range: "a sum of 1")
    }
    try check("recent-share", traffic.recentShare, 0...1)
    try check("day-share", traffic.dayShare, 0...1)
    if traffic.recentShare > traffic.dayShare {
      throw .notAscending(knob: "recent-share, day-share")
    }
    try check("small-all-share", traffic.smallAllShare, 0...1)
    try check("big-all-share", traffic.bigAllShare, 0...1)
  }

  private static let startRange: ClosedRange<Int64> = 31_536_000_000...7_258_118_400_000

  private func check(
    _ knob: String, _ value: Int, _ range: ClosedRange<Int>
  ) throws(WorkloadError) {
    if !range.contains(value) {
      throw .outOfRange(
        knob: knob, value: "\(value)", range: "\(range.lowerBound)...\(range.upperBound)")
    }
  }

  private func check(
    _ knob: String, _ value: Double, _ range: ClosedRange<Double>
  ) throws(WorkloadError) {
    // What is no number is in no range.
    if !range.contains(value) {
      let text = { (value: Double) in
        value == Double(Int(exactly: value) ?? -1) ? "\(Int(value))" : "\(value)"
      }
      throw .outOfRange(
        knob: knob, value: text(value),
        range: "\(text(range.lowerBound))...\(text(range.upperBound))")
    }
  }
}
