internal import Algorithms
internal import PushSupport
internal import Synchronization

/// Memberships in the order in which they were added.
struct MembershipList: Sendable {
  /// The conversation of each run of consecutive memberships, and the end of the run.
  private(set) var conversations: [UInt32] = []
  private(set) var ends: [UInt32] = []
  private(set) var users: [UInt32] = []
  /// The bits of each ``PackedMember``.
  private(set) var bits: [UInt8] = []

  var count: Int { users.count }

  mutating func append(_ conversation: UInt32, _ user: UInt32, _ bits: UInt8) {
    if conversations.last == conversation {
      ends[ends.count - 1] += 1
    } else {
      conversations.append(conversation)
      ends.append(UInt32(users.count + 1))
    }
    users.append(user)
    self.bits.append(bits)
  }

  /// The memberships of a run.
  @inline(__always)
  func run(_ index: Int) -> Range<Int> {
    Int(index == 0 ? 0 : ends[index - 1])..<Int(ends[index])
  }

  /// Shares of the runs, with about as many memberships each.
  func shares(_ count: Int) -> [Range<Int>] {
    let starts = (0..<count).map { share in
      ends.partitioningIndex { Int($0) > users.count * share / count }
    }
    return zip(starts, starts.dropFirst() + [ends.count]).map { $0..<$1 }
  }
}

extension TableWriter {
  /// Stores memberships listed in any order with their conversations, sorted by user. Of several
  /// for one user the last counts.
  ///
  /// - Complexity: O(memberships), or O(memberships log members) where a conversation's members are
  ///   not listed in the order of users; on several threads.
  func storeMembers(_ memberships: MembershipList, threads: Int = 1) {
    tables.memberUsers.grow(to: memberships.count, repeating: 0, store)
    tables.packedMembers.grow(to: memberships.count, repeating: 0, store)
    // The rows are written directly: their pages must belong to the update.
    let pageSize = PagedTable<ConversationRow>.pageSize
    for index in stride(from: 0, to: tables.conversations.count, by: pageSize) {
      tables.conversations.set(index, tables.conversations[index], store)
    }
    let placement = MemberPlacement(
      memberships: memberships,
      slots: MemberSlots(
        rows: tables.conversations, users: tables.memberUsers, packed: tables.packedMembers))
    placement.store(threads: threads)
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

  @inline(__always)
  func set(_ slot: Int, _ user: UInt32, _ bits: UInt8) {
    unsafe users.page(at: slot)[slot & (PagedTable<UInt32>.pageSize - 1)] = user
    unsafe packed.page(at: slot)[slot & (PagedTable<UInt8>.pageSize - 1)] = bits
  }

  func set(_ conversation: Int, _ row: ConversationRow) {
    unsafe rows.page(at: conversation)[
      conversation & (PagedTable<ConversationRow>.pageSize - 1)] = row
  }
}

/// Places memberships in the slots of their conversations, as a counting sort does.
private struct MemberPlacement: Sendable {
  let memberships: MembershipList
  let slots: MemberSlots

  private var conversationCount: Int { slots.rows.count }

  func store(threads: Int) {
    // With fewer memberships a share than conversations, counting for each share costs more than it
    // gains.
    let shareCount = max(1, min(threads, memberships.count / max(1 << 16, conversationCount)))
    let shares = memberships.shares(shareCount)
    let (starts, ends) = starts(
      Parallel.map(shareCount, threads: threads) { count(shares[$0]) })
    let startsOfShares = Lock(starts)
    Parallel.perform(shareCount, threads: threads) { share in
      let starts = startsOfShares.withLock { all in
        var starts: [UInt32] = []
        swap(&starts, &all[share])
        return starts
      }
      scatter(shares[share], to: starts)
    }
    sort(ends, threads: threads)
  }

  /// The number of memberships in each conversation.
  private func count(_ share: Range<Int>) -> [UInt32] {
    var counts = [UInt32](repeating: 0, count: conversationCount)
    for run in share {
      counts[Int(memberships.conversations[run])] += UInt32(memberships.run(run).count)
    }
    return counts
  }

  /// The first slot of each share's members in each conversation, and the end of each
  /// conversation's members.
  private func starts(_ counts: consuming [[UInt32]]) -> ([[UInt32]], [UInt32]) {
    var starts = counts
    let shareCount = starts.count
    var ends = [UInt32](repeating: 0, count: conversationCount)
    var end: UInt32 = 0
    for conversation in 0..<conversationCount {
      for share in 0..<shareCount {
        let count = starts[share][conversation]
        starts[share][conversation] = end
        end += count
      }
      ends[conversation] = end
    }
    return (starts, ends)
  }

  /// Stores memberships in the order in which they were added.
  private func scatter(_ share: Range<Int>, to starts: consuming [UInt32]) {
    var next = starts
    for run in share {
      let conversation = Int(memberships.conversations[run])
      var slot = Int(next[conversation])
      for index in memberships.run(run) {
        slots.set(slot, memberships.users[index], memberships.bits[index])
        slot += 1
      }
      next[conversation] = UInt32(slot)
    }
  }

  // MARK: Sorting

  /// Sorts the members of each conversation, and completes its row.
  private func sort(_ ends: [UInt32], threads: Int) {
    let pieceCount = threads <= 1 ? 1 : min(threads * 16, conversationCount)
    Parallel.perform(pieceCount, threads: threads) { piece in
      let range =
        conversationCount * piece / pieceCount..<conversationCount * (piece + 1) / pieceCount
      for conversation in range {
        let start = conversation == 0 ? 0 : ends[conversation - 1]
        let members = Int(start)..<Int(ends[conversation])
        guard !members.isEmpty else { continue }
        var row = slots.rows[conversation]
        row.start = start
        row.capacity = UInt32(members.count)
        row.count = UInt32(sortMembers(members))
        row.hasOverrides = hasOverrides(members)
        slots.set(conversation, row)
      }
    }
  }

  private func hasOverrides(_ range: Range<Int>) -> Bool {
    var bits: UInt8 = 0
    slots.packed.forEachStretchRank(range) { bits |= $1 }
    return PackedMember(bits: bits).hasOverrides
  }

  /// Sorts the members of a conversation by user.
  ///
  /// - Returns: the number of members left when earlier records of the same user are removed.
  private func sortMembers(_ range: Range<Int>) -> Int {
    var isAscending = true
    var last: UInt32?
    slots.users.forEachStretchRank(range) { _, user in
      if let last, user <= last { isAscending = false }
      last = user
    }
    if isAscending { return range.count }
    // By user; records of the same user in the order in which they were added.
    let sorted = range.map { UInt64(slots.users[$0]) << 32 | UInt64($0) }.sorted()
    let packed = sorted.map { slots.packed[Int(UInt32(truncatingIfNeeded: $0))] }
    var count = 0
    for (offset, key) in sorted.enumerated() {
      if offset + 1 < sorted.count, sorted[offset + 1] >> 32 == key >> 32 { continue }
      slots.set(range.lowerBound + count, UInt32(key >> 32), packed[offset])
      count += 1
    }
    return count
  }
}
