internal import Algorithms
internal import PushModel

/// Members with overrides: mutes, a start of membership, channel levels, a thread's own settings.
extension ConversationStates {
  /// Corrects the states of members with overrides.
  func applyOverrides(_ target: Target, at now: Int64, to state: ConversationState) {
    guard target.memberRow.hasOverrides || target.kind == .thread else { return }
    if state.overrideRevision == nil { listOverrides(target, in: state) }
    guard !state.overrides.isEmpty else { return }
    let row = target.memberRow
    for overrides in state.overrides {
      let user = version.tables.memberUsers[Int(row.start) + Int(overrides.rank)]
      unsafe state.bytes[Int(overrides.rank)] = target.rules.state(
        userClass(user, target, at: now), overrides.memberClass(at: now))
    }
    state.eventCount = state.events.partitioningIndex { $0.at > now }
    if state.eventCount > 0 {
      state.validity.from = max(state.validity.from, state.events[state.eventCount - 1].at)
    }
    if state.eventCount < state.events.count {
      state.validity.until = min(state.validity.until, state.events[state.eventCount].at)
    }
  }

  private func listOverrides(_ target: Target, in state: ConversationState) {
    let row = target.memberRow
    var ranks: [UInt32] = []
    if row.hasOverrides {
      version.tables.packedMembers.forEachStretchRank(row.range) { rank, packed in
        if PackedMember(bits: packed).hasOverrides { ranks.append(UInt32(rank)) }
      }
    }
    if target.kind == .thread, target.row.parent != 0 {
      for slot in target.row.range {
        if let rank = version.tables.rank(of: version.tables.memberUsers[slot], in: row) {
          ranks.append(UInt32(rank))
        }
      }
    }
    state.overrideRevision = row.overrideRevision
    for rank in ranks {
      let user = version.tables.memberUsers[Int(row.start) + Int(rank)]
      let overrides = overrides(of: user, rank: Int(rank), target)
      state.overrides.append(overrides)
      state.events += events(of: overrides)
    }
    state.events.sort { $0.at < $1.at }
  }

  func events(
    of overrides: ConversationState.MemberOverrides
  ) -> [ConversationState.Event] {
    [overrides.since, overrides.mutedUntil].filter { $0 > 0 }.map {
      ConversationState.Event(at: $0, rank: overrides.rank)
    }
  }

  func userClass(_ user: UInt32, _ target: Target, at now: Int64) -> UserClass {
    let kind = UserClasses.tableIndex(for: target.kind, version.tables.app.rules)
    if version.userClasses.holds(at: now), version.userClasses.hasClasses(kind) {
      return UserClass(bits: version.userClasses.byKind[kind][Int(user)])
    }
    return version.tables.userClass(of: user, kind: kind, at: now)
  }

  /// A member's overrides.
  func overrides(
    of user: UInt32, rank: Int, _ target: Target
  ) -> ConversationState.MemberOverrides {
    let packed = PackedMember(
      bits: version.tables.packedMembers[Int(target.memberRow.start) + rank])
    let key = Tables.key(target.members, user)
    var overrides = ConversationState.MemberOverrides(
      rank: UInt32(rank), member: MemberClass(bits: 0), since: version.tables.since(packed, key),
      mutedUntil: 0)
    apply((packed, key), of: user, target, to: &overrides)
    return overrides
  }

  /// A user's own record in a thread; nil for none.
  func ownRecord(of user: UInt32, inThread target: Target) -> (PackedMember, UInt64)? {
    version.tables.rank(of: user, in: target.row).map { rank in
      let packed = PackedMember(bits: version.tables.packedMembers[Int(target.row.start) + rank])
      return (packed, Tables.key(target.conversation, user))
    }
  }
}
