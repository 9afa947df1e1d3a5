internal import PushModel
internal import PushSupport

/// Computes the words of members from the tables.
///
/// The word of a member is *lasting* if it changes by updates only. It is unresolved
/// (``MemberWord/isUnresolved``) for a member with a mute, channel levels or an override that was set
/// since the tables were built, or with a user with a mute or listed devices: such a member is
/// resolved at each instant. A word holds from the start of the membership on.
///
/// SAFETY: valid as long as the version of the tables.
@safe struct LastingWords: @unchecked Sendable {
  private let packedUsers: PagedTable<PackedUser>
  private let schedules: PagedTable<UInt32>
  private let devices: DeviceLists
  private let memberUsers: PagedTable<UInt32>
  private let packedMembers: PagedTable<UInt8>
  private let rules: RuleTables
  private let ruleSet: RuleSet

  /// How many members ahead their users' settings are prefetched, also beyond the end of a
  /// conversation: most have fewer members.
  private static let ahead = 16

  init(_ tables: borrowing Tables) {
    packedUsers = tables.packedUsers
    schedules = tables.schedules
    devices = tables.devices.lists
    memberUsers = tables.memberUsers
    packedMembers = tables.packedMembers
    rules = tables.rules
    ruleSet = tables.app.rules
  }

  /// The word of the member in a slot of a conversation's row, for messages to the conversation as
  /// a whole. A thread's own members have none.
  func word(_ slot: Int, _ row: ConversationRow) -> MemberWord {
    let kind = ConversationKind(ordinal: Int(row.kind))
    if kind == .thread { return .unresolved }
    return word(
      memberUsers[slot], PackedMember(bits: packedMembers[slot]), rules.tables(kind),
      PackedMember.levelMask, PackedMember.beyondSince, ruleSet.levelShift(for: kind))
  }

  /// Prefetches what ``write(_:of:_:_:mask:_:)`` reads of the first members from a slot on. It does
  /// so itself for the members behind those that it writes.
  func prefetchFirst(_ slot: Int) {
    for slot in slot..<min(slot + Self.ahead, memberUsers.count) {
      prefetch(Int(memberUsers[slot]))
    }
  }

  /// Writes the words of the members of a conversation.
  ///
  /// - Parameters:
  ///   - ranks: which members, of those in `row`.
  ///   - rules: the rules of messages of the kind.
  ///   - mask: the bits of packed members that apply to the message.
  /// - Complexity: O(members).
  func write(
    _ ranks: Range<Int>, of row: ConversationRow, _ kind: ConversationKind, _ rules: StateTables,
    mask: UInt8, _ store: (_ rank: Int, _ word: UInt32) -> Void
  ) {
    let shift = ruleSet.levelShift(for: kind)
    // In a thread a record of its own may apply, and its start of membership.
    let special = PackedMember.beyondSince | (kind == .thread ? PackedMember.sinceBit : 0)
    let start = Int(row.start)
    var rank = ranks.lowerBound
    while rank < ranks.upperBound {
      let users = unsafe memberUsers.chunk(from: start + rank, limit: ranks.upperBound - rank)
      let members = unsafe packedMembers.chunk(from: start + rank, limit: users.count)
      for index in 0..<users.count {
        let next = start + rank + index + Self.ahead
        if next < memberUsers.count { prefetch(Int(memberUsers[next])) }
        let word = unsafe word(
          users[index], PackedMember(bits: members[index]), rules, mask, special, shift)
        store(rank + index, word.bits)
      }
      rank += users.count
    }
  }

  @inline(__always)
  private func word(
    _ user: UInt32, _ member: PackedMember, _ rules: StateTables, _ mask: UInt8, _ special: UInt8,
    _ shift: UInt32
  ) -> MemberWord {
    let packed = packedUsers[Int(user)]
    if member.hasAny(special) || packed.hasMute || devices.hasOwn(user) {
      return .unresolved
    }
    let base = rules.base(
      UserClass(level: packed.level(at: shift)), MemberClass(level: member.level(mask)))
    return MemberWord(schedule: schedules[Int(user)], base: base)
  }

  @inline(__always)
  private func prefetch(_ user: Int) {
    packedUsers.prefetchAmongMany(user)
    schedules.prefetchAmongMany(user)
  }
}

extension TableWriter {
  /// Computes the words of all members.
  ///
  /// - Complexity: O(memberships), on several threads.
  func fillWords(threads: Int) {
    needsWords = false
    tables.memberWords.removeAll(store)
    tables.memberWords.grow(to: tables.memberUsers.count, store, threads: threads)
    tables.memberWords.initialize(repeating: 0, threads: threads)
    let filling = AllWords(tables)
    let count = tables.conversations.count
    let pieceCount = threads <= 1 ? 1 : min(threads * 16, max(count, 1))
    Parallel.perform(pieceCount, threads: threads) { piece in
      filling.fill(count * piece / pieceCount..<count * (piece + 1) / pieceCount)
    }
  }

  /// Computes the word of the member in a slot again.
  func setWord(_ slot: Int, _ row: ConversationRow) {
    guard slot < tables.memberWords.count else { return }
    let word = LastingWords(tables).word(slot, row).bits
    if tables.memberWords[slot] != word { tables.memberWords.set(slot, word, store) }
  }

  /// Computes the word of a user in a conversation again, after a change of the user's settings.
  func setWord(of user: UInt32, in conversation: UInt32) {
    let row = tables.conversations[Int(conversation)]
    guard let rank = tables.rank(of: user, in: row) else { return }
    setWord(Int(row.start) + rank, row)
  }

  /// The words of all conversations, for writing on several threads.
  ///
  /// SAFETY: the pages belong to the update in progress, and each thread writes slots that no other
  /// does.
  private struct AllWords: @unchecked Sendable {
    let words: PagedTable<UInt32>
    let conversations: PagedTable<ConversationRow>
    let rules: RuleTables
    let lasting: LastingWords

    init(_ tables: borrowing Tables) {
      words = tables.memberWords
      conversations = tables.conversations
      rules = tables.rules
      lasting = LastingWords(tables)
    }

    func fill(_ indices: Range<Int>) {
      guard let first = indices.first else { return }
      // Conversations are mostly stored in the order of their indices.
      lasting.prefetchFirst(Int(conversations[first].start))
      for index in indices { fill(index) }
    }

    private func fill(_ conversation: Int) {
      let row = conversations[conversation]
      let kind = ConversationKind(ordinal: Int(row.kind))
      if kind == .thread || row.count == 0 { return }
      lasting.write(
        0..<Int(row.count), of: row, kind, rules.tables(kind), mask: PackedMember.levelMask
      ) {
        words.update(Int(row.start) + $0, $1)
      }
    }
  }
}
