internal import CPushSQLite
internal import Foundation
internal import GRDB
internal import Glibc

/// Stores that are made, and stores of earlier versions that are brought up to date.
enum NewStore {
  /// Makes an empty store under a name where nothing is. It appears when it is complete, so that
  /// whoever is stopped meanwhile leaves no half of one.
  ///
  /// Somebody else's that appears meanwhile stays, and is as good.
  static func make(_ path: String) throws {
    let temporary = "\(path).\(getpid()).new"
    TemporaryStore.remove(temporary)
    defer { TemporaryStore.remove(temporary) }
    try StoreFile.errors(path) { try fill(temporary) { _ in } }
    _ = try TemporaryStore.rename(temporary, to: path)
  }

  /// Makes a store under a name that nobody else knows, with what `body` writes, in one transaction.
  ///
  /// It is not on the disk before ``TemporaryStore/rename(_:to:)``, and of no use to anybody when this
  /// fails: so it needs neither log nor journal, and every page is written once.
  static func fill(_ path: String, _ body: (Database) throws -> Void) throws {
    let queue = try DatabaseQueue(path: PageChecksums.location(path, checks: true))
    try queue.inDatabase { db in
      // Pages of the one size that has checksums, whatever SQLite was compiled with.
      try db.execute(sql: "PRAGMA page_size = \(ps_page_size)")
      try PageChecksums.reserve(db)
      try db.execute(sql: "PRAGMA journal_mode = MEMORY")
      try db.execute(sql: "PRAGMA synchronous = OFF")
      try makeRoom(db)
    }
    try Schema.migrator.migrate(queue)
    try queue.write(body)
    try queue.close()
  }

  /// Room for what an import touches again and again.
  static func makeRoom(_ db: Database) throws {
    try db.execute(sql: "PRAGMA cache_size = -262144")
  }

  /// Brings the file of an earlier version up to date: gives its pages checksums, and makes tables
  /// that it does not have. It is read through first; what is damaged stays as it is.
  ///
  /// A crash in between leaves a store that is whole and is brought up to date by the next writer. A
  /// reader that is in the way leaves that to the next writer as well.
  ///
  /// - Complexity: O(size of the file).
  static func upgrade(_ path: String) throws {
    let queue = try DatabaseQueue(path: PageChecksums.location(path, checks: false))
    if try queue.read(Schema.migrator.hasBeenSuperseded) { throw StoreError.newer(path) }
    let pageSize = try queue.read { try Int32.fetchOne($0, sql: "PRAGMA page_size") ?? 0 }
    let found = try queue.read { try String.fetchAll($0, sql: "PRAGMA integrity_check(1)") }
    guard found == ["ok"], pageSize == ps_page_size else {
      throw StoreError.damaged(path, reason: found.first ?? "it cannot be read")
    }
    try Schema.migrator.migrate(queue)
    try queue.inDatabase { db in
      // The checksums are written when the pages go from the log into the file, page 1 first.
      try PageChecksums.reserve(db)
      try db.execute(sql: "VACUUM")
      do {
        try db.checkpoint(.truncate)
        try db.execute(sql: "PRAGMA application_id = \(Schema.applicationID)")
        try db.checkpoint(.truncate)
      } catch let error as DatabaseError
        where error.resultCode == .SQLITE_BUSY || error.resultCode == .SQLITE_LOCKED
      {}
    }
    try queue.close()
  }
}
