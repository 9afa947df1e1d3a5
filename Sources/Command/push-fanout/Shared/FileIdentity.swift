import Glibc
import PushSupport

/// What tells whether two paths or descriptors are the same file.
enum FileIdentity: Hashable {
  /// An existing file.
  case file(device: UInt, inode: UInt)
  /// A name that is free, in a folder.
  case name(String, device: UInt, inode: UInt)

  /// An open file; nil for a pipe, a terminal or a device like `/dev/null`.
  init?(descriptor: Int32) {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  /// What a path leads to, whether it is there or not; nil for a pipe, a terminal or a device like
  /// `/dev/null`, and for a path in a folder that is not there.
  init?(path: String) {
    var status = stat()
    if unsafe stat(path, &status) == 0 {
      self.init(status)
      return
    }
    // Where symbolic links that lead to nothing end.
    guard let end = try? FilePath.trimmed(FilePath.end(ofLinks: FilePath.trimmed(path))),
      unsafe stat(FilePath.folder(of: end), &status) == 0
    else { return nil }
    let name = String(end[(end.lastIndex(of: "/").map(end.index(after:)) ?? end.startIndex)...])
    self = .name(name, device: status.st_dev, inode: status.st_ino)
  }

  private init?(_ status: stat) {
    switch status.st_mode & S_IFMT {
    case S_IFREG, S_IFDIR, S_IFBLK: self = .file(device: status.st_dev, inode: status.st_ino)
    default: return nil
    }
  }
}
