/// One record of settings: in a file, a change, a store or an engine's update.
///
/// A record replaces the whole record of the same key.
public enum SettingsRecord: Hashable, Sendable {
  /// The record of the app.
  case app(AppSettings)
  /// The record of a user, by id.
  case user(Identifier, UserSettings)
  /// The record of a conversation, by id.
  case conversation(Identifier, ConversationSettings)
  /// The record of a user in a conversation: a membership or, of a thread, settings of its own.
  case member(Identifier, of: Identifier, MemberSettings, PresentFields = PresentFields())
}

/// Fields of a member's record that were written, whatever their value; some conversations do not
/// allow them.
///
/// A field whose value is not the default is present in any case.
public struct PresentFields: Hashable, Sendable {
  /// Whether `since` was written.
  public var since: Bool
  /// Whether `channels` was written.
  public var channels: Bool
  /// Whether `follow` was written.
  public var follow: Bool
  /// Whether `roles` was written.
  public var roles: Bool

  /// The fields that were written; by default none.
  public init(
    since: Bool = false, channels: Bool = false, follow: Bool = false, roles: Bool = false
  ) {
    self.since = since
    self.channels = channels
    self.follow = follow
    self.roles = roles
  }
}

extension FanoutSettings {
  /// Replaces the record of the same key.
  public mutating func set(_ record: SettingsRecord) {
    switch record {
    case .app(let app): self.app = app
    case .user(let id, let user): setUser(id, user)
    case .conversation(let id, let conversation): setConversation(id, conversation)
    case .member(let user, let conversation, let member, _):
      setMember(user, of: conversation, member)
    }
  }
}
