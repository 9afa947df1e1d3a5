internal import Dispatch
internal import Synchronization

/// Work on several threads whose results come in order, whatever the number of threads.
enum Parallel {
  /// A number of threads that pays: each has pieces of work in memory.
  static func useful(_ threads: Int) -> Int { max(1, min(64, threads)) }

  /// The results of 0 ..< `count`.
  static func map<Result: Sendable>(
    _ count: Int, threads: Int, _ work: @Sendable (Int) -> Result
  ) -> [Result] {
    let threads = min(threads, count)
    if threads <= 1 { return (0..<count).map(work) }
    let results = Mutex([Result?](repeating: nil, count: count))
    let next = Atomic(0)
    DispatchQueue.concurrentPerform(iterations: threads) { _ in
      while true {
        let place = next.add(1, ordering: .relaxed).oldValue
        if place >= count { return }
        let result = work(place)
        results.withLock { $0[place] = result }
      }
    }
    return results.withLock { $0.compactMap { $0 } }
  }
}
