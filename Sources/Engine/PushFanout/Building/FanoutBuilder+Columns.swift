internal import PushModel
internal import PushSupport
internal import QuietTime

extension FanoutBuilder {
  package var lookup: SettingsIDLookup {
    SettingsIDLookup(
      users: writer.tables.userIDs, userNumbers, conversations: writer.tables.conversationIDs,
      conversationNumbers)
  }

  /// Adds memberships in the order of rows, as ``setMember(_:of:_:)`` does.
  ///
  /// - Precondition: ``lookup`` resolved the columns.
  package mutating func add(
    _ columns: MembershipColumns, stretches: Range<Int>
  ) throws(FanoutError) {
    guard let first = stretches.first, let last = stretches.last else { return }
    var extras = columns.extras(from: columns.rows(of: first).lowerBound)
    let all = columns.rows(of: first).lowerBound..<columns.rows(of: last).upperBound
    let known = columns.users.indices[all]
    let areKnown = !hasPolicies && !known.contains(.max)
    try checkRoom(all.count)
    reserveCapacity(conversations: columns.conversations, stretches)
    if areKnown { append(members: known, columns.bits[all]) }
    for stretch in stretches {
      let rows = columns.rows(of: stretch)
      readAhead(conversationAt: stretch + TableWriter.readAhead, of: columns)
      let conversation = try writer.intern(
        conversationAt: stretch, columns.conversations, columns.characters, conversationNumbers)
      var users = known
      if areKnown {
        append(conversation, count: rows.count)
      } else {
        users = try writer.intern(usersAt: rows, columns.users, columns.characters, userNumbers)[
          ...]
        append(conversation, users, columns.bits[rows])
      }
      while let extra = extras.first, extra.row < rows.upperBound {
        let user = areKnown ? users[Int(extra.row)] : users[Int(extra.row) - rows.lowerBound]
        appendOverrides(
          conversation, user, since: extra.since, mutedUntil: extra.mutedUntil)
        extras.removeFirst()
      }
    }
  }

  private mutating func reserveCapacity(conversations ids: IDColumn, _ stretches: Range<Int>) {
    guard ids.numbers.isEmpty else { return }
    let more = ids.indices[stretches].count { $0 == .max }
    let count = writer.tables.conversationIDs.count + more
    writer.tables.conversationIDs.reserve(count, writer.store, threads: threads)
  }

  private func readAhead(conversationAt stretch: Int, of columns: MembershipColumns) {
    let ids = columns.conversations
    guard stretch < columns.stretchCount, ids.indices[stretch] == .max else { return }
    if ids.numbers.isEmpty {
      writer.tables.conversationIDs.slots.prefetch(ids.hashes[stretch])
    } else {
      conversationNumbers.slots.prefetch(ids.numbers[stretch])
    }
  }

  /// Adds users in the order of rows, as ``setUser(_:_:)`` does.
  ///
  /// - Precondition: ``lookup`` resolved the users.
  package mutating func add(_ users: UserRecords, rows: Range<Int>) throws(FanoutError) {
    declaredCount += try writer.add(users, rows, userNumbers, &listedSchedules)
  }

  /// Adds the waiting ids, which must precede a look-up by text.
  func addWaitingIDs(threads: Int = 1) {
    writer.addUserIDs(of: userNumbers, threads: threads)
    writer.addConversationIDs(of: conversationNumbers, threads: threads)
  }
}

extension TableWriter {
  fileprivate func addUserIDs(of numbers: NumberIndex, threads: Int = 1) {
    guard !numbers.waiting.isEmpty else { return }
    tables.userIDs.append(digitsOf: numbers.takeWaiting(), store, threads: threads)
  }

  fileprivate func addConversationIDs(of numbers: NumberIndex, threads: Int = 1) {
    guard !numbers.waiting.isEmpty else { return }
    tables.conversationIDs.append(digitsOf: numbers.takeWaiting(), store, threads: threads)
  }

  fileprivate func intern(
    usersAt rows: Range<Int>, _ ids: IDColumn, _ characters: IDCharacters, _ numbers: NumberIndex
  ) throws(FanoutError) -> [UInt32] {
    var indices = Array(ids.indices[rows])
    guard indices.contains(.max) else { return indices }
    defer { appendUsers(to: tables.userIDs.count + numbers.waiting.count) }
    if ids.numbers.isEmpty { addUserIDs(of: numbers) }
    for offset in indices.indices where indices[offset] == .max {
      let row = rows.lowerBound + offset
      let ahead = row + Self.readAhead
      if ids.numbers.isEmpty {
        if ahead < rows.upperBound { tables.userIDs.slots.prefetch(ids.hashes[ahead]) }
        let index = unsafe ids.with(row, characters) {
          unsafe intern(user: $0, hash: ids.hashes[row])
        }
        guard let index else { throw .tooMany("users") }
        indices[offset] = index
      } else {
        if ahead < rows.upperBound { numbers.slots.prefetch(ids.numbers[ahead]) }
        indices[offset] = try intern(userOf: ids.numbers[row], numbers)
      }
    }
    return indices
  }

