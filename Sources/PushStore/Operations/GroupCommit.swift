internal import Dispatch
internal import PushSupport
internal import Synchronization

/// Writes of many callers, committed together: while one commit waits for the disk, the next ones
/// gather.
final class GroupCommit<Job: Sendable>: Sendable {
  private struct State {
    var jobs: [Job] = []
    var isScheduled = false
  }

  private let state = Lock(State())
  private let queue = DispatchQueue(label: "push-fanout.store.writer")
  private let commit: @Sendable ([Job]) -> Void
  /// So many jobs a commit has at most, so that the first need not wait for all.
  private static var largestBatch: Int { 1024 }

  /// - Parameter commit: does the jobs and resumes their callers; one call at a time.
  init(_ commit: @escaping @Sendable ([Job]) -> Void) { self.commit = commit }

  func add(_ job: Job) {
    let starts = state.withLock { state in
      state.jobs.append(job)
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
    if starts { queue.async { self.drain() } }
  }

  private func drain() {
    while true {
      let batch = state.withLock { state in
        let batch = Array(state.jobs.prefix(Self.largestBatch))
        state.jobs.removeFirst(batch.count)
        state.isScheduled = !batch.isEmpty
        return batch
      }
      if batch.isEmpty { return }
      commit(batch)
    }
  }

  /// Waits until what was added before is done, and does `body` between two commits.
  func sync<Value>(_ body: () throws -> Value) rethrows -> Value { try queue.sync(execute: body) }
}
