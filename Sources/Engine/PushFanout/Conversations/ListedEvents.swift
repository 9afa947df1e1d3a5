internal import Algorithms

/// The events of members whose settings changed, which replace those that they had.
///
/// A member who comes online keeps the instants of the events, and only has other words there. So
/// most events are replaced where they stand, and no others are looked at.
struct ListedEvents {
  /// What was listed and is not among the conversation's events yet.
  var all: [CachedConversation.Event] = []
  /// The ranks of the members whose earlier events have to go, ascending.
  private var stale: [UInt32] = []

  /// - Complexity: O(1), or O(events log events) the first time.
  init(_ changing: inout CachedConversation.Changing) {
    if changing.eventRanks.isEmpty { Self.indexRanks(&changing) }
  }

  private static func indexRanks(_ changing: inout CachedConversation.Changing) {
    changing.eventRanks = changing.events.map(\.rank)
    changing.eventRanks.sort()
  }

  /// Whether a member has events that are to be replaced.
  ///
  /// - Complexity: O(log events).
  func hasEvents(_ rank: UInt32, _ changing: borrowing CachedConversation.Changing) -> Bool {
    let first = changing.eventRanks.partitioningIndex { $0 >= rank }
    return first < changing.eventRanks.count && changing.eventRanks[first] == rank
  }

  /// Replaces the events of a member by the last ones listed.
  ///
  /// - Parameter start: where the member's begin in ``all``.
  /// - Precondition: members are in the order of ranks.
  /// - Complexity: O(log events) if there are as many as before, at the same instants.
  mutating func replace(
    _ rank: UInt32, from start: Int, _ changing: inout CachedConversation.Changing
  ) {
    let first = changing.eventRanks.partitioningIndex { $0 >= rank }
    var known = 0
    while first + known < changing.eventRanks.count, changing.eventRanks[first + known] == rank {
      known += 1
    }
    if known == 0 { return }
    if known == all.count - start, isPlaced(start, &changing) {
      all.removeSubrange(start...)
    } else {
      stale.append(rank)
    }
  }

  private func isPlaced(_ start: Int, _ changing: inout CachedConversation.Changing) -> Bool {
    for event in all[start...] {
      let position = changing.events.partitioningIndex { !$0.precedes(event) }
      guard position < changing.events.count, changing.events[position].rank == event.rank,
        changing.events[position].at == event.at
      else { return false }
      changing.events[position] = event
    }
    return true
  }

  /// Puts the others where they belong.
  ///
  /// - Complexity: O(1) if all were replaced where they stood.
  mutating func finish(_ changing: inout CachedConversation.Changing) {
    if stale.isEmpty && all.isEmpty { return }
    if !stale.isEmpty {
      changing.events.removeAll { event in
        let position = stale.partitioningIndex { $0 >= event.rank }
        return position < stale.count && stale[position] == event.rank
      }
    }
    if !all.isEmpty {
      changing.events += all
      changing.events.sort { $0.precedes($1) }
    }
    Self.indexRanks(&changing)
  }
}
