package import PushModel

/// Which messages a change of a user's settings concerns.
extension Fanout {
  /// The index of the conversation whose members get messages to a conversation: itself, or a
  /// thread's parent; nil if its id never appeared.
  package func recipientsIndex(of conversation: Identifier) -> UInt32? {
    reading { tables in
      tables.conversationIDs.index(of: conversation).map {
        ConversationTarget($0, channel: "", tables).members
      }
    }
  }

  /// The index of a user; nil if the id never appeared.
  package func index(of user: Identifier) -> UserIndex? {
    reading { tables in tables.userIDs.index(of: user).map { UserIndex($0) } }
  }

  /// Calls `body` with the index of each conversation that a user is a member of, and of some that
  /// the user was a member of.
  ///
  /// - Returns: whether all were found: not without ``indexMemberships()``, and not after very many
  ///   joins.
  /// - Complexity: O(the user's memberships).
  package func forEachConversation(of user: UserIndex, _ body: (UInt32) -> Void) -> Bool {
    current.memberships.reader.forEachConversation(of: user.rawValue, body)
  }
}
