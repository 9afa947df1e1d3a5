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
  private(set) var turned = ChangeLog<UInt32>()

  /// The same bits inside of the window; 0 for a window that changes nothing.
  private var inside: [UInt8] = []
  /// The next turn of each schedule, in seconds since the epoch, as it was last asked for.
  private var nextTurns: [Int64] = []
  /// For each schedule the place of its zone; ``noZone`` for one that never turns.
  private var zoneOf: [UInt32] = []
  private var zones: [Zone] = []
  private var zonePlaces: [String: UInt32] = [:]

  private var day: Int64 = -1
  /// The turns of the day: the second above, the schedule below; sorted.
  private var turns: [UInt64] = []
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
        turn(upTo: Self.daySeconds - 1)
        day = target
        findTurns(tables)
        next = 0
      }
      turn(upTo: second - day * Self.daySeconds)
    }
    now = second
    until = day * Self.daySeconds + nextSecond
  }

  /// The next turn of a schedule, in seconds since the epoch; nil for never.
  ///
  /// - Complexity: O(1) but for the first time after a turn.
  mutating func nextTurn(of schedule: UInt32, _ tables: Tables) -> Int64? {
    let place = Int(schedule)
    if zoneOf[place] == Self.noZone { return nil }
    if nextTurns[place] <= now {
      nextTurns[place] =
        tables.scheduleTable.quiet(schedule).window?.nextTurn(after: now) ?? Self.never
    }
    return nextTurns[place] == Self.never ? nil : nextTurns[place]
  }

  /// The bits of a schedule's users once its window has turned.
  func turnedBits(_ schedule: UInt32) -> UInt8 {
    quiet[Int(schedule)] == 0 ? inside[Int(schedule)] : 0
  }

  /// Takes in the schedules that were added.
  mutating func extend(_ tables: Tables) {
    let first = count
    guard first < tables.scheduleTable.count else { return }
    for place in first..<tables.scheduleTable.count {
      let window = tables.scheduleTable.quiet(UInt32(place)).window
      let bits = tables.quietBits(UInt32(place))
      inside.append(bits)
      nextTurns.append(Self.unknown)
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
    for place in first..<count { addTurns(of: place, tables) }
    turns.sort()
    next = turnCount(upTo: now - day * Self.daySeconds)
    until = day * Self.daySeconds + nextSecond
  }

  // MARK: A date

  private var nextSecond: Int64 { next < turns.count ? Int64(turns[next] >> 32) : Self.daySeconds }

  private mutating func turn(upTo second: Int64) {
    while next < turns.count, Int64(turns[next] >> 32) <= second {
      turn(UInt32(truncatingIfNeeded: turns[next]))
      next += 1
    }
  }

  /// Goes to another date. Where the offset is the same on both, what holds at a time of the day does
  /// so on each, so it is enough to go round the day to that time.
  private mutating func jump(to second: Int64, _ tables: Tables) {
    if second < now {
      for place in nextTurns.indices { nextTurns[place] = Self.unknown }
    }
    let before = now - day * Self.daySeconds
    day = second / Self.daySeconds
    let isOther = findTurns(tables)
    let isEven = { [zoneOf] (schedule: UInt32) in !isOther[Int(zoneOf[Int(schedule)])] }
    let target = second - day * Self.daySeconds
    let (from, to) = (turnCount(upTo: before), turnCount(upTo: target))
    var passed = Array(before <= target ? turns[from..<to] : turns[from...] + turns[..<to])
    passed.removeAll { !isEven(UInt32(truncatingIfNeeded: $0)) }
    for turn in passed { self.turn(UInt32(truncatingIfNeeded: turn)) }
    next = to
    guard isOther.contains(true) else { return }
    for place in 0..<count where zoneOf[place] != Self.noZone && !isEven(UInt32(place)) {
      let window = tables.scheduleTable.quiet(UInt32(place)).window
      let bits = window?.contains(utcSeconds: second) == true ? inside[place] : 0
      if bits != quiet[place] { turn(UInt32(place)) }
    }
  }

  private mutating func turn(_ schedule: UInt32) {
    quiet[Int(schedule)] = turnedBits(schedule)
    turned.append(schedule)
  }

  /// Finds the turns of the day in zones where they are not those that are known.
  ///
  /// - Returns: for each zone, whether it is one of those.
  @discardableResult private mutating func findTurns(_ tables: Tables) -> [Bool] {
    let (start, end) = (day * Self.daySeconds, (day + 1) * Self.daySeconds)
    var isOther = [Bool](repeating: false, count: zones.count)
    var hasOther = false
    for place in zones.indices {
      // The second before counts: a window may turn in the first second of the day.
      if zones[place].even.contains(start - 1), end <= zones[place].even.upperBound { continue }
      isOther[place] = true
      hasOther = true
      let change = zones[place].table.nextTransition(after: start - 1) ?? Self.never
      zones[place].even = change >= end ? start - 1..<change : 0..<0
    }
    guard hasOther else { return isOther }
    turns.removeAll { isOther[Int(zoneOf[Int(UInt32(truncatingIfNeeded: $0))])] }
    for place in 0..<count where zoneOf[place] != Self.noZone && isOther[Int(zoneOf[place])] {
      addTurns(of: place, tables)
    }
    turns.sort()
    return isOther
  }

  private mutating func addTurns(of place: Int, _ tables: Tables) {
    guard zoneOf[place] != Self.noZone,
      let window = tables.scheduleTable.quiet(UInt32(place)).window
    else { return }
    let start = day * Self.daySeconds
    var second = start - 1
    while let turn = window.nextTurn(after: second), turn < start + Self.daySeconds {
      turns.append(UInt64(turn - start) << 32 | UInt64(place))
      second = turn
    }
  }

  private func turnCount(upTo second: Int64) -> Int {
    var (low, high) = (0, turns.count)
    while low < high {
      let middle = (low + high) / 2
      if Int64(turns[middle] >> 32) <= second { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private mutating func zone(_ table: ZoneTable) -> UInt32 {
    if let place = zonePlaces[table.name] { return place }
    let place = UInt32(zones.count)
    zones.append(Zone(table: table))
    zonePlaces[table.name] = place
    return place
  }
}
