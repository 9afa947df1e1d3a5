internal import Algorithms
internal import CPushKernels
internal import PushModel
internal import PushSupport
internal import Synchronization

/// Moves words and tallies, under the lock.
extension CachedConversation {
  /// More events than this between the words and an earlier reader, and the words move back to its
  /// instant.
  private static let farEvents = 4096

  /// Brings the words to a reader's version and instant, unless the version is earlier, or the
  /// instant is by few events.
  func catchUp(to reader: ConversationReader, _ changing: inout Changing) {
    let number = reader.number
    guard number >= applied.load(ordering: .relaxed) else { return }
    let hasWaiting = number >= waitingFrom.load(ordering: .relaxed)
    var position = moves(to: reader.now, changing)
    guard hasWaiting || position != nil else { return }
    sequence.add(1, ordering: .acquiringAndReleasing)
    // First, as a change may add events before the instant.
    if hasWaiting {
      applyWaiting(number, MemberResolver(reader.version), &changing)
      position = moves(to: reader.now, changing)
    }
    if let position {
      moveEvents(to: position, reader.now, &changing)
    }
    setEventBounds(changing)
    sequence.add(1, ordering: .acquiringAndReleasing)
    checkInDebugBuilds { checkInvariants(reader.version, changing, .sample(number)) }
  }

  /// How many events there are up to an instant, if the words should move there.
  private func moves(to now: Int64, _ changing: borrowing Changing) -> Int? {
    let position = changing.eventCount(upTo: now)
    let isFar = changing.eventCount - position > Self.farEvents
    return position > changing.eventCount || isFar ? position : nil
  }

  private func moveEvents(to position: Int, _ now: Int64, _ changing: inout Changing) {
    let start = changing.eventCount
    changing.eventCount = position
    changing.now = now
    var tallied = talliedLevels(changing)
    if position >= start {
      for index in start..<position {
        let event = changing.events[index]
        setWord(Int(event.rank), event.after, &tallied, &changing)
      }
    } else {
      for index in (position..<start).reversed() {
        let event = changing.events[index]
        setWord(Int(event.rank), event.before, &tallied, &changing)
      }
    }
  }

  private func applyWaiting(
    _ number: UInt64, _ resolver: MemberResolver, _ changing: inout Changing
  ) {
    var tallied = talliedLevels(changing)
    let readsWords = resolver.readsWords(target)
    if readsWords { applyPresence(number, resolver, &tallied, &changing) }
    let (ranks, haveNewSettings) = takeWaiting(number, resolver, &changing)
    if ranks.isEmpty {
      applied.store(number, ordering: .relaxed)
      return setWaitingFrom(changing)
    }
    // Events may change though no word does; an answer for an earlier instant depends on them.
    revision.add(1, ordering: .acquiringAndReleasing)
    let row = target.memberRow
    var listed = ListedEvents(&changing)
    for rank in ranks {
      let user = resolver.tables.memberUsers[Int(row.start) + Int(rank)]
      // Of a member with a lasting word, the start is the only event; the settings before may have
      // had others.
      let packed = PackedMember(bits: resolver.tables.packedMembers[Int(row.start) + Int(rank)])
      let lasting = readsWords ? resolver.lastingWord(of: user, Int(rank), target) : nil
      if let lasting,
        !(haveNewSettings || packed.hasSince) || !listed.hasEvents(rank, changing)
      {
        setWord(Int(rank), lasting, &tallied, &changing)
        continue
      }
      let start = listed.all.count
      let overrides = resolver.overrides(of: user, rank: Int(rank), target)
      let word =
        lasting.map { listStart(rank, overrides.since, $0, changing, &listed.all) }
        ?? listEvents(
          Int(rank), of: user, overrides, resolver, at: changing.now, after: changing.eventFloor,
          &listed.all)
      listed.replace(rank, from: start, &changing)
      setWord(Int(rank), word, &tallied, &changing)
    }
    listed.finish(&changing)
    changing.memberEvents = nil
    changing.eventsRevision += 1
    changing.eventCount = changing.events.partitioningIndex { $0.at > changing.now }
    applied.store(number, ordering: .relaxed)
    setWaitingFrom(changing)
  }

