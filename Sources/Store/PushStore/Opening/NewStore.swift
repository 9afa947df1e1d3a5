internal import CPushSQLite
internal import Foundation
internal import GRDB
internal import PushSupport

/// Stores that are made.
enum NewStore {
  /// Fills the file of a new store, in one transaction.
  ///
  /// The file has only a temporary name and is discarded when this fails: it needs neither log nor
  /// journal, and every page is written once. It is on the disk when it gets its name.
  static func fill(_ file: String, _ body: (Database) throws -> Void) throws {
    let queue = try DatabaseQueue(path: PageChecksums.location(file))
    try queue.inDatabase { db in
      // Pages of the one size that has checksums, whatever SQLite was compiled with.
      try db.execute(sql: "PRAGMA page_size = \(ps_page_size)")
      try PageChecksums.reserve(db)
      try db.execute(sql: "PRAGMA journal_mode = MEMORY")
      try db.execute(sql: "PRAGMA synchronous = OFF")
      try makeRoom(db)
    }
    try queue.write { db in
      try Schema.create(db)
      try body(db)
    }
    try queue.close()
  }

  /// Room for what an import touches again and again.
  static func makeRoom(_ db: Database) throws {
    try db.execute(sql: "PRAGMA cache_size = -262144")
  }

  /// The room that SQLite has by itself.
  static func giveBackRoom(_ db: Database) throws {
    try db.execute(sql: "PRAGMA cache_size = -2000")
  }
}

extension OpenStore {
  /// Opens a store as it is asked for.
  ///
  /// - Parameters:
  ///   - waiting: how long to wait for the process that has the right to write.
  ///   - permissions: of a store that is made.
  static func open(
    _ path: String, _ access: SettingsStore.Access, waiting: Duration = .zero,
    permissions: StorePermissions = .owner
  ) throws -> OpenStore {
    if access == .read { return try OpenStore(reading: path) }
    let file = try StoreName.file(path)
    if access == .create, !FileManager.default.fileExists(atPath: file) {
      let made = try make(path, file: file, permissions) { _ in }
      // Another process may have made one meanwhile, which serves as well.
      if let made { return made }
    }
    let right = try WriteRight.take(path, file: file, waiting: waiting)
    return try OpenStore(writing: path, file: file, right)
  }

  /// Makes a store, which appears under its name when it is complete.
  ///
  /// - Parameter fill: writes what is to be in it from the beginning.
  /// - Returns: the store, open for writing; nil when something has its name by now.
  static func make(
    _ path: String, file: String, _ permissions: StorePermissions,
    fill: (Database) throws -> Void
  ) throws -> OpenStore? {
    try StoreFile.checkNoLog(beside: file)
    let temporary = try TemporaryStore(for: file, path: path, FileAccess(permissions))
    var isMade = false
    defer {
      if !isMade {
        temporary.remove()
        temporary.right.release()
      }
    }
    try StoreFile.errors(path) { try NewStore.fill(temporary.name, fill) }
    guard try temporary.rename(to: file) else { return nil }
    isMade = true
    return try OpenStore(writing: path, file: file, temporary.right)
  }
}
