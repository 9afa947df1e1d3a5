internal import CPushKernels
internal import PushModel
internal import PushSupport
internal import Synchronization

/// Applies later versions and instants to the keys, under the lock.
extension CachedConversation {
  /// Across more events than this, the keys move back to an earlier reader's instant.
  private static let farEvents = 4096

  /// Does nothing for an earlier version, or an instant earlier by few events.
  func catchUp(to reader: ConversationReader, _ guarded: inout Guarded) {
    let number = reader.number
    guard number >= applied.load(ordering: .relaxed) else { return }
    let hasPending = number >= pendingFrom.load(ordering: .relaxed)
    var position = moves(to: reader.now, guarded.events)
    guard hasPending || position != nil else { return }
    sequence.add(1, ordering: .acquiringAndReleasing)
    // First, as changes may add earlier events.
    if hasPending {
      applyPending(number, MemberResolver(reader.version), &guarded)
      position = moves(to: reader.now, guarded.events)
    }
    if let position { moveEvents(to: position, reader.now, &guarded) }
    setEventBounds(guarded)
    sequence.add(1, ordering: .acquiringAndReleasing)
    checkInDebugBuilds { checkInvariants(reader.version, guarded, .sample(number)) }
  }

  /// Nil if the keys should not move.
  private func moves(to now: Int64, _ events: borrowing EventLog) -> Int? {
    let position = events.count(upTo: now)
    let isFar = events.passed - position > Self.farEvents
    return position > events.passed || isFar ? position : nil
  }

  private func moveEvents(to position: Int, _ now: Int64, _ guarded: inout Guarded) {
    let (positions, isLater) = guarded.events.move(to: position, at: now)
    var tallied = talliedPhases(guarded.tallies)
    if isLater {
      for index in positions {
        let event = guarded.events.events[index]
        setKey(Int(event.rank), event.after, &tallied, &guarded)
      }
    } else {
      for index in positions.reversed() {
        let event = guarded.events.events[index]
        setKey(Int(event.rank), event.before, &tallied, &guarded)
      }
    }
  }

  private func applyPending(
    _ number: UInt64, _ resolver: MemberResolver, _ guarded: inout Guarded
  ) {
    var tallied = talliedPhases(guarded.tallies)
    let readsStoredKeys = resolver.readsStoredKeys(target)
    if readsStoredKeys { applyPresence(number, resolver, &tallied, &guarded) }
    let (ranks, haveNewSettings) = takePending(number, resolver, &guarded.changes)
    applied.store(number, ordering: .relaxed)
    setPendingFrom(guarded)
    if ranks.isEmpty { return }
    // Events may change even if no key does.
    revision.add(1, ordering: .acquiringAndReleasing)
    let row = target.memberRow
    var replacement = guarded.events.beginReplacement()
    for rank in ranks {
      let user = resolver.tables.memberUsers[Int(row.start) + Int(rank)]
      // A stored key's only event is the start; earlier settings may have had others.
      let packed = PackedMember(bits: resolver.tables.packedMembers[Int(row.start) + Int(rank)])
      let stored = readsStoredKeys ? resolver.storedKey(of: user, Int(rank), target) : nil
      if let stored,
        !(haveNewSettings || packed.hasSince) || !guarded.events.hasEvents(of: rank)
      {
        setKey(Int(rank), stored, &tallied, &guarded)
        continue
      }
      let start = replacement.listed.count
      let overrides = resolver.overrides(of: user, rank: Int(rank), target)
      let key =
        stored.map {
          listStart(rank, overrides.since, $0, guarded.events, &replacement.listed)
        }
        ?? listEvents(
          Int(rank), of: user, overrides, resolver, at: guarded.events.now,
          after: guarded.events.floor, &replacement.listed)
      guarded.events.replaceEvents(of: rank, from: start, &replacement)
      setKey(Int(rank), key, &tallied, &guarded)
    }
    guarded.events.finish(replacement)
  }

