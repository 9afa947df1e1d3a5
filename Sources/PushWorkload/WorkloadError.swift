internal import PushModel

/// Why there is no world of some options.
///
/// Knobs are named like the flags of `push-fanout generate`, without the dashes.
public enum WorkloadError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A value outside of its range.
  case outOfRange(knob: String, value: String, range: String)
  /// A list of the wrong length; `count` is the right one.
  case wrongCount(knob: String, count: Int)
  /// Two shares are more than everybody.
  case moreThanAll(knob: String, and: String)
  /// A room with more members than there are users.
  case roomLargerThanUsers(knob: String, size: Int, users: Int)
  /// Fewer rooms than giants.
  case moreGiantsThanRooms(giants: Int, rooms: Int)
  /// Fewer memberships than the giants have together.
  case moreMembersThanGiven(giants: Int, memberships: Int)
  /// Both a number of rooms and of memberships was given.
  case roomsAndMemberships
  /// There are no rooms for them.
  case messagesWithoutRooms(messages: Int)
  /// More mutes than those who mute at all can have.
  case muteShareAboveMuters(share: Double, muters: Double)
  /// A list whose values must ascend and do not.
  case notAscending(knob: String)
  /// Users would have to connect again and again for so many of them to be connected at once.
  case sessionsTooShort(onlineShare: Double)
  /// Together they are more than 2^32 - 1.
  case tooManyRooms

  public var description: String {
    switch self {
    case .outOfRange(let knob, let value, let range): "\(knob) \(value) is not in \(range)"
    case .wrongCount(let knob, let count): "\(knob) takes \(count) numbers with commas between"
    case .moreThanAll(let knob, let other): "\(knob) and \(other) are more than 1 together"
    case .roomLargerThanUsers(let knob, let size, let users):
      "\(knob): a room of \(size) has more members than there are users (\(users))"
    case .moreGiantsThanRooms(let giants, let rooms):
      "rooms \(rooms) is less than the number of giants (\(giants))"
    case .moreMembersThanGiven(let giants, let memberships):
      "memberships \(memberships) is less than the giants have (\(giants))"
    case .roomsAndMemberships: "rooms and memberships exclude each other: give one"
    case .messagesWithoutRooms(let messages): "messages \(messages) need a room, and there is none"
    case .muteShareAboveMuters(let share, let muters):
      "mute-shares: \(share) of the memberships cannot be muted by \(muters) of the people (muters)"
    case .notAscending(let knob): "\(knob) must ascend"
    case .sessionsTooShort(let share):
      "online-share \(share): sessions are too short for it; give a lower share, or longer "
        + "session-minutes"
    case .tooManyRooms: "there would be more than \(UInt32.max) rooms"
    }
  }
}

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
    // Less would be a session in many years.
    if presence.onlineShare != 0 { try check("online-share", presence.onlineShare, 0.0001...0.5) }
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
    try check("hour-ratio", traffic.hourRatio, 1...100)
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
