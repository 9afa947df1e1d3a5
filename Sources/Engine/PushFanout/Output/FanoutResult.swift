internal import Algorithms
internal import CPushKernels
public import PushModel
internal import PushSupport
internal import Synchronization

/// The outcomes of one message: who gets a push, and why others do not.
///
/// A result has one outcome per state, shared by messages to the conversation, and corrections for
/// members treated differently: the sender and mentioned users. Counts and lists are computed on
/// demand.
///
/// A result retains its version, so later updates do not affect it. Any number of threads may read
/// it; iterating over recipients writes nothing shared, so it costs the same on each thread.
///
/// - Memory: 1.5 kB, 6 to 8 bytes per correction, and a byte per member of a conversation of up to
///   512, beside what it shares.
public struct FanoutResult: Sendable {
  /// Shared with copies.
  var storage = AnswerStorage()
  var row = ConversationRow()
  /// The conversation's index.
  var conversation: UInt32 = 0
  var stamp = ReadStamp(revision: 0, isExact: false)
  /// The number of the conversation's members, recipients or not.
  public internal(set) var memberCount = 0
  /// Every state is below it.
  var stateCount = 0
  /// The sender's rank, -1 for none, and state.
  var sender = -1
  var senderState: UInt8 = 0
  var instant: Int64 = 0
  var threads = 1
  /// Of the version, which ``storage`` retains, so that reading counts no reference.
  var memberUsers = PagedTable<UInt32>()
  var ids = IDReader()
  var filter: DeviceFilter?

  /// The ranks of ``corrections``.
  var correctedRanks: [Int] {
    let corrections = unsafe corrections
    return corrections.indices.map { Int(unsafe corrections[$0].rank) }
  }

  var engineVersion: EngineVersion? { storage.version }

  /// What the states are of; nil for an empty result.
  var target: ConversationTarget? {
    guard storage.isFromTables else { return storage.conversation?.target }
    // An answer from the tables has no channel.
    return storage.version.map {
      ConversationTarget(conversation, channel: "", $0.tables).ofStates
    }
  }

  mutating func reset(_ now: Int64, threads: Int) {
    if isKnownUniquelyReferenced(&storage) {
      storage.reset()
    } else {
      let old = storage
      storage = AnswerStorage()
      storage.quiet = old.quiet
    }
    if filter != nil { filter = nil }
    row = ConversationRow()
    sender = -1
    memberCount = 0
    stateCount = 0
    instant = now
    self.threads = threads
  }

  var codes: UnsafePointer<UInt8> { unsafe storage.codes }

  /// Of members, except the sender, whose outcome differs from their state's.
  var corrections: UnsafeBufferPointer<AnswerStorage.Correction> { unsafe storage.corrections }

  /// Creates an empty result, to be filled by ``Fanout/decide(_:on:memberLimit:into:)``.
  public init() {}

  /// The number of the version that it was decided on; 0 for an empty result.
  public var version: UInt64 { engineVersion?.number ?? 0 }

  /// `Fanout.settingsVersion` of that version.
  public var settingsVersion: UInt64 { engineVersion?.settingsVersion ?? 0 }

  // MARK: Counts

  /// The number of recipients by outcome.
  ///
  /// - Complexity: O(states + corrections); O(members) the first time for a conversation's states.
  public var counts: FanoutCounts {
    var counts = FanoutCounts()
    count(into: &counts)
    return counts
  }

