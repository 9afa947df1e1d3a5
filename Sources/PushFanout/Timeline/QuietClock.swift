internal import Algorithms
internal import PushModel
internal import QuietTime

/// Tracks the levels of quiet schedules as time advances, and logs their transitions.
///
/// The transitions of a UTC date are sorted once. A schedule that repeats daily has the same
/// transitions as on the previous date if its zone keeps its offset, so they are recomputed for a few
/// dates a year; those of other schedules are recomputed for every date.
///
/// - Memory: about 50 bytes per schedule.
struct QuietClock {
  /// The current quiet-hours bits of each schedule's users: 0 when it is not quiet.
  private(set) var quiet: [UInt8] = []
  /// A log of the schedules whose bits changed.
  private(set) var transitioned = ChangeLog<UInt32>()

  /// The next transition of each schedule, in seconds since the epoch, as last computed, and the
  /// bits of its users from then on.
  private var nextTransitions: [Int64] = []
  private var nextBits: [UInt8] = []
  /// The number of levels of each schedule.
  private var levelCounts: [UInt8] = []
  /// The index of each schedule's zone; ``noZone`` for a schedule without transitions.
  private var zoneOf: [UInt32] = []
  /// The schedules with transitions that do not repeat daily.
  private var weekly: [UInt32] = []
  private var zones: [Zone] = []
  private var zoneIndices: [String: UInt32] = [:]

  private var day: Int64 = -1
  /// The day's transitions, sorted.
  private var transitions: [Transition] = []
  private var next = 0
  /// In seconds since the epoch.
  private var now: Int64 = -1
  /// The instant before which advancing is a no-op.
  private var until: Int64 = -1

  private static let noZone = UInt32.max
  private static let unknown = Int64.min
  private static let never = Int64.max
  private static let daySeconds: Int64 = 86_400

  /// A second of the day, a schedule, and the bits of its users from then on.
  private struct Transition: Comparable {
    private let packed: UInt64

    init(second: Int64, schedule: UInt32, bits: UInt8) {
      packed = UInt64(second) << 40 | UInt64(schedule) << 8 | UInt64(bits)
    }

    var second: Int64 { Int64(packed >> 40) }
    var schedule: UInt32 { UInt32(truncatingIfNeeded: packed >> 8) }
    var bits: UInt8 { UInt8(truncatingIfNeeded: packed) }

    static func < (left: Transition, right: Transition) -> Bool { left.packed < right.packed }
  }

  private struct Zone {
    let table: ZoneTable
    /// The seconds in which the zone's offset is constant. They contain the date whose transitions
    /// are known, or are empty if that date has a clock change.
    var even: Range<Int64> = 0..<0
  }

  /// The number of schedules.
  var count: Int { quiet.count }

  /// Advances to an instant, or moves back to it.
  ///
  /// - Complexity: O(transitions in between), at most a day's, and O(schedules) of zones whose
  ///   offsets changed since.
  mutating func advance(to second: Int64, _ tables: Tables) {
    if now <= second, second < until { return now = second }
    let target = second / Self.daySeconds
    if second < now || day < 0 || target > day + 1 {
      jump(to: second, tables)
    } else {
      if target > day {
        applyTransitions(upTo: Self.daySeconds - 1)
        day = target
        findTransitions(tables)
        next = 0
      }
      applyTransitions(upTo: second - day * Self.daySeconds)
    }
    now = second
    until = day * Self.daySeconds + nextSecond
  }

  /// Calls `body` with the first later instants, in seconds since the epoch, at which each other level
  /// of a schedule begins, and with the bits of its users then, until it returns false.
  ///
  /// - Complexity: O(1) for the first instant, except the first time after a transition; then
  ///   O(transitions of the schedule).
  mutating func forEachLaterLevel(
    of schedule: UInt32, _ tables: Tables, _ body: (Int64, UInt8) -> Bool
  ) {
    let index = Int(schedule)
    if zoneOf[index] == Self.noZone { return }
    let table = tables.scheduleTable
    if nextTransitions[index] <= now {
      let next = table.schedule(schedule)?.nextTransition(after: now)
      nextTransitions[index] = next ?? Self.never
      nextBits[index] = next.map { tables.quietBits(table.level(schedule, at: $0)) } ?? 0
    }
    let first = nextTransitions[index]
    if first == Self.never || !body(first, nextBits[index]) { return }
    guard levelCounts[index] > 2, let quiet = table.schedule(schedule) else { return }
    var unseen = UnseenLevels(quiet, at: now)
    unseen.remove(quiet.level(at: first))
    var second = first
    while !unseen.isEmpty, let next = quiet.nextTransition(after: second) {
      let level = quiet.level(at: next)
      if unseen.remove(level), !body(next, tables.quietBits(level)) { return }
      second = next
    }
  }

