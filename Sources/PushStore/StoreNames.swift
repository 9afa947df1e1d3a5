internal import Foundation
internal import Glibc

/// A store that is not complete, beside the name it is to get.
enum TemporaryStore {
  /// The files that SQLite and the lock make for a store.
  static func names(_ path: String) -> [String] {
    ["", "-wal", "-shm", "-journal", ".lock"].map { path + $0 }
  }

  static func remove(_ path: String) {
    for name in names(path) { _ = unsafe unlink(name) }
  }

  /// Gives a complete store its name, so that it has it after a crash too.
  ///
  /// - Returns: whether it has it; false when the name is in use, and nothing was replaced.
  static func rename(_ temporary: String, to path: String) throws -> Bool {
    try sync(temporary)
    // A second name is refused where there is one; renaming would replace it.
    if unsafe link(temporary, path) == 0 {
      _ = unsafe unlink(temporary)
    } else {
      switch errno {
      case EEXIST: return false
      case EPERM, EOPNOTSUPP, ENOSYS, EMLINK:
        // A file system without second names.
        if unsafe access(path, F_OK) == 0 { return false }
        guard unsafe Glibc.rename(temporary, path) == 0 else { throw failure(path) }
      default: throw failure(path)
      }
    }
    try sync(folder(of: path))
    return true
  }

  /// Puts a complete store in the place of a file.
  static func replace(_ path: String, by temporary: String) throws {
    try sync(temporary)
    guard unsafe Glibc.rename(temporary, path) == 0 else { throw failure(path) }
    try sync(folder(of: path))
  }

  private static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
  }

  private static func sync(_ path: String) throws {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(path) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw failure(path) }
  }

  private static func failure(_ path: String) -> StoreError {
    .database(path, reason: unsafe String(cString: strerror(errno)))
  }
}

extension StoreFile {
  /// Refuses a name for a new store beside which the log of another is left: SQLite would take what
  /// stands in it for the new one's.
  ///
  /// - Throws: ``StoreError/strayLog(_:)``.
  static func checkNoLog(beside path: String, _ endings: [String] = ["-wal", "-journal"]) throws {
    for ending in endings {
      let name = path + ending
      let size = try? FileManager.default.attributesOfItem(atPath: name)[.size] as? Int
      if let size, size > 0 { throw StoreError.strayLog(name) }
    }
  }
}

extension StoreReader {
  /// Whether a path is that of a store or of one of the files beside it, which may not be there now:
  /// who writes something else under it destroys the store.
  public static func isFile(_ path: String, ofStore store: String) -> Bool {
    // The log lies beside the file itself, lock and snapshot beside the name that was given.
    let stores = [store, URL(fileURLWithPath: store).resolvingSymlinksInPath().path]
    return stores.contains { store in
      (TemporaryStore.names(store) + [SnapshotKeeper.path(store)]).contains { isSame(path, $0) }
    }
  }

  private static func isSame(_ path: String, _ other: String) -> Bool {
    var (status, otherStatus) = (stat(), stat())
    let isThere = unsafe (stat(path, &status) == 0, stat(other, &otherStatus) == 0)
    if isThere == (true, true) {
      return status.st_dev == otherStatus.st_dev && status.st_ino == otherStatus.st_ino
    }
    func name(_ path: String) -> String {
      let url = URL(fileURLWithPath: path)
      let folder = url.deletingLastPathComponent().resolvingSymlinksInPath()
      return folder.appending(path: url.lastPathComponent).path
    }
    return isThere == (false, false) && name(path) == name(other)
  }
}
