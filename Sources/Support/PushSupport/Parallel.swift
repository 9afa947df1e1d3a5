package import Dispatch
internal import Glibc
internal import Synchronization

/// Independent pieces of work on several threads of Dispatch's pool.
package enum Parallel {
  /// Calls `work` once with each of 0 ..< `count`, on at most `threads` threads, and returns when
  /// all calls have returned.
  ///
  /// Threads take the next piece when they are done with one, so pieces may be of different sizes.
  /// One thread, or one piece, runs on the caller's thread; so does everything where the system
  /// starts no more threads (``ThreadSupply``).
  package static func perform(
    _ count: Int, threads: Int, _ work: @Sendable (_ piece: Int) -> Void
  ) {
    let threads = threads <= 1 || count <= 1 ? 1 : min(threads, ThreadSupply.workers)
    if threads == 1 {
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
    ThreadSupply.start {
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

/// Whether the system starts threads for this process.
///
/// Where it does not (`ulimit -u`, a container's limit of processes, systemd's TasksMax), Dispatch
/// tries again each second, for ever, in the call that was to start one.
package enum ThreadSupply {
  /// Threads beside those that work: Dispatch's own, and one that shows how far the work is.
  private static let beside = 2

  /// How many cores the system has.
  package static let cores = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))

  /// How many threads may work at once, at least 1; without a limit where the system starts one for
  /// each core.
  package static let workers = started == wanted ? Int.max : max(1, started - beside)

  /// What to say where a program cannot do without a thread that is refused.
  package static let problem =
    "no thread can be started: \(SystemError(EAGAIN).message); raise the limit of processes "
    + "(ulimit -u, a container's pids, TasksMax), or end others"

  /// Whether there are threads enough to work on more than the caller's.
  package static var isEnough: Bool { started > beside }

  /// Does work on a thread of Dispatch's pool; on the caller's, before it returns, where there are not
  /// threads enough. Dispatch's `async` is called in no other place.
  ///
  /// - Parameter queue: a serial queue whose work does not call this with that queue.
  package static func start(
    on queue: DispatchQueue = .global(qos: .userInitiated), _ work: @escaping @Sendable () -> Void
  ) {
    if isEnough { queue.async(execute: work) } else { queue.sync(execute: work) }
  }

  /// Files that Dispatch may open at once.
  private static let files = 4
  private static let wanted = cores + beside

  /// How many threads of ``wanted`` could be started at once when this was first asked.
  private static let started: Int = {
    // Dispatch opens files for its threads, and ends the process where it cannot. Not /dev/null, which
    // not every container has.
    let opened = (0..<files).map { _ in unsafe open("/", O_RDONLY | O_CLOEXEC) }
    for file in opened where file >= 0 { close(file) }
    if opened.contains(where: { $0 < 0 }) { return 0 }
    // SAFETY: initialized before a thread is started, and destroyed when all have ended.
    let isOver = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    unsafe sem_init(isOver, 0, 0)
    defer {
      unsafe sem_destroy(isOver)
      unsafe isOver.deallocate()
    }
    var threads: [pthread_t] = []
    for _ in 0..<wanted {
      var thread = pthread_t()
      let error = unsafe pthread_create(
        &thread, nil,
        { isOver in
          while unsafe sem_wait(isOver!.assumingMemoryBound(to: sem_t.self)) != 0 {}
          return nil
        }, isOver)
      guard error == 0 else { break }
      threads.append(thread)
    }
    for _ in threads { unsafe sem_post(isOver) }
    for thread in threads { pthread_join(thread, nil) }
    return threads.count
  }()
}
