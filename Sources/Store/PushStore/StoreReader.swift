internal import CPushSQLite
internal import Foundation
internal import GRDB
public import PushContent
public import PushModel

/// Reads a store as it is, without an engine: for inspection, export and backup.
///
/// Others may write meanwhile: each call sees the store as of one commit.
public final class StoreReader: Sendable {
  /// The path that the store was opened by.
  public let path: String
  let store: OpenStore

  /// Opens a store that another process may be writing.
  ///
  /// - Throws: ``StoreError``.
  public init(_ path: String) throws {
    store = try OpenStore(reading: path)
    self.path = path
  }

  /// Reads with the connections of an open store.
  init(_ store: OpenStore) {
    self.store = store
    path = store.path
  }

  /// How many bytes of stores and their logs this process has read and written so far.
  package static var movedByteCount: UInt64 { ps_moved_bytes() }

  /// Ends the use of the store.
  public func close() throws { try store.close() }

  /// Reads the store as of one commit.
  ///
  /// - Parameter canRepeat: whether `body` may be called again, see ``OpenStore``.
  func read<Value>(canRepeat: Bool = true, _ body: (SettingsQueries) throws -> Value) throws
    -> Value
  {
    try store.read(canRepeat: canRepeat) { db in try body(SettingsQueries(db: db, path: path)) }
  }

  func read<Value: Sendable>(
    _ body: @escaping @Sendable (SettingsQueries) throws -> Value
  ) async throws -> Value {
    try await store.read { [path] db in try body(SettingsQueries(db: db, path: path)) }
  }

  /// The app's settings.
  public func app() throws -> AppSettings { try read { try $0.app() } }

  /// What a user has set; nil for nothing.
  ///
  /// - Complexity: O(log users).
  public func user(_ id: Identifier) throws -> UserSettings? { try read { try $0.user(id) } }

  /// Whether there is a user: one with settings, or a member of a conversation.
  public func hasUser(_ id: Identifier) throws -> Bool {
    try read { try $0.number(known: id, .users) != nil }
  }

  /// Calls `body` with the id of every user or of every conversation that was not removed.
  ///
  /// - Complexity: O(ids).
  package func forEachID(ofUsers isUser: Bool, _ body: (Identifier) -> Void) throws {
    try read(canRepeat: false) { queries in
      var rows = try RepeatedStatement(
        queries.db,
        "SELECT id FROM \(isUser ? "users" : "conversations") WHERE is_declared <> "
          + "\(RecordState.removed.rawValue) ORDER BY number")
      while let row = try rows.next() { body(try queries.id(row, 0, "id")) }
    }
  }

  /// A record, with the number of the last entry of the feed at that time, which
  /// ``StoreWrite/checkUnchanged(since:)`` takes.
  public struct NumberedRecord: Sendable {
    /// The app, which other records are written by.
    public let app: AppSettings
    /// The conversation of a membership, if it has settings.
    public let conversation: ConversationSettings?
    /// The record.
    public let record: SettingsRecord
    /// How pushes look by it.
    public let content: ContentDirectory
    /// The number of the last entry of the feed; 0 for none.
    public let sequence: Int64
  }

  /// One record, as of one commit: a membership, what a user or a conversation has set, or without
  /// ids the app.
  ///
  /// - Throws: ``StoreError/unknownUser(_:)``, ``StoreError/unknownConversation(_:)`` for ids without
  ///   settings, or ``StoreError/notAMember(user:conversation:)``.
  /// - Complexity: O(log settings).
  public func record(
    of user: Identifier?, in conversation: Identifier?
  ) throws -> NumberedRecord {
    try read { queries in
      var content = ContentDirectory()
      guard let record = try queries.record(of: user, in: conversation, &content) else {
        switch (user, conversation) {
        case (let user?, let conversation?):
          throw StoreError.notAMember(user: user, conversation: conversation)
        case (let user?, nil): throw StoreError.unknownUser(user)
        default: throw StoreError.unknownConversation(conversation ?? "")
        }
      }
      return NumberedRecord(
        app: try queries.app(),
        conversation: try conversation.flatMap { try queries.conversation($0) },
        record: record, content: content, sequence: try queries.lastSequence())
    }
  }

  /// Everything, as values.
  ///
  /// - Complexity: O(settings).
  public func settings() throws -> FanoutSettings { try read { try $0.settings() } }

  /// Calls `body` with every record, as of one commit: the app, users and conversations in the
  /// order in which their ids first appeared, members by conversation and user. What was only named
  /// is a record without settings; what was removed is left out.
  ///
  /// - Complexity: O(settings).
  public func forEachRecord(_ body: (SettingsRecord) throws -> Void) throws {
    try read(canRepeat: false) { try $0.forEachRecord(body) }
  }

