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

    fileprivate var place: Place { Place(rank: rank, at: at) }
  }

  /// Of whom an event is, and when.
  fileprivate struct Place {
    var rank: UInt32
    var at: Int64

    func precedes(_ other: Place) -> Bool { (rank, at) < (other.rank, other.at) }
  }

  /// Ascending by instant, then rank.
  private(set) var events = SortedChunks<Event>()
  /// How many events are up to ``now``.
  private(set) var passed = 0
  /// The instant of the keys.
  private(set) var now: Int64 = 0
  /// Events up to this instant are not known.
  private(set) var floor = Int64.min
  /// The number of changes of ``events``.
  private(set) var revision: UInt = 0
  /// Of all events, ascending by rank; empty until settings change.
  private var places = SortedChunks<Place>()
  /// Where ``events`` do not begin a membership, ascending; nil until asked for.
  private var memberEvents: [Int]?

  static let bytesPerEvent = MemoryLayout<Event>.stride + MemoryLayout<Place>.stride

  init() {}

  init(_ events: consuming [Event], at now: Int64, after floor: Int64) {
    if events.count > 1 { events.sort { $0.precedes($1) } }
    self.init(inOrder: events, at: now, after: floor)
  }

  /// - Precondition: the events ascend.
  init(inOrder events: consuming [Event], at now: Int64, after floor: Int64 = .min) {
    passed = events.partitioningIndex { $0.at > now }
    self.events = SortedChunks(events)
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
      places.isEmpty || places.count == events.count,
      "EventLog: \(places.count) places of \(events.count) events")
  }
}

extension EventLog {
  /// New events of changed members.
  ///
  /// Most are replaced in place, as presence changes keys but no instants.
  struct Replacement {
    /// Events that are not in the log yet.
    var listed: [Event] = []
    /// Earlier events that are removed.
    fileprivate var stale: [Place] = []
  }

  /// - Complexity: O(1), or O(events log events) the first time.
  mutating func beginReplacement() -> Replacement {
    if places.isEmpty {
      var all = events.map(\.place)
      all.sort { $0.precedes($1) }
      places = SortedChunks(all)
    }
    return Replacement()
  }

  private func firstPlace(of rank: UInt32) -> Int { places.firstIndex(behind: { $0.rank < rank }) }

  /// - Complexity: O(log events).
  func hasEvents(of rank: UInt32) -> Bool {
    let first = firstPlace(of: rank)
    return first < places.count && places[first].rank == rank
  }

  /// Puts the listed events from `start` on in place of a member's.
  ///
  /// - Complexity: O(log events).
  mutating func replaceEvents(
    of rank: UInt32, from start: Int, _ replacement: inout Replacement
  ) {
    let known = places[firstPlace(of: rank)...].prefix { $0.rank == rank }
    if known.isEmpty { return }
    if known.count == replacement.listed.count - start,
      replaceInPlace(replacement.listed[start...])
    {
      replacement.listed.removeSubrange(start...)
    } else {
      replacement.stale += known
    }
  }

  private mutating func replaceInPlace(_ listed: ArraySlice<Event>) -> Bool {
    for event in listed {
      let position = events.firstIndex(behind: { $0.precedes(event) })
      guard position < events.count, events[position].rank == event.rank,
        events[position].at == event.at
      else { return false }
      events[position] = event
    }
    return true
  }

  /// - Complexity: O(1) if all were replaced in place, otherwise O(replaced log events).
  mutating func finish(_ replacement: consuming Replacement) {
    memberEvents = nil
    revision += 1
    let (listed, stale) = (replacement.listed, replacement.stale)
    for place in stale {
      events.removeFirst { ($0.at, $0.rank) < (place.at, place.rank) }
      places.removeFirst { $0.precedes(place) }
    }
    for event in listed {
      events.insert(event) { $0.precedes(event) }
      let place = event.place
      places.insert(place) { $0.precedes(place) }
    }
    events.number()
    places.number()
    passed = events.firstIndex(behind: { $0.at <= now })
  }
}

/// Elements in ascending order, in chunks, so that putting one in or taking one out moves few.
///
/// Orders are given as whether an element comes before a place.
struct SortedChunks<Element>: RandomAccessCollection {
  private static var limit: Int { 512 }

  /// None is empty.
  private var chunks: [[Element]] = []
  /// The index of each chunk's first element.
  private var starts: [Int] = []
  private(set) var count = 0
  var startIndex: Int { 0 }
  var endIndex: Int { count }

  init() {}

  /// - Precondition: the elements ascend.
  init(_ elements: [Element]) {
    if elements.count <= Self.limit {
      if !elements.isEmpty { chunks = [elements] }
    } else {
      chunks = elements.chunks(ofCount: Self.limit / 2).map(Array.init)
    }
    number()
  }

  subscript(index: Int) -> Element {
    get {
      let chunk = chunk(of: index)
      return chunks[chunk][index - starts[chunk]]
    }
    set {
      let chunk = chunk(of: index)
      chunks[chunk][index - starts[chunk]] = newValue
    }
  }

  @inline(__always)
  private func chunk(of index: Int) -> Int {
    chunks.count == 1 ? 0 : starts.partitioningIndex { $0 > index } - 1
  }

  /// Numbers the elements anew, after ``insert(_:_:)`` and ``removeFirst(_:)`` and before they are
  /// read.
  ///
  /// - Complexity: O(chunks).
  mutating func number() {
    starts.removeAll(keepingCapacity: true)
    count = 0
    for chunk in chunks {
      starts.append(count)
      count += chunk.count
    }
  }

  /// The first element that does not come before a place: its chunk, and its index there.
  private func find(_ isBefore: (Element) -> Bool) -> (chunk: Int, offset: Int) {
    let chunk = chunks.partitioningIndex { !isBefore($0[$0.count - 1]) }
    return (chunk, chunk < chunks.count ? chunks[chunk].partitioningIndex { !isBefore($0) } : 0)
  }

  /// The index of the first element that does not come before a place.
  ///
  /// - Complexity: O(log elements).
  func firstIndex(behind isBefore: (Element) -> Bool) -> Int {
    let (chunk, offset) = find(isBefore)
    return chunk < chunks.count ? starts[chunk] + offset : count
  }

  /// - Complexity: O(log elements); O(chunks) when a chunk begins or ends.
  mutating func insert(_ element: Element, _ isBefore: (Element) -> Bool) {
    var (chunk, offset) = find(isBefore)
    if chunk == chunks.count {
      if chunks.isEmpty { chunks = [[]] } else { chunk -= 1 }
      offset = chunks[chunk].count
    }
    chunks[chunk].insert(element, at: offset)
    if chunks[chunk].count > Self.limit {
      let half = chunks[chunk].count / 2
      chunks.insert(Array(chunks[chunk][half...]), at: chunk + 1)
      chunks[chunk].removeSubrange(half...)
    }
  }

  /// Removes the first element that does not come before a place.
  ///
  /// - Complexity: O(log elements); O(chunks) when a chunk begins or ends.
  mutating func removeFirst(_ isBefore: (Element) -> Bool) {
    let (chunk, offset) = find(isBefore)
    chunks[chunk].remove(at: offset)
    if chunks[chunk].isEmpty { chunks.remove(at: chunk) }
  }
}

extension SortedChunks: Sendable where Element: Sendable {}
