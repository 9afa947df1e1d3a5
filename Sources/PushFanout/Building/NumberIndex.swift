internal import CPushKernels
internal import PushModel
internal import Synchronization

/// The indices of users by the number whose decimal digits are their id, while settings are loaded
/// whose ids are numbers: a look-up touches one slot, and makes no digits.
///
/// SAFETY: one thread inserts; a slot's index is written behind its number, and never changes. Slots
/// that were replaced by more stay until the index is freed, as other threads may read them.
@safe final class NumberIndex: @unchecked Sendable {
  /// What other threads look up in, while the index grows.
  @safe struct Slots: @unchecked Sendable {
    /// A slot has 16 bytes: a number, and behind it an index plus 1, or 0 if it is empty.
    fileprivate var memory: UnsafeMutableRawPointer
    fileprivate var capacity: Int
    fileprivate let seed: UInt64

    fileprivate init(capacity: Int, seed: UInt64) {
      self.capacity = capacity
      self.seed = seed
      unsafe memory = .allocate(byteCount: capacity * 16, alignment: 64)
      unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: capacity * 16)
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
    func prefetch(_ number: Int64) { unsafe pk_prefetch(memory + slot(number) * 16) }

    /// The index of a number; nil if it is not there, or is being added.
    @inline(__always)
    func index(of number: Int64) -> UInt32? {
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

    /// Adds a number that is not there.
    fileprivate func put(_ number: Int64, _ index: UInt32) {
      var slot = slot(number)
      while unsafe self.index(slot).pointee.load(ordering: .relaxed) != 0 {
        slot = (slot + 1) & (capacity - 1)
      }
      unsafe memory.storeBytes(of: number, toByteOffset: slot * 16, as: Int64.self)
      unsafe self.index(slot).pointee.store(index + 1, ordering: .releasing)
    }

    fileprivate func free() { unsafe memory.deallocate() }

    fileprivate func forEach(_ body: (Int64, UInt32) -> Void) {
      for slot in 0..<capacity {
        let found = unsafe index(slot).pointee.load(ordering: .relaxed)
        if found != 0 {
          body(unsafe memory.load(fromByteOffset: slot * 16, as: Int64.self), found - 1)
        }
      }
    }
  }

  private(set) var slots: Slots
  private var count = 0
  private var replaced: [Slots] = []

  init() { slots = Slots(capacity: 64, seed: processSeed()) }

  deinit {
    for slots in replaced + [slots] { slots.free() }
  }

  /// Adds a number that is not there.
  func insert(_ number: Int64, _ index: UInt32) {
    reserve(count + 1)
    count += 1
    slots.put(number, index)
  }

  func reserve(_ count: Int) {
    guard count * 8 > slots.capacity * 5 else { return }
    var capacity = slots.capacity * 2
    while count * 8 > capacity * 5 { capacity *= 2 }
    let more = Slots(capacity: capacity, seed: slots.seed)
    slots.forEach { more.put($0, $1) }
    replaced.append(slots)
    slots = more
  }
}

/// Calls `body` with the decimal digits of a number.
func withDigits<Value>(_ number: Int64, _ body: (UnsafeRawBufferPointer) -> Value) -> Value {
  unsafe withUnsafeTemporaryAllocation(byteCount: 20, alignment: 1) { memory in
    var start = memory.count
    var rest = number.magnitude
    repeat {
      start -= 1
      unsafe memory[start] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    } while rest > 0
    if number < 0 {
      start -= 1
      unsafe memory[start] = 0x2D
    }
    return unsafe body(UnsafeRawBufferPointer(rebasing: memory[start...]))
  }
}
