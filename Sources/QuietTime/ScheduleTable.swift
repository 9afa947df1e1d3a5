public import PushRules

/// A user's quiet hours and the zone the user has set, as they were written.
///
/// People share them: ten million users have a few thousand distinct ones.
public struct Schedule: Hashable, Sendable {
  public var quietHours: QuietHours?
  /// nil for the app's (E-36, R-24).
  public var timeZone: String?

  public init(quietHours: QuietHours? = nil, timeZone: String? = nil) {
    self.quietHours = quietHours
    self.timeZone = timeZone
  }
}

/// Where the schedules that were inserted last are in a ``ScheduleTable``; guesses, which it checks.
///
/// Not part of the table, so that a version of that is not copied for a guess.
public struct RecentSchedules: Sendable {
  fileprivate var places = [UInt32](repeating: 0, count: 1 << 10)

  public init() {}

  /// A slot, mostly another for another schedule.
  fileprivate static func slot(of schedule: Schedule) -> Int {
    var number =
      switch schedule.quietHours {
      case .interval(let interval): Int(interval.startMinute) &* 1440 &+ Int(interval.endMinute)
      case .span(let span): Int(span.startSecond) &* 1440 &+ Int(span.spanMinutes)
      case nil: 0
      }
    if let zone = schedule.timeZone {
      // Zones of one continent differ behind their first letters.
      for byte in zone.utf8.suffix(6) { number = number &* 31 &+ Int(byte) }
    }
    return (number &* 0x9E37_79B9) >> 16 & 1023
  }
}

/// The distinct schedules of all users, and what each means under the app's options.
///
/// - Limit: 2^32 - 1 schedules.
public struct ScheduleTable: Sendable {
  /// What a schedule means at an instant.
  public struct Quiet: Hashable, Sendable {
    /// What is let through inside the window; Easemob's windows let nothing through (E-21).
    public let level: NotificationLevel
    /// nil when it never holds.
    public let window: ZonedWindow?
  }

  public private(set) var app: AppSettings
  private var schedules: [Schedule] = [Schedule()]
  private var meanings = [Quiet(level: .blocked, window: nil)]
  private var places: [Schedule: UInt32] = [Schedule(): 0]
  private var zones: [String: ZoneTable] = [:]

  public init(app: AppSettings) { self.app = app }

  public var count: Int { schedules.count }

  /// The schedule of an index. The first is the empty one.
  public subscript(index: UInt32) -> Schedule { schedules[Int(index)] }

  /// What a schedule means.
  public func quiet(_ index: UInt32) -> Quiet { meanings[Int(index)] }

  /// The index of a schedule, which it gets now if it has none.
  ///
  /// - Throws: ``ZoneDataError`` for a zone that counts for it; it then gets no index.
  /// - Complexity: O(1), but for the first schedule of a zone, about 40 µs.
  public mutating func insert(_ schedule: Schedule) throws(ZoneDataError) -> UInt32 {
    if let place = places[schedule] { return place }
    let meaning = try meaning(of: schedule)
    let place = UInt32(schedules.count)
    schedules.append(schedule)
    meanings.append(meaning)
    places[schedule] = place
    return place
  }

  /// The same, where many schedules are inserted: those seen last are found without hashing them,
  /// which takes longer than all else that is done for a user.
  public mutating func insert(
    _ schedule: Schedule, _ recent: inout RecentSchedules
  ) throws(ZoneDataError) -> UInt32 {
    let slot = RecentSchedules.slot(of: schedule)
    let guess = recent.places[slot]
    if guess < schedules.count, schedules[Int(guess)] == schedule { return guess }
    let place = try insert(schedule)
    recent.places[slot] = place
    return place
  }

  /// Reads every schedule under other settings of the app.
  ///
  /// - Throws: ``ZoneDataError`` for the app's zone, or for one that counts only now; nothing is
  ///   changed then.
  public mutating func setApp(_ app: AppSettings) throws(ZoneDataError) {
    var changed = self
    changed.app = app
    _ = try changed.zone(app.timeZone)
    for (place, schedule) in schedules.enumerated() {
      changed.meanings[place] = try changed.meaning(of: schedule)
    }
    self = changed
  }

