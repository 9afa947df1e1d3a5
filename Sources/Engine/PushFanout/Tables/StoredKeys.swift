internal import PushModel
internal import PushSupport

/// Computes the keys of members.
///
/// A stored key changes by updates only, and holds from the membership's start on. Members with a
/// mute, channel levels, a changed override or listed devices are ``MemberKey/isUnresolved``, and
/// resolved at each instant.
///
/// SAFETY: valid as long as the version of the tables.
@safe struct StoredKeys: @unchecked Sendable {
  private let packedUsers: PagedTable<PackedUser>
  private let schedules: PagedTable<UInt32>
  private let devices: DeviceLists
  private let memberUsers: PagedTable<UInt32>
  private let packedMembers: PagedTable<UInt8>
  private let rules: Unmanaged<RuleTables>
  private let appRules: RuleSet
  private let openKeys: OpenKeys?
  /// Whether keys are for devices as set, not as heartbeats say.
  private let isForSettings: Bool

  /// Prefetched members, even beyond a conversation's end, as most are smaller.
  private static let ahead = 16

  init(_ tables: borrowing Tables, isForSettings: Bool = false) {
    self.isForSettings = isForSettings
    packedUsers = tables.packedUsers
    schedules = tables.schedules
    devices = tables.devices.lists
    memberUsers = tables.memberUsers
    packedMembers = tables.packedMembers
    unsafe rules = .passUnretained(tables.rules)
    appRules = tables.app.rules
    openKeys = appRules.openKeys(tables)
  }

  /// Unresolved in threads.
  func key(_ slot: Int, _ row: ConversationRow) -> MemberKey {
    let kind = ConversationKind(ordinal: Int(row.kind))
    if kind == .thread { return .unresolved }
    let (user, member) = (memberUsers[slot], PackedMember(bits: packedMembers[slot]))
    if let openKeys {
      return key(user, member, openKeys, openKeys.place(row), PackedMember.beyondSince)
    }
    let tables = unsafe rules._withUnsafeGuaranteedRef { $0.tables(kind) }
    return key(
      user, member, tables, PackedMember.levelMask, PackedMember.beyondSince,
      appRules.levelShift(for: kind))
  }

  /// Prefetches the first users; ``write(_:of:_:_:mask:_:)`` prefetches the rest.
  func prefetchFirst(_ slot: Int) {
    for slot in slot..<min(slot + Self.ahead, memberUsers.count) {
      prefetch(Int(memberUsers[slot]))
    }
  }

  /// - Parameter mask: the bits of packed members that apply.
  /// - Complexity: O(members).
  func write(
    _ ranks: Range<Int>, of row: ConversationRow, _ kind: ConversationKind, _ rules: StateTables,
    mask: UInt8, _ store: (_ rank: Int, _ key: UInt32) -> Void
  ) {
    // A thread's own membership may apply, with its start.
    let special = PackedMember.beyondSince | (kind == .thread ? PackedMember.sinceBit : 0)
    if let openKeys {
      let place = openKeys.place(row)
      forEachMember(ranks, of: row) { rank, user, member in
        store(rank, key(user, member, openKeys, place, special).bits)
      }
    } else {
      let shift = appRules.levelShift(for: kind)
      forEachMember(ranks, of: row) { rank, user, member in
        store(rank, key(user, member, rules, mask, special, shift).bits)
      }
    }
  }

  @inline(__always)
  private func forEachMember(
    _ ranks: Range<Int>, of row: ConversationRow,
    _ body: (_ rank: Int, _ user: UInt32, _ member: PackedMember) -> Void
  ) {
    let start = Int(row.start)
    var rank = ranks.lowerBound
    while rank < ranks.upperBound {
      let users = unsafe memberUsers.chunk(from: start + rank, limit: ranks.upperBound - rank)
      let members = unsafe packedMembers.chunk(from: start + rank, limit: users.count)
      for index in 0..<users.count {
        let next = start + rank + index + Self.ahead
        if next < memberUsers.count { prefetch(Int(memberUsers[next])) }
        body(rank + index, unsafe users[index], PackedMember(bits: unsafe members[index]))
      }
      rank += users.count
    }
  }

