internal import Synchronization

/// The intervals of a conversation's tallies. The numbers are in the conversation, as they are read
/// without its lock.
struct Tallies {
  /// Nil for an unused tally.
  fileprivate(set) var intervals: [SchedulePhases?]
  /// Members by pattern and base, to derive a tally from another.
  var runs = PatternRuns()

  init(count: Int) { intervals = Array(repeating: nil, count: count) }
}

/// A tally in use, and its phases, which ``Tallies/intervals`` retains.
struct TalliedPhases {
  let slot: Int
  let phases: PhaseTable
}

/// Makes and updates tallies, under the lock.
extension CachedConversation {
  func talliedPhases(_ tallies: borrowing Tallies) -> [TalliedPhases] {
    var all: [TalliedPhases] = []
    for slot in 0..<tallies.intervals.count {
      if let quiet = tallies.intervals[slot] {
        all.append(TalliedPhases(slot: slot, phases: quiet.phases))
      }
    }
    return all
  }

  @inline(__always)
  func move(_ count: UInt32, _ slot: Int, from before: UInt8, to state: UInt8) {
    add(slot, before, 0 &- count)
    add(slot, state, count)
  }

  @inline(__always)
  private func add(_ slot: Int, _ state: UInt8, _ count: UInt32) {
    let number = unsafe tallies + (slot * stateCapacity + Int(state))
    unsafe number.pointee.store(
      number.pointee.load(ordering: .relaxed) &+ count, ordering: .relaxed)
  }

  func setInterval(_ quiet: SchedulePhases?, _ slot: Int, _ tallies: inout Tallies) {
    tallies.intervals[slot] = quiet
    tallyBounds[2 * slot].store(quiet?.from ?? 0, ordering: .relaxed)
    tallyBounds[2 * slot + 1].store(quiet?.until ?? 0, ordering: .relaxed)
  }

  /// The tally is derived from the nearest in time and replaces the farthest.
  ///
  /// - Complexity: O(transitions in between), each O(log runs + bases of the schedule's members);
  ///   at most O(runs), and O(members) the first time.
  func tally(at quiet: SchedulePhases, _ guarded: inout Guarded) -> Int {
    for slot in 0..<Self.tallyCount {
      if let known = guarded.tallies.intervals[slot], known.from <= quiet.from,
        quiet.until <= known.until
      {
        return slot
      }
    }
    var (source, slot) = (0, 0)
    var (nearest, farthest) = (UInt64.max, UInt64.min)
    for index in 0..<Self.tallyCount {
      let known = guarded.tallies.intervals[index]
      let distance = known.map { UInt64(($0.from - quiet.from).magnitude) } ?? .max
      if distance < nearest { (source, nearest) = (index, distance) }
      if distance >= farthest { (slot, farthest) = (index, distance) }
    }
    sequence.add(1, ordering: .acquiringAndReleasing)
    let isMade =
      guarded.tallies.intervals[source].map {
        $0.day == quiet.day && follow($0, source, quiet, slot, &guarded)
      }
      ?? false
    if !isMade { count(at: quiet, slot, &guarded) }
    setInterval(quiet, slot, &guarded.tallies)
    sequence.add(1, ordering: .acquiringAndReleasing)
    return slot
  }

  /// - Returns: false if a new count costs less.
  private func follow(
    _ known: SchedulePhases, _ source: Int, _ quiet: SchedulePhases, _ slot: Int,
    _ guarded: inout Guarded
  ) -> Bool {
    let entries = quiet.transitions.entries(between: known.from, and: quiet.from)
    // A search costs about as much as counting 128 members.
    guard entries.count * 128 < count else { return false }
    makePatternRuns(quiet.transitions, &guarded)
    guard let runs = guarded.tallies.runs.runs(of: quiet.transitions) else { return false }
    for state in 0..<stateCount {
      let number = unsafe tallies[source * stateCapacity + state].load(ordering: .relaxed)
      unsafe tallies[slot * stateCapacity + state].store(number, ordering: .relaxed)
    }
    let isLater = known.from <= quiet.from
    for entry in entries {
      let (before, after) = (Int(entry.before), Int(entry.after))
      let old = MemberKey.stateIndex(phase: isLater ? before : after, base: 0)
      let new = MemberKey.stateIndex(phase: isLater ? after : before, base: 0)
      runs.forEach(of: entry.pattern) { key, count in
        move(
          count, slot, from: unsafe stateByBase[old + key.base],
          to: unsafe stateByBase[new + key.base])
      }
    }
    return true
  }

  /// Runs are made after as many counts as making them costs.
  private func makePatternRuns(_ transitions: QuietTransitions, _ guarded: inout Guarded) {
    if guarded.tallies.runs.isOf(transitions) { return }
    guarded.tallies.runs.recounts += 1
    guard guarded.tallies.runs.recounts > PatternRuns.countsBefore else { return }
    guarded.tallies.runs = PatternRuns(transitions)
    var isKnown = true
    func key(_ key: MemberKey) -> UInt32 {
      if let found = transitions.patternKey(key) { return found.bits }
      isKnown = false
      return 0
    }
    let all = (0..<count).map { key(self.key($0)) }
    // A member's schedule was added after the reader's version.
    guard isKnown else { return guarded.tallies.runs = PatternRuns() }
    let others = guarded.events.keys(key)
    guarded.tallies.runs.runs.make(all, others: others, limit: count * 3 / 8)
  }

  private func count(at quiet: SchedulePhases, _ slot: Int, _ guarded: inout Guarded) {
    unsafe withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 256) { numbers in
      if let runs = guarded.tallies.runs.runs(of: quiet.transitions) {
        let phases = quiet.patternPhases
        unsafe numbers.initialize(repeating: 0)
        runs.forEach { key, count in
          unsafe numbers[Int(key.state(phases, stateByBase))] &+= count
        }
      } else if let start = numbers.baseAddress {
        unsafe countKeys(quiet.phases, into: start)
      }
      for state in 0..<stateCount {
        unsafe tallies[slot * stateCapacity + state].store(numbers[state], ordering: .relaxed)
      }
    }
  }
}
