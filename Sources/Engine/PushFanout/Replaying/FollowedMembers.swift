internal import Synchronization

/// The members' states at a timeline's last message, and sums over them.
///
/// A member whose key or pattern changes is moved from one sum to another.
///
/// - Memory: 1 byte a member, 4 more once members are found by pattern, and those of
///   ``HeldPushes``.
///
/// SAFETY: used by the one thread of the conversation's timeline.
@safe final class FollowedMembers: KeyObserver, @unchecked Sendable {
  private struct KeyChange {
    let rank: UInt32
    let before: MemberKey
    let after: MemberKey
  }

  /// What members count as at a message. Either part is prepared where it is asked for.
  struct Counting {
    let timeline: FanoutTimeline
    let conversation: CachedConversation
    let quiet: SchedulePhases

    func prepareZones() { timeline.localPushes.prepare(timeline.engineVersion.tables) }

    func zone(_ schedule: Int) -> Int { timeline.localPushes.zone(ofSchedule: schedule) }

    func prepareReleases() { timeline.deferred.prepare(quiet, timeline.engineVersion) }

    /// When a suppressed member gets a push, and the code until then.
    ///
    /// - Parameter hasEvents: whether a mute or grace has not ended.
    func release(_ rank: Int, _ messageClass: Int, hasEvents: Bool) -> (at: Int64, code: UInt8)? {
      timeline.deferred.release(
        of: rank, hasEvents ? nil : conversation.key(rank), conversation.target, quiet,
        messageClass, at: timeline.result.instant, timeline.engineVersion)
    }
  }

  /// How often all members are read before sorting.
  private static let readsBeforeSorting = 8

  /// Reads in order that cost as much as one look-up.
  private static let lookUpCost = 16

  private(set) var states: [UInt8]
  private var quiet: SchedulePhases
  /// Changes since the last message, in order.
  private var changedKeys: [KeyChange] = []
  /// Whether changes were too many to keep.
  private var isOutdated = false
  /// Since last taken, with repetitions; nil if nobody asks.
  private var changedStates: [UInt32]?
  /// How often they were taken. Threads and their parent may have a ledger each.
  private var takenCount = 0
  /// Ranks by pattern, and the ends; empty until worth it. ``moved`` has ranks whose schedule has
  /// changed since.
  private var ranks: [UInt32] = []
  private var ends: [Int] = []
  private var moved: [UInt32] = []
  /// The transitions of these patterns, and how often all members were read instead.
  private var sorted = (transitions: 0, reads: 0)
  /// Members with mutes or graces that have not ended.
  private var special: Set<UInt32> = []
  private var events: (revision: UInt, count: Int)?
  /// By class of message.
  private var held: [Int: HeldPushes] = [:]
  /// By the address of a message class's codes.
  private var zones: [UInt: ZonePushes] = [:]

  init(_ counting: Counting) {
    quiet = counting.quiet
    states = Self.states(counting)
  }

