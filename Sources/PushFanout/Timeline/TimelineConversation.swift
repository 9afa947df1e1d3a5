internal import PushModel

/// The states of a conversation's members on a timeline, updated incrementally: one byte per
/// member, in the order of users, and a histogram.
///
/// SAFETY: it owns its buffers, which have ``count`` elements; the histogram has 256.
@safe final class TimelineConversation {
  let conversation: UInt32
  let channel: Identifier
  private let revisions: (own: UInt32, members: UInt32)
  let count: Int
  /// The cache's round of the last use, and the bytes that the cache counts.
  var round: UInt32 = 0
  var countedBytes = 0

  let states: UnsafeMutablePointer<UInt8>
  /// The users' classes without quiet-hours bits.
  let classes: UnsafeMutablePointer<UInt8>
  let members: UnsafeMutablePointer<UInt8>
  let schedules: UnsafeMutablePointer<UInt32>
  /// The number of members in each state.
  let histogram: UnsafeMutablePointer<UInt32>
  private var scheduleIndex: ScheduleIndex?
  /// The positions in the timeline's logs up to which changes have been applied.
  private var read: (transitions: Int, users: Int)
  /// The instants at which overrides take effect or expire, earliest first, and how many have
  /// passed.
  private var events: [ConversationState.Event] = []
  private var eventCount = 0
  /// The tables of deferred pushes, by class of message, created on demand.
  private var deferred: [Int: DeferredPushTable] = [:]
  private var isDeferring = false

  /// Computes the states at the timeline's instant.
  ///
  /// - Complexity: O(members).
  init(
    _ target: ConversationStates.Target, _ states: ConversationStates, _ timeline: FanoutTimeline
  ) {
    conversation = target.conversation
    channel = target.channel
    revisions = (target.row.revision, target.memberRow.revision)
    count = Int(target.memberRow.count)
    unsafe self.states = .allocate(capacity: max(count, 1))
    unsafe classes = .allocate(capacity: max(count, 1))
    unsafe members = .allocate(capacity: max(count, 1))
    unsafe schedules = .allocate(capacity: max(count, 1))
    unsafe histogram = .allocate(capacity: 256)
    unsafe histogram.initialize(repeating: 0, count: 256)
    unsafe self.states.initialize(repeating: StateRules.absent, count: count)
    unsafe histogram[Int(StateRules.absent)] = UInt32(count)
    read = (timeline.clock.transitioned.end, timeline.users.end)
    fill(target, states, timeline)
    if Self.wantsIndex(count, timeline.clock.count) {
      scheduleIndex = unsafe ScheduleIndex(
        schedules, count: count, scheduleCount: timeline.clock.count)
    }
  }

  deinit {
    unsafe states.deallocate()
    unsafe classes.deallocate()
    unsafe members.deallocate()
    unsafe schedules.deallocate()
    unsafe histogram.deallocate()
  }

  var byteCount: Int {
    let size = count * (scheduleIndex == nil ? 7 : 11) + events.count * 16 + 1536
    return deferred.values.reduce(size) { $0 + $1.byteCount }
  }

  /// The table of deferred pushes for a class of message.
  func deferredPushes(_ messageClass: Int) -> DeferredPushTable {
    if let known = deferred[messageClass] { return known }
    let made = DeferredPushTable(messageClass: messageClass, count: count)
    deferred[messageClass] = made
    isDeferring = true
    return made
  }

  /// With few members, or nearly as many schedules, checking all members costs no more.
  private static func wantsIndex(_ members: Int, _ schedules: Int) -> Bool {
    members >= 256 && schedules <= members * 16
  }

  private func fill(
    _ target: ConversationStates.Target, _ states: ConversationStates, _ timeline: FanoutTimeline
  ) {
    let tables = states.version.tables
    let kind = UserClasses.tableIndex(for: target.kind, tables.app.rules)
    let mask = states.levelMask(target)
    let start = target.memberRow.range.lowerBound
    for rank in 0..<count {
      let user = tables.memberUsers[start + rank]
      let packed = PackedMember(bits: tables.packedMembers[start + rank])
      unsafe classes[rank] = tables.userClass(of: user, kind: kind, quiet: 0, at: timeline.now).bits
      unsafe schedules[rank] = tables.schedules[Int(user)]
      unsafe members[rank] = packed.bits & mask
      if packed.hasOverrides { setMember(rank, user, target, states, timeline.now) }
    }
    if target.kind == .thread, target.row.parent != 0 {
      for slot in target.row.range {
        let user = tables.memberUsers[slot]
        if let rank = tables.rank(of: user, in: target.memberRow) {
          setMember(rank, user, target, states, timeline.now)
        }
      }
    }
    events.sort { $0.at < $1.at }
    recheckAll(target, timeline)
  }

  /// Computes a member's class, and the instants at which it will change.
  private func setMember(
    _ rank: Int, _ user: UInt32, _ target: ConversationStates.Target,
    _ states: ConversationStates, _ now: Int64
  ) {
    let overrides = states.overrides(of: user, rank: rank, target)
    unsafe members[rank] = overrides.memberClass(at: now).bits
    for event in states.events(of: overrides) where event.at > now { events.append(event) }
  }

  // MARK: As time passes

  /// Whether the states can be updated incrementally.
  func isUsable(_ target: ConversationStates.Target, _ timeline: FanoutTimeline) -> Bool {
    revisions == (target.row.revision, target.memberRow.revision)
      && read.users >= timeline.users.start && timeline.users.end - read.users <= max(64, count)
  }