  /// Takes out of the changes that wait those of presence alone, in front of all changes of
  /// settings, of members whose words are lasting and who have no events: most of them.
  ///
  /// No earlier version is asked for their words, so they are not kept as history.
  private func applyPresence(
    _ number: UInt64, _ resolver: MemberResolver, _ tallied: inout [TalliedPhases],
    _ changing: inout Changing
  ) {
    guard let online = resolver.version.online else { return }
    var waiting: [Change] = []
    swap(&waiting, &changing.waiting)
    let end = waiting.firstIndex { $0.rank >= count || $0.number > number } ?? waiting.count
    let (start, tables) = (Int(target.memberRow.start), resolver.tables)
    for change in waiting[..<end] { resolver.prefetch(change.subject, at: change.rank, target) }
    var kept = 0
    for index in 0..<end {
      let change = waiting[index]
      let slot = start + Int(change.rank)
      let lasting = MemberWord(bits: tables.memberWords[slot])
      guard tables.memberUsers[slot] == change.subject, !lasting.isUnresolved,
        !PackedMember(bits: tables.packedMembers[slot]).hasSince
      else {
        waiting[kept] = change
        kept += 1
        continue
      }
      let isOnline =
        online.contains(change.subject) && tables.onlineReach(of: change.subject) == .online
      let word =
        isOnline
        ? MemberWord(schedule: UInt32(lasting.schedule), base: target.rules.onlineBase) : lasting
      setWord(Int(change.rank), word, &tallied, &changing)
    }
    waiting.removeSubrange(kept..<end)
    swap(&waiting, &changing.waiting)
  }

  /// Appends the start of the membership of a member with a lasting word.
  ///
  /// - Returns: the word at the instant of the words.
  private func listStart(
    _ rank: UInt32, _ since: Int64, _ word: MemberWord, _ changing: borrowing Changing,
    _ events: inout [Event]
  ) -> MemberWord {
    if since > changing.eventFloor {
      events.append(Event(at: since, rank: rank, before: word.absent, after: word))
    }
    return since > changing.now ? word.absent : word
  }

