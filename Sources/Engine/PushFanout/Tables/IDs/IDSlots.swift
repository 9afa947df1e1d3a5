internal import CPushKernels
internal import PushModel
internal import PushSupport
internal import Synchronization

/// A hash table's slots: a hash above an index plus one; 0 is empty.
///
/// SAFETY: each slot is written once, atomically. Readers of older versions see it empty or filled,
/// and ignore an index not below their count.
@safe struct IDSlots {
  private var slots: UnsafeMutablePointer<Atomic<UInt64>>?
  private(set) var capacity = 0
  private(set) var used = 0
  let seed: UInt64

  init(seed: UInt64) {
    unsafe slots = nil
    self.seed = seed
  }

  /// Mapped slots, changed in place.
  ///
  /// - Precondition: ``isPossible(_:capacity:)`` holds.
  init(seed: UInt64, mapped start: UnsafeMutableRawPointer, capacity: Int, used: Int) {
    self.init(seed: seed)
    self.capacity = capacity
    self.used = used
    unsafe slots = (start + PageStore.headerSize)
      .bindMemory(to: Atomic<UInt64>.self, capacity: capacity)
  }

  /// Whether the capacity is a power of two with at most five eighths in use.
  static func isPossible(_ used: Int, capacity: Int) -> Bool {
    capacity & (capacity - 1) == 0 && used * 8 <= capacity * 5
  }

  var byteCount: Int { capacity * 8 }

  func hash(_ id: UnsafeRawBufferPointer) -> UInt32 {
    if let short = unsafe ShortIdentifier(utf8: id) { return short.hash(seed) }
    return unsafe seededHash(id, seed)
  }

  @inline(__always)
  func load(_ slot: Int) -> UInt64 {
    unsafe slots.unsafelyUnwrapped[slot].load(ordering: .acquiring)
  }

  private func store(_ slot: Int, _ value: UInt64) {
    unsafe slots.unsafelyUnwrapped[slot].store(value, ordering: .releasing)
  }

  /// - Precondition: the slot is in use.
  @inline(__always)
  static func index(_ slot: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: slot) &- 1 }

  private static func hash(_ slot: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: slot >> 32) }

  @inline(__always)
  func prefetch(_ hash: UInt32) {
    guard let slots = unsafe slots else { return }
    unsafe pk_prefetch(slots + Int(hash) & (capacity - 1))
  }

  @inline(__always)
  func first(of hash: UInt32, where isWanted: (UInt32) -> Bool) -> UInt32? {
    guard capacity > 0 else { return nil }
    var position = Int(hash) & (capacity - 1)
    while true {
      let slot = load(position)
      if slot == 0 { return nil }
      if Self.hash(slot) == hash, isWanted(Self.index(slot)) { return Self.index(slot) }
      position = (position + 1) & (capacity - 1)
    }
  }

  mutating func add(_ hash: UInt32, _ index: UInt32, _ store: PageStore) {
    reserve(used + 1, store)
    used += 1
    put(hash, index)
  }

  mutating func reserve(_ count: Int, _ store: PageStore, threads: Int = 1) {
    var wanted = max(64, capacity)
    while count * 8 > wanted * 5 { wanted *= 2 }
    if wanted > capacity { copy(to: wanted, store, threads: threads) }
  }

  /// Removes an index from a copy, as other versions read these slots.
  mutating func remove(_ index: UInt32, _ store: PageStore) {
    copy(to: capacity, without: index, store)
  }

  /// Clears the indices from `count` on that were added here, before `later` grew too.
  func rollBack(from later: IDSlots, below count: Int) {
    guard capacity > 0, unsafe slots != later.slots || later.used > used else { return }
    for position in 0..<capacity {
      let slot = load(position)
      if slot != 0, Self.index(slot) >= count { store(position, 0) }
    }
  }

  private func put(_ hash: UInt32, _ index: UInt32) {
    var position = Int(hash) & (capacity - 1)
    while load(position) != 0 { position = (position + 1) & (capacity - 1) }
    store(position, UInt64(hash) << 32 | UInt64(index + 1))
  }

  /// Adds a new index while other threads do.
  ///
  /// - Precondition: there is room; ``noteUse(of:)`` follows.
  @inline(__always)
  func putAmongOthers(_ hash: UInt32, _ index: UInt32) {
    let slot = UInt64(hash) << 32 | UInt64(index + 1)
    var position = Int(hash) & (capacity - 1)
    while unsafe !slots.unsafelyUnwrapped[position]
      .compareExchange(expected: 0, desired: slot, ordering: .releasing).exchanged
    { position = (position + 1) & (capacity - 1) }
  }

  mutating func noteUse(of count: Int) { used += count }

  private mutating func copy(
    to newCapacity: Int, without removed: UInt32? = nil, _ store: PageStore, threads: Int = 1
  ) {
    guard newCapacity > 0 else { return }
    let (old, oldCapacity) = unsafe (slots, capacity)
    unsafe slots = Self.empty(newCapacity, store, threads: threads)
    capacity = newCapacity
    guard let old = unsafe old else { return }
    for position in 0..<oldCapacity {
      let slot = unsafe old[position].load(ordering: .relaxed)
      if slot == 0 { continue }
      if Self.index(slot) == removed { used -= 1 } else { put(Self.hash(slot), Self.index(slot)) }
    }
    unsafe store.retire(UnsafeMutableRawPointer(old))
  }

  private static func empty(
    _ capacity: Int, _ store: PageStore, threads: Int
  ) -> UnsafeMutablePointer<Atomic<UInt64>> {
    let memory = unsafe store.allocate(capacity * 8)
    let size = 1 << 18
    let start = UInt(bitPattern: memory)
    Parallel.perform((capacity + size - 1) / size, threads: threads) { piece in
      let first = unsafe UnsafeMutablePointer<Atomic<UInt64>>(bitPattern: start).unsafelyUnwrapped
      for position in piece * size..<min((piece + 1) * size, capacity) {
        unsafe (first + position).initialize(to: Atomic(0))
      }
    }
    return unsafe memory.bindMemory(to: Atomic<UInt64>.self, capacity: capacity)
  }

  func removeAll(_ store: PageStore) {
    if let slots = unsafe slots { unsafe store.retire(UnsafeMutableRawPointer(slots)) }
  }

  mutating func copy(_ store: PageStore) { copy(to: capacity, store) }

  func free(except mapped: Range<UInt>, madeAfter shared: UInt64 = PageStore.mapped) {
    guard let slots = unsafe slots, !mapped.contains(UInt(bitPattern: slots)) else { return }
    unsafe PageStore.free(UnsafeMutableRawPointer(slots), madeAfter: shared)
  }
}
