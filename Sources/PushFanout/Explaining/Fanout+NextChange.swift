public import PushModel
internal import QuietTime

extension Fanout {
  /// The first instant after `instant` at which the outcome of a plain message changes without an
  /// update; nil if it never does.
  ///
  /// A plain message is a text from another user without mentions.
  ///
  /// - Throws: ``FanoutError/unknownConversation(_:)``, ``FanoutError/unknownUser(_:)`` or
  ///   ``FanoutError/notAMember(user:conversation:)``.
  public func nextChange(
    for user: Identifier, in conversation: Identifier, channel: Identifier = "",
    after instant: Instant
  ) throws(FanoutError) -> Instant? {
    try currentVersion.plainAnswer(
      for: user, in: conversation, channel: channel, after: instant
    ).changesAt
  }
}

extension FanoutVersion {
  /// The answer for a plain message, when it next changes without an update, and what it is from
  /// then on.
  ///
  /// - Throws: as ``Fanout/nextChange(for:in:channel:after:)``.
  /// - Complexity: that of some decisions for one user; mostly four.
  public func plainAnswer(
    for user: Identifier, in conversation: Identifier, channel: Identifier = "",
    after instant: Instant
  ) throws(FanoutError) -> PlainAnswer {
    let tables = engineVersion.tables
    guard let conversationIndex = tables.conversationIDs.index(of: conversation) else {
      throw .unknownConversation(conversation)
    }
    guard let userIndex = tables.userIDs.index(of: user) else { throw .unknownUser(user) }
    let row = tables.conversations[Int(conversationIndex)]
    let isThread = ConversationKind(ordinal: Int(row.kind)) == .thread
    let chain =
      isThread && row.parent != 0 ? [row.parent - 1, conversationIndex] : [conversationIndex]
    guard tables.member(userIndex, of: chain[0]) != nil else {
      throw .notAMember(user: user, conversation: tables.conversationIDs[chain[0]])
    }
    let solver = NextChangeSolver(
      app: tables.app, user: tables.user(userIndex),
      records: chain.compactMap { tables.member(userIndex, of: $0) },
      quiet: tables.scheduleTable.schedule(tables.schedules[Int(userIndex)]))
    return solver.plainAnswer(after: instant) { at in
      var message = Message(id: "plain", conversation: conversation, at: at)
      message.channel = channel
      return engineVersion.decision(message, for: userIndex)
    }
  }
}
