internal import PushModel

// The engine's only switches over rule sets.

/// Whose rules decide in a conversation, with what numbers its members' states.
///
/// SAFETY: valid as long as the ``StateTables``.
@safe enum EngineRules {
  case easemob
  case rongcloud
  /// States are numbered as they occur, by all versions with the same ``Tables/appRevision``.
  case open(Unmanaged<OpenStates>)

  /// Every state that occurs in keys of now is below it.
  @inline(__always)
  func stateCount(of capacity: Int) -> Int {
    switch self {
    case .easemob, .rongcloud: capacity
    case .open(let states): unsafe states._withUnsafeGuaranteedRef { $0.stateCount }
    }
  }

  /// The state of members whose class has no number and who are decided one by one; nil where states
  /// are numbered in advance.
  @inline(__always)
  var othersState: UInt8? {
    switch self {
    case .easemob, .rongcloud: nil
    case .open: OpenStates.others
    }
  }

  var openStates: OpenStates? {
    switch self {
    case .easemob, .rongcloud: nil
    case .open(let states): unsafe states.takeUnretainedValue()
    }
  }
}

extension RuleSet {
  /// Whether a thread has states of its own; otherwise its records are looked at beside its parent's.
  var threadsHaveStates: Bool {
    switch self {
    case .easemob, .rongcloud: true
    case .open: false
    }
  }

  /// Whether states are numbered as they occur, so that engines of equal settings would use up each
  /// other's numbers.
  var numbersAsTheyOccur: Bool {
    switch self {
    case .easemob, .rongcloud: false
    case .open: true
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
    switch rules.app.rules {
    case .easemob: set { _ in UserClass.windowPhase }
    case .rongcloud: set { rules.app.rongcloud.quiet($0).rawValue }
    case .open: self.rules = rules[.group]
    }
  }

  private mutating func set(_ phase: (NotificationLevel) -> UInt8) {
    for level in NotificationLevel.ofVendors {
      bytes |= UInt64(phase(level)) << (UInt64(level.vendorCode) * 8)
    }
  }

  /// 0 outside of quiet hours.
  ///
  /// - Parameter areApps: whether they are the app's, not the user's own.
  @inline(__always)
  subscript(level: NotificationLevel?, areApps: Bool) -> UInt8 {
    guard let level else { return 0 }
    if let open = rules?.tables.ruleSet.openStates {
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
}
