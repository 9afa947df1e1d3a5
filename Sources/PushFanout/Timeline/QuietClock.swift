internal import Algorithms
internal import QuietTime

/// Tracks which quiet-hours windows are open as time advances, and logs their transitions.
///
/// The transitions of a UTC date are sorted once. A date on which all zones keep the previous
/// date's offsets has the same transitions, so they are recomputed for a few dates a year.
///
/// - Memory: about 50 bytes per schedule.
struct QuietClock {
  /// The current quiet-hours bits of each schedule's users: 0 outside the window.
  private(set) var quiet: [UInt8] = []
  /// A log of the schedules whose bits changed.
  private(set) var transitioned = ChangeLog<UInt32>()

  /// The bits inside the window; 0 for a window without effect.
  private var inside: [UInt8] = []
  /// The next transition of each schedule, in seconds since the epoch, as last computed.
  private var nextTransitions: [Int64] = []
  /// The index of each schedule's zone; ``noZone`` for a schedule without transitions.
  private var zoneOf: [UInt32] = []
  private var zones: [Zone] = []
  private var zoneIndices: [String: UInt32] = [:]

  private var day: Int64 = -1
  /// The day's transitions, sorted: the second in the upper 32 bits, the schedule in the lower.
  private var transitions: [UInt64] = []
  private var next = 0
  /// In seconds since the epoch.
  private var now: Int64 = -1
  /// The instant before which advancing is a no-op.
  private var until: Int64 = -1

  private static let noZone = UInt32.max
  private static let unknown = Int64.min
  private static let never = Int64.max
  private static let daySeconds: Int64 = 86_400

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

  /// The next transition of a schedule, in seconds since the epoch; nil if there is none.
  ///
  /// - Complexity: O(1), except the first time after a transition.
  mutating func nextTransition(of schedule: UInt32, _ tables: Tables) -> Int64? {
    let index = Int(schedule)
    if zoneOf[index] == Self.noZone { return nil }
    if nextTransitions[index] <= now {
      nextTransitions[index] =
        tables.scheduleTable.quiet(schedule).window?.nextTurn(after: now) ?? Self.never
    }
    return nextTransitions[index] == Self.never ? nil : nextTransitions[index]
  }

  /// The bits of a schedule's users after its next transition.
  func bitsAfterTransition(_ schedule: UInt32) -> UInt8 {
    quiet[Int(schedule)] == 0 ? inside[Int(schedule)] : 0
  }

  /// Adds the schedules that were added to the tables.
  mutating func extend(_ tables: Tables) {
    let first = count
    guard first < tables.scheduleTable.count else { return }
    for index in first..<tables.scheduleTable.count {
      let window = tables.scheduleTable.quiet(UInt32(index)).window
      let bits = tables.quietBits(UInt32(index))
      inside.append(bits)
      nextTransitions.append(Self.unknown)
      guard let window, bits != 0 else {
        quiet.append(0)
        zoneOf.append(Self.noZone)
        continue
      }
      let holds = window.contains(utcSeconds: max(now, 0))
      quiet.append(holds ? bits : 0)
      zoneOf.append(window.nextTurn(after: 0) == nil ? Self.noZone : zone(window.zone))
    }
    guard day >= 0 else { return }
    for index in first..<count { addTransitions(of: index, tables) }
    transitions.sort()
    next = transitionCount(upTo: now - day * Self.daySeconds)
    until = day * Self.daySeconds + nextSecond
  }

  // MARK: A date

  private var nextSecond: Int64 {
    next < transitions.count ? Int64(transitions[next] >> 32) : Self.daySeconds
  }

  private mutating func applyTransitions(upTo second: Int64) {
    while next < transitions.count, Int64(transitions[next] >> 32) <= second {
      flip(UInt32(truncatingIfNeeded: transitions[next]))
      next += 1
    }
  }

  /// Moves to another date. In zones with the same offset on both dates windows depend on the time
  /// of day alone, so it suffices to apply the transitions between the two times of day.
  private mutating func jump(to second: Int64, _ tables: Tables) {
    if second < now {
      for index in nextTransitions.indices { nextTransitions[index] = Self.unknown }
    }
    let before = now - day * Self.daySeconds
    day = second / Self.daySeconds
    let isOther = findTransitions(tables)
    let isEven = { [zoneOf] (schedule: UInt32) in !isOther[Int(zoneOf[Int(schedule)])] }
    let target = second - day * Self.daySeconds
    let (from, to) = (transitionCount(upTo: before), transitionCount(upTo: target))
    var passed = Array(
      before <= target ? transitions[from..<to] : transitions[from...] + transitions[..<to])
    passed.removeAll { !isEven(UInt32(truncatingIfNeeded: $0)) }
    for transition in passed { flip(UInt32(truncatingIfNeeded: transition)) }
    next = to
    guard isOther.contains(true) else { return }
    for index in 0..<count where zoneOf[index] != Self.noZone && !isEven(UInt32(index)) {
      let window = tables.scheduleTable.quiet(UInt32(index)).window
      let bits = window?.contains(utcSeconds: second) == true ? inside[index] : 0
      if bits != quiet[index] { flip(UInt32(index)) }
    }
  }

  private mutating func flip(_ schedule: UInt32) {
    quiet[Int(schedule)] = bitsAfterTransition(schedule)
    transitioned.append(schedule)
  }

  /// Recomputes the day's transitions in zones where they differ from the known ones.
  ///
  /// - Returns: whether each zone is one of those.
  @discardableResult private mutating func findTransitions(_ tables: Tables) -> [Bool] {
    let (start, end) = (day * Self.daySeconds, (day + 1) * Self.daySeconds)
    var isOther = [Bool](repeating: false, count: zones.count)
    var hasOther = false
    for index in zones.indices {
      // The second before is included: a window may have a transition in the first second of the
      // day.
      if zones[index].even.contains(start - 1), end <= zones[index].even.upperBound { continue }
      isOther[index] = true
      hasOther = true
      let change = zones[index].table.nextTransition(after: start - 1) ?? Self.never
      zones[index].even = change >= end ? start - 1..<change : 0..<0
    }
    guard hasOther else { return isOther }
    transitions.removeAll { isOther[Int(zoneOf[Int(UInt32(truncatingIfNeeded: $0))])] }
    for index in 0..<count where zoneOf[index] != Self.noZone && isOther[Int(zoneOf[index])] {
      addTransitions(of: index, tables)
    }
    transitions.sort()
    return isOther
  }

  private mutating func addTransitions(of index: Int, _ tables: Tables) {
    guard zoneOf[index] != Self.noZone,
      let window = tables.scheduleTable.quiet(UInt32(index)).window
    else { return }
    let start = day * Self.daySeconds
    var second = start - 1
    while let transition = window.nextTurn(after: second), transition < start + Self.daySeconds {
      transitions.append(UInt64(transition - start) << 32 | UInt64(index))
      second = transition
    }
  }

  private func transitionCount(upTo second: Int64) -> Int {
    transitions.partitioningIndex { Int64($0 >> 32) > second }
  }

  private mutating func zone(_ table: ZoneTable) -> UInt32 {
    if let index = zoneIndices[table.name] { return index }
    let index = UInt32(zones.count)
    zones.append(Zone(table: table))
    zoneIndices[table.name] = index
    return index
  }
}
