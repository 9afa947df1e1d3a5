internal import Algorithms
internal import PushModel
internal import PushSupport
internal import QuietTime
internal import Synchronization

/// Finds when suppressed members of a conversation would get a push, if no settings changed.
///
/// For a member without mutes or grace periods that end, the instant follows from the member's
/// word: it is the first later level of the schedule at which the message pushes. So it is found
/// for each distinct word, not for each member.
struct DeferredPushes {
  /// The members with the same outcome and instant.
  struct Group {
    let at: Int64
    let code: UInt8
    var count: Int
  }

  /// The groups of a conversation for a class of message, and what they were computed from.
  struct Known {
    let revision: UInt
    let calendar: Int
    let from: Int64
    let groups: [Group]
  }

  private var calendar = 0
  /// The instant for which the levels were found, in seconds.
  private var now: Int64 = -1
  /// For each schedule, its next transition in seconds, and its level from then on as in
  /// ``ScheduleLevels/levels``; ``unknown`` until asked for.
  private var nextTransitions: [Int64] = []
  private var nextLevels: [UInt8] = []
  private var levelCounts: [UInt8] = []
  /// Of the app whose version was prepared last.
  private var bits = QuietLevelBits(AppSettings())

  private static let unknown = Int64.min
  private static let never = Int64.max

  private static let suppressed = (0..<UInt8(128)).map {
    Outcome(code: $0)?.action == .suppress
  }

  /// Prepares an instant.
  mutating func prepare(_ quiet: ScheduleLevels, _ version: EngineVersion) {
    let second = quiet.from / 1000
    if calendar != quiet.calendar || second < now {
      calendar = quiet.calendar
      nextTransitions = []
      nextLevels = []
      levelCounts = []
    }
    now = second
    bits = QuietLevelBits(version.tables.app)
    let count = version.tables.scheduleTable.count
    while nextTransitions.count < count {
      nextTransitions.append(Self.unknown)
      nextLevels.append(0)
      levelCounts.append(0)
    }
  }

  /// The suppressed members of a conversation who will get a push of a class of message.
  ///
  /// - Complexity: O(groups); O(distinct words) after a change of the members or a transition.
  mutating func groups(
    _ conversation: CachedConversation, _ quiet: ScheduleLevels, _ messageClass: Int, at now: Int64,
    _ version: EngineVersion
  ) -> [Group] {
    let revision = conversation.revision.load(ordering: .relaxed)
    let known = conversation.changing.withLock { $0.deferred[messageClass] }
    if let known, known.revision == revision, known.calendar == quiet.calendar,
      known.from == quiet.from
    {
      return known.groups
    }
    var sums: [Int64: Int] = [:]
    let codeShift: Int64 = 128
    let resolver = MemberResolver(version)
    conversation.forEachWord { word, count, rank in
      let found =
        rank < 0
        ? release(of: word, conversation, quiet, messageClass, version)
        : releaseByEvents(of: rank, conversation, messageClass, at: now, resolver)
      guard let (at, code) = found else { return }
      sums[at * codeShift + Int64(code), default: 0] += count
    }
    let groups = sums.map {
      Group(at: $0.key / codeShift, code: UInt8($0.key % codeShift), count: $0.value)
    }
    let made = Known(
      revision: revision, calendar: quiet.calendar, from: quiet.from, groups: groups)
    conversation.changing.withLock { $0.deferred[messageClass] = made }
    return groups
  }

  /// The instant at which a suppressed member gets a push, and the code of the suppressed outcome;
  /// nil if the member is not suppressed or never gets one.
  mutating func release(
    of rank: Int, _ conversation: CachedConversation, _ quiet: ScheduleLevels, _ messageClass: Int,
    at now: Int64, _ version: EngineVersion
  ) -> (at: Int64, code: UInt8)? {
    if conversation.hasLaterEvent(rank) {
      return releaseByEvents(of: rank, conversation, messageClass, at: now, MemberResolver(version))
    }
    return release(of: conversation.word(rank), conversation, quiet, messageClass, version)
  }

  private mutating func release(
    of word: MemberWord, _ conversation: CachedConversation, _ quiet: ScheduleLevels,
    _ messageClass: Int, _ version: EngineVersion
  ) -> (at: Int64, code: UInt8)? {
    let codes = unsafe conversation.target.rules.codes(messageClass)
    let code = unsafe codes[Int(word.state(quiet.levels, conversation.stateByBase))]
    guard Self.suppressed[Int(code)] else { return nil }
    var found: Int64?
    forEachLaterLevel(of: word.schedule, version) { second, level in
      let state = unsafe conversation.stateByBase[Int(level) << MemberWord.baseBits | word.base]
      guard unsafe codes[Int(state)] & 1 != 0 else { return true }
      found = second
      return false
    }
    guard let second = found, second <= Instant.maximumMilliseconds / 1000 else { return nil }
    return (second * 1000, code)
  }