  private mutating func meaning(of schedule: Schedule) throws(ZoneDataError) -> Quiet {
    let own = try zone(schedule.timeZone ?? app.timeZone)
    switch schedule.quietHours {
    case .interval(let interval):  // E-36
      guard app.rules == .easemob else { break }
      let window = DailyWindow(interval, options: app.easemob)
      return Quiet(level: .blocked, window: window.map { ZonedWindow(window: $0, zone: own) })
    case .span(let span):
      var zone = own
      if let name = span.timeZone { zone = try self.zone(name) }
      guard app.rules == .rongcloud else { break }
      let window = DailyWindow(span, options: app.rongcloud)
      return Quiet(level: span.level, window: ZonedWindow(window: window, zone: zone))
    case nil: break
    }
    return Quiet(level: .blocked, window: nil)
  }

  private mutating func zone(_ name: String) throws(ZoneDataError) -> ZoneTable {
    if let zone = zones[name] { return zone }
    let zone = try ZoneTable(named: name)
    zones[name] = zone
    return zone
  }
}

/// The bitmaps of one UTC date for all schedules of a table.
///
/// Schedules that come out the same on the date share one bitmap: there are at most 1,440² + 1
/// distinct ones of whole minutes.
public struct DayPlan: Sendable {
  /// Days since 1970-01-01.
  public let day: Int64
  /// For each schedule, the place of its bitmap.
  private var places: [UInt32] = []
  private var bitmaps: [DayBitmap] = [.never]
  private var known: [DayBitmap: UInt32] = [.never: 0]
  /// The seconds of the day at which any schedule turns, ascending.
  private var turns: [Int32] = []

  /// Prepares a date.
  ///
  /// - Complexity: O(schedules), about 0.5 µs each.
  public init(day: Int64, _ schedules: ScheduleTable) {
    self.day = day
    extend(schedules)
  }

  /// How many schedules are prepared.
  public var count: Int { places.count }

  /// Prepares the schedules that were inserted since. After ``ScheduleTable/setApp(_:)`` a plan is to
  /// be made anew.
  public mutating func extend(_ schedules: ScheduleTable) {
    guard places.count < schedules.count else { return }
    for index in places.count..<schedules.count {
      guard let window = schedules.quiet(UInt32(index)).window else {
        places.append(0)
        continue
      }
      let bitmap = DayBitmap(window, day: day)
      if let place = known[bitmap] {
        places.append(place)
      } else {
        places.append(UInt32(bitmaps.count))
        known[bitmap] = UInt32(bitmaps.count)
        bitmaps.append(bitmap)
      }
    }
    turns = Set(bitmaps.flatMap(\.turns)).sorted()
  }

  /// The bitmap of a schedule on the date.
  public subscript(schedule: UInt32) -> DayBitmap { bitmaps[Int(places[Int(schedule)])] }

  /// Whether a schedule's window holds at a second of the date.
  public func isInside(_ schedule: UInt32, second: Int) -> Bool {
    self[schedule].contains(second: second)
  }

  /// For each schedule, whether its window holds at a second of the date.
  ///
  /// - Complexity: O(schedules); each distinct bitmap is read once.
  public func inside(second: Int) -> [Bool] {
    let distinct = bitmaps.map { $0.contains(second: second) }
    return places.map { distinct[Int($0)] }
  }

  /// The next second of the date at which any schedule turns; 86,400 when none does.
  ///
  /// - Complexity: O(log turns).
  public func nextTurn(after second: Int) -> Int {
    let place = turnCount(upTo: second)
    return place < turns.count ? Int(turns[place]) : 86_400
  }

  /// The last second of the date, not after `second`, at which any schedule turned; 0 when none did.
  ///
  /// - Complexity: O(log turns).
  public func lastTurn(upTo second: Int) -> Int {
    let place = turnCount(upTo: second)
    return place > 0 ? Int(turns[place - 1]) : 0
  }

  private func turnCount(upTo second: Int) -> Int {
    var low = 0
    var high = turns.count
    while low < high {
      let middle = (low + high) / 2
      if Int(turns[middle]) <= second { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
