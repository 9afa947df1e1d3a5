internal import PushModel

// The engine's only switches over rule sets.

extension RuleSet {
  /// Whether states are numbered as they occur, not in advance.
  var numbersStates: Bool { self == .open }

  /// The last phase of quiet hours; 0 is outside.
  var lastQuietPhase: UInt8 {
    switch self {
    case .easemob: UserClass.windowPhase
    case .rongcloud: UserClass.Quiet.blocked.rawValue
    case .open: UInt8(OpenStates.phaseCapacity - 1)
    }
  }

  /// The slot, of eight, of a kind's rules.
  @inline(__always)
  func stateRulesSlot(for kind: ConversationKind) -> Int {
    switch self {
    case .easemob: kind == .private ? 0 : 1
    case .rongcloud: kind.ordinal
    case .open: 0
    }
  }
}

extension AppSettings {
  /// The age limit in milliseconds; nil for none.
  var expireMilliseconds: Int64? {
    switch rules {
    case .easemob: easemob.expireMilliseconds  // E-69
    case .rongcloud: nil
    case .open: open.expireMilliseconds  // O-22
    }
  }
}

// MARK: The class of a user

/// Phases of quiet hours by the level let through.
struct QuietPhases {
  /// One byte per level of vendors.
  private var bytes: UInt64 = 0
  private var rules: StateRules?

  init() {}

  init(_ rules: RuleTables) {
    for level in NotificationLevel.ofVendors {
      let phase =
        switch rules.app.rules {
        case .easemob: UserClass.windowPhase
        case .rongcloud: rules.app.rongcloud.quiet(level).rawValue
        case .open: 0 as UInt8
        }
      bytes |= UInt64(phase) << (UInt64(level.vendorCode) * 8)
    }
    if rules.app.rules.numbersStates { self.rules = rules[.group] }
  }

  /// 0 outside of quiet hours.
  ///
  /// - Parameter areApps: whether they are the app's, not the user's own.
  @inline(__always)
  subscript(level: NotificationLevel?, areApps: Bool) -> UInt8 {
    guard let level else { return 0 }
    if let open = unsafe rules?.tables.openStates {
      return open.phase(OpenQuiet(level, areApps: areApps))
    }
    return UInt8(truncatingIfNeeded: bytes >> (UInt64(level.vendorCode) * 8))
  }
}

// MARK: The outcome

extension StateRules {
  static func make(_ app: AppSettings, _ kind: ConversationKind) -> StateRules {
    switch app.rules {
    case .easemob: easemob(app, kind)
    case .rongcloud: rongcloud(app, kind)
    case .open: StateRules()
    }
  }

  /// - Precondition: the rules do not number states.
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
    case .open: preconditionFailure("open rules have no user's class")
    }
  }
}
