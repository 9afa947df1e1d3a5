internal import Algorithms
internal import CPushKernels
public import PushModel
internal import PushSupport
internal import Synchronization

/// The outcomes of one message: who gets a push, and why others do not.
///
/// A result consists of one outcome per state, shared with other messages to the conversation, and
/// corrections for the few members that the message treats differently: its sender and the users it
/// mentions. Counts and lists are computed on demand.
///
/// A result retains the version that it was decided on, so later updates do not affect it.
///
/// - Memory: 1.4 kB (256 numbers by state are most of it), 8 bytes per correction and 5 per member
///   whose state it looks up, beside what it shares.
public struct FanoutResult: Sendable {
  /// A member whose outcome differs from that of others in the same state.
  struct Correction {
    var rank: UInt32
    var code: UInt8
    var state: UInt8
  }

  /// The numbers of members by state, and what they were read from; shared with copies.
  var storage = AnswerStorage()
  var row = ConversationRow()
  var stamp = ReadStamp(revision: 0, isExact: false)
  /// The number of the conversation's members, recipients or not.
  public internal(set) var memberCount = 0
  /// The number of states; every state is below it.
  var stateCount = 0
  /// The outcome codes by state.
  var codes = Codes()
  /// The key of the shared bitmap of pushes; nil when the codes are this message's own.
  var messageClass: Int?
  /// The rank of the sender, who is not a recipient, and its state; -1 for none.
  var sender = -1
  var senderState: UInt8 = 0
  /// The corrections of other members, sorted by rank without duplicates.
  var corrections: [Correction] = []
  var instant: Int64 = 0
  var threads = 1
  /// The users of the version's memberships, and their ids: read without counting a reference, as
  /// ``storage`` retains the version.
  var memberUsers = PagedTable<UInt32>()
  var ids = IDReader()
  var filter: DeviceFilter?

  var engineVersion: EngineVersion? { storage.version }

  /// Prepares for another message, reusing the memory unless a copy shares it.
  mutating func reset(_ now: Int64, threads: Int) {
    if isKnownUniquelyReferenced(&storage) {
      storage.reset()
    } else {
      let old = storage
      storage = AnswerStorage()
      storage.quiet = old.quiet
    }
    if !corrections.isEmpty { corrections.removeAll(keepingCapacity: true) }
    if filter != nil { filter = nil }
    messageClass = nil
    sender = -1
    memberCount = 0
    stateCount = 0
    instant = now
    self.threads = threads
  }

  /// A table of codes: one of the version's rules, or the message's own.
  ///
  /// SAFETY: the address is of 256 bytes that live as long as the rules of ``engineVersion``.
  @safe struct Codes: @unchecked Sendable {
    private var shared: UnsafePointer<UInt8>?
    private(set) var own: [UInt8] = []

    init() { unsafe shared = nil }

    mutating func set(_ table: UnsafePointer<UInt8>) {
      unsafe shared = table
      if !own.isEmpty { own = [] }
    }

    /// Replaces the table by a modified copy of its own.
    mutating func change(_ body: (inout UInt8) -> Void) {
      own = (0..<256).map { self[$0] }
      unsafe shared = nil
      for state in 0..<256 { body(&own[state]) }
    }

    subscript(state: Int) -> UInt8 {
      @inline(__always) get {
        if let shared = unsafe shared { return unsafe shared[state] }
        return own.isEmpty ? 0 : own[state]
      }
    }

    @inline(__always)
    func withTable<Value>(_ body: (UnsafePointer<UInt8>) throws -> Value) rethrows -> Value? {
      if let shared = unsafe shared { return try unsafe body(shared) }
      return try unsafe own.withUnsafeBufferPointer { table in
        guard let table = table.baseAddress else { return nil }
        return try unsafe body(table)
      }
    }
  }

  /// Creates an empty result, to be filled by ``Fanout/decide(_:into:)``.
  public init() {}

  /// The number of the version that it was decided on; 0 for an empty result.
  public var version: UInt64 { engineVersion?.number ?? 0 }

  // MARK: Counts

