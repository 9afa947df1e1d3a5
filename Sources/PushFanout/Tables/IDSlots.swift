internal import CPushKernels
internal import PushModel
internal import PushSupport
internal import Synchronization

/// The slots of a hash table of ids: 16 bits of the hash above the 48-bit offset of the id's
/// record; 0 is empty. Index and characters are in one record, so that a look-up touches one slot
/// and one record.
///
/// SAFETY: a slot is written once, atomically, while older versions are read. Their readers see it
/// empty or filled, and ignore an index that is not below their count.
@safe struct IDSlots {
  private var slots: UnsafeMutablePointer<Atomic<UInt64>>?
  private(set) var capacity = 0
  private(set) var used = 0
  let seed: UInt64

  init(seed: UInt64) {
    unsafe slots = nil
    self.seed = seed
  }

  /// Slots in a mapping, behind a header. They are changed in place.
  ///
  /// - Precondition: the capacity is a power of two, and at most five eighths of it are in use.
  init(seed: UInt64, mapped start: UnsafeMutableRawPointer, capacity: Int, used: Int) {
    self.init(seed: seed)
    self.capacity = capacity
    self.used = used
    unsafe slots = (start + PageStore.headerSize)
      .bindMemory(to: Atomic<UInt64>.self, capacity: capacity)
  }

  /// Whether a table can have this many slots, and this many of them in use.
  static func isPossible(_ used: Int, capacity: Int) -> Bool {
    capacity & (capacity - 1) == 0 && used * 8 <= capacity * 5
  }

  var byteCount: Int { capacity * 8 }

  func hash(_ id: UnsafeRawBufferPointer) -> UInt32 { unsafe seededHash(id, seed) }

  @inline(__always)
  func load(_ index: Int) -> UInt64 {
    unsafe slots.unsafelyUnwrapped[index].load(ordering: .acquiring)
  }

  func store(_ index: Int, _ value: UInt64) {
    unsafe slots.unsafelyUnwrapped[index].store(value, ordering: .releasing)
  }

  /// Prefetches the slot in which a hash is looked up.
  @inline(__always)
  func prefetchSlot(_ hash: UInt32) {
    guard let slots = unsafe slots else { return }
    unsafe pk_prefetch(slots + Int(hash) & (capacity - 1))
  }

  /// Prefetches the record of the id that a hash most likely leads to.
  @inline(__always)
  func prefetchRecord(_ hash: UInt32, _ base: IDBase) {
    forEachAddress(of: hash, base) { address in
      unsafe pk_prefetch(UnsafeRawPointer(bitPattern: address))
      return false
    }
  }

  /// The hash of an id.
  @inline(__always)
  func hash(_ id: Identifier) -> UInt32 { unsafe id.withUTF8 { unsafe hash($0) } }

  /// The index of an id, if it is below `count`; otherwise nil.
  func index(of id: Identifier, below count: Int, _ base: IDBase) -> UInt32? {
    index(of: id, hash: hash(id), below: count, base)
  }

  /// The index of an id by its hash.
  @inline(__always)
  func index(of id: Identifier, hash: UInt32, below count: Int, _ base: IDBase) -> UInt32? {
    unsafe id.withUTF8 { unsafe index(of: $0, hash: hash, below: count, base) }
  }

  func index(of id: UnsafeRawBufferPointer, below count: Int, _ base: IDBase) -> UInt32? {
    unsafe index(of: id, hash: hash(id), below: count, base)
  }

  @inline(__always)
  func index(
    of id: UnsafeRawBufferPointer, hash: UInt32, below count: Int, _ base: IDBase
  ) -> UInt32? {
    var found: UInt32?
    forEachAddress(of: hash, base) { address in
      let index = IDArena.index(at: address)
      guard index < count, unsafe haveSameBytes(base.characters(at: address), id) else {
        return true
      }
      found = index
      return false
    }
    return found
  }

  /// Calls `body` with the addresses of ids that may have a hash, until it returns false.
  @inline(__always)
  func forEachAddress(of hash: UInt32, _ base: IDBase, _ body: (UInt) -> Bool) {
    guard capacity > 0 else { return }
    var index = Int(hash) & (capacity - 1)
    while true {
      let slot = load(index)
      if slot == 0 { return }
      if slot >> 48 == UInt64(hash >> 16), !body(base.address(at: slot)) { return }
      index = (index + 1) & (capacity - 1)
    }
  }

