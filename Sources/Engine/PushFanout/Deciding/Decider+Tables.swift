internal import CPushKernels
internal import PushModel

/// Answers from the words in the tables, without an entry of the cache.
extension Decider {
  /// Counts the members in each state at an instant, and looks up the states of the ranks in the
  /// storage; for few members those of all.
  ///
  /// - Returns: false if too many members have no lasting word. The storage has no answer then.
  /// - Complexity: O(members).
  func readTables(
    _ target: borrowing ConversationTarget, _ reader: ConversationReader, _ storage: AnswerStorage
  ) -> Bool {
    let row = target.memberRow
    let count = Int(row.count)
    let isSmall = count <= CachedConversation.countedPerMessageLimit
    let states = unsafe isSmall ? storage.makeMemberStates(count) : nil
    let histogram = unsafe storage.histogram
    unsafe histogram.update(repeating: 0, count: target.rules.stateCount)
    unsafe version.tables.memberWords.countStates(
      row.range, reader.phases, target.rules, into: histogram, states: states)
    let unknown = unsafe Int(histogram[0])
    if unknown > 0 {
      if unknown > 2 + count / 16 {
        storage.forgetMemberStates()
        return false
      }
      resolveUnknown(unknown, copy target, reader, storage)
    }
    let begins = row.hasStart(after: reader.now)
    if begins { removeAbsent(target, reader, storage) }
    if let online = version.online {
      correctOnline(online, copy target, reader, begins: begins, storage)
    }
    for index in 0..<storage.rankCount {
      let rank = unsafe Int(storage.ranks[index])
      if let states = unsafe states {
        unsafe storage.states[index] = unsafe states[rank]
        continue
      }
      let slot = Int(row.start) + rank
      var word = MemberWord(bits: version.tables.memberWords[slot])
      if word.isUnresolved || begins
        || version.online?.contains(version.tables.memberUsers[slot]) ?? false
      {
        word = MemberResolver(version).word(rank, copy target, at: reader.now)
      }
      unsafe storage.states[index] = unsafe word.state(reader.phases, target.rules.statesByBase)
    }
    return true
  }

  /// Resolves members without a lasting word, who were counted as absent.
  private func resolveUnknown(
    _ count: Int, _ target: ConversationTarget, _ reader: ConversationReader,
    _ storage: AnswerStorage
  ) {
    let resolver = MemberResolver(version)
    var left = count
    unsafe version.tables.memberWords.forEachChunk(target.memberRow.range) {
      (offset, words) -> Void in
      guard left > 0, let start = words.baseAddress else { return }
      var index = unsafe pk_find_unknown(start, 0, words.count)
      while index < words.count {
        let rank = offset + index
        let state = unsafe resolver.word(rank, target, at: reader.now)
          .state(reader.phases, target.rules.statesByBase)
        storage.move(rank, from: StateRules.absent, to: state)
        left -= 1
        index = unsafe pk_find_unknown(start, index + 1, words.count)
      }
    }
  }

  /// Counts members with a lasting word whose membership has not begun as absent.
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
        // Records are in the order of users.
        rank = users.rank(ofFirstNotBelow: record.user, from: rank, in: row.range)
        let slot = Int(row.start) + rank
        guard rank < Int(row.count), users[slot] == record.user else { continue }
        let word = MemberWord(bits: version.tables.memberWords[slot])
        // The record may have been replaced by a later one.
        guard !word.isUnresolved,
          PackedMember(bits: version.tables.packedMembers[slot]).hasOnlySince
        else { continue }
        storage.move(
          rank, from: unsafe word.state(reader.phases, statesByBase), to: StateRules.absent)
      }
    }
  }
}

extension Decider {
  /// Counts members who are online in their states: lasting words are those of users who are not.
  private func correctOnline(
    _ online: OnlineUsers, _ target: ConversationTarget, _ reader: ConversationReader,
    begins: Bool, _ storage: AnswerStorage
  ) {
    let resolver = MemberResolver(version)
    let row = target.memberRow
    let (tables, statesByBase) = unsafe (version.tables, target.rules.statesByBase)
    tables.memberUsers.forEachChunkElement(row.range) { rank, user in
      guard online.contains(user) else { return }
      let lasting = MemberWord(bits: tables.memberWords[Int(row.start) + rank])
      // Members who have not begun, and those without a lasting word, are counted already.
      let found =
        begins
        ? resolver.word(rank, target, at: reader.now) : resolver.lastingWord(of: user, rank, target)
      guard !lasting.isUnresolved, let word = found, word.base != 0, word != lasting else { return }
      storage.move(
        rank, from: unsafe lasting.state(reader.phases, statesByBase),
        to: unsafe word.state(reader.phases, statesByBase))
    }
  }
}

extension ConversationKind {
  /// Whether the words in the tables hold for every message: no channel, and no record of a thread,
  /// applies.
  var hasLastingWords: Bool { self != .thread && self != .ultraGroup }
}

extension PagedTable where Element == UInt32 {
  /// Adds the number of words in each state, and stores the states if there is room for them.
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