  /// Adds the schedules that were added to the tables.
  mutating func extend(_ tables: Tables) {
    let first = count
    guard first < tables.scheduleTable.count else { return }
    for index in first..<tables.scheduleTable.count {
      nextTransitions.append(Self.unknown)
      nextBits.append(0)
      levelCounts.append(0)
      guard let schedule = tables.scheduleTable.schedule(UInt32(index)) else {
        quiet.append(0)
        zoneOf.append(Self.noZone)
        continue
      }
      quiet.append(tables.quietBits(schedule.level(at: max(now, 0))))
      let levels = schedule.distinctLevels
      levelCounts[index] = UInt8(levels.count)
      // Levels with equal bits have no transitions between them that matter.
      if Set(levels.map { tables.quietBits($0) }).count < 2 {
        zoneOf.append(Self.noZone)
        continue
      }
      zoneOf.append(zone(schedule.zone))
      if !schedule.repeatsDaily { weekly.append(UInt32(index)) }
    }
    guard day >= 0 else { return }
    for index in first..<count { addTransitions(of: index, tables) }
    transitions.sort()
    next = transitionCount(upTo: now - day * Self.daySeconds)
    until = day * Self.daySeconds + nextSecond
  }

  // MARK: A date

  private var nextSecond: Int64 {
    next < transitions.count ? transitions[next].second : Self.daySeconds
  }

  private mutating func applyTransitions(upTo second: Int64) {
    while next < transitions.count, transitions[next].second <= second {
      set(transitions[next].schedule, transitions[next].bits)
      next += 1
    }
  }

  /// Moves to another date. The levels of a schedule that repeats daily, in a zone with the same offset
  /// on both dates, depend on the time of day alone, so it suffices to apply the transitions between
  /// the two times of day.
  private mutating func jump(to second: Int64, _ tables: Tables) {
    if second < now {
      for index in nextTransitions.indices { nextTransitions[index] = Self.unknown }
    }
    let before = now - day * Self.daySeconds
    day = second / Self.daySeconds
    let isOther = findTransitions(tables)
    let target = second - day * Self.daySeconds
    let (from, to) = (transitionCount(upTo: before), transitionCount(upTo: target))
    let passed: ArraySlice<Transition> =
      before <= target ? transitions[from..<to] : transitions[from...] + transitions[..<to]
    for transition in passed where !isOther[Int(transition.schedule)] {
      set(transition.schedule, transition.bits)
    }
    next = to
    for index in 0..<count where isOther[index] {
      set(UInt32(index), tables.quietBits(tables.scheduleTable.level(UInt32(index), at: second)))
    }
  }

  private mutating func set(_ schedule: UInt32, _ bits: UInt8) {
    if quiet[Int(schedule)] == bits { return }
    quiet[Int(schedule)] = bits
    transitioned.append(schedule)
  }

  /// Recomputes the day's transitions of schedules for which they differ from the known ones.
  ///
  /// - Returns: whether each schedule is one of those.
  @discardableResult private mutating func findTransitions(_ tables: Tables) -> [Bool] {
    let (start, end) = (day * Self.daySeconds, (day + 1) * Self.daySeconds)
    var isOtherZone = [Bool](repeating: false, count: zones.count)
    for index in zones.indices {
      // The second before is included: a schedule may have a transition in the first second of the
      // day.
      if zones[index].even.contains(start - 1), end <= zones[index].even.upperBound { continue }
      isOtherZone[index] = true
      let change = zones[index].table.nextTransition(after: start - 1) ?? Self.never
      zones[index].even = change >= end ? start - 1..<change : 0..<0
    }
    var isOther = [Bool](repeating: false, count: count)
    for schedule in weekly { isOther[Int(schedule)] = true }
    if isOtherZone.contains(true) {
      for index in 0..<count where zoneOf[index] != Self.noZone && isOtherZone[Int(zoneOf[index])] {
        isOther[index] = true
      }
    } else if weekly.isEmpty {
      return isOther
    }
    transitions.removeAll { isOther[Int($0.schedule)] }
    for index in 0..<count where isOther[index] { addTransitions(of: index, tables) }
    transitions.sort()
    return isOther
  }

  private mutating func addTransitions(of index: Int, _ tables: Tables) {
    guard zoneOf[index] != Self.noZone,
      let schedule = tables.scheduleTable.schedule(UInt32(index))
    else { return }
    let start = day * Self.daySeconds
    var second = start - 1
    while let next = schedule.nextTransition(after: second), next < start + Self.daySeconds {
      let bits = tables.quietBits(schedule.level(at: next))
      transitions.append(Transition(second: next - start, schedule: UInt32(index), bits: bits))
      second = next
    }
  }

  private func transitionCount(upTo second: Int64) -> Int {
    transitions.partitioningIndex { $0.second > second }
  }

  private mutating func zone(_ table: ZoneTable) -> UInt32 {
    if let index = zoneIndices[table.name] { return index }
    let index = UInt32(zones.count)
    zones.append(Zone(table: table))
    zoneIndices[table.name] = index
    return index
  }
}
