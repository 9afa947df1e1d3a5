internal import Crypto
internal import Synchronization

/// What was answered to writes with an `Idempotency-Key`, as long as the process lives: the last
/// ``limit`` of them.
final class IdempotencyKeys: Sendable {
  enum Found: Sendable {
    /// The caller is to write, and to call ``finish(_:_:)``.
    case new
    case isUnderWay
    case isOfAnotherBody
    case answered([UInt8])
  }

  private struct Entry {
    let digest: [UInt8]
    var answer: [UInt8]?
  }

  private struct State {
    var entries: [String: Entry] = [:]
    var order: [String] = []
    var oldest = 0
  }

  static let limit = 100_000

  private let state = Mutex(State())

  func begin(_ key: String, _ body: some Sequence<UInt8>) -> Found {
    let digest = Array(SHA256.hash(data: Array(body)))
    return state.withLock { state in
      if let entry = state.entries[key] {
        if entry.digest != digest { return .isOfAnotherBody }
        return entry.answer.map { .answered($0) } ?? .isUnderWay
      }
      state.entries[key] = Entry(digest: digest)
      state.order.append(key)
      if state.order.count - state.oldest > Self.limit {
        state.entries[state.order[state.oldest]] = nil
        state.oldest += 1
        if state.oldest > Self.limit {
          state.order.removeFirst(state.oldest)
          state.oldest = 0
        }
      }
      return .new
    }
  }

  /// - Parameter answer: nil for a write that failed, which may be made again.
  func finish(_ key: String, _ answer: [UInt8]?) {
    state.withLock { state in
      if let answer {
        state.entries[key]?.answer = answer
      } else {
        state.entries[key] = nil
      }
    }
  }
}
