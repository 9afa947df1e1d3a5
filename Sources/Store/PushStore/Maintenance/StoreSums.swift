internal import CPushSQLite
internal import Foundation
internal import GRDB
internal import PushModel
internal import PushSupport

/// The number of rows of a table, and a sum over their values, whatever their order.
struct StoreSum: Equatable {
  var rows: Int64 = 0
  var sum: Int64 = 0

  mutating func add(_ row: RowSum) {
    rows += 1
    sum &+= Int64(bitPattern: row.state)
  }
}

/// Sums of a backup's tables, which are stored in it. A store that is opened for writing has none.
extension SettingsQueries {
  /// The sums of all tables but the store's identity and the sums.
  ///
  /// - Parameter others: tables that are left out.
  /// - Complexity: O(size of the file).
  func sums(but others: Set<String> = []) throws -> [String: StoreSum] {
    let tables = try String.fetchAll(
      db,
      sql: """
        SELECT name FROM sqlite_master
        WHERE type = 'table' AND name NOT IN ('store', 'sums') AND name NOT LIKE 'sqlite%'
        """)
    return try Dictionary(
      uniqueKeysWithValues: tables.filter { !others.contains($0) }.map { ($0, try sum(of: $0)) })
  }

  func sum(of table: String) throws -> StoreSum {
    let statement = try db.makeStatement(sql: "SELECT * FROM \"\(table)\"")
    let handle = unsafe statement.sqliteStatement
    var found = StoreSum()
    while true {
      switch unsafe sqlite3_step(handle) {
      case SQLITE_ROW: found.add(unsafe Self.sum(ofRow: handle))
      case SQLITE_DONE: return found
      case let code:
        throw DatabaseError(resultCode: ResultCode(rawValue: code))
      }
    }
  }

  private static func sum(ofRow handle: OpaquePointer) -> RowSum {
    var row = RowSum()
    let count = unsafe sqlite3_column_count(handle)
    for column in 0..<count {
      let value = unsafe sqlite3_column_value(handle, column)
      let type = unsafe sqlite3_value_type(value)
      if type == SQLITE_INTEGER {
        row.add(column: unsafe sqlite3_value_int64(value))
        continue
      }
      row.add(UInt64(type))
      if type != SQLITE_NULL {
        let start = unsafe sqlite3_value_blob(value)
        let size = Int(unsafe sqlite3_value_bytes(value))
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: size)
        row.add(UInt64(size))
        for offset in 0..<size {
          let byte = unsafe bytes[offset]
          row.add(UInt64(byte))
        }
      }
    }
    return row
  }

  /// The sums that a backup has of itself; nil for none.
  func storedSums() throws -> [String: StoreSum]? {
    var found: [String: StoreSum] = [:]
    for row in try Row.fetchAll(db, sql: "SELECT name, rows, sum FROM sums") {
      found[try get(row, 0, "sums.name")] = StoreSum(
        rows: try get(row, 1, "sums.rows"), sum: try get(row, 2, "sums.sum"))
    }
    return found.isEmpty ? nil : found
  }

  /// Stores the sums of a backup in it.
  func writeSums() throws {
    try db.execute(sql: "DELETE FROM sums")
    for (name, sum) in try sums() {
      try db.execute(
        sql: "INSERT INTO sums VALUES (?, ?, ?)", arguments: [name, sum.rows, sum.sum])
    }
  }
}

/// What the verification of a backup has found.
public struct BackupVerification: Hashable, Sendable {
  /// What is wrong; nothing for a backup from which the store can be restored.
  public let problems: [StoreProblem]
  /// Whether the backup has sums to compare with: not one that was opened for writing since.
  public let hasSums: Bool
  /// How many rows were compared.
  public let rows: Int
  /// The last change that the backup has.
  public let end: FeedCursor
}

