internal import CPushKernels
internal import PushModel

/// Answers from the tables, without a cache entry.
extension Decider {
  /// Counts members by state, and looks up those of the storage's ranks, or of all if few.
  ///
  /// - Returns: false, without an answer, if too many keys are unresolved.
  /// - Complexity: O(members).
  func readTables(
    _ target: borrowing ConversationTarget, _ reader: ConversationReader, _ storage: AnswerStorage
  ) -> Bool {
    let row = target.memberRow
    let count = Int(row.count)
    let isSmall = count <= CachedConversation.countedPerMessageLimit
    let states = unsafe isSmall ? storage.makeMemberStates(count) : nil
    let histogram = unsafe storage.histogram
    unsafe histogram.update(repeating: 0, count: target.rules.stateCapacity)
    unsafe version.tables.memberKeys.countStates(
      row.range, reader.phases, target.rules, into: histogram, states: states)
    let unknown = unsafe Int(histogram[0])
    if unknown > 0 {
      if unknown > 2 + count / 16 {
        storage.forgetMemberStates()
        return false
      }
      resolveUnresolved(unknown, target.ofStates, reader, storage)
    }
    let begins = row.hasStart(after: reader.now)
    if begins { removeAbsent(target, reader, storage) }
    if let online = version.online {
      correctOnline(online, target.ofStates, reader, begins: begins, storage)
    }
    let known = unsafe target.rules.ruleSet.othersState == nil ? states : nil
    for index in 0..<storage.rankCount {
      let rank = unsafe Int(storage.ranks[index])
      if let known = unsafe known {
        unsafe storage.states[index] = unsafe known[rank]
        continue
      }
      let slot = Int(row.start) + rank
      var key = MemberKey(bits: version.tables.memberKeys[slot])
      if key.isUnresolved || begins
        || version.online?.contains(version.tables.memberUsers[slot]) ?? false
      {
        key = MemberResolver(version).key(rank, target.ofStates, at: reader.now)
      }
      unsafe storage.setKey(key, index, reader.phases, target.rules.statesByBase)
    }
    return true
  }

  /// Resolves members without a stored key.
  private func resolveUnresolved(
    _ count: Int, _ target: ConversationTarget, _ reader: ConversationReader,
    _ storage: AnswerStorage
  ) {
    let resolver = MemberResolver(version)
    var left = count
    unsafe version.tables.memberKeys.forEachChunk(target.memberRow.range) {
      (offset, keys) -> Void in
      guard left > 0, let start = keys.baseAddress else { return }
      var index = unsafe pk_find_unresolved(start, 0, keys.count)
      while index < keys.count {
        let rank = offset + index
        let next = unsafe pk_find_unresolved(start, index + 1, keys.count)
        if next < keys.count {
          let slot = Int(target.memberRow.start) + offset + next
          resolver.prefetchAmongMany(version.tables.memberUsers[slot])
        }
        let state = unsafe resolver.key(rank, target, at: reader.now)
          .state(reader.phases, target.rules.statesByBase)
        storage.move(rank, from: StateRules.absent, to: state)
        left -= 1
        index = next
      }
    }
  }

  /// Counts members whose membership has not begun as absent.
  private func removeAbsent(
    _ target: borrowing ConversationTarget, _ reader: ConversationReader, _ storage: AnswerStorage
  ) {
    let row = target.memberRow
    let statesByBase = unsafe target.rules.statesByBase
    let now = reader.now
    let users = version.tables.memberUsers
    var rank = 0
    unsafe version.tables.overrides.forEachChunk(row.overrides) { (_, records) -> Void in
      for index in 0..<records.count {
        let record = unsafe records[index]
        guard record.isStart, record.value > now else { continue }
        rank = users.rank(ofFirstNotBelow: record.user, from: rank, in: row.range)
        let slot = Int(row.start) + rank
        guard rank < Int(row.count), users[slot] == record.user else { continue }
        let key = MemberKey(bits: version.tables.memberKeys[slot])
        // A later record may have replaced it.
        guard !key.isUnresolved,
          PackedMember(bits: version.tables.packedMembers[slot]).hasOnlySince
        else { continue }
        storage.move(
          rank, from: unsafe key.state(reader.phases, statesByBase), to: StateRules.absent)
      }
    }
  }
}

extension Decider {
  /// Stored keys are those of offline users.
  private func correctOnline(
    _ online: OnlineUsers, _ target: ConversationTarget, _ reader: ConversationReader,
    begins: Bool, _ storage: AnswerStorage
  ) {
    let resolver = MemberResolver(version)
    let row = target.memberRow
    let (tables, statesByBase) = unsafe (version.tables, target.rules.statesByBase)
    tables.memberUsers.forEachChunkElement(row.range) { rank, user in
      guard online.contains(user) else { return }
      let stored = MemberKey(bits: tables.memberKeys[Int(row.start) + rank])
      // Absent and unresolved members are counted already.
      let found =
        begins
        ? resolver.key(rank, target, at: reader.now) : resolver.storedKey(of: user, rank, target)
      guard !stored.isUnresolved, let key = found, key.base != 0, key != stored else { return }
      storage.move(
        rank, from: unsafe stored.state(reader.phases, statesByBase),
        to: unsafe key.state(reader.phases, statesByBase))
    }
  }
}

extension ConversationKind {
  var hasStoredKeys: Bool { self != .thread && self != .ultraGroup }
}

extension PagedTable where Element == UInt32 {
  @inline(__always)
  fileprivate func countStates(
    _ range: Range<Int>, _ phases: PhaseTable, _ rules: StateTables,
    into histogram: UnsafeMutablePointer<UInt32>, states: UnsafeMutablePointer<UInt8>?
  ) {
    unsafe phases.withBytes { (bytes) -> Void in
      unsafe forEachRun(of: range) { (offset, pages, first, count) -> Void in
        unsafe pk_count_pages(
          pages, Self.pageSize, first, count, bytes, phases.count, rules.statesByBase, histogram,
          rules.stateCount, states.map { unsafe $0 + offset })
      }
    }
  }
}