  /// Calls `body` with the first later instants, in seconds since the epoch, at which each other
  /// level of a schedule begins, and with the level, until it returns false.
  private mutating func forEachLaterLevel(
    of index: Int, _ version: EngineVersion, _ body: (Int64, UInt8) -> Bool
  ) {
    if index == 0 { return }
    if nextTransitions[index] <= now {
      let schedule = version.tables.scheduleTable.schedule(UInt32(index))
      let next = schedule?.nextTransition(after: now)
      nextTransitions[index] = next ?? Self.never
      nextLevels[index] = next.map { bits[schedule?.level(at: $0)] >> 3 } ?? 0
      levelCounts[index] = UInt8(schedule?.distinctLevels.count ?? 1)
    }
    let first = nextTransitions[index]
    if first == Self.never || !body(first, nextLevels[index]) { return }
    guard levelCounts[index] > 2,
      let quiet = version.tables.scheduleTable.schedule(UInt32(index))
    else { return }
    var unseen = UnseenLevels(quiet, at: now)
    unseen.remove(quiet.level(at: first))
    var second = first
    while !unseen.isEmpty, let next = quiet.nextTransition(after: second) {
      let level = quiet.level(at: next)
      if unseen.remove(level), !body(next, bits[level] >> 3) { return }
      second = next
    }
  }

  /// The same for a member with mutes or graces that have not ended, event by event.
  private func releaseByEvents(
    of rank: Int, _ conversation: CachedConversation, _ messageClass: Int, at now: Int64,
    _ resolver: MemberResolver
  ) -> (at: Int64, code: UInt8)? {
    let (target, tables) = (conversation.target, resolver.version.tables)
    let codes = unsafe target.rules.codes(messageClass)
    let user = tables.memberUsers[Int(target.memberRow.start) + rank]
    if tables.isRefused(user) { return nil }
    let schedule = tables.scheduleTable.schedule(tables.schedules[Int(user)])
    let code = { (at: Int64) -> UInt8 in
      let level = tables.quietBits(tables.schedules[Int(user)], at: at) >> 3
      let base = resolver.word(rank, target, at: at).base
      return unsafe codes[
        Int(conversation.stateByBase[Int(level) << MemberWord.baseBits | base])]
    }
    let suppressed = code(now)
    guard Self.suppressed[Int(suppressed)] else { return nil }
    var events: [Int64] = []
    resolver.forEachEvent(rank, target) { events.append($0) }
    var at = now
    // Once no level of the schedule brought a push, only the events can.
    var unseen = UnseenLevels(schedule, at: at / 1000)
    while true {
      let event = events.filter { $0 > at }.min() ?? Int64.max
      var edge = Int64.max
      if !unseen.isEmpty, let second = schedule?.nextTransition(after: at / 1000),
        second <= Instant.maximumMilliseconds / 1000
      {
        edge = second * 1000
      }
      at = min(event, edge)
      if at > Instant.maximumMilliseconds { return nil }
      if code(at) & 1 != 0 { return (at, suppressed) }
      if event == at { unseen = UnseenLevels(schedule, at: at / 1000) }
      unseen.remove(schedule?.level(at: at / 1000))
    }
  }
}

extension CachedConversation {
  /// Whether a member has an event after the instant of the words; false for users who are not yet
  /// members, whose decisions are not suppressed.
  ///
  /// - Complexity: O(later events of members).
  fileprivate func hasLaterEvent(_ rank: Int) -> Bool {
    if eventsUntil.load(ordering: .relaxed) == .max || word(rank).isUnknown { return false }
    return changing.withLock { changing in
      let positions = changing.laterMemberEvents()
      return positions.contains { changing.events[$0].rank == UInt32(rank) }
    }
  }

  /// Calls `body` with words and the number of members who have them, and the rank -1; a member
  /// with later events alone, with the rank.
  ///
  /// - Complexity: O(runs + later events of members); O(members) the first time, and for a
  ///   conversation without runs.
  fileprivate func forEachWord(_ body: (MemberWord, Int, Int) -> Void) {
    let (runs, special) = changing.withLock { changing in
      let positions = changing.laterMemberEvents()
      makeWordRuns(&changing)
      return (changing.wordRuns, Set(positions.map { changing.events[$0].rank }))
    }
    for rank in special { body(word(Int(rank)), 1, Int(rank)) }
    if runs.isMade {
      var excluded: [UInt32: Int] = [:]
      for rank in special { excluded[word(Int(rank)).bits, default: 0] += 1 }
      runs.forEach { word, count in
        let left = Int(count) - (excluded[word.bits] ?? 0)
        if left > 0 { body(word, left, -1) }
      }
    } else {
      for rank in 0..<count where special.isEmpty || !special.contains(UInt32(rank)) {
        body(word(rank), 1, -1)
      }
    }
  }
}

extension CachedConversation {
  /// Makes the runs of equal words, unless the words are too different, or few.
  ///
  /// - Complexity: O(members) the first time.
  func makeWordRuns(_ changing: inout Changing) {
    if isSmall || changing.wordRuns.isMade || changing.wordRuns.isRefused { return }
    let others = changing.eventWords(\.bits)
    changing.wordRuns.make(
      (0..<count).map { word($0).bits }, others: others, limit: count / 2)
  }
}

extension CachedConversation.Changing {
  /// The positions of the events after the instant of the words, without the starts of memberships:
  /// no decision of a user is suppressed before the membership starts.
  ///
  /// - Complexity: O(log events), O(events) the first time.
  fileprivate mutating func laterMemberEvents() -> ArraySlice<Int> {
    let positions = memberEvents ?? events.indices.filter { !events[$0].before.isUnknown }
    memberEvents = positions
    return positions[positions.partitioningIndex { $0 >= eventCount }...]
  }
}
