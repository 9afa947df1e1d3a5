internal import Dispatch
internal import Synchronization

/// Does pieces of work on several threads and gives their results back in their order.
///
/// A thread takes the next piece that is not reserved for another worker, so that the pieces of a
/// worker are in order, as timelines want them to.
///
/// SAFETY: one thread at a time has a worker; handing it over goes through the lock.
package final class OrderedPipeline<Worker, Job: Sendable, Output: Sendable>: @unchecked Sendable {
  private struct State {
    /// The worker is nil if any may do the piece.
    var waiting: [(number: Int, job: Job, worker: Int?)] = []
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
  ///   - depth: how many pieces a worker there may be that are not taken. More keep workers busy
  ///     whose pieces differ in size.
  package init(
    threads: Int, takerWorks: Bool = false, depth: Int = 2, makeWorker: () -> Worker,
    work: @escaping @Sendable (Job, inout Worker) -> Output
  ) {
    workers = (0..<threads).map { _ in Box(makeWorker()) }
    ownWorker = takerWorks ? threads - 1 : nil
    state = Lock(State(idle: Array(0..<(takerWorks ? threads - 1 : threads))))
    self.work = work
    limit = threads * depth + 1
  }

  /// The number of workers.
  package var threadCount: Int { workers.count }

  /// Whether a result has to be taken before the next piece is submitted.
  package var isFull: Bool { submitted - taken >= limit }
  package var hasMore: Bool { submitted > taken }

  /// - Parameter worker: the only worker that may do the piece, below ``threadCount``; nil for any.
  /// - Precondition: without a worker that takes, if `worker` is given.
  package func submit(_ job: Job, to worker: Int? = nil) {
    precondition(worker == nil || ownWorker == nil, "the worker that takes may rest")
    let number = submitted
    submitted += 1
    let index = state.withLock { state -> Int? in
      state.waiting.append((number, job, worker))
      guard let worker else { return state.idle.popLast() }
      return state.idle.firstIndex(of: worker).map { state.idle.remove(at: $0) }
    }
    guard let index else { return }
    ThreadSupply.start { self.run(index) }
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
      guard Self.nextPiece(of: index, state) == nil else { return false }
      state.idle.append(index)
      return true
    }
    if !rests { return run(index) }
    changed.signal()
  }

  /// Works on the next piece, if one is waiting.
  private func runNext(_ index: Int) -> Bool {
    let next = state.withLock { state in
      Self.nextPiece(of: index, state).map { state.waiting.remove(at: $0) }
    }
    guard let (number, job, _) = next else { return false }
    let output = work(job, &workers[index].worker)
    state.withLock { $0.done[number] = (job, output) }
    return true
  }

  /// Where the next piece stands that a worker may do.
  private static func nextPiece(of worker: Int, _ state: State) -> Int? {
    state.waiting.firstIndex { $0.worker == nil || $0.worker == worker }
  }
}
