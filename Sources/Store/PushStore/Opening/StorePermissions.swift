internal import Glibc
internal import PushSupport

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

extension FileAccess {
  init(_ permissions: StorePermissions) { self.init(mode: permissions.mode) }

  /// As that of a store; never for others than its owner and its group.
  init(of inode: StoreInode) {
    self.init(
      mode: inode.status.map { $0.st_mode & 0o660 | 0o600 } ?? 0o600, group: inode.status?.st_gid)
  }

  /// The same for a file that has its name; no store's.
  func apply(to path: String) {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return }
    apply(to: descriptor)
    close(descriptor)
  }
}
