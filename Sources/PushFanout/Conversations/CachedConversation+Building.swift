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
    let floor = reader.now - Self.keptTime
    let filling = WordFilling(self, reader, eventFloor: floor)
    var events: [Event] = []
    if count >= Self.parallelSize, threads > 1 {
      let pieces = (count + Self.pieceSize - 1) / Self.pieceSize
      let all = Parallel.map(pieces, threads: threads) { piece in
        filling.fill(piece * Self.pieceSize..<min((piece + 1) * Self.pieceSize, count))
      }
      events = Array(all.joined())
    } else {
      events = filling.fill(0..<count)
    }
    if target.kind == .thread, target.row.parent != 0 { filling.fillOwn(&events) }
    if events.count > 1 { events.sort { $0.precedes($1) } }
    changing.withLock { changing in
      changing.now = reader.now
      changing.eventFloor = floor
      changing.eventCount = events.partitioningIndex { $0.at > reader.now }
      swap(&changing.events, &events)
      setEventBounds(changing)
      setByteLimit(changing)
    }
  }

  /// Appends the events of a member after an instant.
  ///
  /// - Returns: the member's word at `now`.
  func listEvents(
    _ rank: Int, of user: UInt32, _ overrides: MemberOverrides, _ resolver: MemberResolver,
    at now: Int64, after floor: Int64, _ events: inout [Event]
  ) -> MemberWord {
    let word = resolver.word(of: user, overrides, target, at: now)
    var first: Int64?
    var others: [Int64] = []
    resolver.forEachEvent(of: user, overrides) { at in
      guard at > floor else { return }
      if first == nil { first = at } else { others.append(at) }
    }
    guard let first else { return word }
    var before: MemberWord?
    for at in others.isEmpty ? [first] : (others + [first]).sorted() {
      let old = before ?? resolver.word(of: user, overrides, target, at: at - 1)
      let new = resolver.word(of: user, overrides, target, at: at)
      if old != new {
        events.append(Event(at: at, rank: UInt32(rank), before: old, after: new))
      }
      before = new
    }
    return word
  }
}

/// Sets the words of a conversation that is being built, on several threads.
private struct WordFilling: Sendable {
  private let conversation: CachedConversation
  private let resolver: MemberResolver
  private let now: Int64
  private let eventFloor: Int64
  /// The bits of members who need more than their level and the start of their membership.
  private let specialBits: UInt8

  init(_ conversation: CachedConversation, _ reader: ConversationReader, eventFloor: Int64) {
    self.conversation = conversation
    resolver = MemberResolver(reader.version)
    now = reader.now
    self.eventFloor = eventFloor
    // In a thread a record of its own may apply.
    specialBits =
      PackedMember.beyondSince | (conversation.target.kind == .thread ? PackedMember.sinceBit : 0)
  }

  /// Sets the words of a range of members.
  ///
  /// Members and their overrides are read forward. Nothing branches on whether a membership has a
  /// start, which is unpredictable.
  ///
  /// - Returns: the members' events.
  func fill(_ ranks: Range<Int>) -> [CachedConversation.Event] {
    guard !ranks.isEmpty else { return [] }
    let (version, target) = (resolver.version, conversation.target)
    let mask = resolver.levelMask(target)
    let shift = version.tables.app.rules.levelShift(for: target.kind)
    let bases = unsafe target.rules.bases
    let start = Int(target.memberRow.start)
    let (packedUsers, schedules) = (version.tables.packedUsers, version.tables.schedules)
    let (memberUsers, packedMembers) = (version.tables.memberUsers, version.tables.packedMembers)
    let deviceLists = version.tables.deviceLists
    let words = unsafe conversation.words
    var cursor = OverrideCursor(
      version.tables, target.memberRow,
      from: ranks.lowerBound == 0 ? 0 : memberUsers[start + ranks.lowerBound])
    var events: [CachedConversation.Event] = []
    var rank = ranks.lowerBound
    while rank < ranks.upperBound {
      let users = unsafe memberUsers.stretch(from: start + rank, limit: ranks.upperBound - rank)
      let members = unsafe packedMembers.stretch(from: start + rank, limit: users.count)
      for index in 0..<min(Self.ahead, users.count) { prefetch(Int(unsafe users[index])) }
      for index in 0..<users.count {
        if index + Self.ahead < users.count { prefetch(Int(unsafe users[index + Self.ahead])) }
        let (user, member) = unsafe (users[index], PackedMember(bits: members[index]))
        let packed = packedUsers[Int(user)]
        let schedule = schedules[Int(user)]
        let level = Int(packed.bits >> shift & 7)
        let base = unsafe bases[Int(member.bits & mask) << 8 | level]
        let record = cursor.record
        let hasSince = UInt32(member.bits & PackedMember.sinceBit) / UInt32(PackedMember.sinceBit)
        let isOther =
          UInt32(member.bits & specialBits) | (0 &- hasSince) & record.differenceFromSince(of: user)
        if isOther != 0 || packed.hasMute || (deviceLists.count > 0 && deviceLists[Int(user)] != 0)
        {
          let word = list(rank + index, of: user, member, &cursor, &events)
          unsafe (words + (rank + index)).initialize(to: Atomic(word.bits))
          continue
        }
        let since = hasSince == 0 ? 0 : record.value
        let word = MemberWord(schedule: schedule, base: base)
        let absent = MemberWord(schedule: schedule, base: 0)
        unsafe (words + (rank + index)).initialize(
          to: Atomic(since > now ? absent.bits : word.bits))
        if since > eventFloor, hasSince != 0, absent != word {
          events.append(
            CachedConversation.Event(
              at: since, rank: UInt32(rank + index), before: absent, after: word))
        }
        cursor.advance(by: Int(hasSince))
      }
      rank += users.count
    }
    return events
  }

  /// How many members ahead their users' settings are prefetched.
  private static let ahead = 16

  @inline(__always)
  private func prefetch(_ user: Int) {
    resolver.tables.packedUsers.prefetch(user)
    resolver.tables.schedules.prefetch(user)
  }

  /// The word of a member that depends on more than a level and the start of the membership.
  @inline(never)
  private func list(
    _ rank: Int, of user: UInt32, _ packed: PackedMember, _ cursor: inout OverrideCursor,
    _ events: inout [CachedConversation.Event]
  ) -> MemberWord {
    let target = conversation.target
    let record =
      packed.isChanged
      ? resolver.tables.changedRecord(packed, of: user, target.members)
      : cursor.record(packed, of: user)
    return conversation.listEvents(
      rank, of: user, resolver.overrides(of: user, record, target), resolver, at: now,
      after: eventFloor, &events)
  }

  /// Sets the words of members without overrides, mutes or devices who have their own record in
  /// the thread.
  func fillOwn(_ events: inout [CachedConversation.Event]) {
    let (target, tables) = (conversation.target, resolver.version.tables)
    for slot in target.row.range {
      let user = tables.memberUsers[slot]
      // Each member's events are listed once.
      guard let rank = tables.rank(of: user, in: target.memberRow) else { continue }
      let packed = PackedMember(bits: tables.packedMembers[Int(target.memberRow.start) + rank])
      if packed.hasOverrides || tables.packedUsers[Int(user)].hasMute || tables.hasOwnDevices(user)
      {
        continue
      }
      let word = conversation.listEvents(
        rank, of: user, resolver.overrides(of: user, rank: rank, target), resolver, at: now,
        after: eventFloor, &events)
      unsafe conversation.words[rank].store(word.bits, ordering: .relaxed)
    }
  }
}
