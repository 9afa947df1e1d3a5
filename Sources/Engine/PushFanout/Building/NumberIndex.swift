internal import CPushKernels
internal import Glibc
internal import PushModel
internal import Synchronization

/// The indices of ids that are numbers, while loading: a look-up reads one slot and makes no
/// digits.
///
/// Small numbers index an array; others are hashed. New ids are *waiting*: several threads add them
/// to the table later.
///
/// SAFETY: one thread inserts. A slot's index is written after its number and never changes.
/// Replaced slots stay to the end, as other threads may read them.
@safe final class NumberIndex: @unchecked Sendable {
  /// Looks up on other threads.
  @safe struct Slots: @unchecked Sendable {
    /// By number, an index plus 1; 0 for none.
    fileprivate var dense: UnsafeMutablePointer<Atomic<UInt32>>?
    fileprivate var denseCount = 0
    /// 16 bytes per slot: a number, then an index plus 1, or 0.
    fileprivate var memory: UnsafeMutableRawPointer
    fileprivate var capacity: Int
    fileprivate let seed: UInt64

    fileprivate init(capacity: Int, seed: UInt64) {
      self.capacity = capacity
      self.seed = seed
      unsafe dense = nil
      unsafe memory = zeroed(capacity * 16)
    }

    @inline(__always)
    private func slot(_ number: Int64) -> Int {
      let (high, low) = (UInt64(bitPattern: number) ^ seed).multipliedFullWidth(
        by: 0x9E37_79B9_7F4A_7C15)
      return Int(truncatingIfNeeded: high ^ low) & (capacity - 1)
    }

    @inline(__always)
    private func index(_ slot: Int) -> UnsafeMutablePointer<Atomic<UInt32>> {
      unsafe (memory + slot * 16 + 8).assumingMemoryBound(to: Atomic<UInt32>.self)
    }

    @inline(__always)
    fileprivate func isDense(_ number: Int64) -> Bool {
      UInt64(bitPattern: number) < UInt64(denseCount)
    }

    @inline(__always)
    func prefetch(_ number: Int64) {
      if isDense(number) {
        unsafe pk_prefetch(dense.unsafelyUnwrapped + Int(number))
      } else {
        unsafe pk_prefetch(memory + slot(number) * 16)
      }
    }

    /// The index of a number; nil if it is missing or being added.
    @inline(__always)
    func index(of number: Int64) -> UInt32? {
      if isDense(number) {
        let found = unsafe dense.unsafelyUnwrapped[Int(number)].load(ordering: .acquiring)
        // The number may have been added before the array grew.
        if found != 0 { return found - 1 }
      }
      var slot = slot(number)
      while true {
        let found = unsafe index(slot).pointee.load(ordering: .acquiring)
        if found == 0 { return nil }
        if unsafe memory.load(fromByteOffset: slot * 16, as: Int64.self) == number {
          return found - 1
        }
        slot = (slot + 1) & (capacity - 1)
      }
    }

    fileprivate func putDense(_ number: Int64, _ index: UInt32) {
      unsafe dense.unsafelyUnwrapped[Int(number)].store(index + 1, ordering: .releasing)
    }

    fileprivate func put(_ number: Int64, _ index: UInt32) {
      var slot = slot(number)
      while unsafe self.index(slot).pointee.load(ordering: .relaxed) != 0 {
        slot = (slot + 1) & (capacity - 1)
      }
      unsafe memory.storeBytes(of: number, toByteOffset: slot * 16, as: Int64.self)
      unsafe self.index(slot).pointee.store(index + 1, ordering: .releasing)
    }

    fileprivate func forEachHashed(_ body: (Int64, UInt32) -> Void) {
      for slot in 0..<capacity {
        let found = unsafe index(slot).pointee.load(ordering: .relaxed)
        if found != 0 {
          body(unsafe memory.load(fromByteOffset: slot * 16, as: Int64.self), found - 1)
        }
      }
    }
  }

  private(set) var slots: Slots
  private(set) var count = 0
  /// The last indices' numbers, whose ids are not in the table.
  private(set) var waiting: [Int64] = []
  /// About how many numbers there will be.
  var expectedCount = 0
  private var hashedCount = 0
  /// Replaced memory, freed at the end.
  private var replaced: [UInt] = []
  /// The array holds numbers below this many times their count.
  private static let sparsity = 4

  init() { slots = Slots(capacity: 64, seed: processSeed()) }

  deinit {
    for address in replaced { unsafe free(UnsafeMutableRawPointer(bitPattern: address)) }
    unsafe free(slots.memory)
    unsafe free(slots.dense)
  }

  /// - Parameter isWaiting: whether the table of ids lacks the id. Then all lower indices are in
  ///   the table or waiting.
  func insert(_ number: Int64, _ index: UInt32, isWaiting: Bool) {
    count += 1
    if isWaiting { waiting.append(number) }
    makeDense(number)
    if slots.isDense(number) { return slots.putDense(number, index) }
    hashedCount += 1
    reserve(hashedCount)
    slots.put(number, index)
  }

  func takeWaiting() -> [Int64] {
    defer { waiting = [] }
    return waiting
  }

  /// Grows the array to hold a number, if there are enough numbers.
  private func makeDense(_ number: Int64) {
    guard number >= slots.denseCount,
      number < Self.sparsity * max(count, expectedCount) + 4096
    else { return }
    var size = 4096
    while size <= Int(number) { size *= 2 }
    let more = unsafe zeroed(size * 4)
    if let dense = unsafe slots.dense {
      unsafe more.copyMemory(from: dense, byteCount: slots.denseCount * 4)
      replaced.append(UInt(bitPattern: dense))
    }
    unsafe slots.dense = more.bindMemory(to: Atomic<UInt32>.self, capacity: size)
    slots.denseCount = size
  }

  private func reserve(_ count: Int) {
    guard count * 8 > slots.capacity * 5 else { return }
    var more = Slots(capacity: slots.capacity * 2, seed: slots.seed)
    slots.forEachHashed { more.put($0, $1) }
    unsafe more.dense = slots.dense
    more.denseCount = slots.denseCount
    unsafe replaced.append(UInt(bitPattern: slots.memory))
    slots = more
  }
}

/// All zero, to be freed with `free`.
private func zeroed(_ byteCount: Int) -> UnsafeMutableRawPointer {
  guard let memory = unsafe calloc(1, byteCount) else { fatalError("out of memory") }
  return unsafe memory
}
