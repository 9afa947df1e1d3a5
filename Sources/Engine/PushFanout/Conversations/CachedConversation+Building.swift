internal import CPushKernels
internal import PushModel
internal import PushSupport
internal import Synchronization

extension CachedConversation {
  /// From this many members on, several threads build pieces.
  static let parallelSize = 1 << 15
  static let pieceSize = 1 << 14
  /// Events are kept for two days, in milliseconds, to decide late messages.
  private static let keptTime: Int64 = 2 * 86_400_000

  /// - Complexity: O(members).
  static func build(
    _ target: ConversationTarget, _ reader: ConversationReader, threads: Int,
    countedPerMessageLimit: Int = countedPerMessageLimit
  ) -> CachedConversation {
    let made = CachedConversation(
      target, number: reader.version.number,
      isSmall: target.memberRow.count <= countedPerMessageLimit)
    made.fill(reader, threads: threads)
    return made
  }

  private func fill(_ reader: ConversationReader, threads: Int) {
    let floor = reader.now - Self.keptTime
    let filling = KeyFilling(self, reader, eventFloor: floor)
    var events: [EventLog.Event] = []
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
    setByteLimit(eventCount: events.count)
    let log = EventLog(events, at: reader.now, after: floor)
    guarded.withLock { guarded in
      guarded.events = log
      setEventBounds(guarded)
    }
  }

  /// - Returns: the member's key at `now`.
  func listEvents(
    _ rank: Int, of user: UInt32, _ overrides: MemberOverrides, _ resolver: MemberResolver,
    at now: Int64, after floor: Int64, _ events: inout [EventLog.Event]
  ) -> MemberKey {
    let key = resolver.key(of: user, overrides, target, at: now)
    var first: Int64?
    var others: [Int64] = []
    resolver.forEachEvent(of: user, overrides) { at in
      guard at > floor else { return }
      if first == nil { first = at } else { others.append(at) }
    }
    guard let first else { return key }
    func add(_ at: Int64, _ before: MemberKey, _ after: MemberKey) {
      if before == after { return }
      events.append(EventLog.Event(at: at, rank: UInt32(rank), before: before, after: after))
    }
    if others.isEmpty {
      // Nothing else changes the key.
      let isPast = first <= now
      let other = resolver.key(of: user, overrides, target, at: isPast ? first - 1 : first)
      add(first, isPast ? other : key, isPast ? key : other)
      return key
    }
    var before: MemberKey?
    for at in (others + [first]).sorted() {
      let old = before ?? resolver.key(of: user, overrides, target, at: at - 1)
      let new = resolver.key(of: user, overrides, target, at: at)
      add(at, old, new)
      before = new
    }
    return key
  }
}

/// Sets the keys of a new conversation, on several threads.
private struct KeyFilling: Sendable {
  private let conversation: CachedConversation
  private let resolver: MemberResolver
  private let now: Int64
  private let eventFloor: Int64

  init(_ conversation: CachedConversation, _ reader: ConversationReader, eventFloor: Int64) {
    self.conversation = conversation
    resolver = MemberResolver(reader.version)
    now = reader.now
    self.eventFloor = eventFloor
  }

  func fill(_ ranks: Range<Int>) -> [EventLog.Event] {
    guard !ranks.isEmpty else { return [] }
    var events: [EventLog.Event] = []
    setStoredKeys(ranks)
    forgetOnline(ranks)
    // First, as a stored key's only event is the start.
    let absent = addStarts(ranks, &events)
    resolveUnresolved(ranks, &events)
    let keys = unsafe conversation.keys
    for rank in absent {
      let key = MemberKey(bits: unsafe keys[rank].load(ordering: .relaxed))
      unsafe keys[rank].store(key.absent.bits, ordering: .relaxed)
    }
    return events
  }

  /// Non-atomic access, while no other thread knows the keys.
  private var keys: UnsafeMutablePointer<UInt32> {
    unsafe UnsafeMutableRawPointer(conversation.keys).assumingMemoryBound(to: UInt32.self)
  }

  private func setStoredKeys(_ ranks: Range<Int>) {
    let target = conversation.target
    let keys = unsafe keys
    if resolver.readsStoredKeys(target) {
      let start = Int(target.memberRow.start)
      let slots = start + ranks.lowerBound..<start + ranks.upperBound
      unsafe resolver.tables.memberKeys.forEachChunk(slots) { (offset, chunk) -> Void in
        guard let source = chunk.baseAddress else { return }
        unsafe (keys + (ranks.lowerBound + offset)).update(from: source, count: chunk.count)
      }
      return
    }
    let stored = StoredKeys(resolver.tables)
    stored.prefetchFirst(Int(target.memberRow.start) + ranks.lowerBound)
    stored.write(
      ranks, of: target.memberRow, target.kind, target.rules, mask: resolver.levelMask(target)
    ) { unsafe keys[$0] = $1 }
  }

