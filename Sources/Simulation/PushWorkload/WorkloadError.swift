internal import PushModel

/// Why there is no world of some options.
///
/// Knobs are named like the flags of `push-fanout generate`, without the dashes.
public enum WorkloadError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A value outside of its range.
  case outOfRange(knob: String, value: String, range: String)
  /// A list of the wrong length; `count` is the right one.
  case wrongCount(knob: String, count: Int)
  /// Two shares are more than 1 together.
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
  /// A rate above what other knobs leave.
  case more(knob: String, value: Double, most: Double, than: String)
  /// A rate below what other knobs need.
  case less(knob: String, value: Double, least: Double, than: String)

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
    case .more(let knob, let value, let most, let reason):
      "\(knob) \(Self.short(value)) is more than the \(Self.short(most)) that \(reason)"
    case .less(let knob, let value, let least, let reason):
      "\(knob) \(Self.short(value)) is less than the \(Self.short(least)) that \(reason)"
    case .tooManyRooms: "there would be more than \(UInt32.max) rooms"
    }
  }

  /// A rate with four digits behind the point, at most.
  private static func short(_ value: Double) -> String {
    let rounded = (value * 10_000 + 0.5).rounded(.down) / 10_000
    return rounded == Double(Int(rounded)) ? "\(Int(rounded))" : "\(rounded)"
  }
}
