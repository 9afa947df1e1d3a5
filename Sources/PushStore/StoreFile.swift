internal import Foundation
internal import GRDB
internal import PushFanout
internal import PushRules

/// Opening a store's file, and what can be wrong with it.
enum StoreFile {
  struct Opened {
    let pool: DatabasePool
    let lock: WriterLock?
  }

  static func open(_ path: String, _ access: SettingsStore.Access) throws -> Opened {
    var isFolder: ObjCBool = false
    let exists = unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
    guard exists || access == .create else { throw StoreError.missing(path) }
    if isFolder.boolValue { throw StoreError.notAStore(path, reason: "it is a folder") }
    let lock = access == .read ? nil : try WriterLock(store: path)
    if lock != nil {
      // Somebody may have made or removed it before the lock was ours.
      guard FileManager.default.fileExists(atPath: path) || access == .create else {
        throw StoreError.missing(path)
      }
      try checkNoLog(ofNew: path)
    }
    return try errors(path) {
      var configuration = Configuration()
      configuration.readonly = access == .read
      // Somebody else may be copying the file.
      configuration.busyMode = .timeout(5)
      configuration.prepareDatabase { db in
        // A commit is on the disk before it is acknowledged.
        try db.execute(sql: "PRAGMA synchronous = FULL")
      }
      if FileManager.default.fileExists(atPath: path) { try checkIsStore(path) }
      let pool = try DatabasePool(path: path, configuration: configuration)
      if access != .read { try migrate(pool, path) }
      if try pool.read(Schema.migrator.hasBeenSuperseded) { throw StoreError.newer(path) }
      // What an earlier version made can be read as it is.
      guard try pool.read({ try Schema.migrator.completedMigrations($0).contains("1") }) else {
        throw StoreError.notAStore(path, reason: "its tables are not those of a store")
      }
      return Opened(pool: pool, lock: lock)
    }
  }

  /// Refuses a log that is left where there is no store, or an empty file: SQLite drops it.
  private static func checkNoLog(ofNew path: String) throws {
    guard let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int else {
      return try checkNoLog(beside: path)
    }
    // Whoever makes a store and is stopped early leaves an empty file and a journal.
    if size == 0 { try checkNoLog(beside: path, ["-wal"]) }
  }

  /// Closes a store that was written, with everything moved from the log into the file, unless another
  /// process still reads it there.
  static func close(_ pool: DatabasePool) throws {
    try pool.writeWithoutTransaction { db in
      // A reader that is in the way is no mistake: the log is part of the store.
      do { try db.checkpoint(.truncate) } catch let error as DatabaseError
        where error.resultCode == .SQLITE_BUSY || error.resultCode == .SQLITE_LOCKED
      {}
    }
    try pool.close()
  }

  /// Before anything is written to a file: whether it is a store, or an empty file.
  private static func checkIsStore(_ path: String) throws {
    var configuration = Configuration()
    configuration.readonly = true
    let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    guard size > 0 else { return }
    // SQLite takes what is shorter than its smallest page for an empty database.
    guard size >= 512 else { throw StoreError.notAStore(path, reason: "file is not a database") }
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    let (id, isEmpty) = try queue.read { db in
      let others = try Int.fetchOne(
        db, sql: "SELECT count(*) FROM sqlite_master WHERE tbl_name <> 'grdb_migrations'")
      return (try Int32.fetchOne(db, sql: "PRAGMA application_id") ?? 0, others == 0)
    }
    try queue.close()
    try checkIsWhole(path, size: size)
    // Nothing yet: whoever made it was stopped before there were tables.
    guard id == Schema.applicationID || (id == 0 && isEmpty) else {
      throw StoreError.notAStore(path, reason: "it is a database of something else")
    }
  }

  /// Whether a file has all of its pages; SQLite reads zeros where the last one is cut off.
  ///
  /// While there is a log, pages may be in that and not in the file yet.
  private static func checkIsWhole(_ path: String, size: Int) throws {
    let log = try? FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int
    guard (log ?? 0) == 0 else { return }
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    defer { try? file.close() }
    let header = try file.read(upToCount: 100) ?? Data()
    guard header.count == 100 else { return }
    // https://www.sqlite.org/fileformat.html, 1.3: the page size, 1 for 65,536, and pages in all.
    func number(_ places: Range<Int>) -> Int { header[places].reduce(0) { $0 << 8 | Int($1) } }
    let pageSize = number(16..<18) == 1 ? 65_536 : number(16..<18)
    let whole = pageSize * number(28..<32)
    if size < whole {
      throw StoreError.damaged(path, reason: "it is cut off: \(size) bytes of \(whole)")
    }
  }

