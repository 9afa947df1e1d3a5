internal import CPushKernels
internal import Synchronization

/// Sums over the members of a conversation that a timeline keeps up from message to message, member
/// by member: a word changes, or a schedule has a transition, and what the member was counted as is
/// taken off, and what the member is now is added.
///
/// - Memory: 5 bytes a member, 4 more once a schedule has a transition, and those of ``HeldPushes``.
///
/// SAFETY: used by the one thread of the timeline that the conversation is of.
@safe final class FollowedWords: @unchecked Sendable {
  /// The members of a schedule, and its next transition in seconds.
  private struct Group {
    let schedule: UInt32
    let end: UInt32
    var next: Int64
  }

  private var revision: UInt
  private var eventsRevision: UInt
  private var eventCount: Int
  private var quiet: SchedulePhases
  private var words: [UInt32]
  private var states: [UInt8]
  /// The ranks by schedule; made on demand.
  private var ranks: [UInt32] = []
  private var groups: [Group] = []
  /// The members with mutes or graces that have not ended.
  private var special: Set<UInt32>
  /// Suppressed members who get a push later, by class of message.
  private var held: [Int: HeldPushes] = [:]
  /// Members who get a push by zone, by the address of a class of message's codes.
  private var zones: [UInt: ZonePushes] = [:]

  /// What members are counted as.
  struct Counting {
    /// The zone of a schedule.
    let zone: (_ schedule: Int) -> Int
    /// The next transition of a schedule, in seconds.
    let next: (_ schedule: Int) -> Int64
    /// When a member who is suppressed gets a push of a class of message, and the code until then;
    /// `hasEvents` of one with a mute or a grace that has not ended.
    let release: (_ rank: Int, _ messageClass: Int, _ hasEvents: Bool) -> (at: Int64, code: UInt8)?
  }

  init(_ conversation: CachedConversation, _ quiet: SchedulePhases) {
    self.quiet = quiet
    revision = conversation.revision.load(ordering: .relaxed)
    (eventsRevision, eventCount, special) = conversation.laterEvents()
    words = (0..<conversation.count).map { conversation.word($0).bits }
    let phases = quiet.phases
    states = (0..<conversation.count).map {
      unsafe conversation.word($0).state(phases, conversation.stateByBase)
    }
  }

  /// The suppressed members who get a push of a class of message later.
  ///
  /// - Complexity: O(1) once it was followed to the message; O(members) the first time.
  func held(_ messageClass: Int, _ counting: Counting) -> HeldPushes {
    if let known = held[messageClass] { return known }
    var made = HeldPushes(words.count)
    for rank in words.indices { set(rank, messageClass, &made, counting) }
    held[messageClass] = made
    return made
  }

  private func set(
    _ rank: Int, _ messageClass: Int, _ pushes: inout HeldPushes, _ counting: Counting
  ) {
    pushes.set(rank, counting.release(rank, messageClass, special.contains(UInt32(rank))))
  }

  /// The members who get a push by these codes, by zone.
  ///
  /// - Complexity: O(1) once it was followed to the message; O(members) the first time.
  func zones(_ codes: UnsafePointer<UInt8>, _ counting: Counting) -> ZonePushes {
    let key = UInt(bitPattern: codes)
    if let known = zones[key] { return known }
    var made = ZonePushes()
    for rank in words.indices where unsafe codes[Int(states[rank])] & 1 != 0 {
      made.add(1, zone: counting.zone(MemberWord(bits: words[rank]).schedule))
    }
    zones[key] = made
    return made
  }

  /// Follows to the words and phases of a message, which is not earlier than the one before.
  ///
  /// - Returns: false if that is not possible: another one has to be made.
  /// - Complexity: O(schedules of the members + members that changed).
  func follow(
    _ conversation: CachedConversation, _ quiet: SchedulePhases, _ counting: Counting
  ) -> Bool {
    guard quiet.calendar == self.quiet.calendar, quiet.from >= self.quiet.from else { return false }
    let isLater = quiet !== self.quiet
    let phases = quiet.phases
    func changed(_ rank: Int, from before: MemberWord, to after: MemberWord) {
      let (old, new) = (states[rank], unsafe after.state(phases, conversation.stateByBase))
      states[rank] = new
      if old != new || before.schedule != after.schedule {
        let (from, to) = (counting.zone(before.schedule), counting.zone(after.schedule))
        for index in zones.indices {
          zones.values[index].move(zones.keys[index], (from, old), (to, new))
        }
      }
      setHeld(rank, counting)
    }
    let revision = conversation.revision.load(ordering: .relaxed)
    if revision != self.revision {
      self.revision = revision
      var rank = difference(conversation, from: 0)
      while rank < words.count {
        let (before, after) = (MemberWord(bits: words[rank]), conversation.word(rank))
        if before.schedule != after.schedule { ranks = [] }
        words[rank] = after.bits
        changed(rank, from: before, to: after)
        rank = difference(conversation, from: rank + 1)
      }
    }
    if isLater || ranks.isEmpty && !words.isEmpty {
      followSchedules(quiet.from / 1000, counting) { rank in
        let word = MemberWord(bits: words[rank])
        changed(rank, from: word, to: word)
      }
    }
    self.quiet = quiet
    let events = conversation.laterEvents(unless: (eventsRevision, eventCount))
    if let events {
      let all = special.union(events.ranks)
      (eventsRevision, eventCount, special) = events
      for rank in all { setHeld(Int(rank), counting) }
    }
    return true
  }

