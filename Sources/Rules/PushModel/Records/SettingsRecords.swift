/// All settings, to be read: as values, or in the tables of an engine, which are the smaller.
package protocol SettingsRecords: Sendable {
  var app: AppSettings { get }
  var userCount: Int { get }
  func id(of user: UserIndex) -> Identifier
  /// The position of an id in the order of first appearance; nil for one that never appeared.
  func index(of user: Identifier) -> UserIndex?
  /// Whether a user has settings, or was only named.
  func isDeclared(_ user: UserIndex) -> Bool
  func user(_ user: UserIndex) -> UserSettings
  /// The ids of all conversations, in the order in which they first appeared.
  var conversationIDs: [Identifier] { get }
  func conversation(_ id: Identifier) -> ConversationSettings?
  /// Whether a conversation has settings, or was only named.
  func isDeclared(_ conversation: Identifier) -> Bool
  /// Calls `body` with every member, in the order of users.
  func forEachMember<Failure: Error>(
    of conversation: Identifier,
    _ body: (UserIndex, borrowing MemberSettings) throws(Failure) -> Void
  ) throws(Failure)
}

extension FanoutSettings: SettingsRecords {}