  /// Updates the states to the timeline's instant.
  ///
  /// - Complexity: O(changes), each O(log members) for a change of a user's settings.
  func refresh(
    _ target: ConversationStates.Target, _ states: ConversationStates, _ timeline: FanoutTimeline
  ) {
    if read.users < timeline.users.end { readUsers(target, states, timeline) }
    if read.transitions < timeline.clock.transitioned.end { readTransitions(target, timeline) }
    while eventCount < events.count, events[eventCount].at <= timeline.now {
      let rank = Int(events[eventCount].rank)
      eventCount += 1
      let user = states.version.tables.memberUsers[Int(target.memberRow.start) + rank]
      let overrides = states.overrides(of: user, rank: rank, target)
      unsafe members[rank] = overrides.memberClass(at: timeline.now).bits
      recheck(rank, target, timeline)
    }
  }

  private func readUsers(
    _ target: ConversationStates.Target, _ states: ConversationStates, _ timeline: FanoutTimeline
  ) {
    let engineVersion = states.version
    let kind = UserClasses.tableIndex(for: target.kind, engineVersion.tables.app.rules)
    for index in read.users..<timeline.users.end {
      let entry = timeline.users[index]
      let conversation = UInt32(truncatingIfNeeded: entry)
      let isEverywhere = conversation == UserClasses.everywhere
      guard isEverywhere || conversation == target.conversation || conversation == target.members
      else {
        continue
      }
      let user = UInt32(truncatingIfNeeded: entry >> 32)
      guard let rank = engineVersion.tables.rank(of: user, in: target.memberRow) else { continue }
      if isEverywhere {
        unsafe classes[rank] =
          engineVersion.tables.userClass(
            of: user, kind: kind, quiet: 0, at: timeline.now
          ).bits
        let schedule = engineVersion.tables.schedules[Int(user)]
        if unsafe schedules[rank] != schedule {
          unsafe schedules[rank] = schedule
          scheduleIndex?.add(UInt32(rank), to: schedule)
        }
      } else {
        let known = events.count
        setMember(rank, user, target, states, timeline.now)
        if events.count > known {
          events.removeSubrange(..<eventCount)
          eventCount = 0
          events.sort { $0.at < $1.at }
        }
      }
      recheck(rank, target, timeline)
      // A change of settings may move the instant of a deferred push without changing the state.
      for table in deferred.values { table.note(UInt32(rank)) }
    }
    read.users = timeline.users.end
    if let scheduleIndex, scheduleIndex.extraCount > count / 4 + 64 { self.scheduleIndex = nil }
  }

  private func readTransitions(_ target: ConversationStates.Target, _ timeline: FanoutTimeline) {
    let log = read.transitions..<timeline.clock.transitioned.end
    read.transitions = timeline.clock.transitioned.end
    if scheduleIndex == nil, Self.wantsIndex(count, timeline.clock.count) {
      scheduleIndex = unsafe ScheduleIndex(
        schedules, count: count, scheduleCount: timeline.clock.count)
    }
    guard let scheduleIndex, log.lowerBound >= timeline.clock.transitioned.start,
      log.count <= timeline.clock.count / 2
    else {
      return recheckAll(target, timeline)
    }
    // Copied once: each access through the class would be checked for exclusivity.
    let transitioned = timeline.clock.transitioned
    let table = unsafe target.rules.stateTable
    unsafe timeline.clock.quiet.withUnsafeBufferPointer { (quiet) -> Void in
      unsafe scheduleIndex.withRanks { (ranks, starts) -> Void in
        for index in log {
          let schedule = Int(transitioned[index])
          if schedule + 1 < starts.count {
            for rank in unsafe Int(starts[schedule])..<Int(starts[schedule + 1]) {
              unsafe recheck(Int(ranks[rank]), table, quiet)
            }
          }
          guard let extra = scheduleIndex.extra(of: transitioned[index]) else { continue }
          for rank in extra { unsafe recheck(Int(rank), table, quiet) }
        }
      }
    }
  }

  private func recheckAll(_ target: ConversationStates.Target, _ timeline: FanoutTimeline) {
    let table = unsafe target.rules.stateTable
    unsafe timeline.clock.quiet.withUnsafeBufferPointer { (quiet) -> Void in
      for rank in 0..<count { unsafe recheck(rank, table, quiet) }
    }
  }

  private func recheck(
    _ rank: Int, _ target: ConversationStates.Target, _ timeline: FanoutTimeline
  ) {
    let table = unsafe target.rules.stateTable
    unsafe timeline.clock.quiet.withUnsafeBufferPointer { unsafe recheck(rank, table, $0) }
  }

  /// Recomputes the state of a member whose classes may have changed.
  @inline(__always)
  private func recheck(
    _ rank: Int, _ table: UnsafePointer<UInt8>, _ quiet: UnsafeBufferPointer<UInt8>
  ) {
    let user = unsafe classes[rank] | quiet[Int(schedules[rank])]
    let state = unsafe table[Int(members[rank]) << 8 | Int(user)]
    let before = unsafe states[rank]
    if state == before { return }
    unsafe states[rank] = state
    unsafe histogram[Int(before)] &-= 1
    unsafe histogram[Int(state)] &+= 1
    if isDeferring { for table in deferred.values { table.note(UInt32(rank)) } }
  }
}
