internal import GRDB
internal import PushModel

extension StoreWrite {
  /// So many entries of the feed are compared at most.
  public static let comparedEntries: Int64 = 100_000

  /// Refuses this write if a record that it has changed was changed by another one since: two writers
  /// who read the same record do not overwrite each other. Call it at the end of the closure.
  ///
  /// A record is the app's with its templates, a user's, a user's devices, a conversation's or a
  /// membership; `Change.user` is of both records of the user. Whoever changes many records as one
  /// (`Change.imported` and its like) changes all, and who removes a user or a conversation, all of
  /// its memberships.
  ///
  /// - Parameter sequence: the number of the last entry of the feed when the record was read, as
  ///   ``StoreReader/record(of:in:)`` gives it, or an earlier write.
  /// - Throws: ``StoreError/changedSince(_:by:)``, also when that is not known: the feed does not have
  ///   the entries since, or there are more than ``comparedEntries``.
  /// - Complexity: O(entries since).
  public func checkUnchanged(since sequence: Int64) throws {
    let last = try queries.lastSequence()
    let first = firstRecorded ?? last + 1
    guard sequence < first, first - sequence - 1 <= Self.comparedEntries,
      try queries.feedLimit().cursor.sequence <= sequence
    else { throw StoreError.changedSince(sequence, by: nil) }
    if first > last { return }
    var own = ChangedRecords()
    try queries.forEachChange(first..<last + 1) { own.add($0) }
    try queries.forEachChange(sequence + 1..<first) { entry in
      if own.overlaps(entry) { throw StoreError.changedSince(sequence, by: entry.sequence) }
    }
  }
}

/// The records that entries of the feed are about.
private struct ChangedRecords {
  struct Entry {
    let sequence: Int64
    let change: Change
    let user, conversation: Identifier?

    var isOfAll: Bool { [.imported, .advancedPush, .erased].contains(change) }

    /// What it is about, besides what a removal takes along.
    var records: [Record] {
      let whole = Record(user: user, conversation: conversation, isOfDevices: false)
      let devices = Record(user: user, conversation: nil, isOfDevices: true)
      return switch change {
      case .devices: [devices]
      case .user: [whole, devices]
      default: [whole]
      }
    }
  }

  struct Record: Hashable {
    let user, conversation: Identifier?
    let isOfDevices: Bool
  }

  private var hasAll = false
  private var records: Set<Record> = []
  /// All that are named, and those of them that were removed.
  private var (users, removedUsers) = (Set<Identifier>(), Set<Identifier>())
  private var (conversations, removedConversations) = (Set<Identifier>(), Set<Identifier>())

  mutating func add(_ entry: Entry) {
    if entry.isOfAll { hasAll = true }
    records.formUnion(entry.records)
    if let user = entry.user {
      users.insert(user)
      if entry.change == .userRemoved { removedUsers.insert(user) }
    }
    if let conversation = entry.conversation {
      conversations.insert(conversation)
      if entry.change == .conversationRemoved { removedConversations.insert(conversation) }
    }
  }

  /// Whether an entry of another write is about one of them.
  func overlaps(_ entry: Entry) -> Bool {
    if hasAll || entry.isOfAll { return true }
    if let user = entry.user {
      if removedUsers.contains(user) { return true }
      if entry.change == .userRemoved, users.contains(user) { return true }
    }
    if let conversation = entry.conversation {
      if removedConversations.contains(conversation) { return true }
      if entry.change == .conversationRemoved, conversations.contains(conversation) { return true }
    }
    return entry.records.contains(where: records.contains)
  }
}

extension SettingsQueries {
  fileprivate func forEachChange(
    _ range: Range<Int64>, _ body: (ChangedRecords.Entry) throws -> Void
  ) throws {
    let find = try db.cachedStatement(
      sql: """
        SELECT sequence, change, user, conversation FROM feed WHERE sequence >= ? AND sequence < ?
        """)
    let rows = try Row.fetchCursor(find, arguments: [range.lowerBound, range.upperBound])
    while let row = try rows.next() {
      try body(
        .init(
          sequence: try get(row, 0, "feed.sequence"),
          change: try known(Change(rawValue: get(row, 1, "feed.change")), "feed.change"),
          user: try findID(row, 2, "feed.user"),
          conversation: try findID(row, 3, "feed.conversation")))
    }
  }
}
