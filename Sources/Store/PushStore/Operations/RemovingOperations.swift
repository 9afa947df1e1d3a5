internal import Foundation
internal import GRDB
public import PushModel

/// Removing users, memberships (``removeMember(_:of:)``) and conversations.
///
/// What is removed is not in exports, and operations do not know it any more. Its id keeps its
/// number in the order of ids, and its characters stay in the store, in the feed among others;
/// ``SettingsStore/erase(_:at:)`` removes them too.
extension StoreWrite {
  /// Removes a user: settings, devices, display settings, all memberships, and the nicknames in
  /// them. What others call the user stays.
  ///
  /// The feed gets one entry, ``Change/userRemoved``; the memberships have none of their own.
  ///
  /// - Throws: ``StoreError/unknownUser(_:)``.
  /// - Complexity: O(conversations log members).
  public mutating func removeUser(_ id: Identifier) throws {
    guard let number = try queries.number(known: id, .users) else {
      throw StoreError.unknownUser(id)
    }
    let before = try queries.words(ofUser: id)
    try queries.remove(user: number)
    steps.append(.userRemoved(id))
    try record(.userRemoved, user: id, values: ChangedValues(before, nil, isWhole: true))
  }

  /// Removes a conversation with its settings, names and memberships, and its threads.
  ///
  /// The feed gets an entry for the conversation and for each thread,
  /// ``Change/conversationRemoved``; the memberships have none of their own.
  ///
  /// - Throws: ``StoreError/unknownConversation(_:)``.
  /// - Complexity: O(members log settings).
  public mutating func removeConversation(_ id: Identifier) throws {
    for (id, number) in try queries.conversationWithThreads(id) {
      let before = try queries.words(ofConversation: id)
      try queries.remove(conversation: number)
      steps.append(.conversationRemoved(id))
      try record(
        .conversationRemoved, conversation: id, values: ChangedValues(before, nil, isWhole: true))
    }
  }
}

/// Whose id is erased.
public enum ErasedID: Hashable, Sendable {
  /// A user's, with all that ``StoreWrite/removeUser(_:)`` removes, what others call the user, and
  /// the id among their senders.
  case user(Identifier)
  /// A conversation's, with all that ``StoreWrite/removeConversation(_:)`` removes.
  case conversation(Identifier)

  /// The id.
  public var id: Identifier {
    switch self {
    case .user(let id), .conversation(let id): id
    }
  }
}

/// The tables of ids.
enum IDKind: String {
  case users, conversations
}

extension SettingsQueries {
  func state(_ row: StatementColumns, _ index: Int32, _ column: String) throws -> RecordState {
    try known(RecordState(rawValue: try number(row, index, column)), column)
  }

  /// The number of an id that was not removed; nil for another.
  func number(known id: Identifier, _ kind: IDKind) throws -> Int64? {
    let find = try db.cachedStatement(
      sql: "SELECT number FROM \(kind.rawValue) WHERE id = ? AND is_declared <> 2")
    return try Int64.fetchOne(find, arguments: [id.bytes])
  }

  /// Removes all that belongs to a user; the row of the id stays.
  func remove(user number: Int64) throws {
    // By the keys of the tables, which begin with the conversation.
    for table in ["members", "nicknames"] {
      try db.execute(
        sql: """
          DELETE FROM \(table)
          WHERE user = ?1 AND conversation IN (SELECT number FROM conversations)
          """, arguments: [number])
    }
    for table in ["member_settings", "member_channels", "devices", "displays", "remarks"] {
      try db.execute(sql: "DELETE FROM \(table) WHERE user = ?", arguments: [number])
    }
    try write(number: number, UserSettings())
    try db.execute(sql: "UPDATE users SET is_declared = 2 WHERE number = ?", arguments: [number])
  }

  /// A conversation that was not removed and its threads, with their numbers.
  ///
  /// - Throws: ``StoreError/unknownConversation(_:)``.
  func conversationWithThreads(_ id: Identifier) throws -> [(id: Identifier, number: Int64)] {
    guard let number = try number(known: id, .conversations) else {
      throw StoreError.unknownConversation(id)
    }
    let threads = try threads(of: id).filter { try kind(of: $0)?.kind == .thread }
    return try [(id: id, number: number)]
      + threads.map { (id: $0, number: try self.number(conversation: $0)) }
  }

  /// Removes all that belongs to a conversation; the row of the id stays.
  func remove(conversation number: Int64) throws {
    for table in ["member_settings", "member_channels"] {
      try db.execute(
        sql: """
          DELETE FROM \(table) WHERE conversation = ?1
            AND user IN (SELECT user FROM members WHERE conversation = ?1)
          """, arguments: [number])
    }
    for table in ["members", "channels", "nicknames", "conversation_names"] {
      try db.execute(sql: "DELETE FROM \(table) WHERE conversation = ?", arguments: [number])
    }
    try db.execute(
      sql: """
        UPDATE conversations SET is_declared = 2, kind = 'group', parent = NULL, level = 0
        WHERE number = ?
        """, arguments: [number])
  }
}
