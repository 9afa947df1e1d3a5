internal import PushModel
internal import QuietTime

extension MemberResolver {
  /// O-1, O-3, O-41.
  func applyOpen(
    _ record: MemberRecord, of user: UInt32, _ target: ConversationTarget,
    to overrides: inout MemberOverrides
  ) {
    let policies = tables.policies
    let own = target.kind == .thread ? ownRecord(of: user, inThread: target) : nil
    let ownTraits = own.map { policies.traits[Int($0.policyIndex)] }
    overrides.open = OpenPlace(target.kind, target.memberRow, tables.app).memberClass(
      tables.policy(of: user), policies.traits[Int(record.policyIndex)], own: ownTraits)
    if !(ownTraits?.liftsMute ?? false) { overrides.mutedUntil = record.mutedUntil }
    overrides.threadMutedUntil = own?.mutedUntil ?? 0
  }

  /// The class at an instant.
  ///
  /// - Parameter reach: nil for that at the instant.
  func openClass(
    of user: UInt32, _ overrides: MemberOverrides, at now: Int64,
    reach: OpenMemberClass.Reach? = nil
  ) -> OpenMemberClass {
    let mute: OpenMemberClass.Mute =
      overrides.threadMutedUntil > now
      ? .thread : overrides.mutedUntil > now ? .conversation : .none
    let isUserMuted = tables.mute(of: user, tables.packedUsers[Int(user)]) > now
    return overrides.open.with(
      reach ?? tables.openReach(of: user, at: now, version.presence(of: user)), mute,
      isUserMuted: isUserMuted, allowed: tables.policy(of: user).mutedAllow)
  }

  /// - Parameters:
  ///   - more: the message's classes for the user, but those of the conversation.
  ///   - reach: as for ``openClass(of:_:at:reach:)``.
  /// - Returns: 0 for no recipient.
  func openCode(
    of user: UInt32, _ overrides: MemberOverrides, _ more: MessageClasses, force: Bool,
    at now: Int64, reach: OpenMemberClass.Reach? = nil
  ) -> UInt8 {
    if overrides.since > now || tables.isRefused(user) { return 0 }
    return openClass(of: user, overrides, at: now, reach: reach)
      .outcome(more, tables.openQuiet(of: user, at: now), force: force).code
  }
}

extension Tables {
  func policy(of user: UInt32) -> UserPolicy {
    let packed = packedUsers[Int(user)]
    return policies.users[packed.policy ?? UInt32(packed.level)]
  }

  /// The windows that a user is inside; nil for none.
  func openQuiet(of user: UInt32, at now: Int64) -> OpenQuiet? {
    let schedule = schedules[Int(user)]
    return scheduleTable.level(schedule, at: now / 1000).map {
      OpenQuiet($0, areApps: scheduleTable.areApps(schedule))
    }
  }
}

/// Computes stored keys by open rules.
struct OpenKeys {
  private let users: [UserPolicy]
  private let traits: [MemberPolicy.Traits]
  private let app: AppSettings

  init(_ tables: borrowing Tables) {
    users = tables.policies.users.values
    traits = tables.policies.traits
    app = tables.app
  }

  func place(_ kind: ConversationKind, _ members: borrowing ConversationRow) -> OpenPlace {
    OpenPlace(kind, members, app)
  }

  @inline(__always)
  func base(
    _ user: PackedUser, _ member: PackedMember, _ place: OpenPlace, _ states: OpenStates
  ) -> UInt16 {
    let policy = users[Int(user.policy ?? UInt32(user.level))]
    return states.base(place.memberClass(policy, traits[Int(member.level)]))
  }
}
