internal import CPushSQLite
internal import Foundation
internal import GRDB
internal import PushFanout
internal import PushModel
internal import QuietTime

/// What the files of a store must be, and what SQLite's errors mean.
enum StoreFile {
  /// How long to wait for SQLite's short locks, in seconds.
  static let lockTimeout = 5.0

  /// How every connection is opened.
  static func configuration(readonly: Bool) -> Configuration {
    var configuration = Configuration()
    configuration.readonly = readonly
    // Another connection may be recovering the log of a crash, or closing the store.
    configuration.busyMode = .timeout(lockTimeout)
    configuration.prepareDatabase { db in
      // A commit is on the disk before it is acknowledged.
      try db.execute(sql: "PRAGMA synchronous = FULL")
      if !db.configuration.readonly {
        // Pages that writes change and look up again and again, in KiB.
        try db.execute(sql: "PRAGMA cache_size = -32768")
        // 64 MiB of the log: pages that change again meanwhile are copied to the database once.
        try db.execute(sql: "PRAGMA wal_autocheckpoint = 16000")
      }
    }
    return configuration
  }

  /// Repeats what finds the store locked until ``lockTimeout`` is over: SQLite's own busy handler
  /// does not cover every lock.
  static func retryingLocks<Value>(_ body: () throws -> Value) throws -> Value {
    let end = ContinuousClock.now + .seconds(lockTimeout)
    while true {
      do {
        return try body()
      } catch let error as DatabaseError where error.isOfLocks && ContinuousClock.now < end {
        Thread.sleep(forTimeInterval: 0.01)
      }
    }
  }

  /// Whether a file has the header of a store, before SQLite opens it.
  ///
  /// - Parameters:
  ///   - path: what errors call the store.
  ///   - file: where it is, with its snapshot beside it.
  /// - Throws: ``StoreError/empty(_:hasSnapshot:)``, ``StoreError/notAStore(_:reason:)`` or
  ///   ``StoreError/damaged(_:reason:)``.
  static func checkHeader(_ inode: StoreInode, _ path: String, _ file: String) throws {
    let header = inode.bytes(0..<512)
    guard !header.isEmpty else {
      let snapshot = SnapshotKeeper.path(file)
      throw StoreError.empty(
        path, hasSnapshot: FileManager.default.fileExists(atPath: snapshot))
    }
    // https://www.sqlite.org/fileformat.html, 1.3. What is shorter than the smallest page is taken
    // for an empty database by SQLite.
    guard header.count == 512, header.starts(with: "SQLite format 3\0".utf8) else {
      throw StoreError.notAStore(path, reason: "file is not a database")
    }
    let id = header[68..<72].reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
    let different = (id ^ UInt32(bitPattern: Schema.applicationID)).nonzeroBitCount
    if different == 0 { return }
    // A store whose id was changed still has most of its bits, and room for checksums.
    let hasRoom = Int32(header[20]) == ps_checksum_size
    if hasRoom && different <= 4 {
      throw StoreError.damaged(path, reason: "its header was changed")
    }
    throw StoreError.notAStore(path, reason: "it is a database of something else")
  }

  /// Whether a store is of this format, and all of it is there.
  ///
  /// Called inside a transaction that reads, as everything must be of one commit.
  ///
  /// - Throws: ``StoreError/otherFormat(_:_:)`` or ``StoreError/damaged(_:reason:)``.
  static func judge(_ db: Database, _ inode: StoreInode, path: String, file: String) throws {
    let format = try Int32.fetchOne(db, sql: "PRAGMA user_version") ?? 0
    if format != Schema.format { throw StoreError.otherFormat(path, format) }
    if let size = try sizes(db, inode, file), size.found < size.whole {
      throw StoreError.damaged(
        path, reason: "it is cut off: \(size.found) bytes of \(size.whole)")
    }
  }

  /// How many bytes the file has, and how many its pages are; nil while pages may be in the log and
  /// not in the file yet.
  ///
  /// Called inside a transaction that reads: as long as it goes on, a log from which it reads is
  /// not emptied, and without one the file is not written.
  static func sizes(
    _ db: Database, _ inode: StoreInode, _ file: String
  ) throws -> (found: Int, whole: Int)? {
    let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
    let page = try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 4096
    guard StoreName.size(file + "-wal") == 0, let status = inode.status else { return nil }
    return (Int(status.st_size), pages * page)
  }

  /// Converts SQLite's errors to the store's.
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
    case .SQLITE_IOERR where error.isOfSharedMemory:
      StoreError.database(
        path,
        reason: "its log cannot be made: the disk is full, or the folder may not be written; "
          + "nothing was changed")
    case .SQLITE_IOERR:
      // Not SQLite's last message, which after a backup is that of another connection.
      StoreError.database(
        path, reason: "a read or write failed; nothing was changed: disk I/O error")
    case .SQLITE_BUSY, .SQLITE_PROTOCOL:
      StoreError.database(
        path,
        reason: "another process holds it locked, for more than \(Int(lockTimeout)) s; try again"
      )
    default: StoreError.database(path, reason: message)
    }
  }
}

extension DatabaseError {
  /// Whether another connection holds a lock that is needed.
  var isOfLocks: Bool { resultCode == .SQLITE_BUSY || resultCode == .SQLITE_PROTOCOL }

  /// Whether the memory that all users of a log share cannot be had.
  var isOfSharedMemory: Bool {
    [.SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_FULL].contains(resultCode)
      || [.SQLITE_IOERR_SHMOPEN, .SQLITE_IOERR_SHMSIZE, .SQLITE_IOERR_SHMMAP]
        .contains(extendedResultCode)
  }
}

extension SettingsQueries {
  /// What ``change(_:)`` reads.
  static let feedColumns =
    "sequence, at, change, user, conversation, channel, device, token, old, new"

  /// Those of one user, and those of all users, each found by an index.
  static let changesOfUser = """
    SELECT \(feedColumns) FROM (
        SELECT * FROM feed WHERE user = ?2 AND sequence > ?1 ORDER BY sequence LIMIT ?3)
      UNION ALL
      SELECT \(feedColumns) FROM (
        SELECT * FROM feed WHERE user IS NULL AND conversation IS NULL AND sequence > ?1
          ORDER BY sequence LIMIT ?3)
      ORDER BY sequence LIMIT ?3
    """

  /// Entries of the feed that concern `user` or all users.
  ///
  /// - Throws: ``StoreError/unknownChange(_:_:)``.
  func changes(after cursor: FeedCursor, of user: Identifier?, limit: Int) throws -> [ChangeEvent] {
    try check(cursor)
    let sequence = cursor.sequence
    let rows =
      if let user {
        try Row.fetchAll(
          db.cachedStatement(sql: Self.changesOfUser),
          arguments: [sequence, user.bytes, limit])
      } else {
        try Row.fetchAll(
          db.cachedStatement(
            sql: """
              SELECT \(Self.feedColumns) FROM feed WHERE sequence > ? ORDER BY sequence LIMIT ?
              """),
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
      old: try find(row, 8, "feed.old"), new: try find(row, 9, "feed.new"),
      token: try get(row, 7, "feed.token"))
  }

  /// The last entry of the feed, and its token.
  func lastEntry() throws -> (sequence: Int64, token: Int64) {
    let last = try lastSequence()
    return (last, try token(at: last))
  }

  /// The number of the last entry of the feed; 0 for none.
  func lastSequence() throws -> Int64 {
    var find = try RepeatedStatement(cached: "SELECT max(sequence) FROM feed", db)
    return try find.firstNumber() ?? 0
  }
}
