import GRDB
import PushModel

@testable import PushStore

/// A store's tables, for tests that write what push-fanout would not.
func storeQueue(_ path: String) throws -> DatabaseQueue {
  try DatabaseQueue(path: PageChecksums.location(path, checks: true))
}

/// Makes a store as versions made it whose pages had no checksums.
func makePlainStore(_ path: String, _ body: (inout StoreWrite) throws -> Void) throws {
  let queue = try DatabaseQueue(path: path)
  try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
  try Schema.migrator.migrate(queue, upTo: "threads")
  try queue.write { db in
    try db.execute(sql: "PRAGMA application_id = \(Schema.plainID)")
    var write = StoreWrite(SettingsQueries(db: db, path: path), at: .zero, from: nil)
    try body(&write)
    // Those of before there were tokens.
    try db.execute(sql: "UPDATE feed SET token = 0")
  }
  try queue.close()
}

/// The header on the first page of a file.
func pageForm(of path: String) throws -> PageChecksums.Form {
  let inode = try StoreInode.open(path, path, forWriting: false)
  defer { inode.close() }
  return try PageChecksums.form(of: inode, path, path)
}
