internal import PushFanout
internal import PushModel

/// What the changes of a comparison may have an effect on: settings of rooms' members and of users.
/// All other rooms are the same in both worlds.
///
/// What happens later happens in both worlds alike.
struct TouchedRooms: Sendable {
  /// Whether both worlds have the same users and conversations under the same indices.
  private(set) var isAlike: Bool
  /// Whether every room is touched.
  private(set) var isEverything: Bool
  private var rooms: [Bool] = []
  private var users: [Bool] = []
  /// Whether rooms have touched users, by their indices and the versions of their lists of members.
  private var known: [UInt32: (list: UInt64, isTouched: Bool)] = [:]

  /// Nothing, in worlds that are alike.
  static let none = TouchedRooms(isAlike: true, isEverything: false)
  /// Anything.
  static let unknown = TouchedRooms(isAlike: false, isEverything: true)

  private init(isAlike: Bool, isEverything: Bool) {
    (self.isAlike, self.isEverything) = (isAlike, isEverything)
  }

  mutating func addUnknown() { self = .unknown }

  mutating func addEverything() { isEverything = true }

  mutating func add(room: UInt32) { Self.set(Int(room), in: &rooms) }

  mutating func add(user: UserIndex) { Self.set(Int(user.rawValue), in: &users) }

  private static func set(_ index: Int, in list: inout [Bool]) {
    if index >= list.count {
      list += Array(repeating: false, count: max(index + 1, 2 * list.count) - list.count)
    }
    list[index] = true
  }

  /// Whether the members of the message that a timeline has decided last may differ.
  ///
  /// - Complexity: O(1); O(members) for a new list of members, if users are touched.
  mutating func contains(messageOf timeline: FanoutTimeline) -> Bool {
    if isEverything { return true }
    if timeline.decidedMembers.isEmpty { return false }
    let (room, parent) = timeline.decidedConversation
    if Self.contains(Int(room), in: rooms) || Self.contains(Int(parent), in: rooms) { return true }
    if users.isEmpty { return false }
    let list = timeline.decidedMembershipVersion
    if let known = known[room], known.list == list { return known.isTouched }
    let isTouched = timeline.decidedMembers.contains {
      Self.contains(Int($0.rawValue), in: users)
    }
    known[room] = (list, isTouched)
    return isTouched
  }

  private static func contains(_ index: Int, in list: [Bool]) -> Bool {
    index < list.count && list[index]
  }
}
