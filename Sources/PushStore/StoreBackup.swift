internal import Foundation
internal import GRDB
internal import Glibc

extension StoreReader {
  /// What is to be removed when the process ends before a backup to a name is complete.
  public static func temporaryNames(ofBackupTo path: String) -> [String] {
    TemporaryStore.names(temporaryName(path))
  }

  private static func temporaryName(_ path: String) -> String { "\(path).\(getpid()).part" }

  /// Copies the store, as of one commit, to a new file, while others go on writing.
  ///
  /// The copy appears under its name when it is complete and on the disk; it is a store itself.
  ///
  /// - Parameter progress: called now and then with the share that is copied, 0...1.
  /// - Throws: ``StoreError/exists(_:)`` for a name that is in use: a copy never replaces anything;
  ///   ``StoreError/partOfStore(_:_:)`` or ``StoreError/strayLog(_:)`` for one that cannot be a store's.
  /// - Complexity: O(size of the file).
  public func backup(to path: String, progress: @escaping (Double) -> Void = { _ in }) throws {
    if FileManager.default.fileExists(atPath: path) { throw StoreError.exists(path) }
    if Self.isFile(path, ofStore: self.path) { throw StoreError.partOfStore(path, self.path) }
    try StoreFile.checkNoLog(beside: path)
    let temporary = Self.temporaryName(path)
    TemporaryStore.remove(temporary)
    defer { TemporaryStore.remove(temporary) }
    try StoreFile.errors(path) {
      // It has checksums as the store has; one of an earlier version is copied as it is.
      let isChecked = try PageChecksums.form(of: self.path) == .checked
      let copy = try DatabaseQueue(
        path: PageChecksums.location(temporary, checks: isChecked))
      // All steps read the same commit: the source is inside a transaction meanwhile.
      try pool.backup(to: copy, pagesPerStep: 1024) { state in
        progress(Double(state.completedPageCount) / Double(max(1, state.totalPageCount)))
      }
      // From now on the two may go different ways: neither may take the other's snapshot for its own.
      try copy.write { db in
        try db.execute(sql: "UPDATE store SET identity = randomblob(16)")
      }
      try copy.close()
    }
    guard try TemporaryStore.rename(temporary, to: path) else { throw StoreError.exists(path) }
  }
}
