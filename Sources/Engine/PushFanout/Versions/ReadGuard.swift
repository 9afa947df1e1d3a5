internal import Glibc
internal import PushSupport
internal import Synchronization

/// Lets threads read objects that others replace.
///
/// A reader enters, loads an address, retains the object and leaves, without waiting. Whoever
/// replaced the object waits until readers of the old address have left.
///
/// New readers use one of two phases. ``waitForReaders()`` switches them to the other and waits
/// until the first is empty. A phase's ``stripes`` counters spread threads over cache lines.
@safe final class ReadGuard: Sendable {
  private static let stripes = 32
  /// Counters are two cache lines apart, as the processor prefetches pairs.
  private static let stride = 16
  // SAFETY: `init` initializes them, all accesses are atomic, and `deinit` frees them.
  private nonisolated(unsafe) let counters: UnsafeMutablePointer<Atomic<Int>>
  private let phase = Atomic<Int>(0)
  private let switching = Lock<Void>(())

  init() {
    let count = 2 * Self.stripes * Self.stride
    unsafe counters = .allocate(capacity: count)
    for index in 0..<count { unsafe (counters + index).initialize(to: Atomic(0)) }
  }

  deinit { unsafe counters.deallocate() }

  /// Calls `body`, which may load addresses and retain their objects.
  @inline(__always)
  func reading<Value>(_ body: () -> Value) -> Value {
    let counter = enter()
    defer { unsafe counters[counter].subtract(1, ordering: .sequentiallyConsistent) }
    return body()
  }

  private func enter() -> Int {
    let thread = UInt64(UInt(pthread_self())) &* 0x9E37_79B9_7F4A_7C15
    let stripe = Int(thread >> 59)
    while true {
      let phase = phase.load(ordering: .sequentiallyConsistent)
      let counter = (phase * Self.stripes + stripe) * Self.stride
      unsafe counters[counter].add(1, ordering: .sequentiallyConsistent)
      if self.phase.load(ordering: .sequentiallyConsistent) == phase { return counter }
      // The phase was switched: retry.
      unsafe counters[counter].subtract(1, ordering: .sequentiallyConsistent)
    }
  }

  /// Waits for the readers that may have loaded an address replaced before.
  func waitForReaders() {
    switching.withLock { _ in
      let old = phase.load(ordering: .sequentiallyConsistent)
      phase.store(1 - old, ordering: .sequentiallyConsistent)
      for stripe in 0..<Self.stripes {
        var spins = 0
        let counter = (old * Self.stripes + stripe) * Self.stride
        while unsafe counters[counter].load(ordering: .sequentiallyConsistent) != 0 {
          spins += 1
          if spins > 1000 { sched_yield() }
        }
      }
    }
  }
}
