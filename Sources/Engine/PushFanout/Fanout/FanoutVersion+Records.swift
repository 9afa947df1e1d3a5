package import PushModel
package import QuietTime

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

  /// Calls `body` with the index and the id of every user, and with the user's own time zone.
  package func forEachZone(_ body: (UserIndex, Identifier, String?) -> Void) {
    let tables = engineVersion.tables
    for user in 0..<UInt32(tables.userCount) {
      let schedule = tables.schedules[Int(user)]
      body(UserIndex(user), tables.userIDs[user], tables.scheduleTable[schedule].timeZone)
    }
  }

  /// Calls `body` with every conversation.
  package func forEachConversation(_ body: (Identifier, ConversationSettings) -> Void) {
    let tables = engineVersion.tables
    for index in 0..<UInt32(tables.conversations.count) {
      body(tables.conversationIDs[index], tables.conversation(index))
    }
  }

  /// Calls `body` with every conversation that is no thread: its index, id, kind and number of
  /// members.
  package func forEachRoom(_ body: (UInt32, Identifier, ConversationKind, Int) -> Void) {
    let tables = engineVersion.tables
    for index in 0..<UInt32(tables.conversations.count) {
      let row = tables.conversations[Int(index)]
      let kind = ConversationKind(ordinal: Int(row.kind))
      if kind != .thread { body(index, tables.conversationIDs[index], kind, Int(row.count)) }
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

  /// The zone of a user's quiet hours, as the engine has it; nil without quiet hours, and for those
  /// that are off.
  ///
  /// - Complexity: O(1).
  package func quietZone(of user: Identifier) -> ZoneTable? {
    let tables = engineVersion.tables
    return tables.userIDs.index(of: user).flatMap {
      tables.scheduleTable.schedule(tables.schedules[Int($0)])?.zone
    }
  }

  /// All records that decide for a user in a conversation: the app's, the user's, those of the
  /// conversation and of a thread's parent, and the user's in both. What never appeared is left out.
  /// Devices are as heartbeats say.
  ///
  /// - Complexity: O(log members + devices).
  package func records(of user: Identifier, in conversation: Identifier) -> [SettingsRecord] {
    let tables = engineVersion.tables
    let userIndex = tables.userIDs.index(of: user)
    var records = [SettingsRecord.app(tables.app)]
    if let userIndex { records.append(.user(user, tables.user(userIndex, asTold: true))) }
    guard let index = tables.conversationIDs.index(of: conversation) else { return records }
    for index in tables.chain(of: index) {
      let id = tables.conversationIDs[index]
      records.append(.conversation(id, tables.conversation(index)))
      guard let userIndex, let member = tables.member(userIndex, of: index) else { continue }
      records.append(.member(user, of: id, member))
    }
    return records
  }
}
