package import PushRules

extension FanoutVersion {
  /// The threads whose parent is a conversation, in the order in which they were first named.
  ///
  /// - Complexity: O(conversations).
  package func threads(of parent: Identifier) -> [Identifier] {
    let tables = world.tables
    guard let place = tables.conversationIDs.place(of: parent) else { return [] }
    return (0..<tables.conversations.count).compactMap { index in
      let row = tables.conversations[index]
      guard ConversationKind(place: Int(row.kind)) == .thread, row.parent == place + 1 else {
        return nil
      }
      return tables.conversationIDs[UInt32(index)]
    }
  }

  /// Calls `body` with every user.
  package func forEachUser(_ body: (Identifier, UserSettings) -> Void) {
    let tables = world.tables
    for user in 0..<UInt32(tables.userCount) { body(tables.userIDs[user], tables.user(user)) }
  }

  /// Calls `body` with every conversation.
  package func forEachConversation(_ body: (Identifier, ConversationSettings) -> Void) {
    let tables = world.tables
    for place in 0..<UInt32(tables.conversations.count) {
      body(tables.conversationIDs[place], tables.conversation(place))
    }
  }

  /// Calls `body` with every record of a conversation: its members, or, of a thread, who has settings
  /// of its own.
  package func forEachMember(
    of conversation: Identifier, _ body: (Identifier, MemberSettings) -> Void
  ) {
    let tables = world.tables
    guard let place = tables.conversationIDs.place(of: conversation) else { return }
    for member in tables.conversations[Int(place)].range {
      let user = tables.memberUsers[member]
      let byte = MemberByte(bits: tables.memberBytes[member])
      body(tables.userIDs[user], tables.member(byte, Tables.key(place, user)))
    }
  }
}
