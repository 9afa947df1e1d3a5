internal import QuietTime

/// For readers of files that parse on several threads.
extension FanoutBuilder {
  /// The ids so far.
  package var lookup: SettingsIDLookup {
    SettingsIDLookup(
      users: writer.tables.userIDs, conversations: writer.tables.conversationIDs, numbers: numbers)
  }

  /// Adds memberships, as ``setMember(_:of:_:)`` does in the order of the rows.
  ///
  /// - Precondition: a ``SettingsIDLookup`` of this builder resolved the columns.
  package mutating func add(
    _ columns: MembershipColumns, stretches: Range<Int>
  ) throws(FanoutError) {
    guard let first = stretches.first, let last = stretches.last else { return }
    var extras = columns.extras(from: columns.rows(of: first).lowerBound)
    let all = columns.rows(of: first).lowerBound..<columns.rows(of: last).upperBound
    let known = columns.users.indices[all]
    // Users who are all known are added together.
    let areKnown = !hasChannels && !known.contains(.max)
    try checkRoom(all.count)
    if areKnown { append(members: known, columns.bits[all]) }
    for stretch in stretches {
      let rows = columns.rows(of: stretch)
      writer.readAhead(conversationAt: stretch + TableWriter.readAhead, of: columns)
      let conversation = try writer.intern(conversationAt: stretch, of: columns)
      var users = known
      if areKnown {
        append(conversation, count: rows.count)
      } else {
        users = try writer.intern(usersAt: rows, of: columns, numbers)
        append(conversation, users, columns.bits[rows])
      }
      while let extra = extras.first, extra.row < rows.upperBound {
        appendOverrides(
          conversation, users[Int(extra.row)], since: extra.since, mutedUntil: extra.mutedUntil)
        extras.removeFirst()
      }
    }
  }

  /// Adds users' records, as ``setUser(_:_:)`` does in the order of the rows.
  ///
  /// - Precondition: a ``SettingsIDLookup`` of this builder resolved the users.
  package mutating func add(_ users: UserRecords, rows: Range<Int>) throws(FanoutError) {
    declaredCount += try writer.add(users, rows, numbers)
  }
}

extension TableWriter {
  /// The indices of the users of rows; who is new is added.
  fileprivate func intern(
    usersAt rows: Range<Int>, of columns: MembershipColumns, _ numbers: NumberIndex
  ) throws(FanoutError) -> ArraySlice<UInt32> {
    var indices = columns.users.indices[rows]
    guard indices.contains(.max) else { return indices }
    for row in rows where indices[row] == .max {
      indices[row] = try intern(row, columns.users, columns.characters, numbers)
    }
    return indices
  }

  /// Prefetches the slot of a conversation that will be added soon.
  fileprivate func readAhead(conversationAt stretch: Int, of columns: MembershipColumns) {
    guard stretch < columns.stretchCount, columns.conversations.indices[stretch] == .max else {
      return
    }
    tables.conversationIDs.slots.prefetchSlot(columns.conversations.hashes[stretch])
  }

  /// The index of a stretch's conversation, which is added if it is new.
  fileprivate func intern(
    conversationAt stretch: Int, of columns: MembershipColumns
  ) throws(FanoutError) -> UInt32 {
    let (ids, characters) = (columns.conversations, columns.characters)
    if ids.indices[stretch] != .max { return ids.indices[stretch] }
    let hash = ids.hashes[stretch]
    let known = unsafe ids.with(stretch, characters) {
      unsafe tables.conversationIDs.index(of: $0, hash: hash)
    }
    if let known { return known }
    guard tables.conversationIDs.count < limit else { throw .tooMany("conversations") }
    let index = unsafe ids.with(stretch, characters) {
      unsafe tables.conversationIDs.append($0, hash: hash, store)
    }
    tables.conversations.append(ConversationRow(), store)
    return index
  }

  /// The index of the user of a row, who is added if new.
  private func intern(
    _ row: Int, _ ids: IDColumn, _ characters: IDCharacters, _ numbers: NumberIndex
  ) throws(FanoutError) -> UInt32 {
    if ids.indices[row] != .max { return ids.indices[row] }
    guard !ids.numbers.isEmpty else { return try intern(row, ids, characters) }
    if let known = numbers.slots.index(of: ids.numbers[row]) { return known }
    // The id may have been added as a text.
    let index = try intern(row, ids, characters)
    numbers.insert(ids.numbers[row], index)
    return index
  }

  /// The index of the user of a row whose index was not known, by the characters of the id.
  private func intern(
    _ row: Int, _ ids: IDColumn, _ characters: IDCharacters
  ) throws(FanoutError) -> UInt32 {
    let hash = ids.hashes[row]
    let known = unsafe ids.with(row, characters) {
      unsafe tables.userIDs.index(of: $0, hash: hash)
    }
    if let known { return known }
    guard tables.userIDs.count < limit else { throw .tooMany("users") }
    let index = unsafe ids.with(row, characters) {
      unsafe tables.userIDs.append($0, hash: hash, store)
    }
    appendUser()
    return index
  }

  /// Replaces the settings of users.
  ///
  /// - Returns: how many of them had none.
  fileprivate func add(
    _ users: UserRecords, _ rows: Range<Int>, _ numbers: NumberIndex
  ) throws(FanoutError) -> Int {
    // Each of the quiet settings once, unless the rows are few.
    var schedules: [UInt32] = []
    if rows.count > users.quiet.settings.count {
      schedules.reserveCapacity(users.quiet.settings.count)
      for settings in users.quiet.settings {
        schedules.append(try schedule(settings))
      }
    }
    var newCount = 0
    for row in rows {
      let ahead = row + Self.readAhead
      if ahead < rows.upperBound { tables.userIDs.slots.prefetchSlot(users.ids.hashes[ahead]) }
      let user = Int(try intern(row, users.ids, users.characters, numbers))
      let quiet = Int(users.quietIndices[row])
      let schedule =
        schedules.isEmpty
        ? try schedule(users.quiet.settings[quiet]) : schedules[quiet]
      let packed = users.packed[row]
      let before = tables.packedUsers[user]
      if !before.isDeclared { newCount += 1 }
      if before != packed { tables.packedUsers.set(user, packed, store) }
      if tables.schedules[user] != schedule { tables.schedules.set(user, schedule, store) }
      if packed.hasMute { tables.userMutes.set(UInt64(user), users.mute(at: row), store) }
      if tables.hasOwnDevices(UInt32(user)) { tables.deviceLists.set(user, 0, store) }
    }
    return newCount
  }

  /// How many rows ahead the slot of an id is asked for.
  fileprivate static var readAhead: Int { 12 }
}
