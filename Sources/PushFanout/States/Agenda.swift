/// What will change by itself, the next first: users, and the instants at which to look again.
///
/// A binary heap. A user may stand in it for nothing: looking again does no harm.
struct Agenda {
  struct Entry {
    /// Milliseconds since the epoch.
    var at: Int64
    var user: UInt32
  }

  private var heap: [Entry] = []

  var next: Int64? { heap.first?.at }
  var byteCount: Int { heap.capacity * MemoryLayout<Entry>.stride }

  mutating func add(_ entry: Entry) {
    heap.append(entry)
    var place = heap.count - 1
    while place > 0 {
      let parent = (place - 1) / 2
      if heap[parent].at <= heap[place].at { return }
      heap.swapAt(parent, place)
      place = parent
    }
  }

  /// Takes the next entry out if its instant is not after `now`.
  mutating func pop(upTo now: Int64) -> Entry? {
    guard let first = heap.first, first.at <= now else { return nil }
    let last = heap.removeLast()
    if heap.isEmpty { return first }
    heap[0] = last
    var place = 0
    while true {
      var least = place
      for child in [2 * place + 1, 2 * place + 2] where child < heap.count {
        if heap[child].at < heap[least].at { least = child }
      }
      if least == place { return first }
      heap.swapAt(least, place)
      place = least
    }
  }

  mutating func removeAll() { heap.removeAll(keepingCapacity: true) }
}
