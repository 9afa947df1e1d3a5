internal import PushSupport

extension TableWriter {
  /// Stores memberships sorted by user; the last of a user counts.
  ///
  /// - Complexity: O(memberships), or O(memberships log members) where members are not in order; on
  ///   several threads.
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

  /// Stores overrides sorted by user and kind; the last of a kind counts.
  ///
  /// - Complexity: as ``storeMembers(_:threads:)``.
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

  /// Groups items by conversation.
  ///
  /// - Parameters:
  ///   - take: uses items that are grouped.
  ///   - move: makes room, and returns what moves items on several threads.
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

  /// Makes the pages of all rows the update's, as they are written directly.
  private func ownConversations() {
    let pageSize = PagedTable<ConversationRow>.pageSize
    for index in stride(from: 0, to: tables.conversations.count, by: pageSize) {
      tables.conversations.set(index, tables.conversations[index], store)
    }
  }
}

/// Members' slots and rows, for several threads.
///
/// SAFETY: the update owns all pages, nothing else uses them meanwhile, and no two threads access
/// the same slots or rows.
private struct MemberSlots: @unchecked Sendable {
  let rows: PagedTable<ConversationRow>
  let users: PagedTable<UInt32>
  let packed: PagedTable<UInt8>

  init(_ tables: borrowing Tables) {
    rows = tables.conversations
    users = tables.memberUsers
    packed = tables.packedMembers
  }

  /// Sorts, keeps each user's last record, and completes the row.
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
        // Equal users are in the order added.
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

/// All overrides and their rows.
///
/// SAFETY: as ``MemberSlots``.
private struct OverrideSlots: @unchecked Sendable {
  let rows: PagedTable<ConversationRow>
  let records: PagedTable<OverrideRecord>

  init(_ tables: borrowing Tables) {
    rows = tables.conversations
    records = tables.overrides
  }

  /// Sorts, keeping the last of each user and kind, and completes the row.
  func sort(_ range: Range<Int>, _ row: inout ConversationRow) {
    row.overrideStart = UInt32(range.lowerBound)
    row.overrideCount = UInt32(sort(range))
    row.startsUntil = 0
    records.forEachChunkElement(row.overrides) { _, record in
      if record.isStart { row.noteStart(record.value) }
    }
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
    // The last record of each kind of the current user.
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

/// A user above a slot.
private enum SortKey {
  @inline(__always)
  static func user(_ key: UInt64) -> UInt32 { UInt32(key >> 32) }
  @inline(__always)
  static func slot(_ key: UInt64) -> Int { Int(UInt32(truncatingIfNeeded: key)) }
}

/// Calls `body` with each slot's ``SortKey``, ascending.
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

/// A stable radix sort by user.
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
  fileprivate func update(from index: Int, _ source: PagedTable, _ items: Range<Int>) {
    if items.count == 1 { return update(index, source[items.lowerBound]) }
    unsafe source.forEachChunk(items) { (offset, elements) -> Void in
      unsafe update(from: index + offset, elements)
    }
  }
}

extension PagedTable where Element == ConversationRow {
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
