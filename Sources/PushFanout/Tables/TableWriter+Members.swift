internal import PushSupport

extension TableWriter {
  /// Stores memberships listed in any order with their conversations, sorted by user. Of several
  /// for one user the last counts.
  ///
  /// - Complexity: O(memberships), or O(memberships log members) where a conversation's members are
  ///   not listed in the order of users; on several threads.
  func storeMembers(
    _ conversations: [UInt32], _ users: [UInt32], _ bytes: [UInt8], threads: Int = 1
  ) {
    tables.memberUsers.grow(to: users.count, repeating: 0, store)
    tables.packedMembers.grow(to: users.count, repeating: 0, store)
    let placement = MemberPlacement(
      conversations, users, bytes, conversationCount: tables.conversations.count,
      MemberSlots(users: tables.memberUsers, packed: tables.packedMembers))
    let ends = placement.place(threads: threads)
    for conversation in 0..<tables.conversations.count {
      let range =
        (conversation == 0 ? 0 : Int(ends[conversation - 1].end))..<Int(ends[conversation].end)
      guard !range.isEmpty else { continue }
      var row = tables.conversations[conversation]
      row.start = UInt32(range.lowerBound)
      row.capacity = UInt32(range.count)
      row.count = ends[conversation].count
      row.hasOverrides = ends[conversation].hasOverrides
      tables.conversations.set(conversation, row, store)
    }
  }
}

/// The slots of all members, for writing on several threads.
///
/// SAFETY: all pages belong to the update in progress, the tables are not used otherwise meanwhile,
/// and each thread accesses slots that no other does.
private struct MemberSlots: @unchecked Sendable {
  let users: PagedTable<UInt32>
  let packed: PagedTable<UInt8>

  @inline(__always)
  func set(_ slot: Int, _ user: UInt32, _ bits: UInt8) {
    unsafe users.page(at: slot)[slot & (PagedTable<UInt32>.pageSize - 1)] = user
    unsafe packed.page(at: slot)[slot & (PagedTable<UInt8>.pageSize - 1)] = bits
  }
}

/// Places memberships in the slots of their conversations, as a counting sort does.
private struct MemberPlacement: Sendable {
  /// Where the members of a conversation end, how many there are, and whether any has overrides.
  struct Place: Sendable {
    var end: UInt32 = 0
    var count: UInt32 = 0
    var hasOverrides = false
  }

  private let conversations: [UInt32]
  private let users: [UInt32]
  private let bytes: [UInt8]
  private let conversationCount: Int
  private let slots: MemberSlots

  init(
    _ conversations: [UInt32], _ users: [UInt32], _ bytes: [UInt8], conversationCount: Int,
    _ slots: MemberSlots
  ) {
    self.conversations = conversations
    self.users = users
    self.bytes = bytes
    self.conversationCount = conversationCount
    self.slots = slots
  }

  /// - Returns: the place of each conversation's members.
  func place(threads: Int) -> [Place] {
    // With fewer memberships a share than conversations, counting for each share costs more than it
    // gains.
    let shareCount = max(1, min(threads, users.count / max(1 << 16, conversationCount)))
    let shares = (0..<shareCount).map { share in
      users.count * share / shareCount..<users.count * (share + 1) / shareCount
    }
    let counts = Parallel.map(shareCount, threads: threads) { count(shares[$0]) }
    let (starts, places) = starts(counts)
    Parallel.perform(shareCount, threads: threads) { scatter(shares[$0], to: starts[$0]) }
    return sort(places, threads: threads)
  }

  /// The number of memberships in each conversation.
  private func count(_ share: Range<Int>) -> [UInt32] {
    var counts = [UInt32](repeating: 0, count: conversationCount)
    for index in share { counts[Int(conversations[index])] += 1 }
    return counts
  }

  /// The first slot of each share's members in each conversation, and the conversations' places.
  private func starts(_ counts: [[UInt32]]) -> ([[UInt32]], [Place]) {
    var starts = counts
    var places = [Place](repeating: Place(), count: conversationCount)
    var end: UInt32 = 0
    for conversation in 0..<conversationCount {
      for share in counts.indices {
        starts[share][conversation] = end
        end += counts[share][conversation]
      }
      places[conversation].end = end
    }
    return (starts, places)
  }

  /// Stores memberships in the order in which they were added.
  private func scatter(_ share: Range<Int>, to starts: [UInt32]) {
    var next = starts
    for index in share {
      let conversation = Int(conversations[index])
      slots.set(Int(next[conversation]), users[index], bytes[index])
      next[conversation] += 1
    }
  }

  // MARK: Sorting

  /// Sorts the members of each conversation, and counts them.
  private func sort(_ places: [Place], threads: Int) -> [Place] {
    let pieceCount = threads <= 1 ? 1 : min(threads * 16, conversationCount)
    let pieces = Parallel.map(pieceCount, threads: threads) { piece in
      let range =
        conversationCount * piece / pieceCount..<conversationCount * (piece + 1) / pieceCount
      var sorted = Array(places[range])
      var start = range.lowerBound == 0 ? 0 : Int(places[range.lowerBound - 1].end)
      for index in sorted.indices {
        let end = Int(sorted[index].end)
        sorted[index].count = UInt32(sortMembers(start..<end))
        sorted[index].hasOverrides = hasOverrides(start..<end)
        start = end
      }
      return sorted
    }
    return pieces.count == 1 ? pieces[0] : Array(pieces.joined())
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
