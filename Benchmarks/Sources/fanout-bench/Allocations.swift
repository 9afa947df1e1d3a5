import BenchSupport
import Glibc

/// jemalloc's `mallctl`, when it is what allocates: `LD_PRELOAD=libjemalloc.so.2`.
private typealias Control =
  @convention(c) (
    UnsafePointer<CChar>, UnsafeMutableRawPointer?, UnsafeMutablePointer<Int>?,
    UnsafeMutableRawPointer?, Int
  ) -> Int32

/// What the thread that made it allocates, as jemalloc counts it.
@safe struct AllocationCounter {
  private let allocated: UnsafePointer<UInt64>
  private let mallctl: Control
  /// What counting itself allocates.
  private var own = 0

  /// - Returns: nil where jemalloc is not loaded.
  init?() {
    guard let symbol = unsafe dlsym(nil, "mallctl") else { return nil }
    unsafe mallctl = unsafeBitCast(symbol, to: Control.self)
    var pointer: UnsafePointer<UInt64>?
    var size = unsafe MemoryLayout.size(ofValue: pointer)
    guard unsafe mallctl("thread.allocatedp", &pointer, &size, nil, 0) == 0,
      let pointer = unsafe pointer
    else { fatalError("this jemalloc does not count what a thread allocates") }
    unsafe allocated = pointer
    _ = total()
    let before = total()
    own = total() - before
  }

  /// Stops the program when jemalloc is not what allocates: its counters would say nothing.
  func check() {
    let before = bytes
    let count = count {
      for _ in 0..<16 {
        unsafe UnsafeMutableRawPointer.allocate(byteCount: 1 << 16, alignment: 1).deallocate()
      }
    }
    guard bytes - before >= 1 << 20, count == 16 else {
      fatalError("jemalloc is loaded but does not allocate: its counters would read 0")
    }
  }

  /// All bytes that this thread has allocated so far, rounded up to jemalloc's size classes; one
  /// load.
  var bytes: UInt64 { unsafe allocated.pointee }

  /// How often something allocates.
  ///
  /// What a thread keeps to itself is only counted once it is flushed, so this takes time.
  func count(_ body: () -> Void) -> Int {
    let before = total()
    body()
    return total() - before - own
  }

  private func total() -> Int {
    unsafe require(
      mallctl("thread.tcache.flush", nil, nil, nil, 0) == 0, "jemalloc has no tcache to flush")
    var epoch: UInt64 = 1
    let size = MemoryLayout.size(ofValue: epoch)
    unsafe require(mallctl("epoch", nil, nil, &epoch, size) == 0, "jemalloc has no epoch")
    // 4096 stands for all arenas together.
    return read("stats.arenas.4096.small.nrequests") + read("stats.arenas.4096.large.nrequests")
  }

  private func read(_ name: String) -> Int {
    var value: UInt64 = 0
    var size = MemoryLayout.size(ofValue: value)
    unsafe require(mallctl(name, &value, &size, nil, 0) == 0, "jemalloc has no \(name)")
    return Int(value)
  }
}
