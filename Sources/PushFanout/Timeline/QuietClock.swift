internal import PushRules
internal import QuietTime

/// What schedules let through, as time goes on, and which have just turned.
///
/// The turns of a UTC date are sorted once. Schedules that are alike every day have the same turns on
/// a date as on the one before where their zone keeps its offset, so that they are found anew for a
/// few dates a year; those of other schedules are found for each date.
///
/// - Memory: some 50 bytes a schedule.
struct QuietClock {
  /// For each schedule, the bits of its users' class now: 0 when it is not quiet.
  private(set) var quiet: [UInt8] = []
  /// The schedules whose bits have changed.
  private(set) var turned = ChangeLog<UInt32>()

  /// The next turn of each schedule, in seconds since the epoch, as it was last asked for, and the
  /// bits of its users from then on.
  private var nextTurns: [Int64] = []
  private var nextBits: [UInt8] = []
  /// How many levels each schedule has.
  private var levelCounts: [UInt8] = []
  /// For each schedule the place of its zone; ``noZone`` for one that never turns.
  private var zoneOf: [UInt32] = []
  /// The schedules that turn and are not alike every day.
  private var weekly: [UInt32] = []
  private var zones: [Zone] = []
  private var zonePlaces: [String: UInt32] = [:]

  private var day: Int64 = -1
  /// The turns of the day, sorted.
  private var turns: [Turn] = []
  private var next = 0
  /// In seconds since the epoch.
  private var now: Int64 = -1
  /// When anything has to be done next.
  private var until: Int64 = -1

  private static let noZone = UInt32.max
  private static let unknown = Int64.min
  private static let never = Int64.max
  private static let daySeconds: Int64 = 86_400

  /// A second of the day, a schedule, and the bits of its users from then on.
  private struct Turn: Comparable {
    private let number: UInt64

    init(second: Int64, schedule: UInt32, bits: UInt8) {
      number = UInt64(second) << 40 | UInt64(schedule) << 8 | UInt64(bits)
    }

    var second: Int64 { Int64(number >> 40) }
    var schedule: UInt32 { UInt32(truncatingIfNeeded: number >> 8) }
    var bits: UInt8 { UInt8(truncatingIfNeeded: number) }

    static func < (left: Turn, right: Turn) -> Bool { left.number < right.number }
  }

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

  /// Calls `body` with the first instants after now, in seconds since the epoch, at which each other
  /// level of a schedule holds, and with the bits of its users then, until it returns false.
  ///
  /// - Complexity: O(1) for the first of them but for the first time after a turn; then O(transitions
  ///   of the schedule).
  mutating func forEachLater(
    _ schedule: UInt32, _ tables: Tables, _ body: (Int64, UInt8) -> Bool
  ) {
    let place = Int(schedule)
    if zoneOf[place] == Self.noZone { return }
    let table = tables.scheduleTable
    if nextTurns[place] <= now {
      nextTurns[place] = table.schedule(schedule)?.nextTransition(after: now) ?? Self.never
      let second = nextTurns[place]
      nextBits[place] =
        second == Self.never ? 0 : tables.quietBits(table.level(schedule, at: second))
    }
    if nextTurns[place] == Self.never || !body(nextTurns[place], nextBits[place]) { return }
    guard levelCounts[place] > 2, let quiet = table.schedule(schedule) else { return }
    var unseen = UnseenLevels(quiet, at: now)
    unseen.remove(quiet.level(at: nextTurns[place]))
    var second = nextTurns[place]
    while !unseen.isEmpty, let next = quiet.nextTransition(after: second) {
      let level = quiet.level(at: next)
      if unseen.remove(level), !body(next, tables.quietBits(level)) { return }
      second = next
    }
  }

