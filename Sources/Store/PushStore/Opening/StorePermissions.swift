internal import Glibc

/// Who may read and write the files of a new store.
public enum StorePermissions: String, CaseIterable, Sendable {
  /// Mode 600: only the owner reads and writes.
  case owner = "600"
  /// Mode 640: the group reads.
  case groupReads = "640"
  /// Mode 660: the group reads and writes.
  case groupWrites = "660"

  /// - Parameter text: as `chmod` takes it, with or without a leading zero.
  public init?(octal text: String) {
    self.init(rawValue: text.count == 4 && text.hasPrefix("0") ? String(text.dropFirst()) : text)
  }

  var mode: mode_t {
    switch self {
    case .owner: 0o600
    case .groupReads: 0o640
    case .groupWrites: 0o660
    }
  }
}

/// Mode and group of a file, for another one that is made beside it.
struct FileAccess {
  let mode: mode_t
  /// nil for the group that new files get.
  let group: gid_t?

  init(_ permissions: StorePermissions) {
    mode = permissions.mode
    group = nil
  }

  /// As that of a store; never for others than its owner and its group.
  init(of inode: StoreInode) {
    mode = inode.status.map { $0.st_mode & 0o660 | 0o600 } ?? 0o600
    group = inode.status?.st_gid
  }

  /// Sets it, whatever the umask is. A file that cannot have the group gets mode 600.
  func apply(to descriptor: Int32) {
    var status = stat()
    var isOfGroup = unsafe fstat(descriptor, &status) == 0
    if let group, status.st_gid != group {
      isOfGroup = fchown(descriptor, uid_t.max, group) == 0
    }
    fchmod(descriptor, isOfGroup ? mode : 0o600)
  }

  /// The same for a file that has its name; no store's.
  func apply(to path: String) {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return }
    apply(to: descriptor)
    close(descriptor)
  }
}
