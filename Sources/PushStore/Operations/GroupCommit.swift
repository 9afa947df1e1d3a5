internal import Dispatch
internal import Foundation
internal import PushSupport
internal import Synchronization

/// Writes of many callers, committed together: while one commit waits for the disk, the next ones
/// gather.
final class GroupCommit<Job: Sendable>: Sendable {
  private struct State {
    var jobs: [Job] = []
    var isScheduled = false
    /// How many jobs were added, and how many are done.
    var added = 0
    var done = 0
    /// The next commit does not begin before.
    var notBefore = ContinuousClock.now
  }

  private let state = Lock(State())
  private let queue = DispatchQueue(label: "push-fanout.store.writer")
  private let commit: @Sendable ([Job]) -> Void
  /// From the beginning of a commit to that of the next one, at least.
  private let interval: Duration
  private let pause: @Sendable (Duration) -> Void
  /// So many jobs a commit has at most, so that the first need not wait for all.
  private static var largestBatch: Int { 1024 }

  /// - Parameters:
  ///   - interval: from the beginning of a commit to that of the next one, at least: jobs that are
  ///     added meanwhile are committed together. After a pause a job is committed at once.
  ///   - pause: waits for the rest of an interval.
  ///   - commit: does the jobs and resumes their callers; one call at a time.
  init(
    interval: Duration = .zero,
    pause: @escaping @Sendable (Duration) -> Void = {
      Thread.sleep(forTimeInterval: $0 / .seconds(1))
    },
    _ commit: @escaping @Sendable ([Job]) -> Void
  ) {
    self.interval = interval
    self.pause = pause
    self.commit = commit
  }

  func add(_ job: Job) {
    let starts = state.withLock { state in
      state.jobs.append(job)
      state.added += 1
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
    if starts { queue.async { self.drain() } }
  }

  /// Commits once. The next commit is queued separately, so that ``sync(_:)`` runs between
  /// two of them, however many writes there are.
  private func drain() {
    if interval > .zero {
      let rest = state.withLock { $0.notBefore } - .now
      if rest > .zero { pause(rest) }
      state.withLock { $0.notBefore = .now + interval }
    }
    let batch = state.withLock { state in
      let batch = Array(state.jobs.prefix(Self.largestBatch))
      state.jobs.removeFirst(batch.count)
      return batch
    }
    commit(batch)
    let goesOn = state.withLock { state in
      state.done += batch.count
      state.isScheduled = !state.jobs.isEmpty
      return state.isScheduled
    }
    if goesOn { queue.async { self.drain() } }
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
