internal import Synchronization

/// The current version. Readers load it without waiting; one writer replaces it.
///
/// A reader increments a counter, retains the version and decrements the counter: a few
/// instructions. The writer stores the next version, and waits until the readers that may have
/// loaded the preceding one have retained it. Only the writer ever waits, for nanoseconds.
///
/// There are two counters, of which new readers use one. The writer switches them to the other and
/// waits for the first to reach zero, however many readers arrive.
@safe final class VersionPublisher: Sendable {
  private let current: Atomic<UInt>
  private let phase = Atomic<Int>(0)
  private let readers: InlineArray<2, Atomic<Int>>

  init(_ version: EngineVersion) {
    current = Atomic(Self.address(version))
    readers = InlineArray { _ in Atomic(0) }
  }

  deinit { Self.release(current.load(ordering: .acquiring)) }

  /// The current version.
  func load() -> EngineVersion {
    while true {
      let phase = phase.load(ordering: .sequentiallyConsistent)
      readers[phase].add(1, ordering: .sequentiallyConsistent)
      // The writer switched counters in between: retry with the other.
      if self.phase.load(ordering: .sequentiallyConsistent) == phase {
        let version = Self.retained(current.load(ordering: .sequentiallyConsistent))
        readers[phase].subtract(1, ordering: .sequentiallyConsistent)
        return version
      }
      readers[phase].subtract(1, ordering: .sequentiallyConsistent)
    }
  }

  /// Replaces the current version.
  ///
  /// - Precondition: one writer at a time.
  func store(_ version: EngineVersion) {
    let before = current.exchange(Self.address(version), ordering: .sequentiallyConsistent)
    let old = phase.load(ordering: .sequentiallyConsistent)
    phase.store(1 - old, ordering: .sequentiallyConsistent)
    while readers[old].load(ordering: .sequentiallyConsistent) != 0 {}
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
