internal import PushSupport
internal import Synchronization

/// Wakes the followers of the change feed when it may have new entries.
final class ChangeFeedNotifier: Sendable {
  private struct State {
    var notifications: UInt64 = 0
    /// The last entry of the feed that the engine follows.
    var last: Int64 = 0
    var isClosed = false
    /// Why the engine follows no more entries.
    var failure: StoreError?
    var nextWaiter: UInt64 = 0
    var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    /// Waiters that were cancelled before they waited.
    var cancelled: Set<UInt64> = []
  }

  private let state = Lock(State())

  /// The number of notifications so far. Read it before the feed, and wait for the next one.
  var notifications: UInt64 { state.withLock { $0.notifications } }
  var isClosed: Bool { state.withLock { $0.isClosed } }

  var failure: StoreError? { state.withLock { $0.failure } }

  /// The number of the last entry that followers may be given: the engine decides by it.
  var last: Int64 { state.withLock { $0.last } }

  /// - Parameter last: the number of the last entry that the engine follows.
  func notify(_ last: Int64) {
    wakeAll { state in
      state.notifications += 1
      state.last = last
    }
  }

  /// Ends all waits, and those that would begin later.
  func close() { wakeAll { $0.isClosed = true } }

  /// Ends all waits, as there will be nothing to wait for.
  func fail(_ error: StoreError) { wakeAll { $0.failure = error } }

  private func wakeAll(_ change: (inout State) -> Void) {
    let waiters = state.withLock { state in
      change(&state)
      defer { state.waiters = [:] }
      return state.waiters
    }
    for waiter in waiters.values { waiter.resume() }
  }

  /// Waits until there is a notification after the number `notifications` was read, the notifier is
  /// closed or has failed, or the task is cancelled.
  func wait(since notifications: UInt64) async {
    let waiter = state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if state.cancelled.remove(waiter) != nil || state.isClosed || state.failure != nil
            || state.notifications != notifications
          {
            return true
          }
          state.waiters[waiter] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      let continuation = state.withLock { state in
        let continuation = state.waiters.removeValue(forKey: waiter)
        if continuation == nil { state.cancelled.insert(waiter) }
        return continuation
      }
      continuation?.resume()
    }
    state.withLock { _ = $0.cancelled.remove(waiter) }
  }
}
