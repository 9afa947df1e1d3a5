package import PushModel

// The engine's only switches over rule sets.

extension RuleSet {
  /// Settings of open rules are refused before they reach these switches.
  static var openIsRefused: String { "the engine does not decide by open rules" }

  /// Whether the engine decides by the rules.
  package var isDecided: Bool { self != .open }

  /// - Throws: ``FanoutError/notDecided(_:)`` for rules by which the engine does not decide.
  func checkDecided() throws(FanoutError) { if !isDecided { throw .notDecided(self) } }

  /// The last phase of quiet hours; 0 is outside.
  var lastQuietPhase: UInt8 {
    switch self {
    case .easemob: UserClass.windowPhase
    case .rongcloud: UserClass.Quiet.blocked.rawValue
    case .open: preconditionFailure(Self.openIsRefused)
    }
  }

  /// The slot, of eight, of a kind's rules.
  @inline(__always)
  func stateRulesSlot(for kind: ConversationKind) -> Int {
    switch self {
    case .easemob: kind == .private ? 0 : 1
    case .rongcloud: kind.ordinal
    case .open: preconditionFailure(Self.openIsRefused)
    }
  }
}

extension NotificationLevel {
  /// - Throws: ``FanoutError/notDecided(_:)`` for a level that no vendor has, which tables do not
  ///   hold.
  func checkHeld() throws(FanoutError) { if !isOfVendor { throw .notDecided(.open) } }
}

extension AppSettings {
  /// The age limit in milliseconds; nil for none.
  var expireMilliseconds: Int64? {
    switch rules {
    case .easemob: easemob.expireMilliseconds  // E-69
    case .rongcloud: nil
    case .open: open.expireSeconds * 1000  // O-22
    }
  }
}

// MARK: The class of a user

/// Phases of quiet hours by the level let through.
struct QuietPhases {
  /// One byte per level.
  private var bytes: UInt64 = 0

  init(_ app: AppSettings) {
    for level in NotificationLevel.ofVendors {
      let phase =
        switch app.rules {
        case .easemob: UserClass.windowPhase
        case .rongcloud: app.rongcloud.quiet(level).rawValue
        case .open: preconditionFailure(RuleSet.openIsRefused)
        }
      bytes |= UInt64(phase) << (UInt64(level.vendorCode) * 8)
    }
  }

  /// 0 outside of quiet hours.
  @inline(__always)
  subscript(level: NotificationLevel?) -> UInt8 {
    guard let level else { return 0 }
    return UInt8(truncatingIfNeeded: bytes >> (UInt64(level.vendorCode) * 8))
  }
}

// MARK: The outcome

extension StateRules {
  static func make(_ app: AppSettings, _ kind: ConversationKind) -> StateRules {
    switch app.rules {
    case .easemob: easemob(app, kind)
    case .rongcloud: rongcloud(app, kind)
    case .open: preconditionFailure(RuleSet.openIsRefused)
    }
  }

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
    case .open: preconditionFailure(RuleSet.openIsRefused)
    }
  }
}
