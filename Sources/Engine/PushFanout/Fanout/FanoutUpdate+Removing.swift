public import PushModel

extension FanoutUpdate {
  /// Removes a user: ends all memberships, and resets settings and devices to those of a user who
  /// has set nothing.
  ///
  /// The id keeps its index, which a user of the same id gets again; ``renameUser(_:to:)`` makes
  /// the engine forget it.
  ///
  /// - Throws: ``FanoutError/unknownUser(_:)`` if the id never appeared.
  /// - Complexity: O(conversations log members), and O(members) for each membership.
  public mutating func removeUser(_ id: Identifier) throws(FanoutError) {
    guard let user = writer.tables.userIDs.index(of: id) else { throw .unknownUser(id) }
    for conversation in 0..<UInt32(writer.tables.conversations.count) {
      _ = writer.removeMember(user, of: conversation)
    }
    try writer.write(nil, of: user)
    try setUser(id, UserSettings())
  }

  /// Removes a conversation: ends all its memberships, and makes it a group without settings, as an
  /// id is that was only named. Its threads stay.
  ///
  /// The id keeps its index, which a conversation of the same id gets again.
  ///
  /// - Throws: ``FanoutError/unknownConversation(_:)`` if the id never appeared.
  /// - Complexity: O(members).
  public mutating func removeConversation(_ id: Identifier) throws(FanoutError) {
    guard let conversation = writer.tables.conversationIDs.index(of: id) else {
      throw .unknownConversation(id)
    }
    // The last one first, so that no other member moves.
    while let slot = writer.tables.conversations[Int(conversation)].range.last {
      _ = writer.removeMember(writer.tables.memberUsers[slot], of: conversation)
    }
    try writer.setConversation(conversation, ConversationSettings())
  }

  /// Gives the index of a user another id, so that neither this version nor a snapshot of it has
  /// the characters of the one before.
  ///
  /// - Precondition: `other` is not in use.
  /// - Throws: ``FanoutError/unknownUser(_:)`` if the id never appeared.
  /// - Complexity: O(users).
  package mutating func renameUser(_ id: Identifier, to other: Identifier) throws(FanoutError) {
    guard let user = writer.tables.userIDs.index(of: id) else { throw .unknownUser(id) }
    writer.tables.userIDs.rename(user, to: other, writer.store)
  }

  /// The same for a conversation.
  ///
  /// - Precondition: `other` is not in use.
  /// - Throws: ``FanoutError/unknownConversation(_:)`` if the id never appeared.
  /// - Complexity: O(conversations).
  package mutating func renameConversation(
    _ id: Identifier, to other: Identifier
  ) throws(FanoutError) {
    guard let conversation = writer.tables.conversationIDs.index(of: id) else {
      throw .unknownConversation(id)
    }
    writer.tables.conversationIDs.rename(conversation, to: other, writer.store)
  }
}
