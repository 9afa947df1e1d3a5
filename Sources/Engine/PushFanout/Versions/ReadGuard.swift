internal import Glibc
internal import PushSupport
internal import Synchronization

/// Lets threads read objects that other threads replace.
///
/// A reader enters, loads the address of an object, retains it and leaves: a few instructions on a
/// cache line that mostly no other thread uses. Who replaces an object waits until every reader
/// that may have loaded the old address has left, and releases it then. Readers never wait.
///
/// There are two phases, of which new readers use one. ``waitForReaders()`` switches them to the
/// other and waits for the first to be empty, however many readers arrive. Each phase has a counter
/// for each of ``stripes`` groups of threads, so that readers do not write the same cache line.
@safe final class ReadGuard: Sendable {
  private static let stripes = 32
  /// Counters stand two cache lines apart, as the processor prefetches pairs of lines.
  private static let stride = 16
  // SAFETY: initialized by `init`, accessed atomically, freed by `deinit`.
  private nonisolated(unsafe) let counters: UnsafeMutablePointer<Atomic<Int>>
  private let phase = Atomic<Int>(0)
  private let switching = Lock<Void>(())

  init() {
    let count = 2 * Self.stripes * Self.stride
    unsafe counters = .allocate(capacity: count)
    for index in 0..<count { unsafe (counters + index).initialize(to: Atomic(0)) }
  }

  deinit { unsafe counters.deallocate() }

  /// Calls `body`, in which addresses may be loaded and their objects retained.
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
      // The phases were switched in between: retry with the other.
      unsafe counters[counter].subtract(1, ordering: .sequentiallyConsistent)
    }
  }

  /// Waits until every reader that may have loaded an address replaced before the call has left.
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
