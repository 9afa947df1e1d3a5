internal import Algorithms
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
  func bringUp(to reader: ConversationReader, _ changing: inout Changing) {
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
    if position >= start {
      for index in start..<position {
        let event = changing.events[index]
        setWord(Int(event.rank), event.after, &changing)
      }
    } else {
      for index in (position..<start).reversed() {
        let event = changing.events[index]
        setWord(Int(event.rank), event.before, &changing)
      }
    }
  }

  private func applyWaiting(
    _ number: UInt64, _ resolver: MemberResolver, _ changing: inout Changing
  ) {
    let end = changing.waiting.partitioningIndex { $0.number > number }
    let row = target.memberRow
    var ranks: Set<UInt32> = []
    for change in changing.waiting[..<end] {
      if change.subject == .max {
        ranks = Set(0..<UInt32(count))
        changing.history = []
        changing.historyFrom = number
        changing.lost = .max ..< .max
        break
      }
      guard let rank = resolver.tables.rank(of: change.subject, in: row) else { continue }
      ranks.insert(UInt32(rank))
      changing.history.append(Change(number: change.number, subject: UInt32(rank)))
    }
    changing.waiting.removeSubrange(..<end)
    if changing.history.count > max(64, count / 8) {
      let half = changing.history.count / 2
      changing.historyFrom = changing.history[half - 1].number
      changing.history.removeSubrange(..<half)
    }
    // Events may change though no word does; an answer for an earlier instant depends on them.
    if !ranks.isEmpty { revision.add(1, ordering: .acquiringAndReleasing) }
    if !changing.events.isEmpty {
      changing.events.removeAll { ranks.contains($0.rank) }
    }
    let known = changing.events.count
    for rank in ranks {
      let user = resolver.tables.memberUsers[Int(row.start) + Int(rank)]
      let word = listEvents(
        Int(rank), of: user, resolver.overrides(of: user, rank: Int(rank), target), resolver,
        at: changing.now, after: changing.eventFloor, &changing.events)
      setWord(Int(rank), word, &changing)
    }
    if changing.events.count > known { changing.events.sort { $0.at < $1.at } }
    changing.eventCount = changing.events.partitioningIndex { $0.at > changing.now }
    applied.store(number, ordering: .relaxed)
    setWaitingFrom(changing)
  }

  func setEventBounds(_ changing: borrowing Changing) {
    let count = changing.eventCount
    eventsFrom.store(
      count > 0 ? changing.events[count - 1].at : changing.eventFloor + 1, ordering: .relaxed)
    eventsUntil.store(
      count < changing.events.count ? changing.events[count].at : .max, ordering: .relaxed)
  }

  private func setWord(_ rank: Int, _ word: MemberWord, _ changing: inout Changing) {
    let before = self.word(rank)
    if before == word { return }
    // First the revision: who reads the new word without the lock then sees that it is newer.
    revision.add(1, ordering: .acquiringAndReleasing)
    unsafe words[rank].store(word.bits, ordering: .releasing)
    changing.runs.move(from: before, to: word)
    if isSmall { return }
    for slot in 0..<Self.tallyCount {
      guard let quiet = changing.tallied[slot] else { continue }
      guard word.schedule < quiet.count else {
        setTallied(nil, slot, &changing)
        continue
      }
      let levels = quiet.levels
      add(slot, unsafe before.state(levels, stateByBase), 0 &- 1)
      add(slot, unsafe word.state(levels, stateByBase), 1)
    }
  }

  @inline(__always)
  private func add(_ slot: Int, _ state: UInt8, _ count: UInt32) {
    let number = unsafe tallies + (slot * stateCount + Int(state))
    unsafe number.pointee.store(
      number.pointee.load(ordering: .relaxed) &+ count, ordering: .relaxed)
  }

  // MARK: Tallies

  private func setTallied(_ quiet: ScheduleLevels?, _ slot: Int, _ changing: inout Changing) {
    changing.tallied[slot] = quiet
    tallyBounds[2 * slot].store(quiet?.from ?? 0, ordering: .relaxed)
    tallyBounds[2 * slot + 1].store(quiet?.until ?? 0, ordering: .relaxed)
  }

  /// The tally for an interval without transitions, made from the one nearest in time in place of
  /// the farthest.
  ///
  /// - Complexity: O(transitions in between), each O(log runs + bases of the schedule's members);
  ///   at most O(runs), and O(members) the first time.
  func bringTally(to quiet: ScheduleLevels, _ changing: inout Changing) -> Int {
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
    _ known: ScheduleLevels, _ source: Int, _ quiet: ScheduleLevels, _ slot: Int,
    _ changing: inout Changing
  ) -> Bool {
    let midnight = quiet.day * 86_400_000
    let transitions = quiet.transitions
    let (from, to) = (
      transitions.entryCount(upTo: Int((known.from - midnight) / 1000)),
      transitions.entryCount(upTo: Int((quiet.from - midnight) / 1000))
    )
    guard abs(to - from) * 16 < count else { return false }
    makeRuns(&changing)
    guard changing.runs.isMade, abs(to - from) * 8 < changing.runs.words.count else { return false }
    for state in 0..<stateCount {
      let number = unsafe tallies[source * stateCount + state].load(ordering: .relaxed)
      unsafe tallies[slot * stateCount + state].store(number, ordering: .relaxed)
    }
    let isLater = from <= to
    for entry in transitions.entries[min(from, to)..<max(from, to)] {
      let old = Int(isLater ? entry.before : entry.after) << MemberWord.baseBits
      let new = Int(isLater ? entry.after : entry.before) << MemberWord.baseBits
      changing.runs.forEach(of: entry.schedule) { word, count in
        add(slot, unsafe stateByBase[old | word.base], 0 &- count)
        add(slot, unsafe stateByBase[new | word.base], count)
      }
    }
    return true
  }

  private func makeRuns(_ changing: inout Changing) {
    if changing.runs.isMade || changing.runs.isRefused { return }
    changing.runs.make(
      (0..<count).map { unsafe words[$0].load(ordering: .relaxed) },
      others: changing.events.flatMap { [$0.before.bits, $0.after.bits] })
  }

  /// Counts the members in each state at an interval without transitions.
  private func count(at quiet: ScheduleLevels, _ slot: Int, _ changing: inout Changing) {
    var numbers = [UInt32](repeating: 0, count: 256)
    let levels = quiet.levels
    unsafe numbers.withUnsafeMutableBufferPointer { (numbers) -> Void in
      if changing.runs.isMade {
        for (index, bits) in changing.runs.words.enumerated() {
          let state = unsafe MemberWord(bits: bits).state(levels, stateByBase)
          unsafe numbers[Int(state)] &+= changing.runs.counts[index]
        }
      } else if let start = numbers.baseAddress {
        unsafe countWords(levels, into: start)
      }
      for state in 0..<stateCount {
        unsafe tallies[slot * stateCount + state].store(numbers[state], ordering: .relaxed)
      }
    }
  }
}
