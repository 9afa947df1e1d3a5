internal import Foundation
internal import Glibc

/// A store that is being made, under another name until it is complete.
///
/// It is locked from the beginning: the lock shows others whether its maker is still alive, and keeps
/// other writers out when it has got its name.
struct TemporaryStore {
  let name: String
  let right: WriteRight

  /// Drawn once, as processes in different containers may have the same number.
  private static let mark: String = {
    let hex = String(UInt32.random(in: .min ... .max), radix: 16)
    return "\(getpid())-" + String(repeating: "0", count: 8 - hex.count) + hex
  }()

  /// What a store is called until it is complete.
  static func name(for file: String) -> String { "\(file).\(mark).part" }

  /// All that is to be removed when the process ends before.
  static func names(for file: String) -> [String] { StoreName.files(name(for: file)) }

  /// Makes an empty file, and removes what others have left behind in the folder.
  ///
  /// - Parameter path: what errors call the store.
  init(for file: String, path: String, _ access: FileAccess) throws {
    Self.sweep(beside: file)
    name = Self.name(for: file)
    while true {
      let descriptor = unsafe open(
        name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard descriptor >= 0 else {
        if errno == EEXIST { throw StoreError.exists(name) }
        throw StoreError.database(path, reason: StoreInode.systemMessage)
      }
      access.apply(to: descriptor)
      let inode = try StoreInode.adopt(descriptor, path)
      // Another process may have swept it before it was locked.
      if case .locked = try WriteRight.lock(inode, path),
        StoreInode.status(name).map({ StoreInode.Key($0) == inode.key }) == true
      {
        right = WriteRight(inode, file: name, path: path)
        return
      }
      inode.close()
    }
  }

  /// Removes it, unless it has got its name.
  func remove() { Self.remove(name) }

  private static func remove(_ name: String) {
    for file in StoreName.files(name) { _ = unsafe unlink(file) }
  }

  /// Gives the complete store its name, so that it has it after a crash too.
  ///
  /// - Returns: whether it has it; false when the name is in use, and nothing was replaced.
  func rename(to file: String) throws -> Bool {
    try sync()
    // A second name is refused where there is one; renaming would replace it.
    if unsafe link(name, file) == 0 {
      _ = unsafe unlink(name)
    } else {
      switch errno {
      case EEXIST: return false
      case EPERM, EOPNOTSUPP, ENOSYS, EMLINK:
        // A file system without second names.
        if unsafe access(file, F_OK) == 0 { return false }
        guard unsafe Glibc.rename(name, file) == 0 else { throw Self.failure(file) }
      default: throw Self.failure(file)
      }
    }
    try moved(to: file)
    return true
  }

  /// Replaces a file by the complete store.
  func replace(_ file: String) throws {
    try sync()
    guard unsafe Glibc.rename(name, file) == 0 else { throw Self.failure(file) }
    try moved(to: file)
  }

  private func sync() throws {
    // All of it is in the file: its log would not be found under the new name.
    try StoreFile.checkNoLog(beside: name)
    guard fsync(right.inode.descriptor) == 0 else { throw Self.failure(name) }
  }

  private func moved(to file: String) throws {
    right.moved(to: file)
    remove()
    let folder = file.lastIndex(of: "/").map { String(file[...$0]) } ?? "."
    let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.failure(file) }
    defer { close(descriptor) }
    // A file system that cannot do this does not need it.
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw Self.failure(file) }
  }

  private static func failure(_ path: String) -> StoreError {
    .database(path, reason: StoreInode.systemMessage)
  }

  // MARK: What is left behind

  /// Removes what processes have left in a folder that were killed while they made a store.
  static func sweep(beside file: String) {
    let url = URL(fileURLWithPath: file)
    let folder = url.deletingLastPathComponent()
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    for name in names where name.hasSuffix(".part") && !name.hasSuffix(".\(mark).part") {
      let isOurs = name.wholeMatch(of: /.+\.[0-9]+-[0-9a-f]{8}\.part/) != nil
      // Versions before this one did not lock it.
      let old = name.wholeMatch(of: /(.+)\.([0-9]+)\.part/)
      let isOld =
        old.map { $0.output.1 == url.lastPathComponent && isGone(pid_t($0.output.2)) } ?? false
      if isOurs || isOld { sweep(folder.appending(path: name).path) }
    }
  }

  private static func isGone(_ process: pid_t?) -> Bool {
    guard let process else { return false }
    return kill(process, 0) != 0 && errno == ESRCH
  }

  private static func sweep(_ name: String) {
    var status = stat()
    guard unsafe lstat(name, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
    // It has its name, which may be that of a store that is open here: it is not opened.
    if status.st_nlink > 1 {
      _ = unsafe unlink(name)
      return
    }
    let descriptor = unsafe open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, isStore(descriptor) else { return }
    remove(name)
    _ = unsafe unlink(name + ".lock")
  }

  /// Whether a file can be the beginning of a store, and not a file of another kind.
  private static func isStore(_ descriptor: Int32) -> Bool {
    let header = unsafe [UInt8](unsafeUninitializedCapacity: 100) { buffer, count in
      count = max(0, unsafe pread(descriptor, buffer.baseAddress, 100, 0))
    }
    if header.isEmpty { return true }
    guard header.count == 100, header.starts(with: Array("SQLite format 3\0".utf8)) else {
      return false
    }
    // https://www.sqlite.org/fileformat.html, 1.3: the application's id, 0 at first.
    let id = header[68..<72].reduce(Int32(0)) { $0 << 8 | Int32($1) }
    return id == 0 || id == Schema.applicationID || id == Schema.plainID
  }
}
