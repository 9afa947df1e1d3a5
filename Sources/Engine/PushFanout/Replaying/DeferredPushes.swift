internal import Algorithms
internal import PushModel
internal import PushSupport
internal import QuietTime
internal import Synchronization

/// Finds when suppressed members would get a push, if no settings changed.
///
/// Without mutes or grace periods, this is the first later level of the member's schedule at which
/// the message pushes.
struct DeferredPushes {
  private var calendar = 0
  /// The prepared instant, in seconds.
  private var now: Int64 = -1
  /// By schedule: when the next transition is, in seconds, ``unknown`` until asked for, and the
  /// level from then on.
  private var nextTransitions: [Int64] = []
  private var nextLevels: [UInt8] = []
  private var levelCounts: [UInt8] = []
  /// Those of the app prepared last.
  private var phases = QuietPhases()

  private static let unknown = Int64.min
  private static let never = Int64.max

  private static let suppressed = (0..<UInt8(Outcome.codeCount)).map {
    Outcome(code: $0)?.action == .suppress
  }

  mutating func prepare(_ quiet: SchedulePhases, _ version: EngineVersion) {
    let second = quiet.from / 1000
    if calendar != quiet.calendar || second < now {
      calendar = quiet.calendar
      nextTransitions = []
      nextLevels = []
      levelCounts = []
    }
    now = second
    phases = QuietPhases(version.tables.rules)
    let count = version.tables.scheduleTable.count
    while nextTransitions.count < count {
      nextTransitions.append(Self.unknown)
      nextLevels.append(0)
      levelCounts.append(0)
    }
  }

  /// In seconds.
  mutating func nextTransition(of index: Int, _ version: EngineVersion) -> Int64 {
    if nextTransitions[index] <= now { find(index, version) }
    return nextTransitions[index]
  }

  private mutating func find(_ index: Int, _ version: EngineVersion) {
    let schedule = version.tables.scheduleTable.schedule(UInt32(index))
    let next = schedule?.nextTransition(after: now)
    nextTransitions[index] = next ?? Self.never
    let areApps = version.tables.scheduleTable.areApps(UInt32(index))
    nextLevels[index] = next.map { phases[schedule?.level(at: $0), areApps] } ?? 0
    levelCounts[index] = UInt8(schedule?.distinctLevels.count ?? 1)
  }

  /// When a suppressed member gets a push, and the suppressed code; nil for never.
  ///
  /// - Parameter key: nil for a member with a mute or grace that has not ended.
  mutating func release(
    of rank: Int, _ key: MemberKey?, _ target: ConversationTarget, _ quiet: SchedulePhases,
    _ messageClass: Int, at now: Int64, _ version: EngineVersion
  ) -> (at: Int64, code: UInt8)? {
    guard let key else {
      return releaseByEvents(of: rank, target, messageClass, at: now, MemberResolver(version))
    }
    let codes = unsafe target.rules.codes(messageClass)
    let statesByBase = unsafe target.rules.statesByBase
    let code = unsafe codes[Int(key.state(quiet.phases, statesByBase))]
    guard Self.suppressed[Int(code)] else { return nil }
    var found: Int64?
    var areOthers = false
    let othersState = target.rules.ruleSet.othersState
    forEachLaterLevel(of: key.schedule, version) { second, level in
      let state = unsafe statesByBase[MemberKey.stateIndex(phase: Int(level), base: key.base)]
      areOthers = state == othersState
      if areOthers { return false }
      guard unsafe codes[Int(state)] & 1 != 0 else { return true }
      found = second
      return false
    }
    if areOthers {
      return releaseByEvents(of: rank, target, messageClass, at: now, MemberResolver(version))
    }
    guard let second = found, second <= Instant.maximumMilliseconds / 1000 else { return nil }
    return (second * 1000, code)
  }

  /// Calls `body` with each other level and its first second since the epoch, until it returns
  /// false.
  private mutating func forEachLaterLevel(
    of index: Int, _ version: EngineVersion, _ body: (Int64, UInt8) -> Bool
  ) {
    let first = nextTransition(of: index, version)
    if first == Self.never || !body(first, nextLevels[index]) { return }
    guard levelCounts[index] > 2,
      let quiet = version.tables.scheduleTable.schedule(UInt32(index))
    else { return }
    let areApps = version.tables.scheduleTable.areApps(UInt32(index))
    var unseen = UnseenLevels(quiet, at: now)
    unseen.remove(quiet.level(at: first))
    var second = first
    while !unseen.isEmpty, let next = quiet.nextTransition(after: second) {
      let level = quiet.level(at: next)
      if unseen.remove(level), !body(next, phases[level, areApps]) { return }
      second = next
    }
  }

