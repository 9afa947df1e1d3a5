internal import Foundation
internal import GRDB
internal import PushSupport

extension StoreReader {
  /// What is to be removed when the process ends before a backup to a name is complete.
  public static func temporaryNames(ofBackupTo path: String) -> [String] {
    TemporaryStore.names(for: path)
  }

  /// Copies the store, as of one commit, to a new file, while others go on writing.
  ///
  /// It has the sums of its tables, with which ``verifyBackup()`` compares them.
  ///
  /// The copy appears under its name when it is complete and on the disk; it is a store itself,
  /// which the store's owner and its group may use as they may use the store. What backups that
  /// were killed have left in the same folder is removed.
  ///
  /// - Parameter progress: called now and then with the share that is copied, 0...1.
  /// - Throws: ``StoreError/exists(_:)`` for a name that is in use: a copy never replaces anything;
  ///   ``StoreError/partOfStore(_:_:)`` or ``StoreError/strayLog(_:)`` for one that cannot be a
  ///   store's.
  /// - Complexity: O(size of the file).
  public func backup(to path: String, progress: @escaping (Double) -> Void = { _ in }) throws {
    if FileManager.default.fileExists(atPath: path) { throw StoreError.exists(path) }
    if Self.isFile(path, ofStore: self.path) { throw StoreError.partOfStore(path, self.path) }
    try StoreFile.checkNoLog(beside: path)
    let temporary = try TemporaryStore(for: path, path: path, FileAccess(of: store.inode))
    defer {
      temporary.remove()
      temporary.right.release()
    }
    try store.use { pool in
      try StoreFile.errors(path) {
        let copy = try DatabaseQueue(
          path: PageChecksums.location(temporary.name),
          configuration: StoreFile.configuration(readonly: false))
        // All steps read the same commit: the source is inside a transaction meanwhile.
        try pool.backup(to: copy, pagesPerStep: 1024) { state in
          progress(Double(state.completedPageCount) / Double(max(1, state.totalPageCount)))
        }
        // From now on the two may go different ways: neither may take the other's snapshot for its
        // own.
        try copy.write { db in
          try db.execute(sql: "UPDATE store SET identity = randomblob(16)")
          try SettingsQueries(db: db, path: path).writeSums()
        }
        try copy.close()
      }
    }
    guard try temporary.rename(to: path) else { throw StoreError.exists(path) }
  }
}
