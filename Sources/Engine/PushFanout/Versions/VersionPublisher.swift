internal import Synchronization

/// The current version; readers load it without waiting, and one writer replaces it.
@safe final class VersionPublisher: Sendable {
  private let current: Atomic<UInt>
  private let readGuard = ReadGuard()

  init(_ version: EngineVersion) {
    current = Atomic(Self.address(version))
  }

  deinit { Self.release(current.load(ordering: .acquiring)) }

  func load() -> EngineVersion {
    readGuard.reading { Self.retained(current.load(ordering: .sequentiallyConsistent)) }
  }

  /// Makes `version` the current one. A held version's address is no other's.
  @inline(__always)
  func refresh(_ version: inout EngineVersion?) {
    if let version,
      unsafe UInt(bitPattern: Unmanaged.passUnretained(version).toOpaque())
        == current.load(ordering: .acquiring)
    {
      return
    }
    version = load()
  }

  /// - Precondition: one writer at a time.
  func store(_ version: EngineVersion) {
    let before = current.exchange(Self.address(version), ordering: .sequentiallyConsistent)
    readGuard.waitForReaders()
    Self.release(before)
  }

  private static func address(_ version: EngineVersion) -> UInt {
    unsafe UInt(bitPattern: Unmanaged.passRetained(version).toOpaque())
  }

  private static func retained(_ address: UInt) -> EngineVersion {
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: address) else {
      preconditionFailure("no version is published")
    }
    return unsafe Unmanaged<EngineVersion>.fromOpaque(pointer).takeUnretainedValue()
  }

  private static func release(_ address: UInt) {
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: address) else { return }
    unsafe Unmanaged<EngineVersion>.fromOpaque(pointer).release()
  }
}
