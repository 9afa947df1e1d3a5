internal import Algorithms

/// Changes of members by later versions than the one that a conversation's keys are of, and those
/// that were applied, for readers of earlier versions.
struct PendingChanges {
  enum Subject {
    /// The settings of a user changed.
    case settings(UInt32)
    /// The presence of a user changed, who probably stands at a rank.
    case presence(UInt32, near: UInt32)
    /// Too much changed to be kept.
    case everyone

    /// The user, nil for everyone, and the rank to look at first, `max` if settings changed.
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

  /// Delivered and not applied, in the order of versions.
  private(set) var pending: [Change] = []
  /// The versions whose changes were too many to keep: what holds from the last on is known, but not
  /// what holds for each of them.
  private(set) var dropped: Range<UInt64> = .max ..< .max
  /// The ranks of members that versions after ``appliedFrom`` changed, in the order of versions.
  private var applied: [(number: UInt64, rank: UInt32)] = []
  private var appliedFrom: UInt64

  /// - Parameter number: the version of the keys.
  init(_ number: UInt64) { appliedFrom = number }

  /// The first version that changes something; `max` for none.
  var first: UInt64 { min(pending.first?.number ?? .max, dropped.lowerBound) }

  /// Whether it is known what a version changes.
  func covers(_ number: UInt64) -> Bool { number >= appliedFrom && !dropped.contains(number) }

  /// - Parameter limit: more changes than these cost more than resolving all members again.
  mutating func add(_ subjects: some Sequence<Subject>, _ number: UInt64, limit: Int) {
    for subject in subjects { pending.append(Change(number: number, subject: subject)) }
    guard pending.count > limit else { return }
    dropped = min(dropped.lowerBound, pending[0].number)..<number
    pending = [Change(number: number, subject: .everyone)]
  }

  /// How many of ``pending`` are of versions up to one.
  func count(upTo number: UInt64) -> Int { pending.partitioningIndex { $0.number > number } }

  /// Takes out the first ones.
  mutating func removeFirst(_ count: Int) { pending.removeFirst(count) }

  /// Takes out those up to a version that are of presence, in front of all changes of settings, unless
  /// `body` says that one has to stay.
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

  /// Notes that a member was changed by a version.
  mutating func noteApplied(_ rank: UInt32, _ number: UInt64) { applied.append((number, rank)) }

  /// Notes that all members were changed by a version: nothing is known of earlier ones.
  mutating func noteAllApplied(_ number: UInt64) {
    (applied, appliedFrom, dropped) = ([], number, .max ..< .max)
  }

  /// Forgets the earlier half of what was applied when it is more than a number of changes.
  mutating func forgetApplied(above limit: Int) {
    guard applied.count > limit else { return }
    let half = applied.count / 2
    appliedFrom = applied[half - 1].number
    applied.removeSubrange(..<half)
  }

  /// The ranks of members that versions after one changed, with repetitions.
  func appliedAfter(_ number: UInt64) -> some Sequence<UInt32> {
    applied[applied.partitioningIndex { $0.number > number }...].lazy.map(\.rank)
  }

  /// Stops the process unless changes are in the order of versions.
  func checkInvariants(_ scope: InvariantScope) {
    for index in scope.indices(below: pending.count) where index > 0 {
      precondition(
        pending[index - 1].number <= pending[index].number,
        "PendingChanges: change \(index) is of an earlier version than the one before")
    }
  }
}
