internal import Foundation
internal import Glibc
internal import PushSupport

/// Where the files of a store are.
enum StoreName {
  /// The file that a path leads to: log and snapshot lie beside it, not beside a link to it.
  ///
  /// - Throws: when a symbolic link leads nowhere, or the path is too long for SQLite.
  static func file(_ path: String) throws -> String {
    let file = try target(path)
    let length = URL(fileURLWithPath: file).path.utf8.count
    guard length <= longest else {
      throw StoreError.database(
        path,
        reason:
          "its path has \(length) bytes, and SQLite takes \(longest); put it into a folder with "
          + "a shorter name")
    }
    return file
  }

  /// SQLite's 512 bytes, less the end of the longest name beside it: that of the log of a store that
  /// is being made (``TemporaryStore``).
  private static let longest = 512 - ".4194304-00000000.part-journal".utf8.count

  private static func target(_ path: String) throws -> String {
    var status = stat()
    guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return path }
    guard let found = FilePath.real(path) else {
      throw StoreError.database(
        path, reason: "it is a symbolic link that leads nowhere: \(SystemError.last.message)")
    }
    return found
  }

  /// The files that SQLite makes for a store, its own last.
  static func files(_ file: String) -> [String] {
    ["-wal", "-shm", "-journal", ""].map { file + $0 }
  }

  /// The size of a file in bytes, 0 where there is none.
  static func size(_ file: String) -> Int { StoreInode.status(file).map { Int($0.st_size) } ?? 0 }
}

extension StoreFile {
  /// Refuses a name for a new store beside which the log of another is left: SQLite would take what
  /// stands in it for the new one's.
  ///
  /// - Throws: ``StoreError/strayLog(_:)``.
  static func checkNoLog(beside file: String, _ endings: [String] = ["-wal", "-journal"]) throws {
    for ending in endings where StoreName.size(file + ending) > 0 {
      throw StoreError.strayLog(file + ending)
    }
  }
}

extension StoreReader {
  /// Whether a path is that of a store or of one of the files beside it, which may not be there
  /// now: writing another file under it destroys the store.
  public static func isFile(_ path: String, ofStore store: String) -> Bool {
    let file = (try? StoreName.file(store)) ?? store
    return (StoreName.files(file) + [SnapshotKeeper.path(file), store]).contains {
      isSame(path, $0)
    }
  }

  private static func isSame(_ path: String, _ other: String) -> Bool {
    if let status = StoreInode.status(path), let other = StoreInode.status(other) {
      return StoreInode.Key(status) == StoreInode.Key(other)
    }
    func name(_ path: String) -> String {
      let url = URL(fileURLWithPath: path)
      let folder = url.deletingLastPathComponent().resolvingSymlinksInPath()
      return folder.appending(path: url.lastPathComponent).path
    }
    let isThere = [path, other].contains { StoreInode.status($0) != nil }
    return !isThere && name(path) == name(other)
  }
}
