internal import Algorithms
internal import CPushKernels
internal import PushModel
internal import PushSupport
internal import Synchronization

/// The version and the instant of a read.
///
/// SAFETY: the caller retains the version and the ``SchedulePhases``. They are not retained here,
/// as all threads would write their reference counts.
@safe struct ConversationReader {
  let number: UInt64
  /// Milliseconds since the epoch.
  let now: Int64
  /// The phases of all schedules at ``now``.
  let phases: PhaseTable
  private let versionReference: Unmanaged<EngineVersion>
  private let quietReference: Unmanaged<SchedulePhases>

  @inline(__always)
  init(version: EngineVersion, now: Int64, quiet: SchedulePhases) {
    number = version.number
    self.now = now
    phases = quiet.phases
    unsafe versionReference = .passUnretained(version)
    unsafe quietReference = .passUnretained(quiet)
  }

  var version: EngineVersion { unsafe versionReference.takeUnretainedValue() }
  var quiet: SchedulePhases { unsafe quietReference.takeUnretainedValue() }
}

/// The keys that an answer was computed from.
struct ReadStamp {
  /// ``CachedConversation/revision``.
  var revision: UInt
  /// Whether no correction was needed.
  var isExact: Bool
  /// Whether all corrections were undone events.
  var isUndone = true
}

extension CachedConversation {
  /// Counts members by state, and looks up those of the answer's ranks.
  ///
  /// - Returns: nil if the version or the instant is too early.
  /// - Complexity: O(states + ranks) if nothing changed; O(members) in a small conversation.
  @inline(__always)
  func read(_ reader: ConversationReader, into answer: AnswerStorage) -> ReadStamp? {
    readCurrent(reader, into: answer) ?? readLocked(reader, into: answer)
  }

  /// `position` is relative to the number of members, 0 to 1.
  @inline(__always)
  func prefetchRead(of position: Double) {
    unsafe pk_prefetch(keys + Int(Double(count) * position))
    if !isSmall { return unsafe pk_prefetch(tallies) }
    for rank in stride(from: 0, to: min(count, 64), by: 16) { unsafe pk_prefetch(keys + rank) }
  }

  /// Nil if something has to be applied first.
  private func readCurrent(
    _ reader: ConversationReader, into answer: AnswerStorage
  ) -> ReadStamp? {
    let number = reader.number
    let now = reader.now
    for _ in 0..<8 {
      let before = sequence.load(ordering: .acquiring)
      if before & 1 != 0 { continue }
      guard applied.load(ordering: .relaxed) <= number,
        number < pendingFrom.load(ordering: .relaxed),
        eventsFrom.load(ordering: .relaxed) <= now, now < eventsUntil.load(ordering: .relaxed)
      else { return nil }
      if isSmall {
        unsafe countKeys(
          reader.phases, into: answer.histogram, states: answer.makeMemberStates(count))
      } else {
        guard let slot = tallySlot(at: now) else { return nil }
        copyTally(slot, into: answer)
      }
      for index in 0..<answer.rankCount {
        unsafe answer.setKey(key(Int(answer.ranks[index])), index, reader.phases, stateByBase)
      }
      let revision = revision.load(ordering: .relaxed)
      atomicMemoryFence(ordering: .acquiring)
      if sequence.load(ordering: .relaxed) == before {
        return ReadStamp(revision: revision, isExact: true)
      }
    }
    return nil
  }

  private func tallySlot(at now: Int64) -> Int? {
    for slot in 0..<Self.tallyCount
    where tallyBounds[2 * slot].load(ordering: .relaxed) <= now
      && now < tallyBounds[2 * slot + 1].load(ordering: .relaxed)
    {
      return slot
    }
    return nil
  }

  private func copyTally(_ slot: Int, into answer: AnswerStorage) {
    let numbers = unsafe tallies + slot * stateCapacity
    for state in 0..<stateCount {
      unsafe answer.histogram[state] = unsafe numbers[state].load(ordering: .relaxed)
    }
  }

  func countKeys(
    _ phases: PhaseTable, into histogram: UnsafeMutablePointer<UInt32>,
    states: UnsafeMutablePointer<UInt8>? = nil
  ) {
    unsafe phases.withBytes {
      unsafe pk_count(
        UnsafeRawPointer(keys).assumingMemoryBound(to: UInt32.self), count, $0, phases.count,
        stateByBase, histogram, stateCount, states)
    }
  }

  // MARK: Under the lock