  private static func migrate(_ pool: DatabasePool, _ path: String) throws {
    if try pool.read(Schema.migrator.hasBeenSuperseded) { throw StoreError.newer(path) }
    try Schema.migrator.migrate(pool)
  }

  /// Turns SQLite's errors into the store's.
  static func errors<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
    do { return try body() } catch { throw Self.error(error, path) }
  }

  static func error(_ error: any Error, _ path: String) -> any Error {
    guard let error = error as? DatabaseError else { return error }
    let message = error.message ?? "\(error.resultCode)"
    return switch error.resultCode {
    case .SQLITE_NOTADB: StoreError.notAStore(path, reason: message)
    case .SQLITE_CORRUPT: StoreError.damaged(path, reason: message)
    case .SQLITE_FULL: StoreError.database(path, reason: "the disk is full; nothing was changed")
    case .SQLITE_READONLY: StoreError.database(path, reason: "it cannot be written: \(message)")
    case .SQLITE_IOERR:
      StoreError.database(
        path, reason: "a read or write failed; nothing was changed: \(message)")
    case .SQLITE_BUSY:
      StoreError.database(path, reason: "another process is writing it; try again")
    default: StoreError.database(path, reason: message)
    }
  }
}

extension Rows {
  /// The engine of what is stored.
  func fanout(threads: Int?) throws -> Fanout {
    var builder = FanoutBuilder()
    do {
      try builder.setApp(try app())
      var users: [Int64: UserIndex] = [:]
      try forEachUser { id, settings in
        let index = try builder.intern(user: id)
        users[Int64(users.count) + 1] = index
        if let settings { try builder.setUser(id, settings) }
      }
      var places: [Int64: UInt32] = [:]
      try forEachConversation { number, id, settings in
        places[number] = try builder.intern(conversation: id)
        if let settings { try builder.setConversation(id, settings) }
      }
      try forEachMember { user, conversation, member in
        let index = try known(users[user], "members.user")
        let place = try known(places[conversation], "members.conversation")
        try builder.add(index, toConversationAt: place, member)
      }
      return try builder.build(threads: threads)
    } catch let error as FanoutError {
      throw StoreError.damaged(path, reason: "\(error)")
    }
  }

  private static let feedColumns = "sequence, at, change, user, conversation, channel, device"

  /// Those of one user, and those of everybody, each found by an index.
  static let changesOfUser = """
    SELECT \(feedColumns) FROM (
        SELECT * FROM feed WHERE user = ?2 AND sequence > ?1 ORDER BY sequence LIMIT ?3)
      UNION ALL
      SELECT \(feedColumns) FROM (
        SELECT * FROM feed WHERE user IS NULL AND conversation IS NULL AND sequence > ?1
          ORDER BY sequence LIMIT ?3)
      ORDER BY sequence LIMIT ?3
    """

  /// Entries of the feed, those that concern `user` or everybody.
  func changes(after sequence: Int64, of user: Identifier?, limit: Int) throws -> [ChangeEvent] {
    let rows =
      if let user {
        try Row.fetchAll(
          db.cachedStatement(sql: Self.changesOfUser), arguments: [sequence, user.bytes, limit])
      } else {
        try Row.fetchAll(
          db.cachedStatement(
            sql: "SELECT \(Self.feedColumns) FROM feed WHERE sequence > ? ORDER BY sequence LIMIT ?"
          ),
          arguments: [sequence, limit])
      }
    return try rows.map(change)
  }

  func change(_ row: Row) throws -> ChangeEvent {
    ChangeEvent(
      sequence: try get(row, 0, "feed.sequence"), at: try instant(row, 1, "feed.at"),
      change: try known(Change(rawValue: get(row, 2, "feed.change")), "feed.change"),
      user: try findID(row, 3, "feed.user"), conversation: try findID(row, 4, "feed.conversation"),
      channel: try findID(row, 5, "feed.channel"), device: try findID(row, 6, "feed.device"))
  }

  /// The number of the last entry of the feed; 0 for none.
  func lastSequence() throws -> Int64 {
    try Int64.fetchOne(db.cachedStatement(sql: "SELECT max(sequence) FROM feed")) ?? 0
  }
}