  /// Takes in the schedules that were added.
  mutating func extend(_ tables: Tables) {
    let first = count
    guard first < tables.scheduleTable.count else { return }
    for place in first..<tables.scheduleTable.count {
      nextTurns.append(Self.unknown)
      nextBits.append(0)
      levelCounts.append(0)
      guard let schedule = tables.scheduleTable.schedule(UInt32(place)) else {
        quiet.append(0)
        zoneOf.append(Self.noZone)
        continue
      }
      quiet.append(tables.quietBits(schedule.level(at: max(now, 0))))
      let levels = schedule.distinctLevels
      levelCounts[place] = UInt8(levels.count)
      // Levels that come to the same for users are one.
      if Set(levels.map { tables.quietBits($0) }).count < 2 {
        zoneOf.append(Self.noZone)
        continue
      }
      zoneOf.append(zone(schedule.zone))
      if !schedule.repeatsDaily { weekly.append(UInt32(place)) }
    }
    guard day >= 0 else { return }
    for place in first..<count { addTurns(of: place, tables) }
    turns.sort()
    next = turnCount(upTo: now - day * Self.daySeconds)
    until = day * Self.daySeconds + nextSecond
  }

  // MARK: A date

  private var nextSecond: Int64 { next < turns.count ? turns[next].second : Self.daySeconds }

  private mutating func turn(upTo second: Int64) {
    while next < turns.count, turns[next].second <= second {
      turn(turns[next].schedule, to: turns[next].bits)
      next += 1
    }
  }

  /// Goes to another date. Where a schedule is alike every day and the offset is the same on both
  /// dates, what holds at a time of the day does so on each, so it is enough to go round the day to
  /// that time.
  private mutating func jump(to second: Int64, _ tables: Tables) {
    if second < now {
      for place in nextTurns.indices { nextTurns[place] = Self.unknown }
    }
    let before = now - day * Self.daySeconds
    day = second / Self.daySeconds
    let isOther = findTurns(tables)
    let target = second - day * Self.daySeconds
    let (from, to) = (turnCount(upTo: before), turnCount(upTo: target))
    let passed: ArraySlice<Turn> =
      before <= target ? turns[from..<to] : turns[from...] + turns[..<to]
    for turn in passed where !isOther[Int(turn.schedule)] {
      self.turn(turn.schedule, to: turn.bits)
    }
    next = to
    for place in 0..<count where isOther[place] {
      let level = tables.scheduleTable.level(UInt32(place), at: second)
      turn(UInt32(place), to: tables.quietBits(level))
    }
  }

  private mutating func turn(_ schedule: UInt32, to bits: UInt8) {
    if quiet[Int(schedule)] == bits { return }
    quiet[Int(schedule)] = bits
    turned.append(schedule)
  }

  /// Finds the turns of the day for the schedules whose known turns are not those of the day.
  ///
  /// - Returns: for each schedule, whether it is one of those.
  @discardableResult private mutating func findTurns(_ tables: Tables) -> [Bool] {
    let (start, end) = (day * Self.daySeconds, (day + 1) * Self.daySeconds)
    var isOtherZone = [Bool](repeating: false, count: zones.count)
    for place in zones.indices {
      // The second before counts: a schedule may turn in the first second of the day.
      if zones[place].even.contains(start - 1), end <= zones[place].even.upperBound { continue }
      isOtherZone[place] = true
      let change = zones[place].table.nextTransition(after: start - 1) ?? Self.never
      zones[place].even = change >= end ? start - 1..<change : 0..<0
    }
    var isOther = [Bool](repeating: false, count: count)
    for schedule in weekly { isOther[Int(schedule)] = true }
    if isOtherZone.contains(true) {
      for place in 0..<count where zoneOf[place] != Self.noZone && isOtherZone[Int(zoneOf[place])] {
        isOther[place] = true
      }
    } else if weekly.isEmpty {
      return isOther
    }
    turns.removeAll { isOther[Int($0.schedule)] }
    for place in 0..<count where isOther[place] { addTurns(of: place, tables) }
    turns.sort()
    return isOther
  }

  private mutating func addTurns(of place: Int, _ tables: Tables) {
    guard zoneOf[place] != Self.noZone,
      let schedule = tables.scheduleTable.schedule(UInt32(place))
    else { return }
    let start = day * Self.daySeconds
    var second = start - 1
    while let turn = schedule.nextTransition(after: second), turn < start + Self.daySeconds {
      let bits = tables.quietBits(schedule.level(at: turn))
      turns.append(Turn(second: turn - start, schedule: UInt32(place), bits: bits))
      second = turn
    }
  }

  private func turnCount(upTo second: Int64) -> Int {
    var (low, high) = (0, turns.count)
    while low < high {
      let middle = (low + high) / 2
      if turns[middle].second <= second { low = middle + 1 } else { high = middle }
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
