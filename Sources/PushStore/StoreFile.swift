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
    var exists = unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
    guard exists || access == .create else { throw StoreError.missing(path) }
    if isFolder.boolValue { throw StoreError.notAStore(path, reason: "it is a folder") }
    let lock = access == .read ? nil : try WriterLock(store: path)
    if lock != nil {
      // Somebody may have made or removed it before the lock was ours.
      exists = FileManager.default.fileExists(atPath: path)
      guard exists || access == .create else { throw StoreError.missing(path) }
      if !exists {
        try checkNoLog(beside: path)
        try NewStore.make(path)
      }
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
      var form = try checkIsStore(path)
      if form == .plain, access != .read {
        try NewStore.upgrade(path)
        form = try PageChecksums.form(of: path)
      }
      let pool = try DatabasePool(
        path: PageChecksums.location(path, checks: form == .checked), configuration: configuration)
      if access != .read { try migrate(pool, path) }
      if try pool.read(Schema.migrator.hasBeenSuperseded) { throw StoreError.newer(path) }
      // What an earlier version made can be read as it is.
      guard try pool.read({ try Schema.migrator.completedMigrations($0).contains("1") }) else {
        throw StoreError.notAStore(path, reason: "its tables are not those of a store")
      }
      return Opened(pool: pool, lock: lock)
    }
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

  /// Before anything is written to a file: whether it is a store, and of which form.
  private static func checkIsStore(_ path: String) throws -> PageChecksums.Form {
    let form = try PageChecksums.form(of: path)
    // Page 1 is read as a whole, and compared, when the store is opened.
    if form == .checked { return form }
    var configuration = Configuration()
    configuration.readonly = true
    let queue = try DatabaseQueue(
      path: PageChecksums.location(path, checks: false), configuration: configuration)
    let id = try queue.read { db in try Int32.fetchOne(db, sql: "PRAGMA application_id") }
    try queue.close()
    guard id == Schema.plainID || id == Schema.applicationID else {
      throw StoreError.notAStore(path, reason: "it is a database of something else")
    }
    let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    try checkIsWhole(path, size: size)
    return form
  }

  /// Whether a file without checksums has all of its pages; SQLite reads zeros where the last one is
  /// cut off.
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
    if error.extendedResultCode == .SQLITE_IOERR_DATA {
      return StoreError.damaged(
        path, reason: "the checksum of a page is wrong, or the page is gone")
    }
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

  func feedColumns() throws -> String {
    "sequence, at, change, user, conversation, channel, device, "
      + (try hasTokens() ? "token" : "0")
  }

  /// Those of one user, and those of everybody, each found by an index.
  static func changesOfUser(_ columns: String) -> String {
    """
    SELECT \(columns) FROM (
        SELECT * FROM feed WHERE user = ?2 AND sequence > ?1 ORDER BY sequence LIMIT ?3)
      UNION ALL
      SELECT \(columns) FROM (
        SELECT * FROM feed WHERE user IS NULL AND conversation IS NULL AND sequence > ?1
          ORDER BY sequence LIMIT ?3)
      ORDER BY sequence LIMIT ?3
    """
  }

  /// Entries of the feed, those that concern `user` or everybody.
  ///
  /// - Throws: ``StoreError/unknownChange(_:_:)``.
  func changes(after cursor: FeedCursor, of user: Identifier?, limit: Int) throws -> [ChangeEvent] {
    try check(cursor)
    let sequence = cursor.sequence
    let rows =
      if let user {
        try Row.fetchAll(
          db.cachedStatement(sql: Self.changesOfUser(feedColumns())),
          arguments: [sequence, user.bytes, limit])
      } else {
        try Row.fetchAll(
          db.cachedStatement(
            sql: "SELECT \(feedColumns()) FROM feed WHERE sequence > ? ORDER BY sequence LIMIT ?"
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
      channel: try findID(row, 5, "feed.channel"), device: try findID(row, 6, "feed.device"),
      token: try get(row, 7, "feed.token"))
  }

  /// The number of the last entry of the feed; 0 for none.
  func lastSequence() throws -> Int64 {
    try Int64.fetchOne(db.cachedStatement(sql: "SELECT max(sequence) FROM feed")) ?? 0
  }
}
