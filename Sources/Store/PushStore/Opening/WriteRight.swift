internal import Foundation
internal import Glibc
internal import PushSupport
internal import Synchronization

/// The right to write a store, which one ``OpenStore`` has at a time: a lock on the file itself.
final class WriteRight: Sendable {
  let inode: StoreInode
  private let path: String
  /// Where the file is, which changes once when a new store gets its name.
  private let file: Lock<String>
  private let seen = Lock(Seen())

  /// What was there at the last check: a store and its log lose no bytes while they are written.
  private struct Seen {
    var size = 0
    /// nil before there is a log.
    var log: StoreInode.Key?
    var logSize = 0
    /// Whether they may: they are written anew.
    var isRewriting = false
    /// Why nothing is written any more; nil while it is.
    var loss: StoreError?
    /// Whether the file or its log was cut.
    var hasLostBytes = false
  }

  /// - Parameter inode: of a locked file.
  init(_ inode: StoreInode, file: String, path: String) {
    self.inode = inode
    self.path = path
    self.file = Lock(file)
  }

  deinit { release() }

  /// Gets the right to write an existing store.
  ///
  /// - Parameters:
  ///   - path: what errors call it.
  ///   - file: where it is, no symbolic link.
  ///   - waiting: how long to wait for the process that has the right.
  /// - Throws: ``StoreError/inUse(_:byThisProcess:)``, ``StoreError/linked(_:names:)``,
  ///   ``StoreError/withoutLocks(_:fileSystem:)``, or that there is no such file.
  static func take(_ path: String, file: String, waiting: Duration) throws -> WriteRight {
    let end = ContinuousClock.now + waiting
    while true {
      let inode = try StoreInode.open(file, path, forWriting: true)
      var isBusyHere = false
      switch try lock(inode, path) {
      case .busy(let byThisProcess): isBusyHere = byThisProcess
      case .locked, .withoutEffect:
        // Another file may have got the name while this one was waited for.
        guard isSame(inode, StoreInode.status(file)) else { continue }
        let right = WriteRight(inode, file: file, path: path)
        try checkNames(inode, file, path)
        return right
      }
      inode.close()
      guard ContinuousClock.now < end else {
        throw StoreError.inUse(path, byThisProcess: isBusyHere)
      }
      Thread.sleep(forTimeInterval: 0.02)
    }
  }

  /// - Throws: ``StoreError/withoutLocks(_:fileSystem:)``.
  static func lock(_ inode: StoreInode, _ path: String) throws -> StoreInode.Attempt {
    let type = inode.status.flatMap { FileSystem.type(ofDevice: $0.st_dev) }
    if let type, FileSystem.isOfNetwork(type) {
      throw StoreError.withoutLocks(path, fileSystem: type)
    }
    let attempt = try inode.tryLock(path)
    if attempt == .withoutEffect {
      throw StoreError.withoutLocks(path, fileSystem: type ?? "of unknown type")
    }
    return attempt
  }

  private static func isSame(_ inode: StoreInode, _ status: stat?) -> Bool {
    status.map { StoreInode.Key($0) == inode.key } ?? false
  }

  /// The log is named after one name of the file; an open by another name does not find it.
  private static func checkNames(_ inode: StoreInode, _ file: String, _ path: String) throws {
    guard let links = inode.status?.st_nlink, links > 1 else { return }
    // A process that was stopped while it named a new store has left the temporary name.
    TemporaryStore.sweep(beside: file)
    guard let links = inode.status?.st_nlink, links > 1 else { return }
    throw StoreError.linked(path, names: Int(links))
  }

  /// Whether what is written now is found under the store's name.
  ///
  /// - Throws: ``StoreError/replaced(_:)``, then and from now on, when another file or none has the
  ///   name, and ``StoreError/cut(_:)`` when its log was removed or replaced, or one of them was cut;
  ///   ``StoreError/linked(_:names:)`` while the file has several names.
  func check() throws {
    let file = file.withLock { $0 }
    let names = try seen.withLock { seen in
      if let loss = seen.loss { throw loss }
      do { return try check(file, &seen) } catch let error as StoreError {
        seen.loss = error
        throw error
      }
    }
    if names > 1 { throw StoreError.linked(path, names: names) }
  }

  /// - Returns: how many names the file has.
  private func check(_ file: String, _ seen: inout Seen) throws -> Int {
    let status = StoreInode.status(file)
    guard let status, Self.isSame(inode, status) else { throw StoreError.replaced(path) }
    let log = StoreInode.status(file + "-wal")
    let (size, logSize) = (Int(status.st_size), log.map { Int($0.st_size) } ?? 0)
    let key = log.map { StoreInode.Key($0) }
    if !seen.isRewriting {
      seen.hasLostBytes = size < seen.size || seen.log == key && logSize < seen.logSize
      let isLogThere = seen.log == nil || seen.log == key
      guard isLogThere, !seen.hasLostBytes else { throw StoreError.cut(path) }
    }
    (seen.size, seen.log, seen.logSize) = (size, key, logSize)
    return Int(status.st_nlink)
  }

  /// Whether the file or its log was cut while it was open.
  var hasLostBytes: Bool { seen.withLock { $0.hasLostBytes } }

  /// Does what makes the file or its log smaller.
  func rewriting<Value>(_ body: () throws -> Value) rethrows -> Value {
    seen.withLock { $0.isRewriting = true }
    defer {
      seen.withLock { ($0.size, $0.log, $0.logSize, $0.isRewriting) = (0, nil, 0, false) }
    }
    return try body()
  }

  /// The file has got another name.
  func moved(to file: String) { self.file.withLock { $0 = file } }

  /// Lets others write; after the last connection was closed.
  func release() { inode.close() }
}

/// What kind of file system a store lies on.
enum FileSystem {
  /// Those of other machines: whether `flock` keeps out writers there is not known here, and
  /// SQLite's log needs memory that all its users share.
  private static let ofNetwork: Set<String> = [
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "afs", "ceph", "glusterfs", "lustre",
    "fuse.sshfs", "fuse.glusterfs", "fuse.ceph", "fuse.s3fs", "fuse.rclone", "vboxsf", "vmhgfs",
    "fuse.vmhgfs-fuse", "prl_fs",
  ]

  static func isOfNetwork(_ type: String) -> Bool { ofNetwork.contains(type) }

  /// The type as in `/proc/filesystems`; nil where it cannot be found out.
  static func type(ofDevice device: dev_t) -> String? {
    guard let bytes = FileManager.default.contents(atPath: "/proc/self/mountinfo") else {
      return nil
    }
    return type(ofDevice: device, String(decoding: bytes, as: UTF8.self))
  }

  /// - Parameter mounts: lines as in proc(5), `/proc/pid/mountinfo`.
  static func type(ofDevice device: dev_t, _ mounts: String) -> String? {
    // As glibc's gnu_dev_major and gnu_dev_minor.
    let major = (device >> 8) & 0xFFF | (device >> 32) & ~0xFFF
    let minor = device & 0xFF | (device >> 12) & ~0xFF
    for line in mounts.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count > 2, words[2] == "\(major):\(minor)",
        let dash = words.lastIndex(of: "-"), dash + 1 < words.count
      else { continue }
      return String(words[dash + 1])
    }
    return nil
  }
}
