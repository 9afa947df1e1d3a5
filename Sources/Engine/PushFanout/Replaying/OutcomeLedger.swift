internal import Algorithms

/// How often each member got each pair of outcomes, on two timelines with different settings. The
/// cost of a message does not depend on the number of members.
///
/// Members in a pair of states get the same outcomes, so messages are counted by table of outcomes.
/// What a member got is the difference of these counts since it entered the pair (an *epoch*),
/// given out when it leaves the pair or the ledger is closed. Outcomes of senders and mentioned
/// users are given out at once.
///
/// A conversation that is the same on both sides has a ledger of one side.
///
/// - Memory: 11 bytes a member, and one more for the second side.
package struct OutcomeLedger {
  /// Takes how often more, or less if negative, a user got a pair of codes.
  package typealias Emit = (_ user: UInt32, _ a: UInt8, _ b: UInt8, _ count: Int) -> Void

  /// The members of both sides.
  package struct Members {
    /// Names of the members of A, then of those only in B.
    let users: [UInt32]
    /// The index in ``users`` of each rank in B; nil if equal.
    let ranksOfB: [Int32]?

    package init(_ users: [UInt32], ranksOfB: [Int32]? = nil) {
      self.users = users
      self.ranksOfB = ranksOfB
    }
  }

  /// A member whose outcome is not the state's.
  struct Correction {
    fileprivate var member: UInt32
    fileprivate var isOfB: Bool
    fileprivate var code: UInt8
  }

  private let keys: (a: MemberListKey, b: MemberListKey?)
  private let members: Members
  private var a: FollowedMembers
  private var b: FollowedMembers?
  /// The last calls of ``FollowedMembers/takeChangedStates(since:_:)``.
  private var taken: (a: Int, b: Int) = (0, 0)
  /// By member, the state in A plus 256 times that in B.
  private var pairs: [UInt16]
  /// Members by pair; only for two sides.
  private var sizes: [(pair: UInt16, count: Int)] = []
  /// By table, codes by state of A, then of B.
  private var tables: [UInt8] = []
  private let width: (a: Int, b: Int)
  /// The number of messages by table.
  private var counts: [UInt32] = []
  /// ``counts`` at each epoch's beginning, their bounds, and each member's epoch.
  private var epochs: [UInt32] = []
  private var starts = [0, 0]
  private var epochOf: [UInt32]
  /// Whether the last epoch has a message.
  private var hasNewCounts = false

  init(
    _ a: DecidedConversation, _ b: DecidedConversation?, _ members: Members
  ) {
    keys = (a.key, b?.key)
    width = (a.stateCapacity, b?.stateCapacity ?? 0)
    self.members = members
    self.a = a.members
    self.b = b?.members
    pairs = [UInt16](repeating: 0, count: members.users.count)
    epochOf = [UInt32](repeating: 0, count: members.users.count)
    taken.a = a.members.takeChangedStates(since: nil) { rank, state in pairs[rank] = UInt16(state) }
    guard let b else { return }
    taken.b = b.members.takeChangedStates(since: nil) { rank, state in
      pairs[position(ofB: rank)] |= UInt16(state) << 8
    }
    for pair in pairs { resize(pair, by: 1) }
  }

  func isOf(_ a: DecidedConversation, _ b: DecidedConversation?) -> Bool {
    keys.a == a.key && keys.b == b?.key
  }

  private func position(ofB rank: Int) -> Int { members.ranksOfB.map { Int($0[rank]) } ?? rank }

  private mutating func resize(_ pair: UInt16, by count: Int) {
    for index in sizes.indices where sizes[index].pair == pair {
      sizes[index].count += count
      return
    }
    sizes.append((pair, count))
  }

  // MARK: Giving out

  /// Gives out what all members got, and starts again.
  ///
  /// - Complexity: O(members).
  package mutating func flush(_ emit: Emit) {
    for member in pairs.indices { give(member, emit) }
    for member in epochOf.indices { epochOf[member] = 0 }
    (tables, counts, epochs, starts, hasNewCounts) = ([], [], [], [0, 0], false)
  }

  private func give(_ member: Int, _ emit: Emit) {
    let epoch = Int(epochOf[member])
    let (start, known) = (starts[epoch], starts[epoch + 1] - starts[epoch])
    // Tables with the same outcome are emitted in one step.
    var found: (a: UInt8, b: UInt8, count: UInt32) = (0, 0, 0)
    for table in counts.indices {
      let count = counts[table] - (table < known ? epochs[start + table] : 0)
      if count == 0 { continue }
      let (a, b) = codes(pairs[member], table)
      if (a, b) != (found.a, found.b) {
        if found.a | found.b != 0 {
          emit(members.users[member], found.a, found.b, Int(found.count))
        }
        found = (a, b, 0)
      }
      found.count += count
    }
    if found.a | found.b != 0 { emit(members.users[member], found.a, found.b, Int(found.count)) }
  }

  @inline(__always)
  private func codes(_ pair: UInt16, _ table: Int) -> (a: UInt8, b: UInt8) {
    let start = table * (width.a + width.b)
    let code = tables[start + Int(pair & 255)]
    return (code, width.b == 0 ? code : tables[start + width.a + Int(pair >> 8)])
  }

  private mutating func move(_ member: Int, to pair: UInt16, _ emit: Emit) {
    give(member, emit)
    if b != nil {
      resize(pairs[member], by: -1)
      resize(pair, by: 1)
    }
    pairs[member] = pair
    if hasNewCounts {
      epochs += counts
      starts.append(epochs.count)
      hasNewCounts = false
    }
    epochOf[member] = UInt32(starts.count - 2)
  }

  // MARK: Messages

  /// - Complexity: O(members whose state changed since the last message).
  mutating func follow(_ a: DecidedConversation, _ b: DecidedConversation?, _ emit: Emit) {
    taken.a = a.members.takeChangedStates(since: a.members === self.a ? taken.a : nil) {
      rank, state in
      set(rank, to: pairs[rank] & 0xFF00 | UInt16(state), emit)
    }
    self.a = a.members
    guard let b else { return }
    taken.b = b.members.takeChangedStates(since: b.members === self.b ? taken.b : nil) {
      rank, state in
      let member = position(ofB: rank)
      set(member, to: pairs[member] & 0xFF | UInt16(state) << 8, emit)
    }
    self.b = b.members
  }

  private mutating func set(_ member: Int, to pair: UInt16, _ emit: Emit) {
    if pairs[member] != pair { move(member, to: pair, emit) }
  }

  /// - Returns: the number of the message's table.
  mutating func add(
    _ a: UnsafePointer<UInt8>, _ b: UnsafePointer<UInt8>?
  ) -> Int {
    hasNewCounts = true
    let a = unsafe UnsafeBufferPointer(start: a, count: width.a)
    let b = unsafe UnsafeBufferPointer(start: b, count: width.b)
    for table in counts.indices {
      let start = table * (width.a + width.b)
      let (middle, end) = (start + width.a, start + width.a + width.b)
      if unsafe tables[start..<middle].elementsEqual(a) && tables[middle..<end].elementsEqual(b) {
        counts[table] += 1
        return table
      }
    }
    unsafe tables.append(contentsOf: a)
    unsafe tables.append(contentsOf: b)
    counts.append(1)
    return counts.count - 1
  }

  /// Adds outcomes that follow from states.
  func addDifferences(_ table: Int, to differences: inout OutcomeDifferences) {
    for (pair, count) in sizes where count > 0 {
      let (a, b) = codes(pair, table)
      differences.add(a, b, count)
    }
  }

  /// Gives out outcomes that do not follow from states.
  func correct(
    _ table: Int, _ decided: FanoutResult, _ other: FanoutResult?,
    _ corrections: inout [Correction], _ emit: Emit, differing: (UInt8, UInt8, Int) -> Void
  ) {
    corrections.removeAll(keepingCapacity: true)
    decided.forEachCorrection { rank, code in
      corrections.append(Correction(member: UInt32(rank), isOfB: false, code: code))
    }
    other?.forEachCorrection { rank, code in
      corrections.append(
        Correction(member: UInt32(position(ofB: rank)), isOfB: true, code: code))
    }
    corrections.sort { ($0.member, $0.isOfB ? 1 : 0) < ($1.member, $1.isOfB ? 1 : 0) }
    var index = 0
    while index < corrections.count {
      let member = corrections[index].member
      let before = codes(pairs[Int(member)], table)
      var after = before
      while index < corrections.count, corrections[index].member == member {
        let correction = corrections[index]
        if !correction.isOfB { after.a = correction.code }
        if correction.isOfB || other == nil { after.b = correction.code }
        index += 1
      }
      if before == after { continue }
      let user = members.users[Int(member)]
      differing(before.a, before.b, -1)
      differing(after.a, after.b, 1)
      if before.a | before.b != 0 { emit(user, before.a, before.b, -1) }
      if after.a | after.b != 0 { emit(user, after.a, after.b, 1) }
    }
  }

  /// A member's outcomes for the message added last.
  ///
  /// - Complexity: O(log corrections).
  func codes(
    ofMember rank: Int, _ table: Int, _ corrections: [Correction]
  ) -> (a: UInt8, b: UInt8) {
    var found = codes(pairs[rank], table)
    var index = corrections.partitioningIndex { Int($0.member) >= rank }
    while index < corrections.count, Int(corrections[index].member) == rank {
      let correction = corrections[index]
      if correction.isOfB { found.b = correction.code } else { found.a = correction.code }
      index += 1
    }
    return found
  }
}

/// A decided conversation's members, followed to the message.
struct DecidedConversation {
  let members: FollowedMembers
  let stateCapacity: Int
  let key: MemberListKey
}

/// Equal for the same members and settings.
struct MemberListKey: Equatable {
  let members: UInt64
  let conversation: UInt32
  let row: UInt32
  let app: UInt32

  init(_ target: borrowing ConversationTarget) {
    members = UInt64(target.members) << 32 | UInt64(target.memberRow.revision)
    conversation = target.conversation
    row = target.row.revision
    app = target.appRevision
  }
}

extension FanoutResult {
  /// The sender is among these members.
  fileprivate func forEachCorrection(_ body: (_ rank: Int, _ code: UInt8) -> Void) {
    if sender >= 0 { body(sender, 0) }
    let corrections = unsafe corrections
    for index in 0..<corrections.count {
      let correction = unsafe corrections[index]
      body(Int(correction.rank), correction.code)
    }
  }
}
