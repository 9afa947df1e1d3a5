internal import Dispatch
internal import Synchronization

/// Does pieces of work on several threads and gives their results back in their order.
///
/// A thread takes the next unassigned piece, so that the pieces of a worker are in order, as
/// timelines want them to.
///
/// SAFETY: one thread at a time has a worker; handing it over goes through the lock.
package final class OrderedPipeline<Worker, Job: Sendable, Output: Sendable>: @unchecked Sendable {
  private struct State {
    var waiting: [(number: Int, job: Job)] = []
    var done: [Int: (Job, Output)] = [:]
    /// Workers that no thread uses.
    var idle: [Int]
  }

  private let state: Lock<State>
  private let changed = DispatchSemaphore(value: 0)
  private let work: @Sendable (Job, inout Worker) -> Output
  private let limit: Int
  private var workers: [Box]
  /// The worker of the thread that takes; nil if that thread only waits.
  private let ownWorker: Int?
  /// Counted by the one who submits and takes.
  private var submitted = 0
  private var taken = 0

  private final class Box {
    var worker: Worker
    init(_ worker: Worker) { self.worker = worker }
  }

  /// - Parameters:
  ///   - threads: the number of workers, each on a thread of Dispatch's pool.
  ///   - takerWorks: whether the thread that takes is one of these threads: it works on pieces
  ///     while the result that it takes is not there.
  package init(
    threads: Int, takerWorks: Bool = false, makeWorker: () -> Worker,
    work: @escaping @Sendable (Job, inout Worker) -> Output
  ) {
    workers = (0..<threads).map { _ in Box(makeWorker()) }
    ownWorker = takerWorks ? threads - 1 : nil
    state = Lock(State(idle: Array(0..<(takerWorks ? threads - 1 : threads))))
    self.work = work
    limit = threads * 2 + 1
  }

  /// Whether a result has to be taken before the next piece is submitted.
  package var isFull: Bool { submitted - taken >= limit }
  package var hasMore: Bool { submitted > taken }

  package func submit(_ job: Job) {
    let number = submitted
    submitted += 1
    let index = state.withLock { state -> Int? in
      state.waiting.append((number, job))
      return state.idle.popLast()
    }
    guard let index else { return }
    DispatchQueue.global(qos: .userInitiated).async { self.run(index) }
  }

  /// The next result in the order of submission, once it is there; nil when there is none.
  package func take() -> (Job, Output)? {
    guard hasMore else { return nil }
    let number = taken
    taken += 1
    while true {
      if let done = state.withLock({ $0.done.removeValue(forKey: number) }) { return done }
      if let ownWorker, runNext(ownWorker) { continue }
      changed.wait()
    }
  }

  /// The workers, when everything was taken and they rest.
  package func finish() -> [Worker] {
    let count = ownWorker == nil ? workers.count : workers.count - 1
    while state.withLock({ $0.idle.count < count }) { changed.wait() }
    return workers.map(\.worker)
  }

  private func run(_ index: Int) {
    while runNext(index) { changed.signal() }
    // Asked again together with resting: a piece may have been submitted since.
    let rests = state.withLock { state -> Bool in
      guard state.waiting.isEmpty else { return false }
      state.idle.append(index)
      return true
    }
    if !rests { return run(index) }
    changed.signal()
  }

  /// Works on the next piece, if one is waiting.
  private func runNext(_ index: Int) -> Bool {
    let next = state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
    guard let (number, job) = next else { return false }
    let output = work(job, &workers[index].worker)
    state.withLock { $0.done[number] = (job, output) }
    return true
  }
}
