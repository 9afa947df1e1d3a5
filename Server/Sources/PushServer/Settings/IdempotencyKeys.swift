internal import Synchronization

/// What was answered to writes with an `Idempotency-Key`, as long as the process lives: the last
/// ``limit`` of each caller.
final class IdempotencyKeys: Sendable {
  enum Found: Sendable {
    /// The caller is to write, and to call ``finish(_:of:_:)``.
    case new
    case isUnderWay
    case isOfAnotherBody
    case answered([UInt8])
  }

  fileprivate struct Entry {
    let digest: [UInt8]
    var answer: [UInt8]?
  }

  /// The writes of one caller. Others' take no place among them.
  fileprivate struct Writes {
    var entries: [String: Entry] = [:]
    /// Those that were answered: one that failed, or is under way, takes no place.
    var order: [String] = []
    var oldest = 0
  }

  static let limit = 100_000

  private let callers = Mutex<[String: Writes]>([:])

  func begin(_ key: String, of caller: String, _ body: some Sequence<UInt8>) -> Found {
    let digest = Secret.sha256(Array(body))
    return callers.withLock { callers in
      if let entry = callers[caller]?.entries[key] {
        if entry.digest != digest { return .isOfAnotherBody }
        return entry.answer.map { .answered($0) } ?? .isUnderWay
      }
      callers[caller, default: Writes()].entries[key] = Entry(digest: digest)
      return .new
    }
  }

  /// - Parameter answer: nil for a write that failed, which may be made again.
  func finish(_ key: String, of caller: String, _ answer: [UInt8]?) {
    callers.withLock { $0[caller, default: Writes()].finish(key, answer) }
  }
}

extension IdempotencyKeys.Writes {
  fileprivate mutating func finish(_ key: String, _ answer: [UInt8]?) {
    guard let answer else {
      entries[key] = nil
      return
    }
    entries[key]?.answer = answer
    order.append(key)
    guard order.count - oldest > IdempotencyKeys.limit else { return }
    entries[order[oldest]] = nil
    oldest += 1
    // In large steps, as each moves the rest.
    guard oldest > IdempotencyKeys.limit else { return }
    order.removeFirst(oldest)
    oldest = 0
  }
}