  /// Takes the changes up to a version out of those that wait.
  ///
  /// - Returns: the ranks of the members that they concern, ascending, without duplicates; whether
  ///   it is not only the presence of all of them that changed.
  private func takeWaiting(
    _ number: UInt64, _ resolver: MemberResolver, _ changing: inout Changing
  ) -> (ranks: [UInt32], haveNewSettings: Bool) {
    var haveNewSettings = false
    let end = changing.waiting.partitioningIndex { $0.number > number }
    var ranks: [UInt32] = []
    ranks.reserveCapacity(end)
    for change in changing.waiting[..<end] where change.subject != .max {
      resolver.prefetch(change.subject, at: change.rank, target)
      if change.rank < count { unsafe pk_prefetch(words + Int(change.rank)) }
    }
    for change in changing.waiting[..<end] {
      haveNewSettings = haveNewSettings || change.rank == Change.ofSettings
      if change.subject == .max {
        ranks = Array(0..<UInt32(count))
        changing.history = []
        changing.historyFrom = number
        changing.lost = .max ..< .max
        break
      }
      let found = resolver.rank(of: change.subject, probably: change.rank, target.memberRow)
      guard let rank = found else { continue }
      if ranks.last != UInt32(rank) { ranks.append(UInt32(rank)) }
      if change.rank != rank {
        resolver.prefetchRecords(of: change.subject, rank, target)
        unsafe pk_prefetch(words + rank)
      }
      changing.history.append(Change(number: change.number, subject: UInt32(rank)))
    }
    changing.waiting.removeSubrange(..<end)
    if changing.history.count > max(64, count / 8) {
      let half = changing.history.count / 2
      changing.historyFrom = changing.history[half - 1].number
      changing.history.removeSubrange(..<half)
    }
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

  func setEventBounds(_ changing: borrowing Changing) {
    let count = changing.eventCount
    eventsFrom.store(
      count > 0 ? changing.events[count - 1].at : changing.eventFloor + 1, ordering: .relaxed)
    eventsUntil.store(
      count < changing.events.count ? changing.events[count].at : .max, ordering: .relaxed)
  }

  /// A tally that is in use, and the phases that it was counted at, which ``Changing/tallied``
  /// retains.
  private struct TalliedPhases {
    let slot: Int
    let phases: PhaseTable
  }

  private func talliedLevels(_ changing: borrowing Changing) -> [TalliedPhases] {
    if isSmall { return [] }
    return (0..<Self.tallyCount).compactMap { slot in
      changing.tallied[slot].map { TalliedPhases(slot: slot, phases: $0.phases) }
    }
  }

  private func setWord(
    _ rank: Int, _ word: MemberWord, _ tallied: inout [TalliedPhases], _ changing: inout Changing
  ) {
    let before = self.word(rank)
    if before == word { return }
    // First the revision: who reads the new word without the lock then sees that it is newer.
    revision.add(1, ordering: .acquiringAndReleasing)
    unsafe words[rank].store(word.bits, ordering: .releasing)
    changing.patternRuns.move(from: before, to: word)
    var index = 0
    while index < tallied.count {
      let (slot, phases) = (tallied[index].slot, tallied[index].phases)
      guard word.schedule < phases.count else {
        // The phases may be freed here.
        tallied.remove(at: index)
        setTallied(nil, slot, &changing)
        continue
      }
      add(slot, unsafe before.state(phases, stateByBase), 0 &- 1)
      add(slot, unsafe word.state(phases, stateByBase), 1)
      index += 1
    }
  }

  @inline(__always)
  private func add(_ slot: Int, _ state: UInt8, _ count: UInt32) {
    let number = unsafe tallies + (slot * stateCount + Int(state))
    unsafe number.pointee.store(
      number.pointee.load(ordering: .relaxed) &+ count, ordering: .relaxed)
  }

  // MARK: Tallies

  private func setTallied(_ quiet: SchedulePhases?, _ slot: Int, _ changing: inout Changing) {
    changing.tallied[slot] = quiet
    tallyBounds[2 * slot].store(quiet?.from ?? 0, ordering: .relaxed)
    tallyBounds[2 * slot + 1].store(quiet?.until ?? 0, ordering: .relaxed)
  }

  /// The tally for an interval without transitions, made from the one nearest in time in place of
  /// the farthest.
  ///
  /// - Complexity: O(transitions in between), each O(log runs + bases of the schedule's members);
  ///   at most O(runs), and O(members) the first time.
  func bringTally(to quiet: SchedulePhases, _ changing: inout Changing) -> Int {
    for slot in 0..<Self.tallyCount {
      if let known = changing.tallied[slot], known.from <= quiet.from, quiet.until <= known.until {
        return slot
      }
    }
    var (source, slot) = (0, 0)
    var (nearest, farthest) = (UInt64.max, UInt64.min)
    for index in 0..<Self.tallyCount {
      let known = changing.tallied[index]
      let distance = known.map { UInt64(($0.from - quiet.from).magnitude) } ?? .max
      if distance < nearest { (source, nearest) = (index, distance) }
      if distance >= farthest { (slot, farthest) = (index, distance) }
    }
    sequence.add(1, ordering: .acquiringAndReleasing)
    let isMade =
      changing.tallied[source].map {
        $0.day == quiet.day && follow($0, source, quiet, slot, &changing)
      }
      ?? false
    if !isMade { count(at: quiet, slot, &changing) }
    setTallied(quiet, slot, &changing)
    sequence.add(1, ordering: .acquiringAndReleasing)
    return slot
  }

  /// Makes a tally from another of the same date, transition by transition.
  ///
  /// - Returns: whether that costs less than a new count.
  private func follow(
    _ known: SchedulePhases, _ source: Int, _ quiet: SchedulePhases, _ slot: Int,
    _ changing: inout Changing
  ) -> Bool {
    let entries = quiet.transitions.entries(between: known.from, and: quiet.from)
    // A search takes about as long as counting so many members.
    guard entries.count * 128 < count else { return false }
    makePatternRuns(quiet.transitions, &changing)
    guard let runs = changing.patternRuns.runs(of: quiet.transitions) else { return false }
    for state in 0..<stateCount {
      let number = unsafe tallies[source * stateCount + state].load(ordering: .relaxed)
      unsafe tallies[slot * stateCount + state].store(number, ordering: .relaxed)
    }
    let isLater = known.from <= quiet.from
    for entry in entries {
      let (before, after) = (Int(entry.before), Int(entry.after))
      let old = MemberWord.stateIndex(phase: isLater ? before : after, base: 0)
      let new = MemberWord.stateIndex(phase: isLater ? after : before, base: 0)
      runs.forEach(of: entry.pattern) { word, count in
        add(slot, unsafe stateByBase[old + word.base], 0 &- count)
        add(slot, unsafe stateByBase[new + word.base], count)
      }
    }
    return true
  }

  /// Makes the runs that a date's transitions apply to, once the words were counted as often as
  /// making them is worth.
  private func makePatternRuns(_ transitions: QuietTransitions, _ changing: inout Changing) {
    if changing.patternRuns.isOf(transitions) { return }
    changing.patternRuns.recounts += 1
    guard changing.patternRuns.recounts > PatternRuns.countsBefore else { return }
    changing.patternRuns = PatternRuns(transitions)
    var isKnown = true
    func word(_ word: MemberWord) -> UInt32 {
      if let found = transitions.patternWord(word) { return found.bits }
      isKnown = false
      return 0
    }
    let all = (0..<count).map { word(self.word($0)) }
    // Not if a member's schedule was added after the reader's version.
    guard isKnown else { return changing.patternRuns = PatternRuns() }
    let others = changing.eventWords(word)
    changing.patternRuns.runs.make(all, others: others, limit: count * 3 / 8)
  }

  /// Counts the members in each state at an interval without transitions.
  private func count(at quiet: SchedulePhases, _ slot: Int, _ changing: inout Changing) {
    unsafe withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 256) { numbers in
      if let runs = changing.patternRuns.runs(of: quiet.transitions) {
        let phases = quiet.patternPhases
        unsafe numbers.initialize(repeating: 0)
        runs.forEach { word, count in
          unsafe numbers[Int(word.state(phases, stateByBase))] &+= count
        }
      } else if let start = numbers.baseAddress {
        unsafe countWords(quiet.phases, into: start)
      }
      for state in 0..<stateCount {
        unsafe tallies[slot * stateCount + state].store(numbers[state], ordering: .relaxed)
      }
    }
  }
}
