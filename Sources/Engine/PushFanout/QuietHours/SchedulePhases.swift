internal import Algorithms

/// The phase of each schedule during an interval without transitions.
///
/// SAFETY: the bytes are written by `init`, read only from then on, and freed by `deinit`.
@safe final class SchedulePhases: Sendable {
  /// The half-open interval, in milliseconds since the epoch.
  let from: Int64
  let until: Int64
  /// The number of schedules.
  let count: Int
  /// ``QuietCalendar/id``.
  let calendar: Int
  /// Of the date.
  let transitions: QuietTransitions
  /// Phases of schedules, then of patterns, as in ``UserClass/init(level:quiet:reach:)``, or
  /// ``StateRules/refusedPhase``.
  private nonisolated(unsafe) let bytes: UnsafeMutablePointer<UInt8>

  @inline(__always)
  var phases: PhaseTable { unsafe PhaseTable(bytes: UnsafePointer(bytes), count: count) }

  var patternPhases: PhaseTable {
    unsafe PhaseTable(bytes: UnsafePointer(bytes + count), count: transitions.patternCount)
  }

  init(_ transitions: QuietTransitions, day: Int64, index: Int, _ calendar: Int) {
    self.calendar = calendar
    let midnight = day * 86_400_000
    self.transitions = transitions
    from = midnight + (index == 0 ? 0 : Int64(transitions.instants[index - 1]) * 1000)
    until =
      midnight
      + (index < transitions.instants.count
        ? Int64(transitions.instants[index]) * 1000 : 86_400_000)
    count = transitions.patterns.count
    unsafe bytes = .allocate(capacity: max(count + transitions.patternCount, 1))
    let byPattern = unsafe bytes + count
    for (pattern, phase) in transitions.first.enumerated() { unsafe byPattern[pattern] = phase }
    for entry in transitions.entries[..<transitions.starts[index]] {
      unsafe byPattern[Int(entry.pattern)] = entry.after
    }
    unsafe transitions.patterns.withUnsafeBufferPointer { patterns in
      for schedule in 0..<patterns.count {
        unsafe bytes[schedule] = byPattern[Int(patterns[schedule])]
      }
    }
  }

  deinit { unsafe bytes.deallocate() }

  @inline(__always)
  func holds(at now: Int64) -> Bool { from <= now && now < until }

  /// The UTC date, in days since 1970-01-01.
  var day: Int64 { from / 86_400_000 }
}

/// The transitions of a UTC date, in the order of time.
///
/// Schedules with the same phases all day share a *pattern*: tens of thousands of schedules have
/// about a thousand.
struct QuietTransitions: Sendable {
  /// A pattern with its phases before and after a transition.
  struct Entry: Sendable {
    var pattern: UInt32
    var before: UInt8
    var after: UInt8
  }

  /// By schedule.
  private(set) var patterns: [UInt32] = []
  /// At midnight, by pattern.
  private(set) var first: [UInt8] = []
  /// Seconds of the date, ascending, without duplicates.
  private(set) var instants: [Int32] = []
  /// Entries before each instant and the end.
  private(set) var starts: [Int] = [0]
  private(set) var entries: [Entry] = []
  /// The seconds in which all zones keep their offsets, so that other dates have the same
  /// transitions; nil if there are none, or a weekday matters.
  var even: Range<Int64>?
  /// Transitions with the same number give schedules that both have the same patterns.
  var id = 0
  /// By a pattern's phases and their seconds.
  private var patternNumbers: [[UInt32]: UInt32] = [:]

  var patternCount: Int { first.count }

  /// The entries between two instants in either order, in milliseconds since the epoch.
  func entries(between one: Int64, and other: Int64) -> ArraySlice<Entry> {
    let (from, to) = (entryCount(upTo: min(one, other)), entryCount(upTo: max(one, other)))
    return entries[from..<to]
  }

  private func entryCount(upTo instant: Int64) -> Int {
    let second = Int32(instant / 1000 % 86_400)
    return starts[instants.partitioningIndex { $0 > second }]
  }

  mutating func append(_ phase: UInt8, _ changes: [(second: Int32, phase: UInt8)]) {
    var phases = [UInt32(phase)]
    for change in changes { phases.append(UInt32(change.second) << 8 | UInt32(change.phase)) }
    if let known = patternNumbers[phases] { return patterns.append(known) }
    let pattern = UInt32(first.count)
    patternNumbers[phases] = pattern
    patterns.append(pattern)
    first.append(phase)
    var before = phase
    for change in changes {
      added.append(
        (change.second, Entry(pattern: pattern, before: before, after: change.phase)))
      before = change.phase
    }
  }

  /// Not merged yet.
  private var added: [(second: Int32, entry: Entry)] = []

  /// - Complexity: O(entries), if any pattern is new.
  mutating func mergeAppended() {
    if added.isEmpty { return }
    var all = added
    added = []
    for index in instants.indices {
      for entry in entries[starts[index]..<starts[index + 1]] {
        all.append((instants[index], entry))
      }
    }
    all.sort { ($0.second, $0.entry.pattern) < ($1.second, $1.entry.pattern) }
    entries = all.map(\.entry)
    instants = []
    starts = []
    for (index, item) in all.enumerated() where instants.last != item.second {
      instants.append(item.second)
      starts.append(index)
    }
    starts.append(all.count)
  }

  /// A key with the pattern in place of the schedule; nil for a schedule added later.
  @inline(__always)
  func patternKey(_ key: MemberKey) -> MemberKey? {
    guard key.schedule < patterns.count else { return nil }
    return MemberKey(schedule: patterns[key.schedule], base: UInt16(key.base))
  }
}
