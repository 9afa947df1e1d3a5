internal import GRDB
public import PushContent
public import PushModel
internal import QuietTime

/// What is different in a store since an entry of its change feed, as of one commit.
///
/// A copy that is as the store was at that entry is as the store is at ``end`` when it has removed
/// what was removed, and then taken the records; taking them twice does no harm.
public struct StoreChanges: Sendable {
  /// A membership that ended.
  public struct Membership: Hashable, Sendable {
    /// The user who was a member.
    public let user: Identifier
    /// The conversation.
    public let conversation: Identifier

    /// A user in a conversation.
    public init(user: Identifier, conversation: Identifier) {
      self.user = user
      self.conversation = conversation
    }
  }

  /// What was removed; what was written again afterwards is among the records.
  public struct Removals: Hashable, Sendable {
    /// Users, with all that is theirs.
    public var users: [Identifier] = []
    /// Conversations, with their memberships and threads.
    public var conversations: [Identifier] = []
    /// Memberships that there were or may have been, and that there are not any more.
    public var members: [Membership] = []

    /// Nothing.
    public init() {}
  }

  /// The last entry of the feed.
  public let end: FeedCursor
  /// How many entries of the feed there are since.
  public let entryCount: Int64
  /// When the first of these changes was made; nil without entries.
  public let first: Instant?
  /// What was removed.
  public private(set) var removals = Removals()
  /// Records as they are now: the app, users, conversations and members. New users come in the
  /// order in which their ids first appeared.
  public private(set) var records: [SettingsRecord] = []
  /// How pushes look by these records.
  public private(set) var content = ContentDirectory()
}

extension StoreReader {
  /// What a copy of the store has to change.
  ///
  /// - Parameters:
  ///   - cursor: the last entry whose change the copy has.
  ///   - limit: how many entries at most; a copy that is behind by more is better replaced.
  /// - Returns: nil when the copy has to be made again: it is behind by more, or there were changes
  ///   that the feed does not list one by one (an import, an erasure, the switch of advanced push)
  ///   or that records do not have (templates).
  /// - Throws: ``StoreError/unknownChange(_:_:)`` or ``StoreError/changesDropped(_:_:upTo:)`` when
  ///   the feed does not have the entry.
  /// - Complexity: O(entries since).
  public func changes(since cursor: FeedCursor, limit: Int64) throws -> StoreChanges? {
    try read { queries in
      try queries.check(cursor)
      let last = try queries.lastSequence()
      let count = last - cursor.sequence
      guard count <= limit, try !queries.hasUnlistedChanges(after: cursor.sequence) else {
        return nil
      }
      var changes = StoreChanges(
        end: try queries.cursor(at: last), entryCount: count,
        first: count == 0 ? nil : try queries.instant(ofEntry: cursor.sequence + 1))
      if count > 0 { try changes.read(queries, after: cursor.sequence) }
      return changes
    }
  }
}

extension StoreChanges {
  fileprivate init(end: FeedCursor, entryCount: Int64, first: Instant?) {
    self.end = end
    self.entryCount = entryCount
    self.first = first
  }

  fileprivate mutating func read(_ queries: SettingsQueries, after sequence: Int64) throws {
    if try queries.hasChange("app", after: sequence) { records.append(.app(try queries.app())) }
    removals.users = try queries.ids(
      "SELECT DISTINCT user FROM feed WHERE sequence > ? AND change = 'userRemoved'", sequence)
    removals.conversations = try queries.ids(
      """
      SELECT DISTINCT conversation FROM feed WHERE sequence > ? AND change = 'conversationRemoved'
      """, sequence)
    // By number, so that the copy gives new ids the same order.
    let users = try queries.ids(
      """
      SELECT u.id FROM (SELECT DISTINCT user FROM feed WHERE sequence > ?) f
        JOIN users u ON u.id = f.user WHERE u.is_declared <> 2 ORDER BY u.number
      """, sequence)
    for id in users {
      records.append(
        try queries.record(of: id, in: nil, &content) ?? .user(id, UserSettings()))
    }
    let conversations = try queries.ids(
      """
      SELECT c.id FROM (SELECT DISTINCT conversation FROM feed WHERE sequence > ?) f
        JOIN conversations c ON c.id = f.conversation WHERE c.is_declared = 1 ORDER BY c.number
      """, sequence)
    for id in conversations {
      if let record = try queries.record(of: nil, in: id, &content) { records.append(record) }
    }
    try readMembers(queries, after: sequence)
  }

