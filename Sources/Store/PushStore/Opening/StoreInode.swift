internal import Glibc
internal import PushSupport
internal import Synchronization

/// The one descriptor that this process holds of a store's file, besides SQLite's own.
///
/// SQLite locks a file with `fcntl`, and a process loses all such locks of a file as soon as it
/// closes *any* of its descriptors of it. So all stores of this process on one file share one
/// descriptor, which is opened before the first connection and closed after the last one; whatever
/// else is to be known of the file's bytes is read through it.
///
/// The right to write the store is a `flock` on that descriptor. It belongs to the inode: unlike a
/// lock file it cannot be removed, and it is the same lock under every name of the file.
final class StoreInode: Sendable {
  /// What identifies a file, whatever its names are.
  struct Key: Hashable {
    let device, inode: UInt64

    init(_ status: stat) {
      device = UInt64(status.st_dev)
      inode = UInt64(status.st_ino)
    }
  }

  private struct Entry {
    let descriptor: Int32
    /// Others of the same file, which may not be closed before.
    var spare: [Int32] = []
    var users = 1
    var isLocked = false
  }

  /// All that this process has open. Descriptors are opened and closed while it is held, or one
  /// that is being closed would take along the locks of one that was just opened.
  private static let entries = Lock<[Key: Entry]>([:])

  let key: Key
  let descriptor: Int32
  private let state = Lock((isOpen: true, isLocked: false))

  private init(_ key: Key, _ descriptor: Int32) {
    self.key = key
    self.descriptor = descriptor
  }

  deinit { close() }

  // MARK: Opening

  /// Opens a regular file.
  ///
  /// - Parameters:
  ///   - file: its path, no symbolic link.
  ///   - path: what errors call it.
  /// - Throws: ``StoreError/missing(_:)``, ``StoreError/notAStore(_:reason:)`` or
  ///   ``StoreError/database(_:reason:)``.
  static func open(_ file: String, _ path: String, forWriting: Bool) throws -> StoreInode {
    try entries.withLock { entries in
      // A file that is open here already is not opened again.
      let found = Key(try checked(status(file), path))
      if let entry = entries[found] {
        entries[found]?.users += 1
        return StoreInode(found, entry.descriptor)
      }
      let flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
      var descriptor: Int32 = -1
      if forWriting { descriptor = unsafe Glibc.open(file, flags | O_RDWR) }
      // SQLite reports a file without write permission; `flock` needs none.
      if descriptor < 0 { descriptor = unsafe Glibc.open(file, flags | O_RDONLY) }
      guard descriptor >= 0 else {
        if errno == ENOENT { throw StoreError.missing(path) }
        throw StoreError.database(path, reason: "it cannot be read: \(SystemError.last.message)")
      }
      // Another file may have got the name meanwhile, even one that is open here.
      return register(descriptor, try checked(status(descriptor), path), &entries)
    }
  }

  /// Takes over the descriptor of a file that was just made.
  static func adopt(_ descriptor: Int32, _ path: String) throws -> StoreInode {
    try entries.withLock { entries in
      register(descriptor, try checked(status(descriptor), path), &entries)
    }
  }

  private static func register(
    _ descriptor: Int32, _ status: stat, _ entries: inout [Key: Entry]
  ) -> StoreInode {
    let key = Key(status)
    guard let entry = entries[key] else {
      entries[key] = Entry(descriptor: descriptor)
      return StoreInode(key, descriptor)
    }
    entries[key]?.users += 1
    entries[key]?.spare.append(descriptor)
    return StoreInode(key, entry.descriptor)
  }

  private static func checked(_ status: stat?, _ path: String) throws -> stat {
    guard let status else {
      if errno == ENOENT { throw StoreError.missing(path) }
      throw StoreError.database(path, reason: SystemError.last.message)
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return status
    case S_IFDIR: throw StoreError.notAStore(path, reason: "it is a folder")
    default: throw StoreError.notAStore(path, reason: "it is not a regular file")
    }
  }

  /// Ends this use of the file, and with it the right to write that it has. Connections of this use
  /// are closed before.
  func close() {
    unlock()
    guard state.withLock({ $0.isOpen }) else { return }
    state.withLock { $0.isOpen = false }
    Self.entries.withLock { entries in
      guard let entry = entries[key] else { return }
      entries[key]?.users -= 1
      guard entry.users == 1 else { return }
      entries[key] = nil
      for descriptor in entry.spare + [entry.descriptor] { Glibc.close(descriptor) }
    }
  }

  // MARK: The right to write

  enum Attempt: Equatable {
    case locked
    /// Another store of this process has the lock, or another process.
    case busy(byThisProcess: Bool)
    /// `flock` does not exclude other writers on this file system.
    case withoutEffect
  }

  /// Tries to get the right to write, without waiting; before there is a connection of this use.
  func tryLock(_ path: String) throws -> Attempt {
    try Self.entries.withLock { entries in
      guard let entry = entries[key] else { throw StoreError.closed(path) }
      if entry.isLocked { return .busy(byThisProcess: true) }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        if errno == EWOULDBLOCK || errno == EINTR { return .busy(byThisProcess: false) }
        throw StoreError.database(path, reason: "it cannot be locked: \(SystemError.last.message)")
      }
      // A second descriptor may be closed only while no connection of this process is open.
      if entry.users == 1, !Self.keepsOut(descriptor) {
        flock(descriptor, LOCK_UN)
        return .withoutEffect
      }
      entries[key]?.isLocked = true
      state.withLock { $0.isLocked = true }
      return .locked
    }
  }

  /// Whether a second lock on a locked file is refused.
  private static func keepsOut(_ descriptor: Int32) -> Bool {
    let other = unsafe Glibc.open("/proc/self/fd/\(descriptor)", O_RDONLY | O_CLOEXEC)
    // Nothing is known then; the type of the file system was looked at before.
    guard other >= 0 else { return true }
    defer { Glibc.close(other) }
    guard flock(other, LOCK_EX | LOCK_NB) == 0 else { return true }
    flock(other, LOCK_UN)
    return false
  }

  /// Gives up the right to write.
  func unlock() {
    Self.entries.withLock { entries in
      guard state.withLock({ $0.isLocked }) else { return }
      state.withLock { $0.isLocked = false }
      entries[key]?.isLocked = false
      // A process that is just being started has a copy of the descriptor, and with it the lock.
      flock(descriptor, LOCK_UN)
    }
  }

  // MARK: Looking

  /// The file as it is now, whatever has its name.
  var status: stat? { Self.status(descriptor) }

  /// Bytes of the file, fewer at its end.
  func bytes(_ range: Range<Int>) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
      let read = unsafe pread(
        descriptor, buffer.baseAddress, range.count, off_t(range.lowerBound))
      count = max(0, read)
    }
  }

  /// What a path leads to; nil when there is nothing, with `errno` saying why.
  static func status(_ file: String) -> stat? {
    var status = stat()
    return unsafe stat(file, &status) == 0 ? status : nil
  }

  private static func status(_ descriptor: Int32) -> stat? {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 ? status : nil
  }
}