  private static func states(_ counting: Counting) -> [UInt8] {
    let (conversation, quiet) = (counting.conversation, counting.quiet)
    return unsafe [UInt8](unsafeUninitializedCapacity: conversation.count) { states, count in
      unsafe withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 256) { histogram in
        guard let histogram = histogram.baseAddress else { return }
        unsafe conversation.countKeys(
          quiet.phases, into: histogram, states: states.baseAddress)
      }
      count = conversation.count
    }
  }

  // MARK: Sums

  /// - Complexity: O(1) once followed to the message; O(members) the first time.
  func held(_ messageClass: Int, _ counting: Counting) -> HeldPushes {
    if let known = held[messageClass] { return known }
    counting.prepareReleases()
    if events == nil { followEvents(counting) }
    var made = HeldPushes(states.count)
    for rank in states.indices { set(rank, messageClass, &made, counting) }
    held[messageClass] = made
    return made
  }

  private func set(
    _ rank: Int, _ messageClass: Int, _ pushes: inout HeldPushes, _ counting: Counting
  ) {
    let hasEvents = special.contains(UInt32(rank))
    pushes.set(rank, counting.release(rank, messageClass, hasEvents: hasEvents))
  }

  private func setHeld(_ rank: Int, _ counting: Counting) {
    var index = held.startIndex
    while index != held.endIndex {
      set(rank, held.keys[index], &held.values[index], counting)
      held.formIndex(after: &index)
    }
  }

  /// - Complexity: O(1) once followed to the message; O(members) the first time.
  func zones(_ codes: UnsafePointer<UInt8>, _ counting: Counting) -> ZonePushes {
    let address = UInt(bitPattern: codes)
    if let known = zones[address] { return known }
    counting.prepareZones()
    var made = ZonePushes()
    for rank in states.indices where unsafe codes[Int(states[rank])] & 1 != 0 {
      made.add(1, zone: counting.zone(counting.conversation.key(rank).schedule))
    }
    zones[address] = made
    return made
  }

  private func moveZones(
    _ before: (zone: Int, state: UInt8), _ after: (zone: Int, state: UInt8)
  ) {
    var index = zones.startIndex
    while index != zones.endIndex {
      zones.values[index].move(zones.keys[index], before, after)
      zones.formIndex(after: &index)
    }
  }

  /// Includes all states that changed since an earlier call, if no other was made since.
  ///
  /// - Parameter call: what the earlier one returned; nil for all states.
  func takeChangedStates(
    since call: Int?, _ body: (_ rank: Int, _ state: UInt8) -> Void
  ) -> Int {
    let count = changedStates?.count ?? 0
    if call != takenCount || changedStates == nil {
      for (rank, state) in states.enumerated() { body(rank, state) }
    } else {
      changedStates?.forEach { body(Int($0), states[Int($0)]) }
    }
    if changedStates == nil { changedStates = [] }
    changedStates?.removeAll(keepingCapacity: count <= states.count / 16)
    takenCount += 1
    return takenCount
  }

  // MARK: Changes

  func note(_ rank: Int, from before: MemberKey, to after: MemberKey) {
    if isOutdated { return }
    changedKeys.append(KeyChange(rank: UInt32(rank), before: before, after: after))
    guard changedKeys.count > max(64, states.count / 2) else { return }
    isOutdated = true
    changedKeys = []
  }

  /// - Complexity: O(transitions + members that changed since the conversation's last message);
  ///   O(members) for another date.
  func follow(_ counting: Counting) {
    let before = quiet
    quiet = counting.quiet
    if !zones.isEmpty { counting.prepareZones() }
    if !held.isEmpty { counting.prepareReleases() }
    if isOutdated || quiet.calendar != before.calendar || quiet.from < before.from {
      // Sums are made again when asked for.
      (isOutdated, changedKeys, ranks, moved) = (false, [], [], [])
      (held, zones) = ([:], [:])
      readAll(counting)
    } else {
      followKeys(counting)
      if quiet !== before {
        if quiet.day == before.day, areFew(since: before),
          isSorted(quiet.transitions, counting.conversation)
        {
          followTransitions(from: before, counting)
        } else {
          readAll(counting)
        }
      }
    }
    if events != nil { followEvents(counting) }
  }

  private func followKeys(_ counting: Counting) {
    for change in changedKeys {
      let rank = Int(change.rank)
      if change.before.schedule != change.after.schedule {
        if !ranks.isEmpty { moved.append(change.rank) }
        if !zones.isEmpty {
          let (old, new) = (
            counting.zone(change.before.schedule), counting.zone(change.after.schedule)
          )
          moveZones((old, states[rank]), (new, states[rank]))
        }
      }
      set(rank, change.after, counting)
      setHeld(rank, counting)
    }
    changedKeys.removeAll(keepingCapacity: true)
  }

  private func set(_ rank: Int, _ key: MemberKey, _ counting: Counting) {
    let stateByBase = unsafe counting.conversation.stateByBase
    set(rank, unsafe key.state(quiet.phases, stateByBase), key, counting)
  }

  private func set(_ rank: Int, _ state: UInt8, _ key: MemberKey, _ counting: Counting) {
    let before = states[rank]
    if state == before { return }
    states[rank] = state
    changedStates?.append(UInt32(rank))
    if zones.isEmpty { return }
    let zone = counting.zone(key.schedule)
    moveZones((zone, before), (zone, state))
  }

  private func readAll(_ counting: Counting) {
    let conversation = counting.conversation
    let found = Self.states(counting)
    forEachDifference(states, found) { rank in
      set(rank, found[rank], conversation.key(rank), counting)
      setHeld(rank, counting)
    }
    // For others the push may be due, and another one follow.
    for index in held.values.indices where held.values[index].hasDue(by: quiet.from) {
      for rank in held.values[index].due(by: quiet.from) {
        set(rank, held.keys[index], &held.values[index], counting)
      }
    }
  }

  private func followTransitions(from before: SchedulePhases, _ counting: Counting) {
    func look(_ rank: UInt32) {
      set(Int(rank), counting.conversation.key(Int(rank)), counting)
      if !held.isEmpty { setHeld(Int(rank), counting) }
    }
    for entry in quiet.transitions.entries(between: before.from, and: quiet.from) {
      let pattern = Int(entry.pattern)
      // The members of a new pattern are all in ``moved``.
      guard pattern < ends.count else { continue }
      for rank in ranks[(pattern == 0 ? 0 : ends[pattern - 1])..<ends[pattern]] { look(rank) }
    }
    for rank in moved { look(rank) }
  }

  /// Whether looking members up is faster than reading all.
  private func areFew(since before: SchedulePhases) -> Bool {
    let transitions = quiet.transitions
    let count = transitions.entries(between: before.from, and: quiet.from).count
    return count * Self.lookUpCost < transitions.patternCount
  }

  /// Sorts members by pattern once that is worth it.
  private func isSorted(
    _ transitions: QuietTransitions, _ conversation: CachedConversation
  ) -> Bool {
    if transitions.id == sorted.transitions, !ranks.isEmpty {
      if moved.count <= max(64, ranks.count / 32) { return true }
    } else {
      sorted.reads += 1
      guard sorted.reads > Self.readsBeforeSorting else { return false }
    }
    let patterns = transitions.patterns
    let pattern = { (rank: UInt32) in patterns[conversation.key(Int(rank)).schedule] }
    ranks = Array(0..<UInt32(states.count)).sortedByDigits(pattern)
    ends = [Int](repeating: 0, count: transitions.patternCount)
    for rank in ranks { ends[Int(pattern(rank))] += 1 }
    for index in ends.indices.dropFirst() { ends[index] += ends[index - 1] }
    (sorted, moved) = ((transitions.id, 0), [])
    return true
  }

  private func followEvents(_ counting: Counting) {
    guard let found = counting.conversation.laterEvents(unless: events) else { return }
    let all = special.union(found.ranks)
    events = (found.revision, found.count)
    special = found.ranks
    for rank in all { setHeld(Int(rank), counting) }
  }
}

