internal import Foundation
internal import GRDB

/// Bringing the tables of an earlier version up to date.
enum Migration {
  /// Does what is left to do, after the store was copied as it is.
  ///
  /// - Returns: where the copy is; nil when there was nothing to do, or nothing to copy.
  /// - Throws: when it cannot be copied; then nothing was changed.
  static func run(
    _ pool: DatabasePool, path: String, file: String, _ inode: StoreInode
  ) throws -> String? {
    let done = try pool.read(Schema.migrator.completedMigrations)
    guard done != Schema.migrator.migrations else { return nil }
    let copy = done.isEmpty ? nil : try keep(pool, version: done.count, path: path, file, inode)
    try Schema.migrator.migrate(pool)
    return copy
  }

  /// Copies a store to `FILE.version-N`, N being how many migrations it has had.
  private static func keep(
    _ pool: DatabasePool, version: Int, path: String, _ file: String, _ inode: StoreInode
  ) throws -> String {
    for number in 1... {
      let name = "\(file).version-\(version)" + (number == 1 ? "" : "-\(number)")
      if FileManager.default.fileExists(atPath: name) { continue }
      let temporary = try TemporaryStore(for: name, path: path, FileAccess(of: inode))
      defer {
        temporary.remove()
        temporary.right.release()
      }
      let queue = try DatabaseQueue(
        path: temporary.name, configuration: StoreFile.configuration(readonly: false))
      try pool.backup(to: queue)
      try queue.close()
      if try temporary.rename(to: name) { return name }
    }
    throw StoreError.exists(file)
  }
}
