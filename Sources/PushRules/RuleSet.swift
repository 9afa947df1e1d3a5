/// Whose rules decide: one of the two vendors.
public enum RuleSet: String, CaseIterable, Sendable {
  /// Easemob IM 3.9.2 and later: rules E-1 to E-69.
  case easemob
  /// RongCloud IM 5.2.2 and later: rules.
  case rongcloud

  /// The other vendor.
  public var other: RuleSet { self == .easemob ? .rongcloud : .easemob }
}

/// What a conversation is. The raw value is its name in files.
public enum ConversationKind: String, CaseIterable, Sendable {
  case `private`
  case group
  /// A thread below a group, Easemob's only (E-63, R-9).
  case thread
  /// RongCloud's only, like the four after it.
  case discussion
  case customerService
  case system
  case ultraGroup
  /// A chat room, which never pushes (E-60, R-44).
  case room

  /// Whether a conversation of this kind exists under `rules`.
  public func exists(under rules: RuleSet) -> Bool {
    switch self {
    case .private, .group, .room: true
    case .thread: rules == .easemob
    case .discussion, .customerService, .system, .ultraGroup: rules == .rongcloud
    }
  }

  /// Whether mention levels never notify here under RongCloud.
  public var isDirect: Bool {
    self == .private || self == .system || self == .customerService
  }
}