  private func intern(userOf number: Int64, _ numbers: NumberIndex) throws(FanoutError) -> UInt32 {
    if let known = numbers.slots.index(of: number) { return known }
    let count = tables.userIDs.count + numbers.waiting.count
    guard count < limit else { throw .tooMany("users") }
    // The id may have been added as a text.
    if numbers.count < count {
      addUserIDs(of: numbers)
      let index = unsafe withDigits(number) {
        unsafe intern(user: $0, hash: tables.userIDs.hash($0))
      }
      guard let index else { throw .tooMany("users") }
      numbers.insert(number, index, isWaiting: false)
      return index
    }
    numbers.insert(number, UInt32(count), isWaiting: true)
    return UInt32(count)
  }

  /// The index of a user, added if new, for ``appendUsers(to:)``; nil if there are too many.
  private func intern(user id: UnsafeRawBufferPointer, hash: UInt32) -> UInt32? {
    if let known = unsafe tables.userIDs.lookup.index(of: id, hash: hash) { return known }
    guard tables.userIDs.count < limit else { return nil }
    return unsafe tables.userIDs.append(id, hash: hash, store)
  }

  fileprivate func intern(
    conversationAt stretch: Int, _ ids: IDColumn, _ characters: IDCharacters,
    _ numbers: NumberIndex
  ) throws(FanoutError) -> UInt32 {
    if ids.indices[stretch] != .max { return ids.indices[stretch] }
    guard !ids.numbers.isEmpty else {
      addConversationIDs(of: numbers)
      let index = unsafe ids.with(stretch, characters) {
        unsafe intern(conversation: $0, hash: ids.hashes[stretch])
      }
      guard let index else { throw .tooMany("conversations") }
      return index
    }
    let number = ids.numbers[stretch]
    if let known = numbers.slots.index(of: number) { return known }
    let count = tables.conversations.count
    guard count < limit else { throw .tooMany("conversations") }
    if numbers.count < count {
      addConversationIDs(of: numbers)
      let index = unsafe withDigits(number) {
        unsafe intern(conversation: $0, hash: tables.conversationIDs.hash($0))
      }
      guard let index else { throw .tooMany("conversations") }
      numbers.insert(number, index, isWaiting: false)
      return index
    }
    tables.conversations.append(ConversationRow(), store)
    numbers.insert(number, UInt32(count), isWaiting: true)
    return UInt32(count)
  }

  /// The index of a conversation, added if new; nil if there are too many.
  private func intern(conversation id: UnsafeRawBufferPointer, hash: UInt32) -> UInt32? {
    if let known = unsafe tables.conversationIDs.lookup.index(of: id, hash: hash) { return known }
    guard tables.conversationIDs.count < limit else { return nil }
    tables.conversations.append(ConversationRow(), store)
    return unsafe tables.conversationIDs.append(id, hash: hash, store)
  }

  /// Returns how many users had no settings.
  fileprivate func add(
    _ users: UserRecords, _ rows: Range<Int>, _ numbers: NumberIndex,
    _ schedules: inout ListedSchedules
  ) throws(FanoutError) -> Int {
    schedules.select(users.quiet)
    let indices = try intern(usersAt: rows, users.ids, users.characters, numbers)
    let tables = tables
    var newCount = 0
    for (row, index) in zip(rows, indices) {
      let user = Int(index)
      let quiet = Int(users.quietIndices[row])
      let schedule: UInt32
      if let known = schedules[quiet] {
        schedule = known
      } else {
        schedule = try self.schedule(users.quiet[quiet])
        schedules[quiet] = schedule
      }
      let packed = users.packed[row]
      let before = tables.packedUsers[user]
      if !before.isDeclared { newCount += 1 }
      if before != packed { tables.packedUsers.set(user, packed, store) }
      if tables.schedules[user] != schedule { tables.schedules.set(user, schedule, store) }
      if packed.hasMute { tables.userMutes.set(UInt64(user), users.mute(at: row), store) }
      tables.devices.reset(index, store)
      if before.isDeclared { try setNames(UserSettings(), of: index) }
    }
    return newCount
  }

  /// Rows between prefetch and use.
  fileprivate static var readAhead: Int { 12 }
}

/// Known schedules of listed quiet settings, looked up once per list.
struct ListedSchedules: Sendable {
  private var lists: [(settings: QuietSettingsList, schedules: [UInt32])] = []
  private var selected = 0
  /// Forgotten lists are looked up again.
  private static var limit: Int { 256 }

  fileprivate mutating func select(_ settings: QuietSettingsList) {
    if let known = lists.firstIndex(where: { $0.settings === settings }) {
      selected = known
    } else {
      if lists.count == Self.limit { lists.removeFirst() }
      selected = lists.count
      lists.append((settings, []))
    }
    let more = settings.count - lists[selected].schedules.count
    if more > 0 { lists[selected].schedules += repeatElement(.max, count: more) }
  }

  @inline(__always)
  fileprivate subscript(index: Int) -> UInt32? {
    get {
      let schedule = lists[selected].schedules[index]
      return schedule == .max ? nil : schedule
    }
    set { lists[selected].schedules[index] = newValue ?? .max }
  }
}
