internal import Foundation
internal import GRDB
internal import PushFanout
public import PushModel

extension StoreWrite {
  /// Removes a user or a conversation, gives the row another id, and removes every entry of the
  /// feed but a new one, ``Change/erased``, that names no user.
  mutating func erase(_ erased: ErasedID) throws {
    switch erased {
    case .user(let id):
      let find = "SELECT number FROM users WHERE id = ?"
      guard let number = try Int64.fetchOne(queries.db, sql: find, arguments: [id.bytes]) else {
        throw StoreError.unknownUser(id)
      }
      try queries.remove(user: number)
      try queries.db.execute(sql: "DELETE FROM remarks WHERE other = ?", arguments: [id.bytes])
      for (holder, var settings) in try queries.users(listing: id) {
        settings.importantSenders.removeAll { $0 == id }
        settings.blockedSenders.removeAll { $0 == id }
        try queries.write(holder, settings)
        steps.append(.record(.user(holder, settings)))
      }
      steps += [.userRemoved(id), .renamed(erased, to: try rename(.users, number))]
    case .conversation(let id):
      let find = "SELECT number FROM conversations WHERE id = ?"
      let found = try Int64.fetchOne(queries.db, sql: find, arguments: [id.bytes])
      guard let found else { throw StoreError.unknownConversation(id) }
      if try queries.number(known: id, .conversations) != nil {
        for (id, number) in try queries.conversationWithThreads(id) {
          try queries.remove(conversation: number)
          steps.append(.conversationRemoved(id))
        }
      }
      try queries.db.execute(
        sql: "UPDATE conversations SET parent = NULL WHERE parent = ?", arguments: [id.bytes])
      steps.append(.renamed(erased, to: try rename(.conversations, found)))
    }
    try record(.erased, byDevice: false)
    try queries.removeFeed(below: queries.lastSequence())
    try queries.db.execute(sql: "UPDATE retention SET is_erasing = 1")
  }

  private func rename(_ kind: IDKind, _ number: Int64) throws -> Identifier {
    let anonymous = AnonymousID.random()
    try queries.db.execute(
      sql: "UPDATE \(kind.rawValue) SET id = ?, is_declared = 2 WHERE number = ?",
      arguments: [anonymous.bytes, number])
    return anonymous
  }
}

extension SettingsStore {
  /// Erases a user or a conversation: removes it, and leaves no trace of the id in the database,
  /// its log, the change feed and the snapshot.
  ///
  /// The feed loses all entries and gets one, ``Change/erased``, that names no user and has
  /// followers read everything again. The file is rewritten, as SQLite keeps removed bytes in free
  /// space; other writes wait for it, decisions do not. The snapshot is removed; the next one is
  /// made from the database, by ``writeSnapshot()`` or by the next opening. An id that was removed
  /// before can be erased as well.
  ///
  /// Out of reach are backups, exports, what followers have read, the memory of running processes,
  /// and blocks that the file system has released.
  ///
  /// - Returns: where bytes like those of the id are still found.
  /// - Throws: ``StoreError/unknownUser(_:)`` or ``StoreError/unknownConversation(_:)``, and
  ///   nothing was changed; ``StoreError/erasureUnfinished(_:)`` when it is removed, but a reader
  ///   of another process keeps the log from being emptied: the next opening for writing finishes
  ///   it.
  /// - Complexity: O(size of the file).
  @discardableResult
  public func erase(_ erased: ErasedID, at now: Instant) throws -> ErasureReport {
    try write(at: now) { try $0.erase(erased) }
    try finishErasure()
    return try reader.traces(of: erased.id)
  }

  /// Gives the space of removed entries and records back to the file system: rewrites the file.
  /// Other writes wait meanwhile.
  ///
  /// - Throws: ``StoreError``, also when a reader of another process keeps the log.
  /// - Complexity: O(size of the file).
  public func shrink() throws {
    try betweenCommits { store in try Erasing.rewrite(store) }
  }

  /// Finishes an erasure that was interrupted, or that a reader kept from emptying the log; does
  /// nothing when there is none.
  ///
  /// - Throws: ``StoreError/erasureUnfinished(_:)``.
  /// - Complexity: O(size of the file) when there is one.
  public func finishErasures() throws {
    if try read({ try $0.feedLimit().isErasing }) { try finishErasure() }
  }

  private func finishErasure() throws {
    try betweenCommits { store in
      try Erasing.finish(store) { try keeper?.remove() ?? SnapshotKeeper.remove(store.file) }
    }
  }
}

/// The part of an erasure that a crash may interrupt, and an opening finishes.
enum Erasing {
  /// Whether an erasure was interrupted.
  static func isUnfinished(_ store: OpenStore) throws -> Bool {
    try StoreReader(store).read { try $0.feedLimit().isErasing }
  }

  /// - Parameter removeSnapshot: removes the snapshot, and whatever is left of others.
  static func finish(_ store: OpenStore, removeSnapshot: () throws -> Void) throws {
    try removeSnapshot()
    TemporaryStore.sweep(beside: store.file)
    do { try rewrite(store) } catch let error as StoreError {
      guard case .database = error, StoreName.size(store.file + "-wal") > 0 else { throw error }
      throw StoreError.erasureUnfinished(store.path)
    }
    try StoreFile.errors(store.path) {
      try store.pool.write { db in
        try store.right?.check()
        try db.execute(sql: "UPDATE retention SET is_erasing = 0")
      }
    }
  }

  /// Writes the file without what was removed, and empties the log.
  static func rewrite(_ store: OpenStore) throws {
    try StoreFile.errors(store.path) {
      try store.right?.check()
      // A reader of this process that is idle has no part of the log in use.
      store.pool.releaseMemory()
      try store.pool.writeWithoutTransaction { db in
        try db.execute(sql: "PRAGMA secure_delete = ON")
        let rewrite = {
          try db.execute(sql: "VACUUM")
          _ = try db.checkpoint(.truncate)
        }
        if let right = store.right { try right.rewriting(rewrite) } else { try rewrite() }
      }
    }
  }
}
