internal import Algorithms

/// A time zone as a flat table of its transitions: what to add to UTC from which second on.
///
/// The file of the zone is read once, while the table is built (``ZoneDatabase``); looking up is a
/// binary search over plain numbers, which threads may share.
///
/// - Range: every instant that the files allow. The table holds the transitions until 2500, those
///   of the file and then those of its rule; later years repeat the last 400, since a Gregorian
///   cycle has a whole number of weeks.
/// - Memory: 12 bytes a transition; at most some 1,100 of them, where clocks change twice a year.
public struct ZoneTable: Hashable, Sendable {
  /// The IANA name.
  public let name: String
  /// When an offset begins to hold, in seconds since the epoch, ascending. The first is 0.
  let starts: [Int64]
  /// Seconds east of UTC from the start of the same index on.
  let offsets: [Int32]

  /// 2500-01-01T00:00:00Z, where the table ends.
  static let endSeconds: Int64 = 16_725_225_600
  /// 400 years of the Gregorian calendar.
  static let cycleSeconds: Int64 = 146_097 * 86_400

  init(name: String, starts: [Int64], offsets: [Int32]) {
    precondition(starts.count == offsets.count && starts.first == 0)
    self.name = name
    self.starts = starts
    self.offsets = offsets
  }

  /// The table of a zone of the system's database.
  ///
  /// - Throws: ``ZoneDataError``; ``ZoneDataError/unknownName(_:)`` for what is no name of the
  ///   database, compared exactly.
  /// - Complexity: a file is read; O(transitions), about 40 µs.
  public init(named name: String) throws(ZoneDataError) {
    self = try ZoneDatabase.system.get().zone(named: name)
  }

  /// The table of a file's transitions, and of its rule behind them.
  init(name: String, _ file: ZoneFile) {
    var starts: [Int64] = [0]
    var offsets = [file.offset(at: 0)]
    func add(_ at: Int64, _ offset: Int32) {
      guard 0 < at, at < Self.endSeconds, offset != offsets[offsets.count - 1] else { return }
      starts.append(at)
      offsets.append(offset)
    }
    for (at, offset) in zip(file.transitions, file.offsets) { add(at, offset) }
    if let rule = file.rule {
      let last = max(file.transitions.last ?? 0, 0)
      // An average year is 365.2425 days; the years beside it make up for its being an average.
      let year = 1970 + min(last, Self.endSeconds) / 31_556_952
      for (at, offset) in rule.transitions(in: max(year - 2, 1970)...2501) where at > last {
        add(at, offset)
      }
    }
    self.init(name: name, starts: starts, offsets: offsets)
  }

  /// Seconds east of UTC at an instant.
  ///
  /// - Complexity: O(log transitions).
  public func offsetSeconds(at utcSeconds: Int64) -> Int64 {
    Int64(offsets[index(of: folded(utcSeconds))])
  }

  /// The second of the local day at an instant, 0 ..< 86,400, by the wall clock.
  public func localSecond(at utcSeconds: Int64) -> Int64 {
    let second = (utcSeconds + offsetSeconds(at: utcSeconds)) % 86_400
    return second < 0 ? second + 86_400 : second
  }

  /// The first second at which the wall clock shows a time, given as the seconds that UTC would have
  /// then; nil for a time that clocks are put forward over.
  public func firstSecond(ofLocal seconds: Int64) -> Int64? {
    // No zone is a day from UTC.
    firstSecond(ofLocal: seconds, from: seconds - 86_400)
  }

  /// The first second from `start` on at which the wall clock shows a time: the second pass of a time
  /// that occurs twice, where `start` is behind the first; nil when there is none.
  package func firstSecond(ofLocal seconds: Int64, from start: Int64) -> Int64? {
    var start = max(start, seconds - 86_400)
    while start <= seconds + 86_400 {
      let found = seconds - offsetSeconds(at: start)
      let end = nextTransition(after: start)
      if found >= start, end.map({ found < $0 }) ?? true { return found }
      guard let end else { return nil }
      start = end
    }
    return nil
  }

  /// The first second of a day, given as the seconds that UTC would have at its midnight: where clocks
  /// are put forward over midnight, the second at which they are; nil for a day that is passed over
  /// whole, like 2011-12-30 in Pacific/Apia.
  package func firstSecond(ofDay midnight: Int64) -> Int64? {
    if let first = firstSecond(ofLocal: midnight) { return first }
    var start = midnight - 86_400
    while start + offsetSeconds(at: start) < midnight {
      guard let next = nextTransition(after: start) else { return nil }
      start = next
    }
    return start + offsetSeconds(at: start) < midnight + 86_400 ? start : nil
  }

  /// The first second after `utcSeconds` at which another offset begins; nil when there is none.
  public func nextTransition(after utcSeconds: Int64) -> Int64? {
    let inTable = folded(utcSeconds)
    let next = index(of: inTable) + 1
    if next < starts.count { return starts[next] + (utcSeconds - inTable) }
    // Past the last of the table: the cycle starts again 400 years earlier.
    let cycleStart = Self.endSeconds - Self.cycleSeconds
    let first = index(of: cycleStart)
    if offsets[first] != offsets[offsets.count - 1] {
      return Self.endSeconds + (utcSeconds - inTable)
    }
    guard first + 1 < starts.count else { return nil }
    return starts[first + 1] + Self.cycleSeconds + (utcSeconds - inTable)
  }

  /// The instant inside the table that has the same offset.
  private func folded(_ utcSeconds: Int64) -> Int64 {
    guard utcSeconds >= Self.endSeconds else { return utcSeconds }
    let cycleStart = Self.endSeconds - Self.cycleSeconds
    return cycleStart + (utcSeconds - cycleStart) % Self.cycleSeconds
  }

  /// The index of the last start that is not after `utcSeconds`; 0 before the first.
  private func index(of utcSeconds: Int64) -> Int {
    max(0, starts.partitioningIndex { $0 > utcSeconds } - 1)
  }
}
