internal import PushModel

// The properties of a rule set that the engine uses: the only switches over rule sets in the
// engine. Each leads to the file of the rule set.

extension RuleSet {
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
