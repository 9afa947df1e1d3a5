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
  func settings() throws -> FanoutSettings {
    var settings = FanoutSettings()
    try forEachRecord { settings.set($0) }
    return settings
  }

  func forEachRecord(_ body: (SettingsRecord) throws -> Void) throws {
    try body(.app(try app()))
    var users: [Identifier] = []
    try forEachUser { id, user, state in
      users.append(id)
      if state == .removed { return }
      try body(.user(id, user ?? UserSettings()))
    }
    var conversations: [Int64: Identifier] = [:]
    try forEachConversation { number, id, conversation, state in
      conversations[number] = id
      if state == .removed { return }
      try body(.conversation(id, conversation ?? ConversationSettings()))
    }
    try forEachMember { user, conversation, member in
      let isUser = (1...Int64(users.count)).contains(user)
      let id = try known(isUser ? users[Int(user) - 1] : nil, "members.user")
      let name = try known(conversations[conversation], "members.conversation")
      try body(.member(id, of: name, member))
    }
  }
}
