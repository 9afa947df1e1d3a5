/// For readers of files that parse on several threads.
extension FanoutBuilder {
  /// The ids so far.
  package var lookup: SettingsIDLookup {
    SettingsIDLookup(users: writer.tables.userIDs, conversations: writer.tables.conversationIDs)
  }

  /// Adds memberships, as ``setMember(_:of:_:)`` does in the order of the rows.
  ///
  /// - Precondition: ``SettingsIDLookup/resolve(_:)`` was called, with a lookup of this builder.
  package mutating func add(
    _ columns: MembershipColumns, stretches: Range<Int>
  ) throws(FanoutError) {
    guard let first = stretches.first else { return }
    var extras = columns.extras(from: columns.rows(of: first).lowerBound)
    for stretch in stretches {
      let rows = columns.rows(of: stretch)
      let known = columns.conversations[stretch].index
      let conversation =
        known != .max ? known : try writer.intern(conversationAt: stretch, of: columns)
      for row in rows {
        let known = columns.users[row].index
        let user = known != .max ? known : try writer.intern(userAt: row, of: columns)
        try checkRoom()
        var (since, mutedUntil): (Int64, Int64) = (0, 0)
        if let special = extras.first, special.row == row {
          (since, mutedUntil) = (special.since, special.mutedUntil)
          extras.removeFirst()
        }
        append(
          conversation, user, columns.packed(at: row), since: since, mutedUntil: mutedUntil)
      }
    }
  }
}

extension TableWriter {
  /// The index of a row's user, which is added if it is new.
  func intern(userAt row: Int, of columns: MembershipColumns) throws(FanoutError) -> UInt32 {
    let id = columns.users[row]
    let known = unsafe columns.withCharacters(of: id) {
      unsafe tables.userIDs.index(of: $0, hash: id.hash)
    }
    if let known { return known }
    guard tables.userIDs.count < limit else { throw .tooMany("users") }
    let index = unsafe columns.withCharacters(of: id) {
      unsafe tables.userIDs.append($0, hash: id.hash, store)
    }
    appendUser()
    return index
  }

  /// The index of a stretch's conversation, which is added if it is new.
  func intern(
    conversationAt stretch: Int, of columns: MembershipColumns
  ) throws(FanoutError) -> UInt32 {
    let id = columns.conversations[stretch]
    let known = unsafe columns.withCharacters(of: id) {
      unsafe tables.conversationIDs.index(of: $0, hash: id.hash)
    }
    if let known { return known }
    guard tables.conversationIDs.count < limit else { throw .tooMany("conversations") }
    let index = unsafe columns.withCharacters(of: id) {
      unsafe tables.conversationIDs.append($0, hash: id.hash, store)
    }
    tables.conversations.append(ConversationRow(), store)
    return index
  }
}
