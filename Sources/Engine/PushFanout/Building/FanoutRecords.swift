package import PushModel

/// An engine's records, in the order of ids' first appearance.
package struct FanoutRecords: SettingsRecords {
  package let fanout: Fanout
  private let version: FanoutVersion
  private var tables: Tables { version.engineVersion.tables }
  /// Whether each conversation was set, rather than only named.
  private let isSet: [Bool]

  fileprivate init(_ fanout: Fanout, isSet: [Bool]) {
    self.fanout = fanout
    version = fanout.currentVersion
    self.isSet = isSet
  }

  package var app: AppSettings { tables.app }

  package var userCount: Int { tables.userCount }

  package func id(of user: UserIndex) -> Identifier { tables.userIDs[user.rawValue] }

  package func index(of user: Identifier) -> UserIndex? {
    tables.userIDs.index(of: user).map { UserIndex($0) }
  }

  package func isDeclared(_ user: UserIndex) -> Bool {
    tables.packedUsers[Int(user.rawValue)].isDeclared
  }

  package func user(_ user: UserIndex) -> UserSettings { tables.user(user.rawValue) }

  package var conversationCount: Int { tables.conversations.count }

  package var conversationIDs: [Identifier] {
    (0..<UInt32(conversationCount)).map { tables.conversationIDs[$0] }
  }

  package func conversation(_ id: Identifier) -> ConversationSettings? {
    tables.conversationIDs.index(of: id).map { tables.conversation($0) }
  }

  package func isDeclared(_ conversation: Identifier) -> Bool {
    guard let index = tables.conversationIDs.index(of: conversation) else { return false }
    return Int(index) < isSet.count && isSet[Int(index)]
  }

  package func forEachMember<Failure: Error>(
    of conversation: Identifier,
    _ body: (UserIndex, borrowing MemberSettings) throws(Failure) -> Void
  ) throws(Failure) {
    guard let index = tables.conversationIDs.index(of: conversation) else { return }
    try tables.forEachMember(of: index) { (user, record) throws(Failure) in
      try body(UserIndex(user), tables.member(record))
    }
  }
}

extension FanoutBuilder {
  /// Builds the engine and keeps what its tables lack.
  ///
  /// - Complexity: as ``build(threads:cacheBytes:)``.
  package consuming func buildRecords() throws(FanoutError) -> FanoutRecords {
    let isSet = isSet
    return FanoutRecords(try build(threads: threads), isSet: isSet)
  }
}
