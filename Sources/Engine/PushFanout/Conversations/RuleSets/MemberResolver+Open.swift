internal import PushModel
internal import QuietTime

extension MemberResolver {
  /// O-1, O-3, O-41.
  func applyOpen(
    _ record: MemberRecord, of user: UInt32, _ target: ConversationTarget,
    to overrides: inout MemberOverrides
  ) {
    let isInThread = target.thread != IDTable.unknown
    let own = isInThread ? ownRecord(of: user, inThread: target.thread) : nil
    let ownTraits = own.map { tables.policies.traits[Int($0.policyIndex)] }
    let member = OpenPlace(target.memberRow, appLevel: tables.app.level).memberClass(
      tables.policy(of: user), tables.policies.traits[Int(record.policyIndex)])
    overrides.open =
      isInThread
      ? member.inThread(ownTraits, keepsPlain: tables.app.open.threadPlain == .everyone) : member
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

  /// - Parameter reach: as for ``openClass(of:_:at:reach:)``.
  /// - Returns: 0 for no recipient.
  func openCode(
    of user: UInt32, _ overrides: MemberOverrides, _ named: NamedClasses, force: Bool,
    at now: Int64, reach: OpenMemberClass.Reach? = nil
  ) -> UInt8 {
    if overrides.since > now || tables.isRefused(user) { return 0 }
    if named.blocksSender { return Outcome(.suppress, .senderBlocked).code }
    return openClass(of: user, overrides, at: now, reach: reach)
      .outcome(named, tables.openQuiet(of: user, at: now), force: force).code
  }
}
