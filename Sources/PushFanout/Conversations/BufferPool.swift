internal import PushSupport
internal import Synchronization

/// Reusable buffers, so that recomputing states each minute does not allocate.
@safe final class BufferPool: Sendable {
  /// The addresses of free buffers, by the exponent of their capacity.
  private let free = Lock<[[UInt]]>(Array(repeating: [], count: 40))
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

  /// The exponent of the smallest sufficient power of two, at least 64.
  private static func sizeClass(_ count: Int) -> Int {
    max(6, Int.bitWidth - max(count - 1, 1).leadingZeroBitCount)
  }
}
