internal import Glibc

/// A file mapped into memory for the lifetime of the object.
///
/// SAFETY: only the engine's one writer writes to it, into slots of ids. Other processes must not
/// modify a mapped file, so snapshots are replaced, never modified in place.
@safe final class Mapping: Sendable {
  let addresses: Range<UInt>

  var byteCount: Int { addresses.count }

  /// Takes over addresses that were mapped.
  init(addresses: Range<UInt>) { self.addresses = addresses }

  deinit { unsafe munmap(pointer(0), byteCount) }

  /// The memory at an offset in the file.
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

  /// Makes a range writable. Changed pages are private copies of this process.
  ///
  /// - Returns: false if the system refuses.
  func makeWritable(_ range: Range<Int>) -> Bool {
    let pageSize = max(1, sysconf(Int32(_SC_PAGESIZE)))
    let start = range.lowerBound / pageSize * pageSize
    return unsafe mprotect(pointer(start), range.upperBound - start, PROT_READ | PROT_WRITE) == 0
  }
}
