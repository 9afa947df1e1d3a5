internal import HeapModule

/// The instants at which users' classes change without an update, earliest first.
///
/// An entry may be stale, when the user's settings were replaced after it was added; recomputing the
/// user's class then changes nothing.
struct ExpiryQueue {
  /// An instant, and the user whose class must be recomputed then.
  struct Entry: Comparable {
    /// Milliseconds since the epoch.
    var at: Int64
    var user: UInt32

    static func < (left: Entry, right: Entry) -> Bool {
      left.at < right.at || (left.at == right.at && left.user < right.user)
    }
  }

  private var heap = Heap<Entry>()

  /// The earliest instant; nil when the queue is empty.
  ///
  /// - Complexity: O(1).
  var next: Int64? { heap.min?.at }

  /// Adds an entry.
  ///
  /// - Complexity: O(log entries).
  mutating func add(_ entry: Entry) { heap.insert(entry) }

  /// Removes and returns the earliest entry whose instant is `now` or before; nil when there is none.
  ///
  /// - Complexity: O(log entries).
  mutating func pop(upTo now: Int64) -> Entry? {
    guard let first = heap.min, first.at <= now else { return nil }
    return heap.removeMin()
  }

  /// Removes all entries and keeps the memory.
  mutating func removeAll() { heap.removeAll { _ in true } }
}
