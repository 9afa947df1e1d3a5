internal import Foundation
internal import GRDB
public import PushContent
public import PushRules

/// A record of a store.
public enum StoreRecord: Hashable, Sendable {
  case app(AppSettings)
  case user(Identifier, UserSettings)
  case conversation(Identifier, ConversationSettings)
  case member(Identifier, of: Identifier, MemberSettings)
}

/// Reads a store as it is, without an engine: for inspection, export and backup.
///
/// Others may write meanwhile: each call sees the store as of one commit.
public final class StoreReader: Sendable {
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
  func read<Value>(canRepeat: Bool = true, _ body: (Rows) throws -> Value) throws -> Value {
    try store.read(canRepeat: canRepeat) { db in try body(Rows(db: db, path: path)) }
  }

  func read<Value: Sendable>(
    _ body: @escaping @Sendable (Rows) throws -> Value
  ) async throws -> Value {
    try await store.read { [path] db in try body(Rows(db: db, path: path)) }
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

  /// Calls `body` with every record, as of one commit: the app, users and conversations in the order
  /// in which their ids first appeared, members by conversation and user. What was only named is a
  /// record without settings.
  ///
  /// - Complexity: O(settings).
  public func forEachRecord(_ body: (StoreRecord) throws -> Void) throws {
    try read(canRepeat: false) { try $0.forEachRecord(body) }
  }

  /// The same; before the first record it calls `content` with how pushes look, as of the same commit.
  public func forEachRecord(
    content: (ContentDirectory) throws -> Void, _ body: (StoreRecord) throws -> Void
  ) throws {
    try read(canRepeat: false) { rows in
      try content(try rows.contentDirectory())
      try rows.forEachRecord(body)
    }
  }
}

extension Rows {
  func settings() throws -> FanoutSettings {
    var settings = FanoutSettings()
    try forEachRecord { record in
      switch record {
      case .app(let app): settings.app = app
      case .user(let id, let user): settings.setUser(id, user)
      case .conversation(let id, let conversation): settings.setConversation(id, conversation)
      case .member(let user, let conversation, let member):
        settings.setMember(user, of: conversation, member)
      }
    }
    return settings
  }

  func forEachRecord(_ body: (StoreRecord) throws -> Void) throws {
    try body(.app(try app()))
    var users: [Identifier] = []
    try forEachUser { id, user in
      users.append(id)
      try body(.user(id, user ?? UserSettings()))
    }
    var conversations: [Int64: Identifier] = [:]
    try forEachConversation { number, id, conversation in
      conversations[number] = id
      try body(.conversation(id, conversation ?? ConversationSettings()))
    }
    try forEachMember { user, conversation, member in
      let isUser = (1...Int64(users.count)).contains(user)
      let id = try known(isUser ? users[Int(user) - 1] : nil, "members.user")
      let place = try known(conversations[conversation], "members.conversation")
      try body(.member(id, of: place, member))
    }
  }
}
