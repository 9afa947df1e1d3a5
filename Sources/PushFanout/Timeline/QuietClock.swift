internal import Algorithms
internal import QuietTime

/// Which windows hold, as time goes on, and which have just turned.
///
/// The turns of a UTC date are sorted once. A date whose zones all keep the offsets of the one before
/// has the same turns, so that they are found anew for a few dates a year.
///
/// - Memory: some 50 bytes a schedule.
struct QuietClock {
  /// For each schedule, the bits of its users' class now: 0 outside of the window.
  private(set) var quiet: [UInt8] = []
  /// The schedules whose bits have changed.
  private(set) var transitioned = ChangeLog<UInt32>()

  /// The same bits inside of the window; 0 for a window that changes nothing.
  private var inside: [UInt8] = []
  /// The next turn of each schedule, in seconds since the epoch, as it was last asked for.
  private var nextTransitions: [Int64] = []
  /// For each schedule the index of its zone; ``noZone`` for one that never transitions.
  private var zoneOf: [UInt32] = []
  private var zones: [Zone] = []
  private var zoneIndices: [String: UInt32] = [:]

  private var day: Int64 = -1
  /// The turns of the day: the second above, the schedule below; sorted.
  private var transitions: [UInt64] = []
  private var next = 0
  /// In seconds since the epoch.
  private var now: Int64 = -1
  /// When anything has to be done next.
  private var until: Int64 = -1

  private static let noZone = UInt32.max
  private static let unknown = Int64.min
  private static let never = Int64.max
  private static let daySeconds: Int64 = 86_400

  private struct Zone {
    let table: ZoneTable
    /// The offset is the same in these seconds, which held the whole date whose turns are known;
    /// empty when it had a clock change.
    var even: Range<Int64> = 0..<0
  }

  /// How many schedules are known.
  var count: Int { quiet.count }

  /// Goes to an instant, also one before.
  ///
  /// - Complexity: O(turns on the way), of a day at most, and O(schedules) of the zones whose clocks
  ///   have changed since.
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

  /// The next turn of a schedule, in seconds since the epoch; nil for never.
  ///
  /// - Complexity: O(1) but for the first time after a turn.
  mutating func nextTransition(of schedule: UInt32, _ tables: Tables) -> Int64? {
    let index = Int(schedule)
    if zoneOf[index] == Self.noZone { return nil }
    if nextTransitions[index] <= now {
      nextTransitions[index] =
        tables.scheduleTable.quiet(schedule).window?.nextTurn(after: now) ?? Self.never
    }
    return nextTransitions[index] == Self.never ? nil : nextTransitions[index]
  }

  /// The bits of a schedule's users once its window has turned.
  func bitsAfterTransition(_ schedule: UInt32) -> UInt8 {
    quiet[Int(schedule)] == 0 ? inside[Int(schedule)] : 0
  }

  /// Takes in the schedules that were added.
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

  /// Goes to another date. Where the offset is the same on both, what holds at a time of the day does
  /// so on each, so it is enough to go round the day to that time.
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

  /// Finds the turns of the day in zones where they are not those that are known.
  ///
  /// - Returns: for each zone, whether it is one of those.
  @discardableResult private mutating func findTransitions(_ tables: Tables) -> [Bool] {
    let (start, end) = (day * Self.daySeconds, (day + 1) * Self.daySeconds)
    var isOther = [Bool](repeating: false, count: zones.count)
    var hasOther = false
    for index in zones.indices {
      // The second before counts: a window may turn in the first second of the day.
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
