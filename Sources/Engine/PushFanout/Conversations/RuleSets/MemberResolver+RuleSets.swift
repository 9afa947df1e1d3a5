internal import PushModel

// The class of a member by rule set.

extension MemberResolver {
  /// The base of a member's class at an instant.
  ///
  /// - Parameter member: not absent.
  @inline(__always)
  func base(
    of user: UInt32, _ member: MemberClass, _ overrides: MemberOverrides,
    _ target: ConversationTarget, at now: Int64
  ) -> UInt16 {
    switch target.rules.ruleSet {
    case .easemob:
      return target.rules.base(
        tables.easemobClass(
          of: user, tables.packedUsers[Int(user)], at: now, version.presence(of: user)), member)
    case .rongcloud:
      return target.rules.base(
        tables.rongcloudClass(
          of: user, tables.packedUsers[Int(user)], kind: target.kind.ordinal, at: now,
          version.presence(of: user)), member)
    case .open(let states):
      let member = openClass(of: user, overrides, at: now)
      return unsafe states._withUnsafeGuaranteedRef { $0.base(member) }
    }
  }

  /// The bits of a packed member that apply to a target.
  func levelMask(_ target: ConversationTarget) -> UInt8 {
    switch tables.app.rules {
    case .easemob: easemobLevelMask(target)
    case .rongcloud: rongcloudLevelMask(target)
    case .open: PackedMember.levelMask
    }
  }

  func apply(
    _ record: MemberRecord, of user: UInt32, _ target: ConversationTarget,
    to overrides: inout MemberOverrides
  ) {
    switch tables.app.rules {
    case .easemob: applyEasemob(record, of: user, target, to: &overrides)
    case .rongcloud: overrides.member = rongcloudClass(record, of: user, target)
    case .open: applyOpen(record, of: user, target, to: &overrides)
    }
  }
}

extension MemberResolver {
  /// A parent's level may not apply in a thread (E-63).
  func easemobLevelMask(_ target: ConversationTarget) -> UInt8 {
    let isOwnOnly = target.kind == .thread && tables.app.easemob.threadScope == .ownOnly
    return isOwnOnly ? 0 : PackedMember.levelMask
  }

  /// Sets the class and the end of the mute (E-22, E-63).
  func applyEasemob(
    _ record: MemberRecord, of user: UInt32, _ target: ConversationTarget,
    to overrides: inout MemberOverrides
  ) {
    let isThread = target.kind == .thread
    let scope = tables.app.easemob.threadScope
    var level: UInt8 = 0
    func apply(_ record: MemberRecord) {
      overrides.mutedUntil = max(overrides.mutedUntil, record.mutedUntil)
      if level == 0 { level = record.packed.level }
    }
    if isThread, scope != .parentOnly, let own = ownRecord(of: user, inThread: target.conversation)
    {
      apply(own)
    }
    if !isThread || scope != .ownOnly { apply(record) }
    overrides.member = MemberClass(level: level)
  }
}

extension MemberResolver {
  /// An ultra group's level may not apply in its channels.
  func rongcloudLevelMask(_ target: ConversationTarget) -> UInt8 {
    switch target.kind {
    case .thread: 0
    case .ultraGroup: coversChannel(target) ? PackedMember.levelMask : 0
    default: PackedMember.levelMask
    }
  }

  private func coversChannel(_ target: ConversationTarget) -> Bool {
    target.channel.isEmpty || tables.app.rongcloud.ultraConversationLevel == .wholeGroup
  }

  ///
  func rongcloudClass(
    _ record: MemberRecord, of user: UInt32, _ target: ConversationTarget
  ) -> MemberClass {
    if target.kind == .thread {
      return MemberClass(
        level: ownRecord(of: user, inThread: target.conversation)?.packed.level ?? 0)
    }
    let level = record.packed.level
    guard target.kind == .ultraGroup else { return MemberClass(level: level) }
    let channel = tables.policies.channels(record.policy)[target.channel] ?? .unset
    if channel.isSet { return MemberClass(channelLevel: channel) }
    return MemberClass(level: coversChannel(target) ? level : 0)
  }
}
