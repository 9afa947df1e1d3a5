internal import Algorithms

/// When members' keys change without an update: a mute ends, a membership begins.
struct EventLog {
  struct Event {
    /// Milliseconds since the epoch.
    var at: Int64
    var rank: UInt32
    /// The keys before, and from then on.
    var before: MemberKey
    var after: MemberKey

    func precedes(_ other: Event) -> Bool { (at, rank) < (other.at, other.rank) }
  }

  /// Ascending by instant, then rank.
  private(set) var events: [Event] = []
  /// How many events are up to ``now``.
  private(set) var passed = 0
  /// The instant of the keys.
  private(set) var now: Int64 = 0
  /// Events up to this instant are not known.
  private(set) var floor = Int64.min
  /// The number of changes of ``events``.
  private(set) var revision: UInt = 0
  /// Of all events, ascending; empty until settings change.
  private var ranks: [UInt32] = []
  /// Where ``events`` do not begin a membership, ascending; nil until asked for.
  private var memberEvents: [Int]?

  init() {}

  init(_ events: consuming [Event], at now: Int64, after floor: Int64) {
    if events.count > 1 { events.sort { $0.precedes($1) } }
    self.init(inOrder: events, at: now, after: floor)
  }

  /// - Precondition: the events ascend.
  init(inOrder events: consuming [Event], at now: Int64, after floor: Int64 = .min) {
    passed = events.partitioningIndex { $0.at > now }
    self.events = events
    (self.now, self.floor) = (now, floor)
  }

  /// The half-open interval around ``now`` without events.
  var bounds: (from: Int64, until: Int64) {
    (
      passed > 0 ? events[passed - 1].at : floor + 1,
      passed < events.count ? events[passed].at : .max
    )
  }

  /// - Complexity: O(log of the events between the instant and ``now``).
  func count(upTo now: Int64) -> Int {
    var (low, high) = (passed, passed)
    var step = 4
    if low > 0, events[low - 1].at > now {
      while low > 0, events[low - 1].at > now {
        high = low - 1
        low = max(0, low - step)
        step *= 4
      }
    } else {
      while high < events.count, events[high].at <= now {
        low = high + 1
        high = min(events.count, high + step)
        step *= 4
      }
    }
    return events[low..<high].partitioningIndex { $0.at > now }
  }

  /// - Returns: the positions in between, and whether the instant is later.
  mutating func move(to count: Int, at now: Int64) -> (events: Range<Int>, isLater: Bool) {
    let before = passed
    (passed, self.now) = (count, now)
    return (min(before, count)..<max(before, count), count >= before)
  }

  func keys(_ number: (MemberKey) -> UInt32) -> [UInt32] {
    var keys: [UInt32] = []
    keys.reserveCapacity(events.count * 2)
    for event in events {
      keys.append(number(event.before))
      keys.append(number(event.after))
    }
    return keys
  }

  /// Excludes starts of memberships, before which nothing is suppressed.
  ///
  /// - Complexity: O(log events + result), O(events) the first time.
  mutating func laterMembers() -> some Sequence<UInt32> {
    let positions = memberEvents ?? events.indices.filter { !events[$0].before.isUnresolved }
    memberEvents = positions
    let first = positions.partitioningIndex { $0 >= passed }
    return positions[first...].lazy.map { [events] in events[$0].rank }
  }

  func checkInvariants(_ scope: InvariantScope) {
    precondition(passed <= events.count, "EventLog: \(passed) of \(events.count) events passed")
    for index in scope.indices(below: events.count) {
      precondition(
        index == 0 || events[index - 1].precedes(events[index]),
        "EventLog: event \(index) precedes the one before")
      precondition(
        (events[index].at <= now) == (index < passed),
        "EventLog: event \(index) is on the wrong side of \(now)")
    }
    precondition(
      ranks.isEmpty || ranks.count == events.count,
      "EventLog: \(ranks.count) ranks of \(events.count) events")
  }
}

extension EventLog {
  /// New events of changed members.
  ///
  /// Most are replaced in place, as presence changes keys but no instants.
  struct Replacement {
    /// Events that are not in the log yet.
    var listed: [Event] = []
    /// Ranks whose earlier events are removed, ascending.
    fileprivate var stale: [UInt32] = []
  }

  /// - Complexity: O(1), or O(events log events) the first time.
  mutating func beginReplacement() -> Replacement {
    if ranks.isEmpty { sortRanks() }
    return Replacement()
  }

  private mutating func sortRanks() {
    ranks = events.map(\.rank)
    ranks.sort()
  }

  /// - Complexity: O(log events).
  func hasEvents(of rank: UInt32) -> Bool {
    let first = ranks.partitioningIndex { $0 >= rank }
    return first < ranks.count && ranks[first] == rank
  }

  /// Puts the listed events from `start` on in place of a member's.
  ///
  /// - Precondition: members come in the order of ranks.
  /// - Complexity: O(log events) if number and instants are the same.
  mutating func replaceEvents(
    of rank: UInt32, from start: Int, _ replacement: inout Replacement
  ) {
    let first = ranks.partitioningIndex { $0 >= rank }
    let known = ranks[first...].prefix { $0 == rank }.count
    if known == 0 { return }
    if known == replacement.listed.count - start, replaceInPlace(replacement.listed[start...]) {
      replacement.listed.removeSubrange(start...)
    } else {
      replacement.stale.append(rank)
    }
  }

  private mutating func replaceInPlace(_ listed: ArraySlice<Event>) -> Bool {
    for event in listed {
      let position = events.partitioningIndex { !$0.precedes(event) }
      guard position < events.count, events[position].rank == event.rank,
        events[position].at == event.at
      else { return false }
      events[position] = event
    }
    return true
  }

  /// - Complexity: O(1) if all were replaced in place.
  mutating func finish(_ replacement: consuming Replacement) {
    memberEvents = nil
    revision += 1
    defer { passed = events.partitioningIndex { $0.at > now } }
    let (listed, stale) = (replacement.listed, replacement.stale)
    if stale.isEmpty && listed.isEmpty { return }
    if !stale.isEmpty {
      events.removeAll { event in
        let position = stale.partitioningIndex { $0 >= event.rank }
        return position < stale.count && stale[position] == event.rank
      }
    }
    if !listed.isEmpty {
      events += listed
      events.sort { $0.precedes($1) }
    }
    sortRanks()
  }
}
