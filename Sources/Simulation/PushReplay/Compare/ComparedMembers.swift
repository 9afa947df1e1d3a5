internal import PushFanout
internal import PushModel
internal import PushSupport
internal import Synchronization

/// Which members of a conversation are the same users in two worlds.
struct ComparedMembers {
  /// The numbers of A's members, and behind them those of members only in B.
  private(set) var users: [UInt32] = []
  /// For each rank in B that of A; nil when both lists are the same.
  private(set) var ranks: [Int32]?
  private(set) var countOfA = 0

  /// - Parameters:
  ///   - a: the numbers of the members in A.
  ///   - paired: those of the members in B.
  init(_ a: [UInt32], _ paired: [UInt32]) {
    users = a
    countOfA = a.count
    if paired == users { return }
    var rankOf: [UInt32: Int32] = [:]
    for (rank, user) in users.enumerated() { rankOf[user] = Int32(rank) }
    ranks = paired.map { user in
      if let rank = rankOf[user] { return rank }
      users.append(user)
      return Int32(users.count - 1)
    }
  }

  /// Puts the codes of B where the same users are in A, and 0 where a user is missing.
  func align(_ a: inout [UInt8], _ b: inout [UInt8]) {
    guard let ranks else { return }
    while a.count < users.count { a.append(0) }
    var aligned = [UInt8](repeating: 0, count: users.count)
    for (rank, code) in zip(ranks, b) { aligned[Int(rank)] = code }
    b = aligned
  }
}

/// Numbers for the users of two worlds, the same for all threads: the users that A knew at the
/// beginning have their indices there, all others numbers beyond. In worlds that are alike, all have
/// their indices.
final class ComparedUserNumbers: Sendable {
  /// How many users have their indices.
  let count: UInt32
  private let others = Lock(IdentifierTable())

  init(_ a: Fanout, isAlike: Bool) { count = isAlike ? .max : UInt32(a.userCount) }

  /// The number of a user that A did not know at the beginning.
  func number(_ id: Identifier) -> UInt32 {
    others.withLock { others in count + (others.index(of: id) ?? others.insert(id)) }
  }

  /// The id of a number.
  func id(_ number: UInt32, _ a: Fanout) -> Identifier {
    number < count ? a.id(of: UserIndex(number)) : others.withLock { $0[number - count] }
  }
}

/// The numbers of users by their indices in both worlds, as far as one thread has asked.
struct UserPairs {
  private let numbers: ComparedUserNumbers
  private var pairs: [UInt32] = []

  init(_ numbers: ComparedUserNumbers) { self.numbers = numbers }

  /// The numbers of users of A.
  func numbers(ofA users: some Collection<UserIndex>, _ a: FanoutTimeline) -> [UInt32] {
    users.map { $0.rawValue < numbers.count ? $0.rawValue : numbers.number(a.id(of: $0)) }
  }

  /// The numbers of users of B.
  ///
  /// - Complexity: O(users), and O(users that have come since) once.
  mutating func numbers(
    ofB users: some Collection<UserIndex>, _ a: FanoutTimeline, _ b: FanoutTimeline
  ) -> [UInt32] {
    users.map { user in
      while pairs.count <= Int(user.rawValue) {
        let id = b.id(of: UserIndex(UInt32(pairs.count)))
        let known = a.user(id)?.rawValue ?? .max
        pairs.append(known < numbers.count ? known : numbers.number(id))
      }
      return pairs[Int(user.rawValue)]
    }
  }
}
