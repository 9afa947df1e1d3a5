internal import PushSupport

extension TableWriter {
  /// Stores memberships listed in any order with their conversations, sorted by user. Of several
  /// for one user the last counts.
  ///
  /// - Complexity: O(memberships), or O(memberships log members) where a conversation's members are
  ///   not listed in the order of users; on several threads.
  func storeMembers(_ memberships: consuming MembershipList, threads: Int = 1) {
    let list = memberships
    let runs = grouped(list.runs, threads) {
      tables.memberUsers = list.users.take(into: store)
      tables.packedMembers = list.bits.take(into: store)
    } move: {
      tables.memberUsers.grow(to: list.count, store, threads: threads)
      tables.packedMembers.grow(to: list.count, store, threads: threads)
      let slots = MemberSlots(tables)
      return { items, slot in
        slots.users.update(from: slot, list.users.table, items)
        slots.packed.update(from: slot, list.bits.table, items)
      }
    }
    let slots = MemberSlots(tables)
    slots.rows.forEachRow(of: runs, threads: threads) { slots.sort($1, &$0) }
  }

  /// Stores what memberships say beside the level with their conversations, sorted by user and
  /// kind. Of several records for one user and kind the last counts.
  ///
  /// - Complexity: as for ``storeMembers(_:threads:)``.
  func storeOverrides(_ overrides: consuming OverrideList, threads: Int = 1) {
    guard overrides.count > 0 else { return }
    let list = overrides
    let runs = grouped(list.runs, threads) {
      tables.overrides = list.records.take(into: store)
    } move: {
      tables.overrides.grow(to: list.count, store, threads: threads)
      let slots = OverrideSlots(tables)
      return { items, slot in slots.records.update(from: slot, list.records.table, items) }
    }
    let slots = OverrideSlots(tables)
    slots.rows.forEachRow(of: runs, threads: threads) { slots.sort($1, &$0) }
  }

  /// Brings the items of each conversation beside each other.
  ///
  /// - Parameters:
  ///   - take: uses items where they are, as each conversation's are beside each other already.
  ///   - move: makes room, and returns what moves items to slots; called on several threads.
  /// - Returns: one run of slots for each conversation that has any.
  private func grouped(
    _ runs: ConversationRuns, _ threads: Int, take: () -> Void,
    move: () -> @Sendable (_ items: Range<Int>, _ slot: Int) -> Void
  ) -> ConversationRuns {
    ownConversations()
    let conversationCount = tables.conversations.count
    if runs.isGrouped(conversationCount: conversationCount) {
      take()
      return runs
    }
    return runs.distribute(conversationCount: conversationCount, threads: threads, move())
  }

  /// Makes the pages of all rows belong to the update: they are written directly.
  private func ownConversations() {
    let pageSize = PagedTable<ConversationRow>.pageSize
    for index in stride(from: 0, to: tables.conversations.count, by: pageSize) {
      tables.conversations.set(index, tables.conversations[index], store)
    }
  }
}

/// The slots of all members and the rows of their conversations, for writing on several threads.
///
/// SAFETY: all pages belong to the update in progress, the tables are not used otherwise meanwhile,
/// and each thread accesses slots and rows that no other does.
private struct MemberSlots: @unchecked Sendable {
  let rows: PagedTable<ConversationRow>
  let users: PagedTable<UInt32>
  let packed: PagedTable<UInt8>

  init(_ tables: borrowing Tables) {
    rows = tables.conversations
    users = tables.memberUsers
    packed = tables.packedMembers
  }

  /// Sorts the members of a conversation by user, and completes its row. Earlier records of the
  /// same user are removed.
  func sort(_ range: Range<Int>, _ row: inout ConversationRow) {
    row.start = UInt32(range.lowerBound)
    row.capacity = UInt32(range.count)
    row.count = UInt32(sort(range))
    var bits: UInt8 = 0
    packed.forEachChunkElement(range) { bits |= $1 }
    row.hasOverrides = PackedMember(bits: bits).hasOverrides
  }

  private func sort(_ range: Range<Int>) -> Int {
    var isAscending = true
    var last: UInt32?
    users.forEachChunkElement(range) { _, user in
      if let last, user <= last { isAscending = false }
      last = user
    }
    if isAscending { return range.count }
    let bits = range.map { packed[$0] }
    var count = 0
    unsafe withSlots(range, inOrderOf: { users[$0] }) { (sorted) -> Void in
      for index in sorted.indices {
        let user = unsafe SortKey.user(sorted[index])
        // Records of the same user are in the order in which they were added.
        if unsafe index + 1 < sorted.count && SortKey.user(sorted[index + 1]) == user { continue }
        users.update(range.lowerBound + count, user)
        packed.update(
          range.lowerBound + count, unsafe bits[SortKey.slot(sorted[index]) - range.lowerBound])
        count += 1
      }
    }
    return count
  }
}

/// The slots of all overrides and the rows of their conversations.
///
/// SAFETY: as of ``MemberSlots``.
private struct OverrideSlots: @unchecked Sendable {
  let rows: PagedTable<ConversationRow>
  let records: PagedTable<OverrideRecord>

  init(_ tables: borrowing Tables) {
    rows = tables.conversations
    records = tables.overrides
  }

