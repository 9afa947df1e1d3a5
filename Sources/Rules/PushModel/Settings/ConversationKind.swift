/// What a conversation is. The raw value is its name in files.
public enum ConversationKind: String, CaseIterable, Sendable {
  /// A chat of two users (one to one).
  case `private`
  /// A group chat.
  case group
  /// A thread below a group (E-63), under open rules also below a private conversation (O-4).
  case thread
  /// RongCloud's only, like the four after it.
  case discussion
  /// RongCloud's customer service, a direct chat.
  case customerService
  /// RongCloud's system messages, a direct chat.
  case system
  /// RongCloud's ultra group, whose messages are in channels.
  case ultraGroup
  /// A chat room, which never pushes (E-60, R-44).
  case room

  /// Whether a conversation of this kind exists under `rules`.
  public func exists(under rules: RuleSet) -> Bool { rules.kinds.contains(self) }

  /// Whether users have a level of this kind under some rule set.
  package var hasLevels: Bool {
    RuleSet.allCases.contains { $0.fields.contains(.kindLevels) && exists(under: $0) }
  }

  /// Whether mention levels never notify here under RongCloud.
  public var isDirect: Bool {
    self == .private || self == .system || self == .customerService
  }
}