extension StoreReader {
  /// Restores a store from this file in memory, and compares the sums of its tables with those that
  /// the backup was made with. Every page is read, and compared with its checksum; SQLite's
  /// integrity check reads what was restored. Meanwhile another thread reads every record, and sums
  /// those of members.
  ///
  /// - Complexity: O(size of the file), in time and in memory.
  public func verifyBackup() throws -> BackupVerification {
    try store.use { [path, store] pool in
      let (restored, records) = Parallel.both {
        try Self.restore(pool, path)
      } _: {
        try store.read(pool) { try SettingsQueries(db: $0, path: path).readAll() }
      }
      var found = try restored.get()
      // What SQLite cannot read is not asked any further.
      if !found.problems.isEmpty {
        return BackupVerification(problems: found.problems, hasSums: false, rows: 0, end: .start)
      }
      var damage: [StoreProblem] = []
      do { found.sums.merge(try records.get()) { one, _ in one } } catch StoreError.damaged(
        _, let reason)
      {
        damage = [StoreProblem(kind: .row, description: reason)]
        try store.read(pool) { db in
          for table in Self.tablesOfMembers {
            found.sums[table] = try SettingsQueries(db: db, path: path).sum(of: table)
          }
        }
      }
      let (sums, stored) = (found.sums, found.stored)
      let names = stored.map { Set(sums.keys).union($0.keys).sorted() } ?? []
      let differences = names.filter { sums[$0] != stored?[$0] }.map {
        StoreProblem(
          kind: .database,
          description: "\($0) has \(sums[$0]?.rows ?? 0) rows that are not the "
            + "\(stored?[$0]?.rows ?? 0) of the backup")
      }
      return BackupVerification(
        problems: differences + damage, hasSums: stored != nil,
        rows: Int(sums.values.reduce(0) { $0 + $1.rows }), end: found.end)
    }
  }

  /// Those that are summed as their records are read.
  fileprivate static let tablesOfMembers: Set<String> = ["members", "member_settings"]

  /// What was found in a backup that was restored in memory.
  private struct Restored {
    var problems: [StoreProblem] = []
    var sums: [String: StoreSum] = [:]
    var stored: [String: StoreSum]?
    var end = FeedCursor.start
  }

  private static func restore(_ pool: DatabasePool, _ path: String) throws -> Restored {
    let memory = try DatabaseQueue()
    do {
      try StoreFile.errors(path) { try pool.backup(to: memory) }
    } catch StoreError.damaged(_, let reason) {
      return Restored(problems: [StoreProblem(kind: .database, description: reason)])
    }
    return try memory.read { db in
      let queries = SettingsQueries(db: db, path: path)
      let problems = try String.fetchAll(db, sql: "PRAGMA integrity_check(20)")
        .filter { $0 != "ok" }.map { StoreProblem(kind: .database, description: $0) }
      guard problems.isEmpty else { return Restored(problems: problems) }
      return Restored(
        sums: try queries.sums(but: tablesOfMembers), stored: try queries.storedSums(),
        end: try queries.cursor(at: queries.lastSequence()))
    }
  }
}

extension SettingsQueries {
  /// Reads everything that ``forEachRecord(_:)`` does.
  ///
  /// - Returns: the sums of the tables of members.
  /// - Throws: ``StoreError/damaged(_:reason:)`` for what cannot be read.
  fileprivate func readAll() throws -> [String: StoreSum] {
    var (rows, settingRows) = (StoreSum(), StoreSum())
    let settings = try MemberSettingRows(self) { settingRows.add($0) }
    _ = try app()
    var users: Int64 = 0
    try forEachUser { _, _, _ in users += 1 }
    var conversations = NumberedValues<Void>()
    try forEachConversation { number, _, _, _ in conversations.append(number, ()) }
    var room: Int64?
    try forEachMember(settings) { user, conversation, member in
      if room != conversation {
        _ = try known(conversations.find(conversation), "members.conversation")
        room = conversation
      }
      _ = try known(user > 0 && user <= users ? user : nil, "members.user")
      var row = RowSum()
      row.add(column: conversation)
      row.add(column: user)
      row.add(column: member.since.milliseconds)
      rows.add(row)
    }
    return ["members": rows, "member_settings": settingRows]
  }
}
