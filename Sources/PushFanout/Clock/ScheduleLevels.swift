internal import Algorithms

/// What the quiet hours of each schedule let through, during an interval without transitions.
///
/// SAFETY: the bytes are written by `init`, read only from then on, and freed by `deinit`.
@safe final class ScheduleLevels: Sendable {
  /// The half-open interval ``from`` ..< ``until``, in milliseconds since the epoch.
  let from: Int64
  let until: Int64
  /// The number of schedules.
  let count: Int
  /// The number of the calendar that it is of.
  let calendar: Int
  /// The date's transitions.
  let transitions: QuietTransitions
  /// For each schedule, its level as in bits 3 and 4 of a ``UserClass``: 0 ... 3.
  private nonisolated(unsafe) let bytes: UnsafeMutablePointer<UInt8>

  @inline(__always)
  var levels: LevelTable { unsafe LevelTable(bytes: UnsafePointer(bytes), count: count) }

  init(_ transitions: QuietTransitions, day: Int64, index: Int, _ calendar: Int) {
    self.calendar = calendar
    let midnight = day * 86_400_000
    self.transitions = transitions
    from = midnight + (index == 0 ? 0 : Int64(transitions.instants[index - 1]) * 1000)
    until =
      midnight
      + (index < transitions.instants.count
        ? Int64(transitions.instants[index]) * 1000 : 86_400_000)
    count = transitions.first.count
    unsafe bytes = .allocate(capacity: max(count, 1))
    unsafe transitions.first.withUnsafeBufferPointer { first in
      guard let start = first.baseAddress else { return }
      unsafe bytes.initialize(from: start, count: first.count)
    }
    for entry in transitions.entries[..<transitions.starts[index]] {
      unsafe bytes[Int(entry.schedule)] = entry.after
    }
  }

  deinit { unsafe bytes.deallocate() }

  @inline(__always)
  func holds(at now: Int64) -> Bool { from <= now && now < until }

  /// The UTC date of the interval, in days since 1970-01-01.
  var day: Int64 { from / 86_400_000 }
}

/// The transitions of all schedules on one UTC date, in the order of time.
struct QuietTransitions: Sendable {
  /// A schedule, and its level before and after, as in ``ScheduleLevels/levels``.
  struct Entry: Sendable {
    var schedule: UInt32
    var before: UInt8
    var after: UInt8
  }

  /// The level of each schedule at midnight.
  var first: [UInt8] = []
  /// The seconds of the date at which any schedule has a transition, ascending, without duplicates.
  var instants: [Int32] = []
  /// The number of entries before each instant, and before the end of the date.
  var starts: [Int] = [0]
  var entries: [Entry] = []
  /// The seconds, in which the offsets of all zones are constant, that contain the date; nil when
  /// there are none, or a schedule depends on the weekday. On another date within them the
  /// transitions are the same.
  var even: Range<Int64>?

  /// The number of entries at seconds of the date up to `second`.
  func entryCount(upTo second: Int) -> Int {
    starts[instants.partitioningIndex { Int($0) > second }]
  }
}
