internal import PushFanout
internal import PushModel

/// Which members of a conversation are the same users in two worlds.
struct ComparedMembers {
  /// The users of A, and behind them those only in B, in A's numbers or beyond them.
  private(set) var users: [UInt32] = []
  /// For each rank in B that of A; nil when both lists are the same.
  private(set) var ranks: [Int32]?
  private(set) var countOfA = 0

  /// - Parameter pair: gives the user of A for one of B.
  init(_ a: [UserIndex], _ b: [UserIndex], pair: (UserIndex) -> UInt32) {
    users = a.map(\.rawValue)
    countOfA = a.count
    let paired = b.map(pair)
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

/// Users of B by their numbers in A; who is not in A has a number of its own, counted down from the
/// top.
struct UserPairs {
  private var pairs: [UInt32] = []
  private var strangerNumbers: [Identifier: UInt32] = [:]
  private var strangers: [Identifier] = []
  /// How many users A had when the pairs were made.
  private var countOfA = 0

  /// - Complexity: O(users that have come since); O(users) when A has got more.
  mutating func pair(_ user: UserIndex, _ a: FanoutTimeline, _ b: FanoutTimeline) -> UInt32 {
    if a.userCount != countOfA {
      countOfA = a.userCount
      pairs.removeAll(keepingCapacity: true)
    }
    while pairs.count <= Int(user.rawValue) {
      let id = b.id(of: UserIndex(UInt32(pairs.count)))
      pairs.append(a.user(id)?.rawValue ?? stranger(id))
    }
    return pairs[Int(user.rawValue)]
  }

  private mutating func stranger(_ id: Identifier) -> UInt32 {
    if let known = strangerNumbers[id] { return known }
    let number = UInt32.max - UInt32(strangers.count)
    strangers.append(id)
    strangerNumbers[id] = number
    return number
  }

  /// The id of a number.
  func id(_ number: UInt32, _ a: FanoutTimeline) -> Identifier {
    Int(number) < a.userCount
      ? a.id(of: UserIndex(number)) : strangers[Int(UInt32.max - number)]
  }
}