  /// The number of recipients by outcome.
  ///
  /// - Complexity: O(states + corrections); O(members) the first time for a conversation's states.
  public var counts: FanoutCounts {
    var counts = FanoutCounts()
    guard memberCount > 0 else { return counts }
    let histogram = unsafe storage.histogram
    _ = unsafe codes.withTable { codes in
      for state in 1..<stateCount {
        counts.add(unsafe codes[state], Int(unsafe histogram[state]))
      }
    }
    if sender >= 0 { counts.add(codes[Int(senderState)], -1) }
    for correction in corrections {
      counts.add(codes[Int(correction.state)], -1)
      counts.add(correction.code, 1)
    }
    counts.removeNobody()
    return counts
  }

  /// The number of recipients.
  ///
  /// - Complexity: as for ``counts``.
  public var recipientCount: Int { counts.recipientCount }

  /// The number of recipients who get a push.
  ///
  /// - Complexity: as for ``counts``, with less work.
  public var pushCount: Int {
    guard memberCount > 0 else { return 0 }
    var count = 0
    let histogram = unsafe storage.histogram
    _ = unsafe codes.withTable { codes in
      // The lowest bit of a code is "push": added, not asked.
      for state in 1..<stateCount {
        count &+= Int(unsafe histogram[state]) &* Int(unsafe codes[state] & 1)
      }
    }
    if sender >= 0 { count -= Int(codes[Int(senderState)] & 1) }
    for correction in corrections {
      count += Int(correction.code & 1) - Int(codes[Int(correction.state)] & 1)
    }
    return count
  }

  // MARK: One member

  /// The outcome for a user; nil if the user is not a recipient.
  ///
  /// - Complexity: O(log members).
  public func outcome(of user: Identifier) -> Outcome? {
    engineVersion?.tables.userIDs.index(of: user).flatMap { outcome(of: UserIndex($0)) }
  }

  /// The outcome for a user; nil if the user is not a recipient.
  ///
  /// - Complexity: O(log members).
  public func outcome(of user: UserIndex) -> Outcome? {
    let rank = memberUsers.rank(of: user.rawValue, in: row.range, below: ids.count)
    return rank.flatMap { Outcome(code: code(of: $0)) }
  }

  /// The ids of the devices that a push or local notification goes to, in the order in which they
  /// are listed; empty if the user gets none.
  ///
  /// - Complexity: O(log members + devices).
  public func devices(of user: UserIndex) -> [Identifier] {
    targets(of: user).map(\.id)
  }

  /// The code of a member; 0 for one who is not a recipient.
  func code(of rank: Int) -> UInt8 { code(of: rank) { state(of: rank) } }

  /// The same when the states of all members are at hand.
  func code(of rank: Int, _ states: MemberStates) -> UInt8 {
    code(of: rank) { unsafe states.bytes[rank] }
  }

  private func code(of rank: Int, _ state: () -> UInt8) -> UInt8 {
    if rank == sender { return 0 }
    let index = corrections.partitioningIndex { Int($0.rank) >= rank }
    if index < corrections.count, Int(corrections[index].rank) == rank {
      return corrections[index].code
    }
    return codes[Int(state())]
  }

  // MARK: States

  private func state(of rank: Int) -> UInt8 {
    guard let conversation = storage.conversation, let quiet = storage.quiet,
      let version = storage.version
    else { return StateRules.absent }
    let levels = quiet.levels
    let word = conversation.word(rank)
    atomicMemoryFence(ordering: .acquiring)
    if stamp.isExact, conversation.revision.load(ordering: .relaxed) == stamp.revision {
      return unsafe word.state(levels, conversation.stateByBase)
    }
    return unsafe MemberResolver(version).word(rank, conversation.target, at: instant)
      .state(levels, conversation.stateByBase)
  }

