internal import Algorithms

/// Changes later than a conversation's keys, and applied ones, for readers of earlier versions.
struct PendingChanges {
  enum Subject {
    /// A user's settings changed.
    case settings(UInt32)
    /// The presence of a user changed; `near` is the probable rank.
    case presence(UInt32, near: UInt32)
    /// There were too many changes to keep.
    case everyone

    /// The user, nil for everyone, and the probable rank, `max` if settings changed.
    var member: (user: UInt32?, near: UInt32) {
      switch self {
      case .settings(let user): (user, .max)
      case .presence(let user, let near): (user, near)
      case .everyone: (nil, .max)
      }
    }
  }

  struct Change {
    var number: UInt64
    var subject: Subject
  }

  /// Delivered but not applied, in the order of versions.
  private(set) var pending: [Change] = []
  /// Versions whose changes were too many to keep; only the state after the last is known.
  private(set) var dropped: Range<UInt64> = .max ..< .max
  /// Ranks that versions after ``appliedFrom`` changed, in the order of versions.
  private var applied: [(number: UInt64, rank: UInt32)] = []
  private var appliedFrom: UInt64

  init(_ number: UInt64) { appliedFrom = number }

  /// The first version with a pending change; `max` for none.
  var first: UInt64 { min(pending.first?.number ?? .max, dropped.lowerBound) }

  /// Whether a version's changes are known.
  func covers(_ number: UInt64) -> Bool { number >= appliedFrom && !dropped.contains(number) }

  /// - Parameter limit: with more changes, resolving all members again is cheaper.
  mutating func add(_ subjects: some Sequence<Subject>, _ number: UInt64, limit: Int) {
    for subject in subjects { pending.append(Change(number: number, subject: subject)) }
    guard pending.count > limit else { return }
    dropped = min(dropped.lowerBound, pending[0].number)..<number
    pending = [Change(number: number, subject: .everyone)]
  }

  func count(upTo number: UInt64) -> Int { pending.partitioningIndex { $0.number > number } }

  mutating func removeFirst(_ count: Int) { pending.removeFirst(count) }

  /// Takes out those before any change of settings for which `body` returns true.
  mutating func takePresence(
    _ number: UInt64, prefetch: (_ user: UInt32, _ rank: UInt32) -> Void,
    _ body: (_ user: UInt32, _ rank: UInt32) -> Bool
  ) {
    var all: [Change] = []
    swap(&all, &pending)
    var end = 0
    while end < all.count, all[end].number <= number,
      case .presence(let user, let rank) = all[end].subject
    {
      prefetch(user, rank)
      end += 1
    }
    var kept = 0
    for index in 0..<end {
      guard case .presence(let user, let rank) = all[index].subject else { break }
      if body(user, rank) { continue }
      all[kept] = all[index]
      kept += 1
    }
    all.removeSubrange(kept..<end)
    swap(&all, &pending)
  }

  mutating func noteApplied(_ rank: UInt32, _ number: UInt64) { applied.append((number, rank)) }

  /// Notes that a version changed all members, so earlier ones are not covered.
  mutating func noteAllApplied(_ number: UInt64) {
    (applied, appliedFrom, dropped) = ([], number, .max ..< .max)
  }

  mutating func forgetApplied(above limit: Int) {
    guard applied.count > limit else { return }
    let half = applied.count / 2
    appliedFrom = applied[half - 1].number
    applied.removeSubrange(..<half)
  }

  /// The ranks that versions after one changed, with repetitions.
  func appliedAfter(_ number: UInt64) -> some Sequence<UInt32> {
    applied[applied.partitioningIndex { $0.number > number }...].lazy.map(\.rank)
  }

  func checkInvariants(_ scope: InvariantScope) {
    for index in scope.indices(below: pending.count) where index > 0 {
      precondition(
        pending[index - 1].number <= pending[index].number,
        "PendingChanges: change \(index) is of an earlier version than the one before")
    }
  }
}
