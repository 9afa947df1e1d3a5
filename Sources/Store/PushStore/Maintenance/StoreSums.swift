internal import CPushSQLite
internal import Foundation
internal import GRDB
internal import PushSupport

/// The number of rows of a table, and a sum over their values, whatever their order.
struct StoreSum: Equatable {
  var rows: Int64 = 0
  var sum: Int64 = 0
}

/// Sums of a backup's tables, which are stored in it. A store that is opened for writing has none.
extension SettingsQueries {
  /// The sums of all tables but the store's identity and the sums.
  ///
  /// - Complexity: O(size of the file).
  func sums() throws -> [String: StoreSum] {
    let tables = try String.fetchAll(
      db,
      sql: """
        SELECT name FROM sqlite_master
        WHERE type = 'table' AND name NOT IN ('store', 'sums') AND name NOT LIKE 'sqlite%'
        """)
    return try Dictionary(uniqueKeysWithValues: tables.map { ($0, try sum(of: $0)) })
  }

  private func sum(of table: String) throws -> StoreSum {
    let statement = try db.makeStatement(sql: "SELECT * FROM \"\(table)\"")
    let handle = unsafe statement.sqliteStatement
    var found = StoreSum()
    while true {
      switch unsafe sqlite3_step(handle) {
      case SQLITE_ROW:
        found.rows += 1
        found.sum &+= unsafe Self.sum(ofRow: handle)
      case SQLITE_DONE: return found
      case let code:
        throw DatabaseError(resultCode: ResultCode(rawValue: code))
      }
    }
  }

  /// FNV-1a over the types and the bytes of the columns.
  private static func sum(ofRow handle: OpaquePointer) -> Int64 {
    var state: UInt64 = 0xCBF2_9CE4_8422_2325
    func add(_ number: UInt64) { state = (state ^ number) &* 0x0000_0100_0000_01B3 }
    let count = unsafe sqlite3_column_count(handle)
    for column in 0..<count {
      let value = unsafe sqlite3_column_value(handle, column)
      let type = unsafe sqlite3_value_type(value)
      add(UInt64(type))
      if type == SQLITE_INTEGER {
        let number = UInt64(bitPattern: unsafe sqlite3_value_int64(value))
        for shift: UInt64 in stride(from: 0, to: 64, by: 16) { add(number >> shift & 0xFFFF) }
      } else if type != SQLITE_NULL {
        let start = unsafe sqlite3_value_blob(value)
        let size = Int(unsafe sqlite3_value_bytes(value))
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: size)
        add(UInt64(size))
        for offset in 0..<size {
          let byte = unsafe bytes[offset]
          add(UInt64(byte))
        }
      }
    }
    return Int64(bitPattern: state)
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
  /// integrity check reads what was restored. Meanwhile another thread reads every record of the
  /// file.
  ///
  /// - Complexity: O(size of the file), in time and in memory.
  public func verifyBackup() throws -> BackupVerification {
    try store.use { [path, store] pool in
      let (restored, records) = Parallel.both {
        try Self.verify(restoring: pool, path)
      } _: {
        try store.read(pool) { try SettingsQueries(db: $0, path: path).forEachRecord { _ in } }
      }
      let found = try restored.get()
      // What SQLite cannot read is not asked any further.
      guard found.isReadable else { return found.verification }
      do { try records.get() } catch StoreError.damaged(_, let reason) {
        return found.verification.adding(StoreProblem(kind: .row, description: reason))
      }
      return found.verification
    }
  }

  private static func verify(
    restoring pool: DatabasePool, _ path: String
  ) throws -> (verification: BackupVerification, isReadable: Bool) {
    let memory = try DatabaseQueue()
    do {
      try StoreFile.errors(path) { try pool.backup(to: memory) }
    } catch StoreError.damaged(_, let reason) {
      return (BackupVerification([StoreProblem(kind: .database, description: reason)]), false)
    }
    return try memory.read { db in
      let queries = SettingsQueries(db: db, path: path)
      var problems = try String.fetchAll(db, sql: "PRAGMA integrity_check(20)")
        .filter { $0 != "ok" }.map { StoreProblem(kind: .database, description: $0) }
      guard problems.isEmpty else { return (BackupVerification(problems), false) }
      let sums = try queries.sums()
      let stored = try queries.storedSums()
      if let stored {
        for name in Set(sums.keys).union(stored.keys).sorted() where sums[name] != stored[name] {
          problems.append(
            StoreProblem(
              kind: .database,
              description: "\(name) has \(sums[name]?.rows ?? 0) rows that are not the "
                + "\(stored[name]?.rows ?? 0) of the backup"))
        }
      }
      let verification = BackupVerification(
        problems: problems, hasSums: stored != nil,
        rows: Int(sums.values.reduce(0) { $0 + $1.rows }),
        end: try queries.cursor(at: queries.lastSequence()))
      return (verification, true)
    }
  }
}

extension BackupVerification {
  /// One of a backup that cannot be read.
  fileprivate init(_ problems: [StoreProblem]) {
    self.init(problems: problems, hasSums: false, rows: 0, end: .start)
  }

  fileprivate func adding(_ problem: StoreProblem) -> BackupVerification {
    BackupVerification(problems: problems + [problem], hasSums: hasSums, rows: rows, end: end)
  }
}
