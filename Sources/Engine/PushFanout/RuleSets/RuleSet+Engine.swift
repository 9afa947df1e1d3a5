internal import PushModel

// The properties of a rule set that the engine uses: the only switches over rule sets in the
// engine. Each leads to the file of the rule set.

extension RuleSet {
  /// The position in a ``PackedUser`` of the level that counts in a kind of conversation.
  func levelShift(for kind: ConversationKind) -> UInt32 {
    switch self {
    case .easemob: 0
    case .rongcloud: PackedUser.levelShift(kind: kind.ordinal)
    }
  }

  /// The last phase of quiet hours, from 0 outside of them.
  var lastQuietPhase: UInt8 {
    switch self {
    case .easemob: UserClass.windowPhase
    case .rongcloud: UserClass.Quiet.blocked.rawValue
    }
  }

  /// Which of eight slots holds the state rules of a kind of conversation.
  @inline(__always)
  func stateRulesSlot(for kind: ConversationKind) -> Int {
    switch self {
    case .easemob: kind == .private ? 0 : 1
    case .rongcloud: kind.ordinal
    }
  }
}

extension AppSettings {
  /// How old a message may be and still be pushed, in milliseconds; nil for any age.
  var expireMilliseconds: Int64? {
    switch rules {
    case .easemob: easemob.expireMilliseconds  // E-69
    case .rongcloud: nil
    }
  }
}

// MARK: The class of a user

/// The phase of quiet hours, by the level that they let through.
struct QuietPhases {
  /// A byte for each level.
  private var bytes: UInt64 = 0

  init(_ app: AppSettings) {
    for level in NotificationLevel.allCases {
      let phase =
        switch app.rules {
        case .easemob: UserClass.windowPhase
        case .rongcloud: app.rongcloud.quiet(level).rawValue
        }
      bytes |= UInt64(phase) << (UInt64(level.rawValue) * 8)
    }
  }

  /// The phase while quiet hours let a level through; 0 outside of them.
  @inline(__always)
  subscript(level: NotificationLevel?) -> UInt8 {
    guard let level else { return 0 }
    return UInt8(truncatingIfNeeded: bytes >> (UInt64(level.rawValue) * 8))
  }
}

extension Tables {
  /// The class of a user outside of quiet hours.
  @inline(__always)
  func userClass(
    of user: UInt32, _ packed: PackedUser, kind: Int, at now: Int64, _ presence: UserPresence
  ) -> UserClass {
    switch app.rules {
    case .easemob: easemobClass(of: user, packed, at: now, presence)
    case .rongcloud: rongcloudClass(of: user, packed, kind: kind, at: now, presence)
    }
  }

  /// How a user can be reached at an instant. Not inlined: most users have no devices of their own.
  @inline(never)
  func reach(
    of user: UInt32, _ packed: PackedUser, at now: Int64, _ presence: UserPresence
  ) -> UserClass.Reach {
    guard presence == .foreground || hasOwnDevices(user) else { return .device }
    switch app.rules {
    case .easemob: return easemobReach(of: user, presence)
    case .rongcloud: return rongcloudReach(of: user, packed, at: now, presence)
    }
  }

  /// How a user without devices in the background can be reached while online.
  @inline(__always)
  func onlineReach(of user: UInt32) -> UserClass.Reach {
    switch app.rules {
    case .easemob: easemobReach(of: user, .foreground)
    case .rongcloud: rongcloudReach(of: user, packedUsers[Int(user)], at: 0, .foreground)
    }
  }

  /// Calls `body` with the instants at which a user's class changes, except window transitions.
  func forEachTransition(of user: UInt32, _ body: (Int64) -> Void) {
    switch app.rules {
    case .easemob:
      let packed = packedUsers[Int(user)]
      if packed.hasMute { body(mute(of: user, packed)) }
    case .rongcloud: forEachGrace(of: user, body)
    }
  }

}

extension DeviceReader {
  /// Calls `body` with each device that a push or local notification goes to, of a user whose
  /// devices are listed.
  @inline(never)
  func forEachListedTarget<Failure: Error>(
    of user: UInt32, _ action: Action, _ filter: DeviceFilter?, at now: Int64,
    _ body: (DeviceRecord) throws(Failure) -> Void
  ) throws(Failure) {
    if action == .suppress { return }
    switch rules {
    case .easemob: try forEachEasemobTarget(of: user, filter, body)
    case .rongcloud:
      try forEachRongCloudTarget(of: user, isLocal: action == .local, at: now, body)
    }
  }
}

// MARK: The class of a member

extension MemberResolver {
  /// The bits of a packed member that apply to a message of the target.
  func levelMask(_ target: ConversationTarget) -> UInt8 {
    switch tables.app.rules {
    case .easemob: easemobLevelMask(target)
    case .rongcloud: rongcloudLevelMask(target)
    }
  }

  /// Sets the class that results from a member's records.
  func apply(
    _ record: MemberRecord, of user: UInt32, _ target: ConversationTarget,
    to overrides: inout MemberOverrides
  ) {
    switch tables.app.rules {
    case .easemob: applyEasemob(record, of: user, target, to: &overrides)
    case .rongcloud: overrides.member = rongcloudClass(record, of: user, target)
    }
  }
}

// MARK: The class of a message

extension MessagePlan {
  mutating func plan(
    _ message: borrowing Message, _ target: borrowing ConversationTarget,
    _ tables: Tables
  ) {
    switch tables.app.rules {
    case .easemob: plan(easemob: message, target.kind, tables.app.easemob)
    case .rongcloud: plan(rongcloud: message, target, tables)
    }
  }
}

// MARK: The outcome

extension StateRules {
  /// The states of a kind of conversation, by the rules of the app.
  static func make(_ app: AppSettings, _ kind: ConversationKind) -> StateRules {
    switch app.rules {
    case .easemob: easemob(app, kind)
    case .rongcloud: rongcloud(app, kind)
    }
  }

  /// The outcome of a message of a class for one recipient.
  static func outcome(
    _ app: AppSettings, _ kind: ConversationKind, _ user: UserClass, _ member: MemberClass,
    _ messageClass: Int
  ) -> Outcome {
    switch app.rules {
    case .easemob:
      EasemobStates(app: app, isPrivate: kind == .private)
        .outcome(user, member, EasemobMessageClass(index: messageClass))
    case .rongcloud:
      RongCloudStates(app: app, kind: kind)
        .outcome(user, member, RongCloudMessageClass(index: messageClass))
    }
  }
}
