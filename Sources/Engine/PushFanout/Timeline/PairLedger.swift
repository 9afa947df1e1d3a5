/// How often each member of a conversation got each pair of outcomes, along two timelines that decide
/// the same messages with different settings. A message adds to the ledger, and is compared, in steps
/// that do not depend on the number of members.
///
/// Members in the same state on both sides get the same outcomes. The ledger knows how many members
/// are in each pair of states, counts messages by their tables of outcomes by state, and keeps for
/// each member the counts as they were when the member came into its pair (an *epoch*). What a member
/// got since is the difference, which is given out when the member leaves the pair, and when the
/// ledger is closed. Senders and users that a message mentions differ from their state: what they get
/// is given out at once.
///
/// A conversation that is the same on both sides has a ledger of one side, which stands for both.
///
/// - Memory: 11 bytes a member, and one more for the second side.
package struct PairLedger {
  /// Takes how often more, or less, a user got the outcomes of two codes.
  package typealias Emit = (_ user: UInt32, _ a: UInt8, _ b: UInt8, _ count: Int) -> Void

  /// Who the members are.
  package struct Members {
    /// What the caller calls those of A, and behind them those that only B has.
    let users: [UInt32]
    /// For each rank in B the position in ``users``; nil if it is the rank.
    let ranksOfB: [Int32]?

    package init(_ users: [UInt32], ranksOfB: [Int32]? = nil) {
      self.users = users
      self.ranksOfB = ranksOfB
    }
  }

  /// Memory that is used for one message after the other.
  struct Scratch {
    fileprivate var states: [UInt8] = []
    fileprivate var histogram = [UInt32](repeating: 0, count: 256)
    fileprivate var changed: [UInt32] = []
    /// Members whose outcome is not that of their state: the position, the side and the code.
    fileprivate var corrections: [Correction] = []
  }

  fileprivate struct Correction {
    var member: UInt32
    var isOfB: Bool
    var code: UInt8
  }

  private let keys: (a: MemberListKey, b: MemberListKey?)
  private let members: Members
  private var a: FollowedStates
  private var b: FollowedStates?
  /// For each member the state in A, and 256 times that in B.
  private var pairs: [UInt16]
  /// How many members are in each pair that occurs; kept for two sides.
  private var sizes: [(pair: UInt16, count: Int)] = []
  /// The tables of outcomes of messages, one behind the other: A's codes by state, then B's.
  private var tables: [UInt8] = []
  private let width: (a: Int, b: Int)
  /// How many messages each table has.
  private var counts: [UInt32] = []
  /// ``counts`` at the beginning of each epoch, one behind the other, where those of each begin and
  /// the last ends, and the epoch in which each member's pair began.
  private var epochs: [UInt32] = []
  private var starts = [0, 0]
  private var epochOf: [UInt32]
  /// Whether there was a message since the last epoch began.
  private var hasNewCounts = false

  init(
    _ a: DecidedConversation, _ b: DecidedConversation?, _ members: Members,
    _ scratch: inout Scratch
  ) {
    keys = (a.key, b?.key)
    width = (a.conversation.stateCount, b?.conversation.stateCount ?? 0)
    self.members = members
    self.a = FollowedStates(a, &scratch)
    self.b = b.map { FollowedStates($0, &scratch) }
    pairs = [UInt16](repeating: 0, count: members.users.count)
    epochOf = [UInt32](repeating: 0, count: members.users.count)
    for (rank, state) in self.a.states.enumerated() { pairs[rank] = UInt16(state) }
    guard let other = self.b else { return }
    for (rank, state) in other.states.enumerated() {
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

  /// Gives out what all members got, and starts again from here.
  ///
  /// - Complexity: O(members).
  package mutating func flush(_ emit: Emit) {
    for member in pairs.indices { give(member, emit) }
    for member in epochOf.indices { epochOf[member] = 0 }
    (tables, counts, epochs, starts, hasNewCounts) = ([], [], [], [0, 0], false)
  }

  /// Gives out what a member got in its present pair of states.
  private func give(_ member: Int, _ emit: Emit) {
    let epoch = Int(epochOf[member])
    let (start, known) = (starts[epoch], starts[epoch + 1] - starts[epoch])
    for table in counts.indices {
      let count = counts[table] - (table < known ? epochs[start + table] : 0)
      if count == 0 { continue }
      let (a, b) = codes(pairs[member], table)
      if a | b != 0 { emit(members.users[member], a, b, Int(count)) }
    }
  }

  /// The outcomes of members of a pair by a table.
  @inline(__always)
  private func codes(_ pair: UInt16, _ table: Int) -> (a: UInt8, b: UInt8) {
    let start = table * (width.a + width.b)
    let code = tables[start + Int(pair & 255)]
    return (code, width.b == 0 ? code : tables[start + width.a + Int(pair >> 8)])
  }

  /// Moves a member to another pair.
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

  /// Follows to the states at a message.
  ///
  /// - Complexity: O(members), half a nanosecond each, unless nothing has changed; more for those
  ///   whose state changes.
  mutating func follow(
    _ decided: DecidedConversation, _ other: DecidedConversation?, _ scratch: inout Scratch,
    _ emit: Emit
  ) {
    a.follow(decided, &scratch)
    for rank in scratch.changed {
      let member = Int(rank)
      move(member, to: pairs[member] & 0xFF00 | UInt16(a.states[member]), emit)
    }
    guard let other else { return }
    b?.follow(other, &scratch)
    for rank in scratch.changed {
      let member = position(ofB: Int(rank))
      let state = UInt16(b?.states[Int(rank)] ?? 0)
      move(member, to: pairs[member] & 0xFF | state << 8, emit)
    }
  }

  /// Counts a message by its tables of outcomes.
  ///
  /// - Returns: the number of the table.
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

  /// Adds where the outcomes of a message differ, of members whose outcomes are those of their
  /// states.
  func addDifferences(_ table: Int, to differences: inout OutcomeDifferences) {
    for (pair, count) in sizes where count > 0 {
      let (a, b) = codes(pair, table)
      differences.add(a, b, count)
    }
  }

  /// Gives out what the members get whose outcomes are not those of their states.
  func correct(
    _ table: Int, _ decided: FanoutResult, _ other: FanoutResult?, _ scratch: inout Scratch,
    _ emit: Emit, differing: (UInt8, UInt8, Int) -> Void
  ) {
    scratch.corrections.removeAll(keepingCapacity: true)
    decided.forEachCorrection { rank, code in
      scratch.corrections.append(Correction(member: UInt32(rank), isOfB: false, code: code))
    }
    other?.forEachCorrection { rank, code in
      scratch.corrections.append(
        Correction(member: UInt32(position(ofB: rank)), isOfB: true, code: code))
    }
    scratch.corrections.sort { ($0.member, $0.isOfB ? 1 : 0) < ($1.member, $1.isOfB ? 1 : 0) }
    var index = 0
    while index < scratch.corrections.count {
      let member = scratch.corrections[index].member
      let before = codes(pairs[Int(member)], table)
      var after = before
      while index < scratch.corrections.count, scratch.corrections[index].member == member {
        let correction = scratch.corrections[index]
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

  /// The outcomes of a member of A for the message that was added last.
  func codes(
    ofMember rank: Int, _ table: Int, _ scratch: Scratch
  ) -> (a: UInt8, b: UInt8) {
    var found = codes(pairs[rank], table)
    for correction in scratch.corrections where Int(correction.member) == rank {
      if correction.isOfB { found.b = correction.code } else { found.a = correction.code }
    }
    return found
  }
}

/// A conversation to which a message was decided, and what its members' states follow from.
struct DecidedConversation {
  let conversation: CachedConversation
  let quiet: SchedulePhases
  let revision: UInt
  let key: MemberListKey
}

/// The states of a conversation's members at the last message.
private struct FollowedStates {
  private var conversation: CachedConversation
  private var quiet: SchedulePhases
  private var revision: UInt
  private(set) var states: [UInt8]

  init(_ decided: DecidedConversation, _ scratch: inout PairLedger.Scratch) {
    (conversation, quiet, revision) = (decided.conversation, decided.quiet, decided.revision)
    states = [UInt8](repeating: 0, count: decided.conversation.count)
    Self.read(decided, into: &states, &scratch.histogram)
  }

  private static func read(
    _ decided: DecidedConversation, into states: inout [UInt8], _ histogram: inout [UInt32]
  ) {
    unsafe states.withUnsafeMutableBufferPointer { (states) -> Void in
      unsafe histogram.withUnsafeMutableBufferPointer { (histogram) -> Void in
        guard let histogram = histogram.baseAddress else { return }
        unsafe decided.conversation.countWords(
          decided.quiet.phases, into: histogram, states: states.baseAddress)
      }
    }
  }

  /// Goes on to a message, and lists the ranks whose state has changed.
  mutating func follow(_ decided: DecidedConversation, _ scratch: inout PairLedger.Scratch) {
    scratch.changed.removeAll(keepingCapacity: true)
    if decided.conversation === conversation, decided.revision == revision,
      decided.quiet === quiet
    {
      return
    }
    (conversation, quiet, revision) = (decided.conversation, decided.quiet, decided.revision)
    let count = states.count
    if scratch.states.count < count {
      scratch.states += [UInt8](repeating: 0, count: count - scratch.states.count)
    }
    Self.read(decided, into: &scratch.states, &scratch.histogram)
    // Eight members at a time, as most states stay.
    unsafe states.withUnsafeMutableBytes { (states) -> Void in
      unsafe scratch.states.withUnsafeBytes { (found) -> Void in
        var rank = 0
        while rank < count {
          if rank + 8 <= count,
            unsafe states.loadUnaligned(fromByteOffset: rank, as: UInt64.self)
              == found.loadUnaligned(fromByteOffset: rank, as: UInt64.self)
          {
            rank += 8
            continue
          }
          for rank in rank..<min(rank + 8, count) where unsafe states[rank] != found[rank] {
            unsafe states[rank] = unsafe found[rank]
            scratch.changed.append(UInt32(rank))
          }
          rank += 8
        }
      }
    }
  }
}

extension FanoutResult {
  /// Calls `body` with the members whose outcome is not that of others in their state, the sender
  /// among them.
  fileprivate func forEachCorrection(_ body: (_ rank: Int, _ code: UInt8) -> Void) {
    if sender >= 0 { body(sender, 0) }
    let corrections = unsafe corrections
    for index in 0..<corrections.count {
      let correction = unsafe corrections[index]
      body(Int(correction.rank), correction.code)
    }
  }
}