  private func readLocked(
    _ reader: ConversationReader, into answer: AnswerStorage
  ) -> ReadStamp? {
    guarded.withLock { guarded in
      let number = reader.number
      guard guarded.changes.covers(number), reader.now > guarded.events.floor else { return nil }
      catchUp(to: reader, &guarded)
      if isSmall {
        unsafe countKeys(
          reader.phases, into: answer.histogram, states: answer.makeMemberStates(count))
      } else {
        copyTally(tally(at: reader.quiet, &guarded), into: answer)
      }
      for index in 0..<answer.rankCount {
        unsafe answer.setKey(key(Int(answer.ranks[index])), index, reader.phases, stateByBase)
      }
      let isUndone = number >= applied.load(ordering: .relaxed)
      let isExact =
        isUndone
        ? undoEvents(reader, guarded.events, into: answer)
        : resolveChanged(reader, guarded, into: answer)
      return ReadStamp(
        revision: revision.load(ordering: .relaxed), isExact: isExact, isUndone: isUndone)
    }
  }

  /// Undoes the events between an earlier instant and that of the keys.
  ///
  /// - Returns: whether there were none.
  private func undoEvents(
    _ reader: ConversationReader, _ events: EventLog, into answer: AnswerStorage
  ) -> Bool {
    let position = events.count(upTo: reader.now)
    guard position < events.passed else { return true }
    let phases = reader.phases
    let undone = events.events[position..<events.passed]
    for event in undone {
      answer.count(
        from: unsafe event.after.state(phases, stateByBase),
        to: unsafe event.before.state(phases, stateByBase))
    }
    // A member with several events had the state before the first.
    if isSmall {
      for event in undone.reversed() {
        answer.setState(unsafe event.before.state(phases, stateByBase), ofMember: Int(event.rank))
      }
    }
    for index in 0..<answer.rankCount {
      let rank = unsafe answer.ranks[index]
      guard let event = undone.first(where: { $0.rank == rank }) else { continue }
      unsafe answer.setKey(event.before, index, phases, stateByBase)
    }
    return false
  }

  /// Resolves members that changed later, or have events in between, from the earlier version's
  /// tables.
  private func resolveChanged(
    _ reader: ConversationReader, _ guarded: borrowing Guarded, into answer: AnswerStorage
  ) -> Bool {
    let (position, passed) = (guarded.events.count(upTo: reader.now), guarded.events.passed)
    let between = guarded.events.events[min(position, passed)..<max(position, passed)]
    var ranks = Set(between.map(\.rank))
    ranks.formUnion(guarded.changes.appliedAfter(reader.number))
    let resolver = MemberResolver(reader.version)
    var isExact = true
    for rank in ranks {
      let key = resolver.key(Int(rank), target, at: reader.now)
      if key == self.key(Int(rank)) { continue }
      correct(rank, from: self.key(Int(rank)), to: key, reader, answer)
      isExact = false
    }
    return isExact
  }

  private func correct(
    _ rank: UInt32, from before: MemberKey, to after: MemberKey, _ reader: ConversationReader,
    _ answer: AnswerStorage
  ) {
    let phases = reader.phases
    answer.move(
      Int(rank), from: unsafe before.state(phases, stateByBase),
      to: unsafe after.state(phases, stateByBase))
    for index in 0..<answer.rankCount where unsafe answer.ranks[index] == rank {
      unsafe answer.setKey(after, index, phases, stateByBase)
    }
  }

  // MARK: All members

  /// Nil if the keys have changed since.
  ///
  /// - Complexity: O(members), on several threads if they are many; O(1) if asked for before.
  func states(
    _ stamp: ReadStamp, _ quiet: SchedulePhases, at now: Int64, threads: Int
  ) -> MemberStates? {
    guard revision.load(ordering: .acquiring) == stamp.revision else { return nil }
    if !stamp.isExact { return earlierStates(stamp, quiet, at: now, threads: threads) }
    let known = guarded.withLock { guarded -> MemberStates? in
      guard let states = guarded.states, states.revision == stamp.revision,
        states.from <= quiet.from, quiet.until <= states.until
      else { return nil }
      return states
    }
    if let known { return known }
    let states = MemberStates(self, quiet, stamp.revision, threads: threads)
    atomicMemoryFence(ordering: .acquiring)
    return guarded.withLock { guarded -> MemberStates? in
      guard revision.load(ordering: .relaxed) == stamp.revision else { return nil }
      guarded.states = states
      return states
    }
  }

  /// Nil for an earlier version.
  private func earlierStates(
    _ stamp: ReadStamp, _ quiet: SchedulePhases, at now: Int64, threads: Int
  ) -> MemberStates? {
    guard stamp.isUndone else { return nil }
    let states = MemberStates(self, quiet, stamp.revision, threads: threads)
    atomicMemoryFence(ordering: .acquiring)
    return guarded.withLock { guarded -> MemberStates? in
      guard revision.load(ordering: .relaxed) == stamp.revision else { return nil }
      let (position, passed) = (guarded.events.count(upTo: now), guarded.events.passed)
      guard position <= passed else { return nil }
      for event in guarded.events.events[position..<passed].reversed() {
        unsafe states.bytes[Int(event.rank)] =
          unsafe event.before.state(quiet.phases, stateByBase)
      }
      return states
    }
  }
}
