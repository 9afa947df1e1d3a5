/// Rooms of about the same size, and what a comparison comes to in them.
public struct ComparedSizeClass: Equatable, Sendable {
  /// The fewest members of a room in the class.
  public var from: Int
  /// The most members of a room in the class.
  public var to: Int
  /// Rooms that got a message.
  public var rooms = 0
  /// Their messages.
  public var messages = 0
  /// Their decisions; of each message those of the side that has more.
  public var decisions = 0
  /// Pushes in A.
  public var a = 0
  /// Pushes in B.
  public var b = 0
  /// Pushes in B only.
  public var gained = 0
  /// Pushes in A only.
  public var lost = 0

  /// Pushes that changed.
  public var changed: Int { gained + lost }

  /// The class of a number of members: 0…5, 6…10, 11…50, 51…100, 101…500 and so on.
  init(members: Int) {
    (from, to) = (0, 5)
    while members > to {
      from = to + 1
      let isFive = String(to).hasPrefix("5")
      to = isFive ? to * 2 : to * 5
    }
  }
}

extension CompareResult {
  /// The rooms by their number of members, smallest first.
  ///
  /// - Complexity: O(rooms).
  public var sizeClasses: [ComparedSizeClass] {
    var classes: [Int: ComparedSizeClass] = [:]
    for room in conversationTable {
      let size = ComparedSizeClass(members: room.members)
      classes[size.to, default: size].add(room)
    }
    return classes.values.sorted { $0.to < $1.to }
  }
}

extension ComparedSizeClass {
  fileprivate mutating func add(_ room: ComparedConversation) {
    rooms += 1
    messages += room.messages
    decisions += room.decisions
    a += room.a
    b += room.b
    gained += room.gained
    lost += room.lost
  }
}