  private mutating func readMembers(_ queries: SettingsQueries, after sequence: Int64) throws {
    let rows = try Row.fetchAll(
      queries.db,
      sql: """
        SELECT DISTINCT user, conversation FROM feed
        WHERE sequence > ? AND user IS NOT NULL AND conversation IS NOT NULL
        """, arguments: [sequence])
    for row in rows {
      let user = try queries.id(row, 0, "feed.user")
      let conversation = try queries.id(row, 1, "feed.conversation")
      if let record = try queries.record(of: user, in: conversation, &content) {
        records.append(record)
      } else {
        removals.members.append(Membership(user: user, conversation: conversation))
      }
    }
  }
}

extension StoreWrite {
  /// Makes a copy of a store as the store was when ``StoreReader/changes(since:limit:)`` read it.
  ///
  /// - Parameters:
  ///   - removals: what was removed; what the copy does not have is passed over.
  ///   - settings: the records.
  ///   - content: how pushes look by them.
  ///   - replacingApp: whether the app is among the records.
  /// - Throws: as ``add(_:content:partial:replacingApp:progress:)``.
  public mutating func follow(
    _ removals: StoreChanges.Removals, _ settings: FanoutSettings, content: ContentDirectory,
    replacingApp: Bool
  ) throws {
    for id in removals.users {
      do { try removeUser(id) } catch StoreError.unknownUser {}
    }
    for id in removals.conversations {
      do { try removeConversation(id) } catch StoreError.unknownConversation {}
    }
    for member in removals.members
    where try self.member(member.user, of: member.conversation) != nil {
      try removeMember(member.user, of: member.conversation)
    }
    guard replacingApp || settings.userCount > 0 || !settings.conversationIDs.isEmpty else {
      return
    }
    // The machine of the copy may lack zones that the other one has.
    unknownZones = .refuse
    try add(settings, content: content, replacingApp: replacingApp)
  }
}

extension SettingsQueries {
  /// Whether there were changes that are not in the feed one by one, or in no record.
  fileprivate func hasUnlistedChanges(after sequence: Int64) throws -> Bool {
    for change in [Change.imported, .advancedPush, .erased, .template]
    where try hasChange(change.rawValue, after: sequence) {
      return true
    }
    return false
  }

  fileprivate func hasChange(_ change: String, after sequence: Int64) throws -> Bool {
    let find = try db.cachedStatement(
      sql: "SELECT EXISTS (SELECT 1 FROM feed WHERE sequence > ? AND change = ?)")
    return try Bool.fetchOne(find, arguments: [sequence, change]) ?? false
  }

  func instant(ofEntry sequence: Int64) throws -> Instant {
    let find = try db.cachedStatement(sql: "SELECT at FROM feed WHERE sequence = ?")
    let at = try known(Int64.fetchOne(find, arguments: [sequence]), "feed.at")
    return try instant(at, "feed.at")
  }

  fileprivate func ids(_ sql: String, _ sequence: Int64) throws -> [Identifier] {
    try Row.fetchAll(db.cachedStatement(sql: sql), arguments: [sequence])
      .map { try id($0, 0, "feed") }
  }

  func name(of conversation: Identifier) throws -> String? {
    let find = try db.cachedStatement(
      sql: """
        SELECT n.name FROM conversation_names n JOIN conversations c ON c.number = n.conversation
        WHERE c.id = ?
        """)
    return try Row.fetchOne(find, arguments: [conversation.bytes])
      .map { try id($0, 0, "conversation_names.name").text }
  }

  func nickname(of user: Identifier, in conversation: Identifier) throws -> String? {
    let find = try db.cachedStatement(
      sql: """
        SELECT n.nickname FROM nicknames n JOIN users u ON u.number = n.user
          JOIN conversations c ON c.number = n.conversation WHERE u.id = ? AND c.id = ?
        """)
    return try Row.fetchOne(find, arguments: [user.bytes, conversation.bytes])
      .map { try id($0, 0, "nicknames.nickname").text }
  }
}
