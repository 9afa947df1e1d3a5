internal import Dispatch
internal import Synchronization

/// Independent pieces of work on several threads of Dispatch's pool.
package enum Parallel {
  /// Calls `work` once with each of 0 ..< `count`, on at most `threads` threads, and returns when
  /// all calls have returned.
  ///
  /// Threads take the next piece when they are done with one, so pieces may be of different sizes.
  /// One thread, or one piece, runs on the caller's thread.
  package static func perform(
    _ count: Int, threads: Int, _ work: @Sendable (_ piece: Int) -> Void
  ) {
    if threads <= 1 || count <= 1 {
      for piece in 0..<max(0, count) { work(piece) }
    } else if count <= threads {
      DispatchQueue.concurrentPerform(iterations: count, execute: work)
    } else {
      let next = Atomic(0)
      DispatchQueue.concurrentPerform(iterations: threads) { _ in
        while true {
          let piece = next.add(1, ordering: .relaxed).oldValue
          if piece >= count { return }
          work(piece)
        }
      }
    }
  }

  /// The results of `work` for 0 ..< `count`, in that order, whatever the number of threads.
  package static func map<Result: Sendable>(
    _ count: Int, threads: Int, _ work: @Sendable (_ piece: Int) -> Result
  ) -> [Result] {
    if threads <= 1 || count <= 1 { return (0..<max(0, count)).map(work) }
    let results = Lock([Result?](repeating: nil, count: count))
    perform(count, threads: threads) { piece in
      let result = work(piece)
      results.withLock { $0[piece] = result }
    }
    return results.withLock { $0.compactMap { $0 } }
  }

  /// Does two things at once, the second on the caller's thread, and waits for both.
  package static func both<First: Sendable, Second>(
    _ first: @escaping @Sendable () throws -> First, _ second: () throws -> Second
  ) -> (Result<First, any Error>, Result<Second, any Error>) {
    let found = Lock<Result<First, any Error>?>(nil)
    let done = DispatchSemaphore(value: 0)
    DispatchQueue.global(qos: .userInitiated).async {
      let result = Result { try first() }
      found.withLock { $0 = result }
      done.signal()
    }
    let second = Result { try second() }
    done.wait()
    guard let first = found.withLock({ $0 }) else { preconditionFailure("nothing was done") }
    return (first, second)
  }
}
