internal import Foundation
internal import GRDB

/// Bringing the file of an earlier version up to date, after it was copied as it is.
enum Migration {
  /// - Returns: where the copy is; nil when there was nothing to do.
  /// - Throws: when it cannot be copied; then nothing was changed.
  static func run(
    path: String, file: String, _ inode: StoreInode, _ form: PageChecksums.Form
  ) throws -> String? {
    let queue = try DatabaseQueue(
      path: PageChecksums.location(file, checks: form == .checked),
      configuration: StoreFile.configuration(readonly: false))
    let done = try queue.read(Schema.migrator.completedMigrations)
    guard form == .plain || done != Schema.migrator.migrations else {
      try queue.close()
      return nil
    }
    let copy = try keep(queue, version: done.count, path: path, file, inode, form)
    switch form {
    case .plain: try NewStore.addChecksums(queue, path)
    case .checked: try Schema.migrator.migrate(queue)
    }
    try queue.close()
    return copy
  }

  /// Copies a store to `FILE.version-N`, N being how many migrations it has had.
  private static func keep(
    _ queue: DatabaseQueue, version: Int, path: String, _ file: String, _ inode: StoreInode,
    _ form: PageChecksums.Form
  ) throws -> String {
    for number in 1... {
      let name = "\(file).version-\(version)" + (number == 1 ? "" : "-\(number)")
      if FileManager.default.fileExists(atPath: name) { continue }
      let temporary = try TemporaryStore(for: name, path: path, FileAccess(of: inode))
      defer {
        temporary.remove()
        temporary.right.release()
      }
      let copy = try DatabaseQueue(
        path: PageChecksums.location(temporary.name, checks: form == .checked),
        configuration: StoreFile.configuration(readonly: false))
      try queue.backup(to: copy)
      try copy.close()
      if try temporary.rename(to: name) { return name }
    }
    throw StoreError.exists(file)
  }
}
