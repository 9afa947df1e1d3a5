internal import PushSupport
internal import Synchronization

/// Wakes those who follow the change feed when there may be more of it.
final class FeedBell: Sendable {
  private struct State {
    var rings: UInt64 = 0
    /// The last entry of the feed that the engine follows.
    var last: Int64 = 0
    var isClosed = false
    var nextWaiter: UInt64 = 0
    var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    /// Those who were cancelled before they waited.
    var cancelled: Set<UInt64> = []
  }

  private let state = Lock(State())

  /// How often it has rung: to be read before the feed is.
  var rings: UInt64 { state.withLock { $0.rings } }
  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// The last entry of the feed that followers may be told of: the engine decides by it.
  var last: Int64 { state.withLock { $0.last } }

  /// - Parameter last: the number of the last entry that the engine follows.
  func ring(_ last: Int64) {
    wakeAll { state in
      state.rings += 1
      state.last = last
    }
  }

  /// Nobody waits any more.
  func close() { wakeAll { $0.isClosed = true } }

  private func wakeAll(_ change: (inout State) -> Void) {
    let waiters = state.withLock { state in
      change(&state)
      defer { state.waiters = [:] }
      return state.waiters
    }
    for waiter in waiters.values { waiter.resume() }
  }

  /// Waits until it has rung since `rings` was read, was closed, or the task is cancelled.
  func wait(since rings: UInt64) async {
    let waiter = state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if state.cancelled.remove(waiter) != nil || state.isClosed || state.rings != rings {
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
