public import PushModel

/// When a user wants no pushes, or only some: quiet hours resolved on the wall clock of a time
/// zone.
///
/// The type is opaque about how many windows there are, on which days, and whose setting they come
/// from: it answers for an instant, and gives the next one at which the answer changes.
///
/// Two schedules are equal when they have the same level at every time of the week in the same
/// zone.
///
/// - Memory: 24 bytes, and a list of 8 bytes a stretch: mostly two or three. A zone's table is shared.
public struct QuietSchedule: Hashable, Sendable {
  static let daySeconds: Int32 = 86_400
  static let weekSeconds: Int32 = 604_800

  /// After how many seconds of local time it repeats: a day, or else a week that starts on Monday.
  private let period: Int32
  /// Ascending, the first at 0; levels of neighbours differ.
  private let stretches: [Stretch]
  /// Whose wall clock it follows.
  public let zone: ZoneTable

  /// A window of the local day, repeated daily.
  ///
  /// Inside is `(localSecond - startSecond) mod 86,400 < spanSeconds`; a span of 86,400 is always,
  /// and one of 0 is never (§1).
  ///
  /// - Parameters:
  ///   - startSecond: 0 ..< 86,400, in seconds since local midnight.
  ///   - spanSeconds: 0 ... 86,400.
  ///   - level: what is let through inside.
  public init(
    startSecond: Int32, spanSeconds: Int32, level: NotificationLevel = .blocked, zone: ZoneTable
  ) {
    precondition(0 <= startSecond && startSecond < 86_400, "a start is a second of the day")
    precondition(0 <= spanSeconds && spanSeconds <= 86_400, "a window lasts up to a day")
    let window = Window(start: startSecond, span: spanSeconds, level: level)
    self.init([window], period: Self.daySeconds, zone)
  }

  /// Several windows of the local week (O-12).
  ///
  /// A window belongs to the day on which it starts: one of Friday from 22:00 to 7:00 runs to
  /// Saturday 7:00. Inside is `(second of the week - start) mod 604,800 < span`, also where the
  /// start was jumped over by a clock change.
  public init(_ windows: QuietWindows, zone: ZoneTable) {
    let isDaily = windows.windows.allSatisfy { $0.days == QuietWindows.Window.everyDay }
    var ofPeriod: [Window] = []
    for window in windows.windows {
      for day: Int32 in isDaily ? 0..<1 : 0..<7 where window.days >> UInt8(day) & 1 != 0 {
        ofPeriod.append(
          Window(
            start: day * Self.daySeconds + window.startMinute * 60, span: window.spanSeconds,
            level: NotificationLevel(window.allow)))
      }
    }
    let own = QuietSchedule(ofPeriod, period: isDaily ? Self.daySeconds : Self.weekSeconds, zone)
    self = own.asDay ?? own
  }

  /// A time at which another level begins.
  private struct Stretch: Hashable {
    /// In seconds of the period.
    let start: Int32
    /// What is let through from then on; nil outside of all windows.
    let level: NotificationLevel?
  }

  /// A window of the period, in seconds.
  private struct Window {
    let start, span: Int32
    let level: NotificationLevel
  }

  private init(_ windows: [Window], period: Int32, _ zone: ZoneTable) {
    self.period = period
    self.zone = zone
    var edges: [Int32] = [0]
    edges.reserveCapacity(2 * windows.count + 1)
    for window in windows {
      edges.append(window.start)
      edges.append((window.start + window.span) % period)
    }
    edges.sort()
    var stretches: [Stretch] = []
    stretches.reserveCapacity(edges.count)
    for edge in edges {
      // What windows that overlap all let through (O-13); nil for no window.
      var level: NotificationLevel?
      for window in windows {
        let since = edge - window.start
        if (since < 0 ? since + period : since) < window.span {
          level = level?.together(with: window.level) ?? window.level
        }
      }
      if let last = stretches.last, last.level == level { continue }
      stretches.append(Stretch(start: edge, level: level))
    }
    self.stretches = stretches
  }

  private init(day stretches: ArraySlice<Stretch>, _ zone: ZoneTable) {
    period = Self.daySeconds
    self.stretches = Array(stretches)
    self.zone = zone
  }