  /// The same, with members many at a time.
  package func forEachRecord(
    content: (ContentDirectory) throws -> Void, _ body: (SettingsRecord) throws -> Void,
    members: (StoredMembers) throws -> Void
  ) throws {
    try read(canRepeat: false) { queries in
      try content(try queries.contentDirectory())
      try queries.forEachRecord(body, members: members)
    }
  }

  /// The same; before the first record it calls `content` with how pushes look, as of the same
  /// commit.
  public func forEachRecord(
    content: (ContentDirectory) throws -> Void, _ body: (SettingsRecord) throws -> Void
  ) throws {
    try read(canRepeat: false) { queries in
      try content(try queries.contentDirectory())
      try queries.forEachRecord(body)
    }
  }
}

extension SettingsQueries {
  /// A record, and in `content` how pushes look by it: a membership, what a user or a conversation
  /// has set, or without ids the app; nil for what is not there.
  func record(
    of user: Identifier?, in conversation: Identifier?, _ content: inout ContentDirectory
  ) throws -> SettingsRecord? {
    switch (user, conversation) {
    case (let user?, let conversation?):
      guard let member = try self.member(user, of: conversation) else { return nil }
      let nickname = try self.nickname(of: user, in: conversation)
      if let nickname { content.setNickname(nickname, of: user, in: conversation) }
      return .member(user, of: conversation, member)
    case (let id?, nil):
      let display = try self.display(of: id)
      if display != RecipientDisplay() { content.setUser(id, display) }
      let settings = try self.user(id)
      guard settings != nil || display != RecipientDisplay() else { return nil }
      return .user(id, settings ?? UserSettings())
    case (nil, let id?):
      guard let settings = try self.conversation(id) else { return nil }
      content.setConversation(
        id, kind: settings.kind, name: try name(of: id), parent: settings.parent)
      return .conversation(id, settings)
    case (nil, nil): return .app(try app())
    }
  }

  func settings() throws -> FanoutSettings {
    var settings = FanoutSettings()
    try forEachRecord { settings.set($0) }
    return settings
  }

  func forEachRecord(_ body: (SettingsRecord) throws -> Void) throws {
    try forEachRecord(body) { members in
      try members.forEach { try body(.member($0, of: $1, $2)) }
    }
  }

  /// The same; members are given many at a time.
  func forEachRecord(
    _ body: (SettingsRecord) throws -> Void, members: (StoredMembers) throws -> Void
  ) throws {
    let settings = try MemberSettingRows(self)
    try body(.app(try app()))
    var users: [Identifier] = []
    try forEachUser { id, user, state in
      users.append(id)
      if state == .removed { return }
      try body(.user(id, user ?? UserSettings()))
    }
    var conversations = NumberedValues<Identifier>()
    try forEachConversation { number, id, conversation, state in
      conversations.append(number, id)
      if state == .removed { return }
      try body(.conversation(id, conversation ?? ConversationSettings()))
    }
    var found = StoredMembers(users: users)
    var room: Int64?
    try forEachMember(settings) { user, conversation, member in
      if found.count == StoredMembers.limit {
        try members(found)
        found = StoredMembers(users: users)
        room = nil
      }
      if room != conversation {
        found.begin(try known(conversations.find(conversation), "members.conversation"))
        room = conversation
      }
      let isUser = user > 0 && user <= Int64(users.count)
      found.append(try known(isUser ? UInt32(user - 1) : nil, "members.user"), member)
    }
    try members(found)
  }
}

/// Members as they are stored, some thousand at a time. The members of a conversation are anywhere
/// among the users, so their ids are looked for where they are used, which may be another thread.
package struct StoredMembers: Sendable {
  static let limit = 4096
  private let users: [Identifier]
  private var rows: [(user: UInt32, settings: MemberSettings)] = []
  private var runs: [(conversation: Identifier, start: Int)] = []

  fileprivate init(users: [Identifier]) {
    self.users = users
    rows.reserveCapacity(Self.limit)
  }

  /// The number of members.
  package var count: Int { rows.count }

  fileprivate mutating func begin(_ conversation: Identifier) {
    runs.append((conversation, rows.count))
  }

  fileprivate mutating func append(_ user: UInt32, _ settings: MemberSettings) {
    rows.append((user, settings))
  }

  /// Calls `body` with each user, conversation and what is set.
  package func forEach(
    _ body: (Identifier, _ conversation: Identifier, MemberSettings) throws -> Void
  ) rethrows {
    // Before they are used: the processor then waits for many at once.
    let ids = rows.map { users[Int($0.user)] }
    for (index, run) in runs.enumerated() {
      let end = index + 1 < runs.count ? runs[index + 1].start : rows.count
      for row in run.start..<end { try body(ids[row], run.conversation, rows[row].settings) }
    }
  }
}
