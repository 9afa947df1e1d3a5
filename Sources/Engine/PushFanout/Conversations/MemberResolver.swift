internal import PushModel
internal import QuietTime

/// A conversation with all that its members' states depend on.
struct ConversationTarget {
  private(set) var conversation: UInt32
  private(set) var row: ConversationRow
  private(set) var kind: ConversationKind
  /// The conversation itself, or a thread's parent.
  private(set) var members: UInt32
  private(set) var memberRow: ConversationRow
  /// Empty except in ultra groups.
  let channel: Identifier
  let rules: StateTables
  let appRevision: UInt32
  /// By open rules, the thread whose records apply too. It has no states of its own: the target is
  /// otherwise its parent. ``IDTable/unknown`` for none.
  private(set) var thread = IDTable.unknown

  init(_ conversation: UInt32, channel: Identifier, _ tables: borrowing Tables) {
    row = tables.conversations[Int(conversation)]
    memberRow = row
    kind = ConversationKind(ordinal: Int(row.kind))
    self.conversation = conversation
    members = conversation
    self.channel = kind == .ultraGroup ? channel : ""
    rules = tables.stateTables(kind)
    appRevision = tables.appRevision
    if kind == .thread { findMembers(tables) }
  }

  /// Of a thread.
  @inline(never)
  private mutating func findMembers(_ tables: borrowing Tables) {
    // A thread without a parent has no recipients.
    if row.parent == 0 { return memberRow.count = 0 }
    members = row.parent - 1
    memberRow = tables.conversations[Int(members)]
    if tables.app.rules.threadsHaveStates { return }
    (thread, conversation, row) = (conversation, members, memberRow)
    kind = ConversationKind(ordinal: Int(row.kind))
  }

  /// The same without the thread.
  var ofStates: ConversationTarget {
    var target = self
    target.thread = IDTable.unknown
    return target
  }

  /// Changes with the members, and differs between conversations; never 0.
  var membershipVersion: UInt64 { (UInt64(members) + 1) << 32 | UInt64(memberRow.revision) }
}

/// The settings of a member.
struct MemberOverrides {
  /// Without a mute, after the membership starts.
  var member: MemberClass
  /// By open rules, in place of it.
  var open = OpenMemberClass.online
  /// Milliseconds since the epoch, 0 for none.
  var since: Int64
  var mutedUntil: Int64
  /// By open rules, of the record in a thread.
  var threadMutedUntil: Int64 = 0

  func memberClass(at now: Int64) -> MemberClass {
    if since > now { return .absent }
    return mutedUntil > now ? member.muted : member
  }
}

/// Computes single members' keys from the tables.
struct MemberResolver {
  let version: EngineVersion

  init(_ version: EngineVersion) { self.version = version }

  var tables: Tables { version.tables }

  /// - Parameter known: the probable rank; estimated if invalid.
  func prefetch(_ user: UInt32, at known: UInt32, _ target: borrowing ConversationTarget) {
    let row = target.memberRow
    if known < row.count {
      let slot = Int(row.start) + Int(known)
      tables.memberUsers.prefetch(slot)
      tables.packedMembers.prefetch(slot)
      return tables.memberKeys.prefetch(slot)
    }
    if row.count == 0 || Int(user) >= tables.userCount { return }
    tables.packedUsers.prefetch(Int(user))
    tables.schedules.prefetch(Int(user))
    version.deviceReader.prefetch(user)
    let rank = Int(row.count) * Int(user) / tables.userCount
    tables.memberUsers.prefetch(Int(row.start) + rank)
  }

  /// Prefetches what a key needs of one of many users.
  func prefetchAmongMany(_ user: UInt32) {
    tables.packedUsers.prefetchAmongMany(Int(user))
    tables.schedules.prefetchAmongMany(Int(user))
    tables.userMutes.prefetch(UInt64(user))
    version.deviceReader.prefetch(user)
  }

  /// Nil if the user is not a member.
  func rank(of user: UInt32, probably known: UInt32, _ row: ConversationRow) -> Int? {
    if known < row.count, tables.memberUsers[Int(row.start) + Int(known)] == user {
      return Int(known)
    }
    return tables.rank(of: user, in: row)
  }

