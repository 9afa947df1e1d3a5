internal import Synchronization

/// Buffers that were used and will be again, so that working states out anew each minute asks the
/// system for nothing.
@safe final class BufferPool: Sendable {
  /// Addresses, by the power of two that they have room for.
  private let free = Mutex<[[UInt]]>(Array(repeating: [], count: 40))
  private static let kept = 8

  func take(_ count: Int) -> UnsafeMutablePointer<UInt8> {
    let size = Self.sizeClass(count)
    let address = free.withLock { $0[size].popLast() }
    if let address, let buffer = unsafe UnsafeMutablePointer<UInt8>(bitPattern: address) {
      return unsafe buffer
    }
    return .allocate(capacity: 1 << size)
  }

  func give(_ buffer: UnsafeMutablePointer<UInt8>, _ count: Int) {
    let size = Self.sizeClass(count)
    let isKept = free.withLock { free in
      guard free[size].count < Self.kept else { return false }
      free[size].append(UInt(bitPattern: buffer))
      return true
    }
    if !isKept { unsafe buffer.deallocate() }
  }

  deinit {
    free.withLock { free in
      for address in free.joined() {
        unsafe UnsafeMutablePointer<UInt8>(bitPattern: address)?.deallocate()
      }
    }
  }

  /// The exponent of the least power of two, of 64 or more, that is enough.
  private static func sizeClass(_ count: Int) -> Int {
    max(6, Int.bitWidth - max(count - 1, 1).leadingZeroBitCount)
  }
}
