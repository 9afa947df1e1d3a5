internal import Glibc

/// A file, mapped while the object lives.
///
/// SAFETY: only the one writer writes, into slots of ids. Processes replace snapshots but never
/// modify a mapped file.
@safe final class Mapping: Sendable {
  let addresses: Range<UInt>

  var byteCount: Int { addresses.count }

  init(addresses: Range<UInt>) { self.addresses = addresses }

  deinit { unsafe munmap(pointer(0), byteCount) }

  func pointer(_ offset: Int) -> UnsafeMutableRawPointer {
    precondition(0 <= offset && offset <= byteCount, "offset outside of the mapping")
    guard let pointer = unsafe UnsafeMutableRawPointer(bitPattern: addresses.lowerBound) else {
      preconditionFailure("a mapping has an address")
    }
    return unsafe pointer + offset
  }

  func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    precondition(range.upperBound <= byteCount, "range outside of the mapping")
    return unsafe UnsafeRawBufferPointer(start: pointer(range.lowerBound), count: range.count)
  }

  /// Makes pages writable as private copies; false if the system refuses.
  func makeWritable(_ range: Range<Int>) -> Bool {
    let pageSize = max(1, sysconf(Int32(_SC_PAGESIZE)))
    let start = range.lowerBound / pageSize * pageSize
    return unsafe mprotect(pointer(start), range.upperBound - start, PROT_READ | PROT_WRITE) == 0
  }
}