  /// The states of all members; nil for an empty result.
  ///
  /// - Complexity: O(members) the first time for a conversation and an interval without
  ///   transitions.
  func memberStates() -> MemberStates? {
    guard let conversation = storage.conversation, let quiet = storage.quiet,
      let version = storage.version, memberCount > 0
    else { return nil }
    if let own = AtomicLazy.load(storage.ownStates, as: MemberStates.self) { return own }
    if let states = conversation.states(stamp, quiet, at: instant, threads: threads) {
      return stamp.isExact ? states : AtomicLazy.store(states, in: storage.ownStates)
    }
    // The conversation has moved on to another version or instant.
    let reader = ConversationReader(version: version, now: instant, quiet: quiet)
    let made = CachedConversation.build(conversation.target, reader, threads: threads)
    return AtomicLazy.store(
      MemberStates(made, quiet, 0, threads: threads), in: storage.ownStates)
  }

  // MARK: All members

  /// The member of a rank: the position in the order of users.
  ///
  /// - Precondition: 0 ..< ``memberCount``.
  public func member(at rank: Int) -> UserIndex {
    precondition(0 <= rank && rank < memberCount, "rank out of range")
    return UserIndex(memberUsers[Int(row.start) + rank])
  }

  /// The id of a user.
  ///
  /// - Precondition: the index came from this result.
  public func id(of user: UserIndex) -> Identifier { ids[user.rawValue] }

  /// Writes one byte per member, in the order of users: the `Outcome.code`, or 0 for a member who
  /// is not a recipient.
  ///
  /// - Precondition: `output` has room for ``memberCount`` bytes.
  /// - Complexity: O(members), without allocating.
  public func writeCodes(into output: inout MutableSpan<UInt8>) {
    guard let states = memberStates() else { return }
    precondition(output.count >= states.count, "output is too small")
    unsafe output.withUnsafeMutableBufferPointer { output in
      guard let output = output.baseAddress else { return }
      // About 30 members per nanosecond: except for the largest, less work than waking a thread.
      let size = 1 << 18
      guard threads > 1, states.count > size else {
        return unsafe writeCodes(0..<states.count, states, to: output)
      }
      // SAFETY: the pieces write disjoint bytes.
      nonisolated(unsafe) let start = unsafe output
      Parallel.perform((states.count + size - 1) / size, threads: threads) { piece in
        let ranks = piece * size..<min((piece + 1) * size, states.count)
        unsafe writeCodes(ranks, states, to: start + ranks.lowerBound)
      }
    }
  }

  /// Writes the codes of a range of ranks.
  private func writeCodes(
    _ ranks: Range<Int>, _ states: MemberStates, to output: UnsafeMutablePointer<UInt8>
  ) {
    _ = unsafe codes.withTable { codes in
      unsafe pk_map(codes, states.bytes + ranks.lowerBound, output, ranks.count)
    }
    if ranks.contains(sender) { unsafe output[sender - ranks.lowerBound] = 0 }
    for correction in corrections where ranks.contains(Int(correction.rank)) {
      unsafe output[Int(correction.rank) - ranks.lowerBound] = correction.code
    }
  }

  /// Calls `body` with each recipient's index and outcome, in the order of users.
  ///
  /// - Complexity: O(members).
  public func forEachRecipient(
    _ body: (UserIndex, Outcome) throws -> Void
  ) rethrows {
    try unsafe forEachRecipient(in: 0..<memberCount) { (user, _, code) throws -> Void in
      if let outcome = Outcome(code: code) { try body(UserIndex(user), outcome) }
    }
  }

  /// Calls `body` with the index, the id's UTF-8 and the code of each recipient in a range of
  /// ranks.
  package func forEachRecipient(
    in ranks: Range<Int>, _ body: (UInt32, UnsafeRawBufferPointer, UInt8) throws -> Void
  ) rethrows {
    guard let states = memberStates() else { return }
    var next = 0
    while next < corrections.count, Int(corrections[next].rank) < ranks.lowerBound { next += 1 }
    for rank in ranks {
      var code = codes[Int(unsafe states.bytes[rank])]
      if next < corrections.count, Int(corrections[next].rank) == rank {
        code = corrections[next].code
        next += 1
      }
      if code == 0 || rank == sender { continue }
      let user = memberUsers[Int(row.start) + rank]
      try unsafe body(user, ids.characters(user), code)
    }
  }
}
