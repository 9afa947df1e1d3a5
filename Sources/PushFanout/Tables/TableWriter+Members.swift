extension TableWriter {
  /// Stores memberships listed in any order with their conversations, sorted by user. Of several
  /// for one user the last counts.
  func storeMembers(_ conversations: [UInt32], _ users: [UInt32], _ bytes: [UInt8]) {
    let ends = Self.storeMembers(conversations, users, bytes, &tables, store)
    for conversation in 0..<tables.conversations.count {
      let range = (conversation == 0 ? 0 : Int(ends[conversation - 1]))..<Int(ends[conversation])
      guard !range.isEmpty else { continue }
      var row = tables.conversations[conversation]
      row.start = UInt32(range.lowerBound)
      row.capacity = UInt32(range.count)
      row.count = UInt32(sortMembers(range))
      row.hasOverrides = hasOverrides(range)
      tables.conversations.set(conversation, row, store)
    }
  }

  /// Stores memberships with their conversations, in the order in which they were added.
  ///
  /// - Returns: the end of each conversation's members.
  private static func storeMembers(
    _ conversations: [UInt32], _ users: [UInt32], _ bytes: [UInt8], _ tables: inout Tables,
    _ store: PageStore
  ) -> [UInt32] {
    var starts = [UInt32](repeating: 0, count: tables.conversations.count + 1)
    for conversation in conversations { starts[Int(conversation) + 1] += 1 }
    for index in starts.indices.dropFirst() { starts[index] += starts[index - 1] }
    tables.memberUsers.grow(to: users.count, repeating: 0, store)
    tables.packedMembers.grow(to: users.count, repeating: 0, store)
    // Each start advances with each member and finally is the end.
    for index in users.indices {
      let conversation = Int(conversations[index])
      let slot = Int(starts[conversation])
      starts[conversation] += 1
      tables.memberUsers.set(slot, users[index], store)
      tables.packedMembers.set(slot, bytes[index], store)
    }
    return starts
  }

  private func hasOverrides(_ range: Range<Int>) -> Bool {
    var bits: UInt8 = 0
    tables.packedMembers.forEachStretchRank(range) { bits |= $1 }
    return PackedMember(bits: bits).hasOverrides
  }

  /// Sorts the members of a conversation by user.
  ///
  /// - Returns: the number of members left when earlier records of the same user are removed.
  private func sortMembers(_ range: Range<Int>) -> Int {
    var isAscending = true
    var last: UInt32?
    tables.memberUsers.forEachStretchRank(range) { _, user in
      if let last, user <= last { isAscending = false }
      last = user
    }
    if isAscending { return range.count }
    // By user; records of the same user in the order in which they were added.
    let sorted = range.sorted {
      (tables.memberUsers[$0], $0) < (tables.memberUsers[$1], $1)
    }.map { (user: tables.memberUsers[$0], packed: tables.packedMembers[$0]) }
    var count = 0
    for (offset, member) in sorted.enumerated() {
      if offset + 1 < sorted.count, sorted[offset + 1].user == member.user { continue }
      tables.memberUsers.set(range.lowerBound + count, member.user, store)
      tables.packedMembers.set(range.lowerBound + count, member.packed, store)
      count += 1
    }
    return count
  }
}