/// Compares eight bytes at a time, as most are equal.
private func forEachDifference(_ one: [UInt8], _ other: [UInt8], _ body: (Int) -> Void) {
  let count = one.count
  unsafe one.withUnsafeBytes { (one) -> Void in
    unsafe other.withUnsafeBytes { (other) -> Void in
      for start in stride(from: 0, to: count, by: 8) {
        if start + 8 <= count,
          unsafe one.loadUnaligned(fromByteOffset: start, as: UInt64.self)
            == other.loadUnaligned(fromByteOffset: start, as: UInt64.self)
        {
          continue
        }
        for index in start..<min(start + 8, count) where unsafe one[index] != other[index] {
          body(index)
        }
      }
    }
  }
}

/// The suppressed members who get a push of a class of message later.
///
/// - Memory: 8 bytes a member.
struct HeldPushes {
  private static let codeShift: Int64 = 256
  private static let none: Int64 = -1

  /// Each member's instant and code, as a key of ``sums``.
  private var keys: [Int64]
  private var sums: [Int64: Int] = [:]

  init(_ count: Int) { keys = Array(repeating: Self.none, count: count) }

  /// Nil for no push.
  mutating func set(_ rank: Int, _ release: (at: Int64, code: UInt8)?) {
    let key = release.map { $0.at * Self.codeShift + Int64($0.code) } ?? Self.none
    let before = keys[rank]
    if key == before { return }
    keys[rank] = key
    if key != Self.none { sums[key, default: 0] += 1 }
    guard before != Self.none, let index = sums.index(forKey: before) else { return }
    if sums.values[index] == 1 { sums.remove(at: index) } else { sums.values[index] -= 1 }
  }

  /// - Complexity: O(distinct instants).
  func hasDue(by now: Int64) -> Bool { sums.keys.contains { $0 / Self.codeShift <= now } }

  /// - Complexity: O(members).
  func due(by now: Int64) -> [Int] {
    keys.indices.filter { keys[$0] != Self.none && keys[$0] / Self.codeShift <= now }
  }

  func forEach(_ body: (_ at: Int64, _ code: UInt8, _ count: Int) -> Void) {
    for (key, count) in sums { body(key / Self.codeShift, UInt8(key % Self.codeShift), count) }
  }
}

/// Numbers of members who get a push, by zone.
struct ZonePushes {
  private(set) var counts: [Int] = []

  mutating func add(_ count: Int, zone: Int) {
    while zone >= counts.count { counts.append(0) }
    counts[zone] += count
  }

  /// - Parameter key: the codes' address.
  fileprivate mutating func move(
    _ key: UInt, _ before: (zone: Int, state: UInt8), _ after: (zone: Int, state: UInt8)
  ) {
    guard let codes = unsafe UnsafePointer<UInt8>(bitPattern: key) else { return }
    if unsafe codes[Int(before.state)] & 1 != 0 { add(-1, zone: before.zone) }
    if unsafe codes[Int(after.state)] & 1 != 0 { add(1, zone: after.zone) }
  }
}