  /// Stored keys are those of offline users.
  private func forgetOnline(_ ranks: Range<Int>) {
    guard let online = resolver.version.online else { return }
    let start = Int(conversation.target.memberRow.start)
    let keys = unsafe keys
    resolver.tables.memberUsers.forEachChunkElement(
      start + ranks.lowerBound..<start + ranks.upperBound
    ) { offset, user in
      if online.contains(user) {
        unsafe keys[ranks.lowerBound + offset] = MemberKey.unresolved.bits
      }
    }
  }

  /// - Returns: the ranks of those who are not yet members.
  private func addStarts(
    _ ranks: Range<Int>, _ events: inout [EventLog.Event]
  ) -> [Int] {
    let row = conversation.target.memberRow
    // In a thread, the member's own record may apply.
    guard conversation.target.kind != .thread, row.hasStart(after: eventFloor) else { return [] }
    let (users, packedMembers) = (resolver.tables.memberUsers, resolver.tables.packedMembers)
    let start = Int(row.start)
    let last = users[start + ranks.upperBound - 1]
    var cursor = OverrideCursor(resolver.tables, row, from: users[start + ranks.lowerBound])
    var absent: [Int] = []
    var rank = ranks.lowerBound
    while cursor.record.user <= last {
      let record = cursor.record
      cursor.advance(by: 1)
      guard record.isStart, record.value > eventFloor else { continue }
      rank = users.rank(ofFirstNotBelow: record.user, from: rank, in: row.range)
      // The record may be another user's, or outdated.
      guard users[start + rank] == record.user,
        PackedMember(bits: packedMembers[start + rank]).hasOnlySince
      else { continue }
      let key = MemberKey(bits: unsafe keys[rank])
      if key.isUnresolved { continue }
      if record.value > now { absent.append(rank) }
      events.append(
        EventLog.Event(
          at: record.value, rank: UInt32(rank), before: key.absent, after: key))
    }
    return absent
  }

  private func resolveUnresolved(
    _ ranks: Range<Int>, _ events: inout [EventLog.Event]
  ) {
    let target = conversation.target
    let start = Int(target.memberRow.start)
    let keys = unsafe keys
    var rank = unsafe pk_find_unresolved(keys, ranks.lowerBound, ranks.upperBound)
    guard rank < ranks.upperBound else { return }
    var cursor = OverrideCursor(
      resolver.tables, target.memberRow, from: resolver.tables.memberUsers[start + rank])
    while rank < ranks.upperBound {
      let next = unsafe pk_find_unresolved(keys, rank + 1, ranks.upperBound)
      if next < ranks.upperBound {
        resolver.prefetchAmongMany(resolver.tables.memberUsers[start + next])
      }
      let user = resolver.tables.memberUsers[start + rank]
      let packed = PackedMember(bits: resolver.tables.packedMembers[start + rank])
      let record =
        packed.isChanged
        ? resolver.tables.changedRecord(packed, of: user, target.members)
        : cursor.record(packed, of: user)
      let key = conversation.listEvents(
        rank, of: user, resolver.overrides(of: user, record, target), resolver, at: now,
        after: eventFloor, &events)
      unsafe keys[rank] = key.bits
      rank = next
    }
  }

  /// Skips members who are resolved already.
  func fillOwn(_ events: inout [EventLog.Event]) {
    let (target, tables) = (conversation.target, resolver.version.tables)
    for slot in target.row.range {
      let user = tables.memberUsers[slot]
      guard let rank = tables.rank(of: user, in: target.memberRow) else { continue }
      let packed = PackedMember(bits: tables.packedMembers[Int(target.memberRow.start) + rank])
      if packed.hasOverrides || tables.packedUsers[Int(user)].hasMute || tables.hasOwnDevices(user)
        || resolver.version.online?.contains(user) ?? false
      {
        continue
      }
      let key = conversation.listEvents(
        rank, of: user, resolver.overrides(of: user, rank: rank, target), resolver, at: now,
        after: eventFloor, &events)
      unsafe conversation.keys[rank].store(key.bits, ordering: .relaxed)
    }
  }
}