  private func setHeld(_ rank: Int, _ counting: Counting) {
    for index in held.indices { set(rank, held.keys[index], &held.values[index], counting) }
  }

  /// The first rank from `rank` on whose word is another in the conversation.
  private func difference(_ conversation: CachedConversation, from rank: Int) -> Int {
    unsafe words.withUnsafeBufferPointer { known in
      guard let start = known.baseAddress else { return 0 }
      let words = unsafe UnsafeRawPointer(conversation.words).assumingMemoryBound(to: UInt32.self)
      return unsafe pk_find_difference(words, start, rank, known.count)
    }
  }

  /// Calls `body` with the members whose schedule has had a transition.
  private func followSchedules(
    _ second: Int64, _ counting: Counting, _ body: (_ rank: Int) -> Void
  ) {
    if ranks.isEmpty {
      // What was before a schedule of a member changed is not known any more.
      sortRanks(counting)
      for rank in words.indices { body(rank) }
      return
    }
    var start = 0
    for index in groups.indices {
      let end = Int(groups[index].end)
      if groups[index].next <= second {
        groups[index].next = counting.next(Int(groups[index].schedule))
        for rank in ranks[start..<end] { body(Int(rank)) }
      }
      start = end
    }
  }

  private func sortRanks(_ counting: Counting) {
    let words = words
    ranks = Array(UInt32(0)..<UInt32(words.count)).sortedByDigits {
      UInt32(MemberWord(bits: words[Int($0)]).schedule)
    }
    groups = []
    var index = 0
    while index < ranks.count {
      let schedule = MemberWord(bits: words[Int(ranks[index])]).schedule
      while index < ranks.count, MemberWord(bits: words[Int(ranks[index])]).schedule == schedule {
        index += 1
      }
      groups.append(
        Group(schedule: UInt32(schedule), end: UInt32(index), next: counting.next(schedule)))
    }
  }
}

/// The suppressed members of a conversation who get a push of a class of message later.
///
/// - Memory: 8 bytes a member.
struct HeldPushes {
  private static let codeShift: Int64 = 128
  private static let none: Int64 = -1

  /// For each member the instant and the code, as a key of ``sums``.
  private var keys: [Int64]
  private var sums: [Int64: Int] = [:]

  init(_ count: Int) { keys = Array(repeating: Self.none, count: count) }

  /// Sets when a member gets the push, and the code until then; nil for a member who does not.
  mutating func set(_ rank: Int, _ release: (at: Int64, code: UInt8)?) {
    let key = release.map { $0.at * Self.codeShift + Int64($0.code) } ?? Self.none
    let before = keys[rank]
    if key == before { return }
    keys[rank] = key
    if key != Self.none { sums[key, default: 0] += 1 }
    guard before != Self.none, let index = sums.index(forKey: before) else { return }
    if sums.values[index] == 1 { sums.remove(at: index) } else { sums.values[index] -= 1 }
  }

  /// Calls `body` with each instant and code, and how many members have them.
  func forEach(_ body: (_ at: Int64, _ code: UInt8, _ count: Int) -> Void) {
    for (key, count) in sums { body(key / Self.codeShift, UInt8(key % Self.codeShift), count) }
  }
}

/// The members of a conversation who get a push, by zone.
struct ZonePushes {
  private(set) var counts: [Int] = []

  mutating func add(_ count: Int, zone: Int) {
    while zone >= counts.count { counts.append(0) }
    counts[zone] += count
  }

  /// Moves a member from a zone and state to others.
  ///
  /// - Parameter key: the address of the codes.
  fileprivate mutating func move(
    _ key: UInt, _ before: (zone: Int, state: UInt8), _ after: (zone: Int, state: UInt8)
  ) {
    guard let codes = unsafe UnsafePointer<UInt8>(bitPattern: key) else { return }
    if unsafe codes[Int(before.state)] & 1 != 0 { add(-1, zone: before.zone) }
    if unsafe codes[Int(after.state)] & 1 != 0 { add(1, zone: after.zone) }
  }
}