  /// For a member with mutes or graces, event by event.
  private func releaseByEvents(
    of rank: Int, _ target: ConversationTarget, _ messageClass: Int, at now: Int64,
    _ resolver: MemberResolver
  ) -> (at: Int64, code: UInt8)? {
    let tables = resolver.version.tables
    let codes = unsafe target.rules.codes(messageClass)
    let user = tables.memberUsers[Int(target.memberRow.start) + rank]
    if tables.isRefused(user) { return nil }
    if target.rules.ruleSet.othersState != nil {
      let message = OpenMessageClass(index: messageClass)
      return release(of: rank, target, at: now, resolver) { overrides, reach, at in
        resolver.openCode(
          of: user, overrides, message.named, force: message.force, at: at,
          reach: reach)
      }
    }
    return releaseByEvents(of: rank, target, at: now, resolver) { at in
      let level = tables.quietPhase(tables.schedules[Int(user)], at: at)
      let base = resolver.key(rank, target, at: at).base
      return unsafe codes[
        Int(target.rules.statesByBase[MemberKey.stateIndex(phase: Int(level), base: base)])]
    }
  }

  /// By open rules, under which presence stays as it is now (O-30).
  private func release(
    of rank: Int, _ target: ConversationTarget, at now: Int64, _ resolver: MemberResolver,
    _ code: (MemberOverrides, OpenMemberClass.Reach, Int64) -> UInt8
  ) -> (at: Int64, code: UInt8)? {
    let user = resolver.tables.memberUsers[Int(target.memberRow.start) + rank]
    let overrides = resolver.overrides(of: user, rank: rank, target)
    let reach = resolver.tables.openReach(of: user, at: now, resolver.version.presence(of: user))
    return releaseByEvents(of: rank, target, at: now, resolver) { code(overrides, reach, $0) }
  }

  /// The same for a member whom a message names by open rules.
  func release(
    ofNamed rank: Int, _ message: OpenMessage, _ target: ConversationTarget, at now: Int64,
    _ resolver: MemberResolver
  ) -> (at: Int64, code: UInt8)? {
    release(of: rank, target, at: now, resolver) { _, reach, at in
      resolver.openCode(ofRank: rank, message, target, at: at, reach: reach)
    }
  }

  private func releaseByEvents(
    of rank: Int, _ target: ConversationTarget, at now: Int64, _ resolver: MemberResolver,
    _ code: (Int64) -> UInt8
  ) -> (at: Int64, code: UInt8)? {
    let tables = resolver.version.tables
    let user = tables.memberUsers[Int(target.memberRow.start) + rank]
    let schedule = tables.scheduleTable.schedule(tables.schedules[Int(user)])
    let suppressed = code(now)
    guard Self.suppressed[Int(suppressed)] else { return nil }
    var events: [Int64] = []
    resolver.forEachEvent(rank, target) { events.append($0) }
    var at = now
    // If no level of the schedule brought a push, only events can.
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
  /// False before the membership starts, when nothing is suppressed.
  ///
  /// - Complexity: O(later events of members).
  func hasLaterEvent(_ rank: Int) -> Bool {
    if eventsUntil.load(ordering: .relaxed) == .max || key(rank).isUnresolved { return false }
    return guarded.withLock { $0.events.laterMembers().contains(UInt32(rank)) }
  }

  /// The members with events after the keys' instant, and numbers that change with them; nil if
  /// they have not changed.
  ///
  /// - Complexity: O(later events of members), O(events) the first time.
  func laterEvents(
    unless known: (revision: UInt, count: Int)?
  ) -> (revision: UInt, count: Int, ranks: Set<UInt32>)? {
    guarded.withLock { guarded in
      let now = (guarded.events.revision, guarded.events.passed)
      if let known, now == known { return nil }
      return (now.0, now.1, Set(guarded.events.laterMembers()))
    }
  }
}