  /// The same with a day as its period, if all days of a week are alike.
  private var asDay: QuietSchedule? {
    guard !repeatsDaily else { return nil }
    let ofMonday = stretches.prefix { $0.start < Self.daySeconds }.count
    var next = ofMonday
    for day: Int32 in 1..<7 {
      let midnight = day * Self.daySeconds
      // What goes on over midnight does not begin there.
      if next < stretches.count, stretches[next].start == midnight { next += 1 }
      guard stretches[next - 1].level == stretches[0].level else { return nil }
      for own in stretches[1..<ofMonday] {
        guard next < stretches.count,
          stretches[next] == Stretch(start: midnight + own.start, level: own.level)
        else { return nil }
        next += 1
      }
    }
    guard next == stretches.count else { return nil }
    return QuietSchedule(day: stretches[..<ofMonday], zone)
  }

  // MARK: Instants

  /// What is let through at an instant, in whole seconds since the epoch; nil outside of all
  /// windows.
  ///
  /// - Complexity: O(log transitions of the zone + stretches).
  public func level(at utcSeconds: Int64) -> NotificationLevel? {
    stretches[index(of: localSecond(at: utcSeconds))].level
  }

  /// Whether an instant, in whole seconds since the epoch, is inside of a window.
  public func isQuiet(at utcSeconds: Int64) -> Bool { level(at: utcSeconds) != nil }

  /// The first second after `utcSeconds` at which ``level(at:)`` answers otherwise; nil when it
  /// never does.
  ///
  /// The answer changes at an edge of a window, or in the middle of one where a clock change jumps
  /// over an edge. An edge whose local time does not exist on a day is passed over with the gap.
  ///
  /// - Complexity: O(log transitions of the zone) a clock change; rarely more than one is looked
  ///   at.
  public func nextTransition(after utcSeconds: Int64) -> Int64? {
    guard stretches.count > 1 else { return nil }
    var now = utcSeconds
    while true {
      // An offset holds until `change`, so local time runs evenly up to it.
      let change = zone.nextTransition(after: now)
      let edge = now + secondsUntilEdge(localSecond(at: now))
      guard let change, change <= edge else { return edge }
      if level(at: change) != level(at: utcSeconds) { return change }
      now = change
    }
  }

  /// Whether the same holds at the same local time of every day.
  public var repeatsDaily: Bool { period == Self.daySeconds }

  private func localSecond(at utcSeconds: Int64) -> Int32 {
    let local = utcSeconds + zone.offsetSeconds(at: utcSeconds)
    // 1970-01-01 was a Thursday.
    let second = period == Self.daySeconds ? local % 86_400 : (local + 3 * 86_400) % 604_800
    return Int32(second < 0 ? second + Int64(period) : second)
  }

  /// The index of the stretch that a second of the period is in.
  private func index(of localSecond: Int32) -> Int {
    var index = stretches.count - 1
    while stretches[index].start > localSecond { index -= 1 }
    return index
  }

  private func secondsUntilEdge(_ localSecond: Int32) -> Int64 {
    let next = index(of: localSecond) + 1
    if next < stretches.count { return Int64(stretches[next].start - localSecond) }
    // What holds at the end of the period may go on in the next one.
    let first = stretches[0].level == stretches[next - 1].level ? stretches[1].start : 0
    return Int64(period - localSecond + first)
  }

  // MARK: Levels

  /// Every level that holds at some time, nil for outside, without repetition: nil first, then in
  /// the order of their numbers.
  public var distinctLevels: [NotificationLevel?] {
    Set(stretches.map(\.level)).sorted {
      ($0.map { Int($0.rawValue) } ?? -1) < ($1.map { Int($0.rawValue) } ?? -1)
    }
  }
}

extension NotificationLevel {
  fileprivate func together(with other: NotificationLevel) -> NotificationLevel {
    NotificationLevel(mask.intersection(other.mask))
  }
}

/// The levels of a schedule that a search along its transitions has not reached yet.
///
/// An answer that depends on nothing but a schedule's level, and was the same at all of its levels,
/// never changes.
public struct UnseenLevels: Sendable {
  private var levels: [NotificationLevel?]

  /// All levels of a schedule but the one at an instant, in seconds since the epoch.
  public init(_ schedule: QuietSchedule?, at utcSeconds: Int64) {
    levels = schedule?.distinctLevels ?? []
    if let schedule { remove(schedule.level(at: utcSeconds)) }
  }

  /// Whether every level has been seen.
  public var isEmpty: Bool { levels.isEmpty }

  /// - Returns: whether the level had not been seen.
  @discardableResult public mutating func remove(_ level: NotificationLevel?) -> Bool {
    guard let index = levels.firstIndex(of: level) else { return false }
    levels.remove(at: index)
    return true
  }
}