  /// No earlier version is asked for these members, so they are not noted as applied.
  private func applyPresence(
    _ number: UInt64, _ resolver: MemberResolver, _ tallied: inout [TalliedPhases],
    _ guarded: inout Guarded
  ) {
    guard let online = resolver.version.online else { return }
    let (start, tables) = (Int(target.memberRow.start), resolver.tables)
    var changes = PendingChanges(0)
    swap(&changes, &guarded.changes)
    changes.takePresence(number) { user, rank in
      resolver.prefetch(user, at: rank, target)
    } _: { user, rank in
      guard rank < count else { return false }
      let slot = start + Int(rank)
      let stored = MemberKey(bits: tables.memberKeys[slot])
      guard tables.memberUsers[slot] == user, !stored.isUnresolved,
        !PackedMember(bits: tables.packedMembers[slot]).hasSince
      else { return false }
      let isOnline = online.contains(user) && tables.isUnreached(online: user)
      let key =
        isOnline
        ? MemberKey(schedule: UInt32(stored.schedule), base: target.rules.onlineBase) : stored
      setKey(Int(rank), key, &tallied, &guarded)
      return true
    }
    swap(&changes, &guarded.changes)
  }

  /// - Returns: the key at the log's instant.
  private func listStart(
    _ rank: UInt32, _ since: Int64, _ key: MemberKey, _ events: borrowing EventLog,
    _ listed: inout [EventLog.Event]
  ) -> MemberKey {
    if since > events.floor {
      listed.append(EventLog.Event(at: since, rank: rank, before: key.absent, after: key))
    }
    return since > events.now ? key.absent : key
  }

  /// - Returns: distinct ranks, ascending, and whether more than presence changed.
  private func takePending(
    _ number: UInt64, _ resolver: MemberResolver, _ changes: inout PendingChanges
  ) -> (ranks: [UInt32], haveNewSettings: Bool) {
    var haveNewSettings = false
    let end = changes.count(upTo: number)
    var ranks: [UInt32] = []
    ranks.reserveCapacity(end)
    for index in 0..<end {
      let (user, near) = changes.pending[index].subject.member
      guard let user else { continue }
      resolver.prefetch(user, at: near, target)
      if near < count { unsafe pk_prefetch(keys + Int(near)) }
    }
    for index in 0..<end {
      let change = changes.pending[index]
      let (user, near) = change.subject.member
      haveNewSettings = haveNewSettings || near == .max
      guard let user else {
        ranks = Array(0..<UInt32(count))
        changes.noteAllApplied(number)
        break
      }
      guard let rank = resolver.rank(of: user, probably: near, target.memberRow) else { continue }
      if ranks.last != UInt32(rank) { ranks.append(UInt32(rank)) }
      if near != rank {
        resolver.prefetchRecords(of: user, rank, target)
        unsafe pk_prefetch(keys + rank)
      }
      changes.noteApplied(UInt32(rank), change.number)
    }
    changes.removeFirst(end)
    changes.forgetApplied(above: max(64, count / 8))
    guard ranks.count > 1 else { return (ranks, haveNewSettings) }
    ranks.sort()
    var kept = 1
    for rank in ranks[1...] where rank != ranks[kept - 1] {
      ranks[kept] = rank
      kept += 1
    }
    ranks.removeSubrange(kept...)
    return (ranks, haveNewSettings)
  }

  func setEventBounds(_ guarded: borrowing Guarded) {
    let (from, until) = guarded.events.bounds
    eventsFrom.store(from, ordering: .relaxed)
    eventsUntil.store(until, ordering: .relaxed)
  }

  private func setKey(
    _ rank: Int, _ key: MemberKey, _ tallied: inout [TalliedPhases], _ guarded: inout Guarded
  ) {
    let before = self.key(rank)
    if before == key { return }
    // First, so that readers without the lock see that the key is newer.
    revision.add(1, ordering: .acquiringAndReleasing)
    unsafe keys[rank].store(key.bits, ordering: .releasing)
    guarded.tallies.runs.move(from: before, to: key)
    guarded.observer?.note(rank, from: before, to: key)
    var index = 0
    while index < tallied.count {
      let (slot, phases) = (tallied[index].slot, tallied[index].phases)
      guard key.schedule < phases.count else {
        // This may free the phases.
        tallied.remove(at: index)
        setInterval(nil, slot, &guarded.tallies)
        continue
      }
      move(
        1, slot, from: unsafe before.state(phases, stateByBase),
        to: unsafe key.state(phases, stateByBase))
      index += 1
    }
  }
}