  /// Adds the address of an id, behind those of the same hash.
  ///
  /// - Parameter rehash: the hash of the id at an address, for growing.
  mutating func add(
    _ hash: UInt32, _ address: UInt, _ base: IDBase, _ store: PageStore, rehash: (UInt) -> UInt32
  ) {
    if (used + 1) * 8 > capacity * 5 {
      grow(store, to: max(64, capacity * 2), base, rehash: rehash)
    }
    used += 1
    put(hash, address, base)
  }

  mutating func reserve(
    _ count: Int, _ base: IDBase, _ store: PageStore, threads: Int, rehash: (UInt) -> UInt32
  ) {
    var wanted = max(64, capacity)
    while count * 8 > wanted * 5 { wanted *= 2 }
    if wanted > capacity { grow(store, to: wanted, base, threads: threads, rehash: rehash) }
  }

  private func put(_ hash: UInt32, _ address: UInt, _ base: IDBase) {
    precondition(address >> 48 == 0, "addresses above 48 bits are not supported")
    var index = Int(hash) & (capacity - 1)
    while load(index) != 0 { index = (index + 1) & (capacity - 1) }
    self.store(index, UInt64(hash >> 16) << 48 | UInt64(base.distance(to: address)))
  }

  /// Adds the address of an id that is not there, while other threads do the same.
  ///
  /// - Precondition: there is room, and the caller counts what is added with ``noteUse(of:)``.
  @inline(__always)
  func putAmongOthers(_ hash: UInt32, _ address: UInt, _ base: IDBase) {
    precondition(address >> 48 == 0, "addresses above 48 bits are not supported")
    let slot = UInt64(hash >> 16) << 48 | UInt64(base.distance(to: address))
    var index = Int(hash) & (capacity - 1)
    while unsafe !slots.unsafelyUnwrapped[index]
      .compareExchange(expected: 0, desired: slot, ordering: .releasing).exchanged
    { index = (index + 1) & (capacity - 1) }
  }

  /// Counts ids that ``putAmongOthers(_:_:_:)`` has added.
  mutating func noteUse(of count: Int) { used += count }

  private mutating func grow(
    _ store: PageStore, to newCapacity: Int, _ base: IDBase, threads: Int = 1,
    rehash: (UInt) -> UInt32
  ) {
    let old = unsafe slots
    let oldCapacity = capacity
    allocate(newCapacity, store, threads: threads)
    guard let old = unsafe old else { return }
    for index in 0..<oldCapacity {
      let slot = unsafe old[index].load(ordering: .relaxed)
      if slot != 0 { put(rehash(base.address(at: slot)), base.address(at: slot), base) }
    }
    unsafe store.retire(UnsafeMutableRawPointer(old))
  }

  /// Replaces the slots by new ones, which lead to the ids at these addresses and to no others.
  ///
  /// - Parameter hash: the hash of the id at an address; nil for one that has no slot.
  mutating func rebuild(
    _ addresses: PagedTable<UInt>, _ base: IDBase, _ store: PageStore, hash: (UInt) -> UInt32?
  ) {
    let old = unsafe slots
    allocate(capacity, store)
    used = 0
    for index in 0..<addresses.count {
      let address = base.address(at: UInt64(addresses[index]))
      guard let hash = hash(address) else { continue }
      used += 1
      put(hash, address, base)
    }
    if let old = unsafe old { unsafe store.retire(UnsafeMutableRawPointer(old)) }
  }

  /// Makes empty slots; the ones before are left to the caller.
  private mutating func allocate(_ newCapacity: Int, _ store: PageStore, threads: Int = 1) {
    capacity = newCapacity
    guard newCapacity > 0 else { return unsafe slots = nil }
    let memory = unsafe store.allocate(newCapacity * 8)
    unsafe slots = memory.bindMemory(to: Atomic<UInt64>.self, capacity: newCapacity)
    let size = 1 << 18
    let start = UInt(bitPattern: memory)
    Parallel.perform((newCapacity + size - 1) / size, threads: threads) { piece in
      let first = unsafe UnsafeMutablePointer<Atomic<UInt64>>(bitPattern: start).unsafelyUnwrapped
      for index in piece * size..<min((piece + 1) * size, newCapacity) {
        unsafe (first + index).initialize(to: Atomic(0))
      }
    }
  }

  func free(except mapped: Range<UInt>) {
    guard let slots = unsafe slots, !mapped.contains(UInt(bitPattern: slots)) else { return }
    unsafe PageStore.free(UnsafeMutableRawPointer(slots))
  }
}
