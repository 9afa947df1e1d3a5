internal import Algorithms
internal import PushModel
internal import PushSupport
internal import Synchronization

extension CachedConversation {
  /// From this many members on the work is split into pieces of ``pieceSize`` for several threads.
  static let parallelSize = 1 << 15
  static let pieceSize = 1 << 14
  /// How long before the instant of building events are kept, so that late messages can be decided:
  /// two days, in milliseconds.
  private static let keptTime: Int64 = 2 * 86_400_000

  /// What decides a conversation's members at an instant.
  ///
  /// - Complexity: O(members).
  static func build(
    _ target: ConversationTarget, _ reader: ConversationReader, threads: Int,
    smallSize: Int = smallSize
  ) -> CachedConversation {
    let made = CachedConversation(
      target, number: reader.version.number, isSmall: target.memberRow.count <= smallSize)
    made.fill(reader, threads: threads)
    return made
  }

  private func fill(_ reader: ConversationReader, threads: Int) {
    let resolver = MemberResolver(reader.version)
    let pieces = (count + Self.pieceSize - 1) / Self.pieceSize
    let isParallel = count >= Self.parallelSize && threads > 1
    let special = Parallel.map(isParallel ? pieces : 1, threads: threads) { piece -> [UInt32] in
      let ranks =
        isParallel
        ? piece * Self.pieceSize..<min((piece + 1) * Self.pieceSize, count) : 0..<count
      return fill(ranks, resolver.version)
    }
    changing.withLock { changing in
      changing.now = reader.now
      changing.eventFloor = reader.now - Self.keptTime
      for ranks in special {
        for (index, rank) in ranks.enumerated() {
          if index % 16 == 0 {
            prefetchOverrides(ranks[index..<min(index + 16, ranks.count)], resolver)
          }
          setFirst(Int(rank), resolver, reader.now, &changing)
        }
      }
      if target.kind == .thread, target.row.parent != 0 {
        for slot in target.row.range {
          let user = resolver.tables.memberUsers[slot]
          // Each member's events are listed once.
          guard let rank = resolver.tables.rank(of: user, in: target.memberRow),
            !special.contains(where: { ranks in
              let index = ranks.partitioningIndex { $0 >= UInt32(rank) }
              return index < ranks.count && ranks[index] == UInt32(rank)
            })
          else { continue }
          setFirst(rank, resolver, reader.now, &changing)
        }
      }
      if changing.events.count > 1 { changing.events.sort { $0.at < $1.at } }
      changing.eventCount = changing.events.partitioningIndex { $0.at > reader.now }
      setEventBounds(changing)
      setByteLimit(changing)
    }
  }

  private func prefetchOverrides(_ ranks: ArraySlice<UInt32>, _ resolver: MemberResolver) {
    let start = Int(target.memberRow.start)
    for rank in ranks {
      let packed = PackedMember(bits: resolver.tables.packedMembers[start + Int(rank)])
      let key = Tables.key(target.members, resolver.tables.memberUsers[start + Int(rank)])
      if packed.hasSince { resolver.tables.memberSinces.prefetch(key) }
      if packed.hasMute { resolver.tables.memberMutes.prefetch(key) }
    }
  }

  private func setFirst(
    _ rank: Int, _ resolver: MemberResolver, _ now: Int64, _ changing: inout Changing
  ) {
    if setJoin(rank, resolver.version, now, &changing) { return }
    let word = listEvents(rank, resolver, at: now, &changing)
    unsafe words[rank].store(word.bits, ordering: .relaxed)
  }

  /// Sets the word of a member who has nothing but a start of the membership, which is most of
  /// those with overrides.
  ///
  /// - Returns: whether the member is one.
  private func setJoin(
    _ rank: Int, _ version: EngineVersion, _ now: Int64, _ changing: inout Changing
  ) -> Bool {
    let slot = Int(target.memberRow.start) + rank
    let packed = PackedMember(bits: version.tables.packedMembers[slot])
    let user = version.tables.memberUsers[slot]
    guard packed.hasSince, !packed.hasMute, !packed.hasChannels, target.kind != .thread,
      !version.tables.packedUsers[Int(user)].hasMute, !version.tables.hasOwnDevices(user)
    else { return false }
    let since = version.tables.since(packed, Tables.key(target.members, user))
    let after = word(rank)
    let before = MemberWord(schedule: UInt32(after.schedule), base: 0)
    if since > now { unsafe words[rank].store(before.bits, ordering: .relaxed) }
    if since > changing.eventFloor, before != after {
      changing.events.append(
        Event(at: since, rank: UInt32(rank), before: before, after: after))
    }
    return true
  }

  /// Appends the events of a member after ``Changing/eventFloor``.
  ///
  /// - Returns: the member's word at an instant.
  func listEvents(
    _ rank: Int, _ resolver: MemberResolver, at now: Int64, _ changing: inout Changing
  ) -> MemberWord {
    let user = resolver.tables.memberUsers[Int(target.memberRow.start) + rank]
    let overrides = resolver.overrides(of: user, rank: rank, target)
    let word = resolver.word(of: user, overrides, target, at: now)
    var first: Int64?
    var others: [Int64] = []
    resolver.forEachEvent(of: user, overrides) { at in
      guard at > changing.eventFloor else { return }
      if first == nil { first = at } else { others.append(at) }
    }
    guard let first else { return word }
    var before: MemberWord?
    for at in others.isEmpty ? [first] : (others + [first]).sorted() {
      let old = before ?? resolver.word(of: user, overrides, target, at: at - 1)
      let new = resolver.word(of: user, overrides, target, at: at)
      if old != new {
        changing.events.append(Event(at: at, rank: UInt32(rank), before: old, after: new))
      }
      before = new
    }
    return word
  }

  /// Fills the words of members whose levels alone decide them.
  ///
  /// - Returns: the ranks of the others: those with overrides, mutes or listed devices.
  private func fill(_ ranks: Range<Int>, _ version: EngineVersion) -> [UInt32] {
    let mask = MemberResolver(version).levelMask(target)
    let shift = version.tables.app.rules.levelShift(for: target.kind)
    let bases = unsafe target.rules.bases
    let start = Int(target.memberRow.start)
    let (packedUsers, schedules) = (version.tables.packedUsers, version.tables.schedules)
    let (memberUsers, packedMembers) = (version.tables.memberUsers, version.tables.packedMembers)
    let deviceLists = version.tables.deviceLists
    var special: [UInt32] = []
    var rank = ranks.lowerBound
    while rank < ranks.upperBound {
      let users = unsafe memberUsers.stretch(from: start + rank, limit: ranks.upperBound - rank)
      let members = unsafe packedMembers.stretch(from: start + rank, limit: users.count)
      for index in 0..<users.count {
        let user = Int(unsafe users[index])
        let packed = packedUsers[user]
        let member = PackedMember(bits: unsafe members[index])
        if member.hasOverrides || packed.hasMute
          || (deviceLists.count > 0 && deviceLists[user] != 0)
        {
          special.append(UInt32(rank + index))
        }
        let level = Int(packed.bits >> shift & 7)
        let base = unsafe bases[Int(member.bits & mask) << 8 | level]
        unsafe (words + (rank + index)).initialize(
          to: Atomic(MemberWord(schedule: schedules[user], base: base).bits))
      }
      rank += users.count
    }
    return special
  }
}