  package func count(into counts: inout FanoutCounts) {
    counts.removeAll()
    guard memberCount > 0 else { return }
    let (histogram, codes, corrections) = unsafe (storage.histogram, codes, corrections)
    for state in 1..<stateCount {
      let count = unsafe Int(histogram[state])
      if count > 0 { counts.add(unsafe codes[state], count) }
    }
    if sender >= 0 { counts.add(unsafe codes[Int(senderState)], -1) }
    for index in 0..<corrections.count {
      let correction = unsafe corrections[index]
      counts.add(unsafe codes[Int(correction.state)], -1)
      counts.add(correction.code, 1)
    }
    counts.removeNobody()
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
    let (codes, corrections) = unsafe (codes, corrections)
    // Codes of pushes are odd.
    var count = unsafe Int(pk_sum_odd(storage.histogram, codes, 1, stateCount))
    if sender >= 0 { count -= Int(unsafe codes[Int(senderState)] & 1) }
    for index in 0..<corrections.count {
      let correction = unsafe corrections[index]
      count += Int(correction.code & 1) - Int(unsafe codes[Int(correction.state)] & 1)
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

  /// 0 for a member who is not a recipient.
  func code(of rank: Int) -> UInt8 {
    if rank == sender { return 0 }
    let corrections = unsafe corrections
    let index = unsafe corrections.partitioningIndex { Int($0.rank) >= rank }
    if index < corrections.count {
      let correction = unsafe corrections[index]
      if Int(correction.rank) == rank { return correction.code }
    }
    return unsafe codes[Int(state(of: rank))]
  }

  // MARK: States

  private func state(of rank: Int) -> UInt8 {
    if let known = storage.state(ofMember: rank) { return known }
    guard let quiet = storage.quiet, let version = storage.version else {
      return StateRules.absent
    }
    let phases = quiet.phases
    guard !storage.isFromTables, let conversation = storage.conversation else {
      guard let target else { return StateRules.absent }
      return unsafe MemberResolver(version).key(rank, target, at: instant)
        .state(phases, target.rules.statesByBase)
    }
    let key = conversation.key(rank)
    atomicMemoryFence(ordering: .acquiring)
    if stamp.isExact, conversation.revision.load(ordering: .relaxed) == stamp.revision {
      return unsafe key.state(phases, conversation.stateByBase)
    }
    return unsafe MemberResolver(version).key(rank, conversation.target, at: instant)
      .state(phases, conversation.stateByBase)
  }

  /// In the order of users, valid until the next message; nil for an empty result.
  ///
  /// - Complexity: O(1), but O(members) the first time for more than
  ///   ``CachedConversation/countedPerMessageLimit`` members and an interval without transitions.
  func memberStates() -> UnsafePointer<UInt8>? {
    guard memberCount > 0 else { return nil }
    return unsafe storage.memberStates { makeStates() }
  }

  private func makeStates() -> MemberStates {
    guard let target, let quiet = storage.quiet, let version = storage.version else {
      preconditionFailure("an empty result has no states")
    }
    if !storage.isFromTables,
      let states = storage.conversation?.states(stamp, quiet, at: instant, threads: threads)
    {
      return states
    }
    // The conversation is not cached, or has moved to another version or instant.
    let reader = ConversationReader(version: version, now: instant, quiet: quiet)
    let made = CachedConversation.build(target, reader, threads: threads)
    return MemberStates(made, quiet, 0, threads: threads)
  }

  // MARK: All members

  /// The member of a rank, the position in the order of users.
  ///
  /// - Precondition: the rank is in 0 ..< ``memberCount``.
  public func member(at rank: Int) -> UserIndex {
    precondition(0 <= rank && rank < memberCount, "rank out of range")
    return UserIndex(memberUsers[Int(row.start) + rank])
  }

  /// The id of a user.
  ///
  /// - Precondition: the index came from this result.
  public func id(of user: UserIndex) -> Identifier { ids[user.rawValue] }

  /// Writes each member's `Outcome.code`, 0 for a member who is not a recipient, in the order of
  /// users.
  ///
  /// - Precondition: `output` has room for ``memberCount`` bytes.
  /// - Complexity: O(members). For more than 512 members, the first call after a transition or
  ///   change allocates a byte a member.
  public func writeCodes(into output: inout MutableSpan<UInt8>) {
    guard let states = unsafe memberStates() else { return }
    precondition(output.count >= memberCount, "output is too small")
    unsafe output.withUnsafeMutableBufferPointer { output in
      guard let output = output.baseAddress else { return }
      // SAFETY: the pieces write disjoint bytes.
      nonisolated(unsafe) let (start, states) = unsafe (output, states)
      forEachPiece { ranks in
        unsafe writeCodes(ranks, states, to: start + ranks.lowerBound)
      }
    }
  }

  /// Writes a bit for each member, in the order of users, lowest of each byte first: whether the
  /// member gets a push. Unused bits of the last byte are 0.
  ///
  /// - Precondition: `output` has room for ``memberCount`` bits.
  /// - Complexity: as for ``writeCodes(into:)``.
  public func writePushBits(into output: inout MutableSpan<UInt8>) {
    guard let states = unsafe memberStates() else { return }
    precondition(output.count >= (memberCount + 7) / 8, "output is too small")
    unsafe output.withUnsafeMutableBufferPointer { output in
      guard let output = output.baseAddress else { return }
      // SAFETY: the pieces write disjoint bytes, as each begins with a rank that 8 divides.
      nonisolated(unsafe) let (start, states) = unsafe (output, states)
      forEachPiece { ranks in
        unsafe writePushBits(ranks, states, to: start)
      }
    }
  }

  /// All ranges but the last have a power of two ranks. Several threads are used if there are very
  /// many.
  private func forEachPiece(_ body: @Sendable (Range<Int>) -> Void) {
    // Smaller conversations take less time than waking a thread: about 1 ns for 30 members.
    let size = 1 << 18
    guard threads > 1, memberCount > size else { return body(0..<memberCount) }
    Parallel.perform((memberCount + size - 1) / size, threads: threads) { piece in
      body(piece * size..<min((piece + 1) * size, memberCount))
    }
  }

  private func writeCodes(
    _ ranks: Range<Int>, _ states: UnsafePointer<UInt8>, to output: UnsafeMutablePointer<UInt8>
  ) {
    unsafe pk_map(codes, states + ranks.lowerBound, output, ranks.count)
    if ranks.contains(sender) { unsafe output[sender - ranks.lowerBound] = 0 }
    let corrections = unsafe corrections
    for index in 0..<corrections.count {
      let correction = unsafe corrections[index]
      if ranks.contains(Int(correction.rank)) {
        unsafe output[Int(correction.rank) - ranks.lowerBound] = correction.code
      }
    }
  }

  /// Writes the bits of ranks, the first divisible by 8.
  ///
  /// - Parameter output: the first byte of all members' bits.
  private func writePushBits(
    _ ranks: Range<Int>, _ states: UnsafePointer<UInt8>, to output: UnsafeMutablePointer<UInt8>
  ) {
    let wordCount = 512
    unsafe withUnsafeTemporaryAllocation(of: UInt64.self, capacity: wordCount) { words in
      guard let words = words.baseAddress else { return }
      for first in stride(from: ranks.lowerBound, to: ranks.upperBound, by: 64 * wordCount) {
        let count = min(64 * wordCount, ranks.upperBound - first)
        unsafe pk_bits(codes, states + first, words, count)
        for word in 0..<(count + 63) / 64 { unsafe words[word] = words[word].littleEndian }
        unsafe UnsafeMutableRawPointer(output + first / 8)
          .copyMemory(from: words, byteCount: (count + 7) / 8)
      }
    }
    func set(_ rank: Int, _ bit: UInt8) {
      guard ranks.contains(rank) else { return }
      let mask = UInt8(1) << UInt8(rank % 8)
      let byte = unsafe output[rank / 8]
      unsafe output[rank / 8] = bit & 1 == 0 ? byte & ~mask : byte | mask
    }
    set(sender, 0)
    let corrections = unsafe corrections
    for index in 0..<corrections.count {
      let correction = unsafe corrections[index]
      set(Int(correction.rank), correction.code)
    }
  }
}
