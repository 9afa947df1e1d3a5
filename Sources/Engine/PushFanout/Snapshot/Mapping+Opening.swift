internal import Glibc
internal import PushSupport

extension Mapping {
  /// Maps the file of a snapshot.
  convenience init(path: String) throws(SnapshotError) {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw SnapshotError(path: path, problem: .cannotOpen(SystemError.last.message))
    }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else {
      throw SnapshotError(path: path, problem: .cannotOpen(SystemError.last.message))
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw SnapshotError(path: path, problem: .notAFile)
    }
    guard status.st_size >= SnapshotHeader.byteCount else {
      throw SnapshotError(path: path, problem: .notASnapshot)
    }
    let start = unsafe mmap(nil, Int(status.st_size), PROT_READ, MAP_PRIVATE, descriptor, 0)
    guard let start = unsafe start, unsafe start != MAP_FAILED else {
      throw SnapshotError(path: path, problem: .cannotOpen(SystemError.last.message))
    }
    let address = UInt(bitPattern: start)
    self.init(addresses: address..<address + UInt(status.st_size))
  }
}
