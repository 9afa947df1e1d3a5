package import PushModel

extension FanoutVersion {
  /// The threads of a parent conversation, in the order in which their ids first appeared.
  ///
  /// - Complexity: O(conversations).
  package func threads(of parent: Identifier) -> [Identifier] {
    let tables = engineVersion.tables
    guard let parentIndex = tables.conversationIDs.index(of: parent) else { return [] }
    return (0..<tables.conversations.count).compactMap { index in
      let row = tables.conversations[index]
      guard ConversationKind(ordinal: Int(row.kind)) == .thread, row.parent == parentIndex + 1
      else {
        return nil
      }
      return tables.conversationIDs[UInt32(index)]
    }
  }

  /// Calls `body` with every user.
  package func forEachUser(_ body: (Identifier, UserSettings) -> Void) {
    let tables = engineVersion.tables
    for user in 0..<UInt32(tables.userCount) { body(tables.userIDs[user], tables.user(user)) }
  }

  /// Calls `body` with every conversation.
  package func forEachConversation(_ body: (Identifier, ConversationSettings) -> Void) {
    let tables = engineVersion.tables
    for index in 0..<UInt32(tables.conversations.count) {
      body(tables.conversationIDs[index], tables.conversation(index))
    }
  }

  /// Calls `body` with every membership record of a conversation. Those of a thread are the
  /// settings that members have for the thread itself.
  package func forEachMember(
    of conversation: Identifier, _ body: (Identifier, MemberSettings) -> Void
  ) {
    let tables = engineVersion.tables
    guard let index = tables.conversationIDs.index(of: conversation) else { return }
    tables.forEachMember(of: index) { body(tables.userIDs[$0], tables.member($1)) }
  }
}
