internal import Synchronization

/// The current version. Readers load it without waiting; one writer replaces it.
@safe final class VersionPublisher: Sendable {
  private let current: Atomic<UInt>
  private let readGuard = ReadGuard()

  init(_ version: EngineVersion) {
    current = Atomic(Self.address(version))
  }

  deinit { Self.release(current.load(ordering: .acquiring)) }

  /// The current version.
  func load() -> EngineVersion {
    readGuard.reading { Self.retained(current.load(ordering: .sequentiallyConsistent)) }
  }

  /// Replaces a version by the current one, unless it is that already.
  ///
  /// A version that is held cannot have been freed, so its address is no other's.
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

  /// Replaces the current version.
  ///
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