  func prefetchRecords(of user: UInt32, _ rank: Int, _ target: borrowing ConversationTarget) {
    version.deviceReader.prefetchRecords(user)
    tables.packedMembers.prefetch(Int(target.memberRow.start) + rank)
  }

  func overrides(of user: UInt32, rank: Int, _ target: ConversationTarget) -> MemberOverrides {
    let row = target.memberRow
    return overrides(
      of: user, tables.record(at: Int(row.start) + rank, target.members, row), target)
  }

  func overrides(
    of user: UInt32, _ record: MemberRecord, _ target: ConversationTarget
  ) -> MemberOverrides {
    var overrides = MemberOverrides(
      member: MemberClass(level: 0), since: record.since, mutedUntil: 0)
    apply(record, of: user, target, to: &overrides)
    return overrides
  }

  /// A user's own record in a thread; nil for none.
  func ownRecord(of user: UInt32, inThread thread: UInt32) -> MemberRecord? {
    let row = tables.conversations[Int(thread)]
    return tables.rank(of: user, in: row).map { rank in
      tables.record(at: Int(row.start) + rank, thread, row)
    }
  }

  /// - Complexity: O(devices), and O(log members) in a thread.
  func key(_ rank: Int, _ target: ConversationTarget, at now: Int64) -> MemberKey {
    let user = tables.memberUsers[Int(target.memberRow.start) + rank]
    return key(of: user, overrides(of: user, rank: rank, target), target, at: now)
  }

  func key(
    of user: UInt32, _ overrides: MemberOverrides, _ target: ConversationTarget, at now: Int64
  ) -> MemberKey {
    let member = overrides.memberClass(at: now)
    return MemberKey(
      schedule: tables.schedules[Int(user)],
      base: member.isAbsent ? 0 : base(of: user, member, overrides, target, at: now))
  }

  /// The key ignores the start of membership; nil if unresolved.
  ///
  /// - Precondition: ``readsStoredKeys(_:)``.
  func storedKey(of user: UInt32, _ rank: Int, _ target: ConversationTarget) -> MemberKey? {
    let key = MemberKey(bits: tables.memberKeys[Int(target.memberRow.start) + rank])
    if key.isUnresolved { return nil }
    guard let online = version.online, online.contains(user) else { return key }
    // An online user's base depends on nothing else.
    return tables.isUnreached(online: user)
      ? key.withBase(target.rules.onlineBase) : key
  }

  func readsStoredKeys(_ target: ConversationTarget) -> Bool {
    target.kind != .thread && levelMask(target) == PackedMember.levelMask
  }

  /// Transitions of quiet hours are left out.
  func forEachEvent(_ rank: Int, _ target: ConversationTarget, _ body: (Int64) -> Void) {
    let user = tables.memberUsers[Int(target.memberRow.start) + rank]
    forEachEvent(of: user, overrides(of: user, rank: rank, target), body)
  }

  func forEachEvent(of user: UInt32, _ overrides: MemberOverrides, _ body: (Int64) -> Void) {
    if overrides.since > 0 { body(overrides.since) }
    if overrides.mutedUntil > 0 { body(overrides.mutedUntil) }
    if overrides.threadMutedUntil > 0 { body(overrides.threadMutedUntil) }
    tables.forEachTransition(of: user, body)
  }
}

extension Tables {
  /// Nil if the system has the user's zones.
  @inline(__always)
  func unknownZone(of user: UInt32) -> String? {
    scheduleTable.unknownZone(schedules[Int(user)])
  }

  /// Whether a user is not decided for.
  func isRefused(_ user: UInt32) -> Bool { scheduleTable.isRefused(schedules[Int(user)]) }

  /// A schedule's phase at an instant; 0 for users who are not decided for.
  func quietPhase(_ schedule: UInt32, at now: Int64) -> UInt8 {
    guard let level = scheduleTable.level(schedule, at: now / 1000) else { return 0 }
    return QuietPhases(rules)[level, scheduleTable.areApps(schedule)]
  }
}
