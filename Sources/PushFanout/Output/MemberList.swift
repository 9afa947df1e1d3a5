/// The members of the conversation that a message was decided for, recipients or not, as of the
/// version that it was decided on, which this retains.
package struct MemberList: Sendable {
  private let version: EngineVersion
  private let row: ConversationRow
  /// Equal keys from one engine mean equal lists.
  package let key: Key

  /// A conversation and the number of changes of its members and settings.
  package struct Key: Hashable, Sendable {
    fileprivate let conversation: UInt32
    fileprivate let revision: UInt32
  }

  fileprivate init(_ version: EngineVersion, _ target: ConversationTarget) {
    self.version = version
    row = target.memberRow
    key = Key(conversation: target.members, revision: row.revision)
  }

  /// The number of members.
  package var count: Int { Int(row.count) }

  /// Appends the users' indices, in the order of ranks: that of `FanoutResult.writeCodes(into:)`.
  ///
  /// - Complexity: O(members).
  package func append(to users: inout [UInt32]) {
    unsafe version.tables.memberUsers.forEachStretch(row.range) { _, stretch in
      unsafe users.append(contentsOf: stretch)
    }
  }
}

extension FanoutResult {
  /// The members that the codes belong to; nil for a conversation without members.
  package var memberList: MemberList? {
    guard memberCount > 0, let engineVersion, let target else { return nil }
    return MemberList(engineVersion, target)
  }
}

extension Fanout {
  /// Calls `body` with the index and the id's UTF-8 of each user in a range of indices.
  ///
  /// - Precondition: within 0 ..< ``userCount``.
  package func forEachUser(
    in users: Range<Int>, _ body: (Int, UnsafeRawBufferPointer) -> Void
  ) {
    reading { tables in
      for user in users { unsafe body(user, tables.userIDs.characters(UInt32(user))) }
    }
  }
}
