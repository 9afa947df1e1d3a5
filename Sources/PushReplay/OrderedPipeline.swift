internal import Dispatch
internal import PushSupport
internal import Synchronization

/// Does pieces of work on several threads and gives their results back in their order.
///
/// A thread takes the next unassigned piece, so that the pieces of a worker are in order, as
/// timelines want them to.
///
/// SAFETY: one thread at a time has a worker; handing it over goes through the lock.
final class OrderedPipeline<Worker, Job: Sendable, Output: Sendable>: @unchecked Sendable {
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
  /// Counted by the one who submits and takes.
  private var submitted = 0
  private var taken = 0

  private final class Box {
    var worker: Worker
    init(_ worker: Worker) { self.worker = worker }
  }

  init(
    threads: Int, makeWorker: () -> Worker, work: @escaping @Sendable (Job, inout Worker) -> Output
  ) {
    workers = (0..<threads).map { _ in Box(makeWorker()) }
    state = Lock(State(idle: Array(0..<threads)))
    self.work = work
    limit = threads * 2 + 1
  }

  /// Whether a result has to be taken before the next piece is submitted.
  var isFull: Bool { submitted - taken >= limit }
  var hasMore: Bool { submitted > taken }

  func submit(_ job: Job) {
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
  func take() -> (Job, Output)? {
    guard hasMore else { return nil }
    let number = taken
    taken += 1
    while true {
      if let done = state.withLock({ $0.done.removeValue(forKey: number) }) { return done }
      changed.wait()
    }
  }

  /// The workers, when everything was taken and they rest.
  func finish() -> [Worker] {
    while state.withLock({ $0.idle.count < workers.count }) { changed.wait() }
    return workers.map(\.worker)
  }

  private func run(_ index: Int) {
    while true {
      let next = state.withLock { state -> (number: Int, job: Job)? in
        if state.waiting.isEmpty {
          state.idle.append(index)
          return nil
        }
        return state.waiting.removeFirst()
      }
      guard let (number, job) = next else {
        changed.signal()
        return
      }
      let output = work(job, &workers[index].worker)
      state.withLock { $0.done[number] = (job, output) }
      changed.signal()
    }
  }
}