  @inline(__always)
  private func key(
    _ user: UInt32, _ member: PackedMember, _ rules: StateTables, _ mask: UInt8, _ special: UInt8,
    _ shift: UInt32
  ) -> MemberKey {
    let packed = packedUsers[Int(user)]
    if member.hasAny(special) || packed.hasMute || listsDevices(user) { return .unresolved }
    let base = rules.base(
      UserClass(level: packed.level(at: shift)), MemberClass(level: member.level(mask)))
    return MemberKey(schedule: schedules[Int(user)], base: base)
  }

  private func key(
    _ user: UInt32, _ member: PackedMember, _ openKeys: OpenKeys, _ place: OpenPlace,
    _ special: UInt8
  ) -> MemberKey {
    let packed = packedUsers[Int(user)]
    if member.hasAny(special) || packed.hasMute || listsDevices(user) { return .unresolved }
    return MemberKey(
      schedule: schedules[Int(user)], base: openKeys.base(packed, member, place))
  }

  @inline(__always)
  private func listsDevices(_ user: UInt32) -> Bool {
    devices.hasOwn(user) && !(isForSettings && devices.toldPresence(of: user) == .ofDefault)
  }

  @inline(__always)
  private func prefetch(_ user: Int) {
    packedUsers.prefetchAmongMany(user)
    schedules.prefetchAmongMany(user)
  }
}

extension TableWriter {
  /// Computes all keys in O(memberships), on several threads.
  func fillKeys(threads: Int) {
    needsKeys = false
    tables.memberKeys.removeAll(store)
    tables.memberKeys.grow(to: tables.memberUsers.count, store, threads: threads)
    tables.memberKeys.initialize(repeating: 0, threads: threads)
    let filling = AllKeys(tables)
    let count = tables.conversations.count
    let pieceCount = threads <= 1 ? 1 : min(threads * 16, max(count, 1))
    Parallel.perform(pieceCount, threads: threads) { piece in
      filling.fill(count * piece / pieceCount..<count * (piece + 1) / pieceCount)
    }
  }

  func setKey(_ slot: Int, _ row: ConversationRow) {
    guard slot < tables.memberKeys.count else { return }
    let key = StoredKeys(tables).key(slot, row).bits
    if tables.memberKeys[slot] != key { tables.memberKeys.set(slot, key, store) }
  }

  func setKey(of user: UInt32, in conversation: UInt32) {
    let row = tables.conversations[Int(conversation)]
    guard let rank = tables.rank(of: user, in: row) else { return }
    setKey(Int(row.start) + rank, row)
  }

  /// Writes all keys, on several threads.
  ///
  /// SAFETY: the pages belong to the update, and no two threads write the same slot.
  private struct AllKeys: @unchecked Sendable {
    let keys: PagedTable<UInt32>
    let conversations: PagedTable<ConversationRow>
    let rules: RuleTables
    let stored: StoredKeys

    init(_ tables: borrowing Tables) {
      keys = tables.memberKeys
      conversations = tables.conversations
      rules = tables.rules
      stored = StoredKeys(tables)
    }

    func fill(_ indices: Range<Int>) {
      guard let first = indices.first else { return }
      // Slots are mostly in order of indices.
      stored.prefetchFirst(Int(conversations[first].start))
      for index in indices { fill(index) }
    }

    private func fill(_ conversation: Int) {
      let row = conversations[conversation]
      let kind = ConversationKind(ordinal: Int(row.kind))
      if kind == .thread || row.count == 0 { return }
      stored.write(
        0..<Int(row.count), of: row, kind, rules.tables(kind), mask: PackedMember.levelMask
      ) {
        keys.update(Int(row.start) + $0, $1)
      }
    }
  }
}
