internal import Glibc

/// A file in memory, as long as somebody holds this.
///
/// SAFETY: nobody writes into it but the one writer of the engine it belongs to, into slots of ids.
/// What other processes do to a file that is mapped is beyond our reach, so files are replaced and
/// never changed.
@safe final class Mapping: Sendable {
  let addresses: Range<UInt>

  var byteCount: Int { addresses.count }

  init(path: String) throws(SnapshotError) {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw SnapshotError(path: path, problem: .cannotOpen(Self.systemMessage))
    }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else {
      throw SnapshotError(path: path, problem: .cannotOpen(Self.systemMessage))
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw SnapshotError(path: path, problem: .notAFile)
    }
    guard status.st_size >= SnapshotHeader.byteCount else {
      throw SnapshotError(path: path, problem: .notASnapshot)
    }
    let start = unsafe mmap(nil, Int(status.st_size), PROT_READ, MAP_PRIVATE, descriptor, 0)
    guard let start = unsafe start, unsafe start != MAP_FAILED else {
      throw SnapshotError(path: path, problem: .cannotOpen(Self.systemMessage))
    }
    let address = UInt(bitPattern: start)
    addresses = address..<address + UInt(status.st_size)
  }

  deinit { unsafe munmap(pointer(0), byteCount) }

  /// The memory at an offset in the file.
  func pointer(_ offset: Int) -> UnsafeMutableRawPointer {
    precondition(0 <= offset && offset <= byteCount)
    guard let pointer = unsafe UnsafeMutableRawPointer(bitPattern: addresses.lowerBound) else {
      preconditionFailure("a mapping has an address")
    }
    return unsafe pointer + offset
  }

  func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    precondition(range.upperBound <= byteCount)
    return unsafe UnsafeRawBufferPointer(start: pointer(range.lowerBound), count: range.count)
  }

  /// Lets a stretch be changed: this process then has its own copy of what it changes.
  ///
  /// - Returns: false when the system refuses.
  func makeWritable(_ range: Range<Int>) -> Bool {
    let pageSize = max(1, sysconf(Int32(_SC_PAGESIZE)))
    let start = range.lowerBound / pageSize * pageSize
    return unsafe mprotect(pointer(start), range.upperBound - start, PROT_READ | PROT_WRITE) == 0
  }

  static var systemMessage: String { unsafe String(cString: strerror(errno)) }
}