  /// Sorts the overrides of a conversation's members, and completes its row. Earlier records of the
  /// same user and kind are removed.
  func sort(_ range: Range<Int>, _ row: inout ConversationRow) {
    row.overrideStart = UInt32(range.lowerBound)
    row.overrideCount = UInt32(sort(range))
    var last: Int64 = 0
    records.forEachChunkElement(row.overrides) { _, record in
      if record.isStart { last = max(last, record.value) }
    }
    row.startsUntil = UInt32(clamping: (last + 999) / 1000)
  }

  private func sort(_ range: Range<Int>) -> Int {
    var isAscending = true
    var last: UInt64?
    records.forEachChunkElement(range) { _, record in
      if let last, record.key <= last { isAscending = false }
      last = record.key
    }
    if isAscending { return range.count }
    let old = range.map { records[$0] }
    var count = 0
    // The last record of each kind of the user at hand.
    var kinds = [OverrideRecord.none, .none, .none, .none]
    unsafe withSlots(range, inOrderOf: { records[$0].user }) { (sorted) -> Void in
      for index in sorted.indices {
        let record = unsafe old[SortKey.slot(sorted[index]) - range.lowerBound]
        kinds[Int(record.rawKind)] = record
        if unsafe index + 1 < sorted.count && SortKey.user(sorted[index + 1]) == record.user {
          continue
        }
        for kind in kinds.indices where kinds[kind].user == record.user {
          records.update(range.lowerBound + count, kinds[kind])
          kinds[kind] = .none
          count += 1
        }
      }
    }
    return count
  }
}

/// A user, and a slot with it.
private enum SortKey {
  @inline(__always)
  static func user(_ key: UInt64) -> UInt32 { UInt32(key >> 32) }
  @inline(__always)
  static func slot(_ key: UInt64) -> Int { Int(UInt32(truncatingIfNeeded: key)) }
}

/// Calls `body` with a ``SortKey`` for each slot of a range, in the order of users; slots of the
/// same user ascend.
///
/// - Complexity: O(slots).
private func withSlots(
  _ range: Range<Int>, inOrderOf user: (Int) -> UInt32,
  _ body: (UnsafeMutableBufferPointer<UInt64>) -> Void
) {
  let count = range.count
  unsafe withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 2 * count) { memory in
    unsafe memory.initialize(repeating: 0)
    var keys = unsafe UnsafeMutableBufferPointer(rebasing: memory[..<count])
    var other = unsafe UnsafeMutableBufferPointer(rebasing: memory[count...])
    for slot in range {
      unsafe keys[slot - range.lowerBound] = UInt64(user(slot)) << 32 | UInt64(slot)
    }
    if count <= 24 {
      unsafe sortFew(keys)
    } else {
      unsafe sortByDigits(&keys, &other)
    }
    unsafe body(keys)
  }
}

/// Sorts by insertion.
private func sortFew(_ keys: UnsafeMutableBufferPointer<UInt64>) {
  for index in 1..<max(1, keys.count) {
    let key = unsafe keys[index]
    var hole = index
    while unsafe hole > 0 && keys[hole - 1] > key {
      unsafe keys[hole] = keys[hole - 1]
      hole -= 1
    }
    unsafe keys[hole] = key
  }
}

/// Sorts by the eight bits of users at a time, least significant first. Keys of the same user keep
/// their order.
private func sortByDigits(
  _ keys: inout UnsafeMutableBufferPointer<UInt64>,
  _ other: inout UnsafeMutableBufferPointer<UInt64>
) {
  var differing: UInt64 = 0
  for index in keys.indices { unsafe differing |= keys[index] ^ keys[0] }
  for shift in [32, 40, 48, 56] as [UInt64] where differing >> shift & 255 != 0 {
    unsafe withUnsafeTemporaryAllocation(of: Int.self, capacity: 256) { starts in
      unsafe starts.initialize(repeating: 0)
      for index in keys.indices { unsafe starts[Int(keys[index] >> shift & 255)] += 1 }
      var start = 0
      for digit in 0..<256 {
        let count = unsafe starts[digit]
        unsafe starts[digit] = start
        start += count
      }
      for index in keys.indices {
        let key = unsafe keys[index]
        let digit = Int(key >> shift & 255)
        unsafe other[starts[digit]] = key
        unsafe starts[digit] += 1
      }
    }
    unsafe swap(&keys, &other)
  }
}

extension PagedTable {
  /// Replaces elements from `index` on by some of another table.
  fileprivate func update(from index: Int, _ source: PagedTable, _ items: Range<Int>) {
    if items.count == 1 { return update(index, source[items.lowerBound]) }
    unsafe source.forEachChunk(items) { (offset, elements) -> Void in
      unsafe update(from: index + offset, elements)
    }
  }
}

extension PagedTable where Element == ConversationRow {
  /// Changes the rows of the conversations that have slots, on several threads.
  ///
  /// - Parameter runs: the slots of each, once.
  fileprivate func forEachRow(
    of runs: ConversationRuns, threads: Int,
    _ body: @Sendable (inout ConversationRow, _ slots: Range<Int>) -> Void
  ) {
    let shares = runs.shares(threads <= 1 ? 1 : threads * 16)
    Parallel.perform(shares.count, threads: threads) { share in
      for run in shares[share] {
        let conversation = Int(runs.conversations[run])
        var row = self[conversation]
        body(&row, runs.run(run))
        update(conversation, row)
      }
    }
  }
}
