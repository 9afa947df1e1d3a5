internal import Dispatch
internal import PushSupport
internal import Synchronization

/// Writes of many callers, committed together: while one commit waits for the disk, the next ones
/// gather.
final class GroupCommit<Job: Sendable>: Sendable {
  private struct State {
    var jobs: [Job] = []
    /// Memory for the next ones.
    var spare: [Job] = []
    var isScheduled = false
    /// Whether a commit is waiting for more jobs.
    var isGathering = false
    /// How many jobs were added, and how many are done.
    var added = 0
    var done = 0
    var lastAdded = DispatchTime.now()
    /// The next commit need not wait for more jobs after that.
    var latest = DispatchTime.now()
  }

  private let state = Lock(State())
  private let queue = DispatchQueue(label: "push-fanout.store.writer")
  private let commit: @Sendable ([Job]) -> Void
  private let interval, gap: Duration
  /// Signalled when a commit that gathers jobs has enough of them.
  private let enough = DispatchSemaphore(value: 0)
  /// So many jobs are worth a commit: more of them make each hardly cheaper.
  static var worthACommit: Int { 32 }
  /// So many jobs a commit has at most, so that the first need not wait for all.
  private static var largestBatch: Int { 1024 }

  /// - Parameters:
  ///   - interval: a commit begins so long after the last one began, or before, when
  ///     ``worthACommit`` jobs wait or none was added for `gap`. After a pause a job is committed
  ///     at once.
  ///   - gap: at most 5 ms by default; it grows while jobs keep coming.
  ///   - commit: does the jobs and resumes their callers; one call at a time.
  init(
    interval: Duration = .zero, gap: Duration? = nil, _ commit: @escaping @Sendable ([Job]) -> Void
  ) {
    self.interval = interval
    self.gap = gap ?? min(interval, .milliseconds(5))
    self.commit = commit
  }

  func add(_ job: Job) {
    let (starts, isEnough) = state.withLock { state in
      let (starts, isEnough) = (!state.isScheduled, state.jobs.count + 1 >= Self.worthACommit)
      state.jobs.append(job)
      state.added += 1
      state.lastAdded = .now()
      state.isScheduled = true
      defer { if isEnough { state.isGathering = false } }
      return (starts, isEnough && state.isGathering)
    }
    if starts { ThreadSupply.start(on: queue) { self.drain() } }
    if isEnough { enough.signal() }
  }

  /// Waits until a commit is due.
  private func gather() {
    var pause = gap
    while true {
      let due = state.withLock { state -> DispatchTime? in
        let due = min(state.latest, state.lastAdded + pause)
        state.isGathering = state.jobs.count < Self.worthACommit && due > .now()
        return state.isGathering ? due : nil
      }
      guard let due else { break }
      if enough.wait(timeout: due) == .timedOut {
        let (isSignalled, isStream) = state.withLock { state in
          defer { state.isGathering = false }
          return (!state.isGathering, state.lastAdded + gap / 2 > .now())
        }
        // The signal is under way.
        if isSignalled { enough.wait() }
        // Jobs that keep coming would have it wake up after every gap.
        if isStream { pause = pause * 2 }
      }
    }
    state.withLock { $0.latest = .now() + interval }
  }

  /// Commits once. The next commit is queued separately, so that ``sync(_:)`` runs between
  /// two of them, however many writes there are.
  private func drain() {
    if interval > .zero { gather() }
    var batch = state.withLock { state in
      var rest = exchange(&state.spare, with: [])
      if state.jobs.count > Self.largestBatch {
        rest += state.jobs[Self.largestBatch...]
        state.jobs.removeLast(rest.count)
      }
      return exchange(&state.jobs, with: rest)
    }
    let count = batch.count
    commit(batch)
    batch.removeAll(keepingCapacity: true)
    let goesOn = state.withLock { state in
      state.done += count
      state.spare = batch
      state.isScheduled = !state.jobs.isEmpty
      return state.isScheduled
    }
    guard goesOn else { return }
    if ThreadSupply.isEnough { ThreadSupply.start(on: queue) { self.drain() } } else { drain() }
  }

  /// Waits until what was added before is done, and does `body` between two commits.
  func sync<Value>(_ body: () throws -> Value) rethrows -> Value {
    let target = state.withLock { $0.added }
    while true {
      let value: Value? = try queue.sync {
        state.withLock { $0.done >= target } ? try body() : nil
      }
      if let value { return value }
    }
  }
}

extension DispatchTime {
  fileprivate static func + (time: DispatchTime, duration: Duration) -> DispatchTime {
    time + DispatchTimeInterval.nanoseconds(Int(duration / Duration.nanoseconds(1)))
  }
}
