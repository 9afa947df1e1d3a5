internal import PushRules
internal import Synchronization

/// The characters of ids, one behind the other; nothing in it ever moves or changes.
@safe final class IDArena {
  private var chunks: [UInt] = []
  private var free: UnsafeMutableRawPointer?
  private var freeCount = 0
  private(set) var byteCount = 0
  private static let chunkSize = 1 << 18
  /// The file that the first ids are in, and with them all mapped pages of the tables: whoever holds
  /// a version of the tables holds it.
  let mapping: Mapping?
  /// What addresses in tables and slots are counted from.
  let base: IDBase

  init() {
    unsafe free = nil
    mapping = nil
    base = IDBase()
  }

  /// - Parameter byteCount: how many bytes of the mapping, from the base on, are characters.
  init(_ mapping: Mapping, _ base: IDBase, byteCount: Int) {
    unsafe free = nil
    self.mapping = mapping
    self.base = base
    self.byteCount = byteCount
  }

  deinit {
    for chunk in chunks { unsafe UnsafeMutableRawPointer(bitPattern: chunk)?.deallocate() }
  }

  /// Keeps an id and its index.
  ///
  /// - Returns: the address of the index; behind it are the number of characters, in one byte or,
  ///   from 255 on, in five, and the characters.
  func add(_ id: UnsafeRawBufferPointer, _ index: UInt32) -> UInt {
    let header = id.count < 255 ? 5 : 9
    let size = header + id.count
    if size > freeCount { addChunk(size) }
    let start = unsafe free.unsafelyUnwrapped
    unsafe free = start + size
    freeCount -= size
    unsafe start.storeBytes(of: index, as: UInt32.self)
    unsafe (start + 4).storeBytes(of: UInt8(min(id.count, 255)), as: UInt8.self)
    if header == 9 { unsafe (start + 5).storeBytes(of: UInt32(id.count), as: UInt32.self) }
    if let characters = id.baseAddress {
      unsafe (start + header).copyMemory(from: characters, byteCount: id.count)
    }
    return UInt(bitPattern: start)
  }

  private func addChunk(_ size: Int) {
    let size = max(size, Self.chunkSize)
    let chunk = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    chunks.append(UInt(bitPattern: chunk))
    unsafe free = chunk
    freeCount = size
    byteCount += size
  }

  /// The index of the id at an address.
  @inline(__always)
  static func index(at address: UInt) -> UInt32 {
    guard let start = unsafe UnsafeRawPointer(bitPattern: address) else { return .max }
    return unsafe start.loadUnaligned(as: UInt32.self)
  }
}

/// Where the ids of a table are counted from: 0, or where a mapping has them, so that what a file
/// says of them holds wherever it is mapped.
struct IDBase {
  private var address: UInt = 0
  /// Where the mapping's characters end.
  private var end: UInt = 0

  init() {}

  init(mapped addresses: Range<UInt>) {
    address = addresses.lowerBound
    end = addresses.upperBound
  }

  /// The address at a distance, of which 48 bits count.
  @inline(__always)
  func address(at distance: UInt64) -> UInt { (address &+ UInt(distance)) & Self.mask }

  func distance(to address: UInt) -> UInt { (address &- self.address) & Self.mask }

  private static let mask: UInt = 0xFFFF_FFFF_FFFF

  /// The characters of the id at an address.
  ///
  /// A slot of a file may lead anywhere before the mapping's end, so what claims to be a long id ends
  /// there. For others that is no limit: those in front of it end before, and those behind it are too
  /// far away when counted around.
  @inline(__always)
  func characters(at address: UInt) -> UnsafeRawBufferPointer {
    guard let start = unsafe UnsafeRawPointer(bitPattern: address) else {
      return unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    }
    let short = unsafe (start + 4).load(as: UInt8.self)
    if short < 255 {
      return unsafe UnsafeRawBufferPointer(start: start + 5, count: Int(short))
    }
    let count = unsafe UInt((start + 5).loadUnaligned(as: UInt32.self))
    let room = end &- (address + 9)
    return unsafe UnsafeRawBufferPointer(start: start + 9, count: Int(min(count, room)))
  }
}

/// The slots of a hash table of ids: half a hash in the upper 16 bits, below them the address of the
/// id, counted from a base; 0 is empty. Place and characters stand together, so that a
/// look-up touches no more than a slot and the id.
///
/// SAFETY: a slot is written once, while readers of older versions look on; they see it empty or
/// full, and ignore a index that is not below their count.
@safe struct IDSlots {
  private var slots: UnsafeMutablePointer<Atomic<UInt64>>?
  private(set) var capacity = 0
  private(set) var used = 0
  let seed: UInt64

  init(seed: UInt64) {
    unsafe slots = nil
    self.seed = seed
  }

  /// Slots in a mapping, behind their header; they are changed in index.
  ///
  /// - Precondition: the capacity is a power of two, and at most five eighths of it are in use.
  init(seed: UInt64, mapped start: UnsafeMutableRawPointer, capacity: Int, used: Int) {
    self.init(seed: seed)
    self.capacity = capacity
    self.used = used
    unsafe slots = (start + PageStore.headerSize)
      .bindMemory(to: Atomic<UInt64>.self, capacity: capacity)
  }

  /// How many slots there may be, and how many of them in use.
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

  /// The index of an id, if it is below `count`.
  func index(of id: Identifier, below count: Int, _ base: IDBase) -> UInt32? {
    var text = id.text
    return text.withUTF8 { unsafe index(of: UnsafeRawBufferPointer($0), below: count, base) }
  }

  func index(of id: UnsafeRawBufferPointer, below count: Int, _ base: IDBase) -> UInt32? {
    var found: UInt32?
    unsafe forEachAddress(of: hash(id), base) { address in
      let index = IDArena.index(at: address)
      guard index < count, unsafe haveSameBytes(base.characters(at: address), id) else {
        return true
      }
      found = index
      return false
    }
    return found
  }

  /// Calls `body` with the addresses of ids of a hash, and perhaps of others, until it answers false.
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

  /// Puts the address of an id behind those of the same hash.
  ///
  /// - Parameter rehash: the hash of the id at an address, for when there must be more slots.
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
    _ count: Int, _ base: IDBase, _ store: PageStore, rehash: (UInt) -> UInt32
  ) {
    var wanted = max(64, capacity)
    while count * 8 > wanted * 5 { wanted *= 2 }
    if wanted > capacity { grow(store, to: wanted, base, rehash: rehash) }
  }

  private func put(_ hash: UInt32, _ address: UInt, _ base: IDBase) {
    precondition(address >> 48 == 0, "an address of more than 48 bits")
    var index = Int(hash) & (capacity - 1)
    while load(index) != 0 { index = (index + 1) & (capacity - 1) }
    self.store(index, UInt64(hash >> 16) << 48 | UInt64(base.distance(to: address)))
  }

  private mutating func grow(
    _ store: PageStore, to newCapacity: Int, _ base: IDBase, rehash: (UInt) -> UInt32
  ) {
    let old = unsafe slots
    let oldCapacity = capacity
    unsafe slots = store.allocate(newCapacity * 8)
      .bindMemory(to: Atomic<UInt64>.self, capacity: newCapacity)
    capacity = newCapacity
    for index in 0..<newCapacity {
      unsafe (slots.unsafelyUnwrapped + index).initialize(to: Atomic(0))
    }
    guard let old = unsafe old else { return }
    for index in 0..<oldCapacity {
      let slot = unsafe old[index].load(ordering: .relaxed)
      if slot != 0 { put(rehash(base.address(at: slot)), base.address(at: slot), base) }
    }
    unsafe store.retire(UnsafeMutableRawPointer(old))
  }

  func free(except mapped: Range<UInt>) {
    guard let slots = unsafe slots, !mapped.contains(UInt(bitPattern: slots)) else { return }
    unsafe PageStore.free(UnsafeMutableRawPointer(slots))
  }
}

/// Ids and their indices, of which many versions share all that is common.
///
/// - Memory: 13 bytes an id, its characters, and 8 bytes a slot at a load of 31 to 62 %: 26 to 39
///   bytes an id beyond its characters.
/// - Limit: 2^32 - 2 ids, which the caller checks.
struct IDTable {
  private let arena: IDArena
  /// Where the characters of each index are, counted from the base.
  private(set) var addresses = PagedTable<UInt>()
  private(set) var slots: IDSlots
  /// The ids that are not their own lower case, by the hash of their lower case (E-47); nil when
  /// nobody asks.
  private(set) var folded: IDSlots?

  /// - Parameter folds: whether ids are also looked up by their lower case.
  init(folds: Bool) {
    // Ids may come from strangers: without knowing the seed nobody can make them collide.
    let seed = processSeed()
    arena = IDArena()
    slots = IDSlots(seed: seed)
    if folds { folded = IDSlots(seed: seed) }
  }

  /// A table in a mapping.
  init(_ arena: IDArena, _ addresses: PagedTable<UInt>, _ slots: IDSlots, folded: IDSlots?) {
    self.arena = arena
    self.addresses = addresses
    self.slots = slots
    self.folded = folded
  }

  var count: Int { addresses.count }

  var base: IDBase { arena.base }

  /// The mapping that ids are in, and its addresses.
  var mapping: Mapping? { arena.mapping }
  var mapped: Range<UInt> { arena.mapping?.addresses ?? 0..<0 }

  /// Bytes beside the characters, and of the characters.
  var byteCounts: (table: Int, characters: Int) {
    (addresses.byteCount + slots.byteCount + (folded?.byteCount ?? 0), arena.byteCount)
  }

  /// The characters of the id at a index.
  @inline(__always)
  func characters(_ index: UInt32) -> UnsafeRawBufferPointer {
    unsafe base.characters(at: base.address(at: UInt64(addresses[Int(index)])))
  }

  /// The id at a index.
  subscript(index: UInt32) -> Identifier {
    unsafe Identifier(String(decoding: characters(index), as: UTF8.self))
  }

  @inline(__always)
  func index(of id: Identifier) -> UInt32? { slots.index(of: id, below: addresses.count, base) }

  @inline(__always)
  func index(of id: UnsafeRawBufferPointer) -> UInt32? {
    unsafe slots.index(of: id, below: addresses.count, base)
  }

  /// Calls `body` with the index of every id whose lower case is `lowered` (E-47).
  ///
  /// - Precondition: `lowered` is its own lower case, and the table folds.
  func forEachIndex(loweredTo lowered: Identifier, _ body: (UInt32) -> Void) {
    if let index = index(of: lowered) { body(index) }
    guard let folded else { return }
    var text = lowered.text
    let hash = text.withUTF8 { unsafe folded.hash(UnsafeRawBufferPointer($0)) }
    folded.forEachAddress(of: hash, base) { address in
      let index = IDArena.index(at: address)
      if index < addresses.count, self[index].lowercased() == lowered { body(index) }
      return true
    }
  }

  /// Touches the memory in which an id will be looked up soon; a number of no meaning.
  func readAhead(_ id: UnsafeRawBufferPointer) -> UInt64 {
    guard slots.capacity > 0 else { return 0 }
    return slots.load(Int(unsafe slots.hash(id)) & (slots.capacity - 1))
  }

  // MARK: Writing

  /// The index of an id, which it gets now if it has none.
  mutating func insert(_ id: UnsafeRawBufferPointer, _ store: PageStore) -> UInt32 {
    if let index = unsafe index(of: id) { return index }
    let index = UInt32(addresses.count)
    let address = unsafe arena.add(id, index)
    addresses.append(base.distance(to: address), store)
    let (slots, base, hash) = (slots, base, unsafe slots.hash(id))
    self.slots.add(hash, address, base, store) { unsafe slots.hash(base.characters(at: $0)) }
    if let hash = unsafe foldedHash(id) {
      folded?.add(hash, address, base, store) {
        unsafe Self.foldedHash(base.characters(at: $0), of: slots) ?? 0
      }
    }
    return index
  }

  mutating func insert(_ id: Identifier, _ store: PageStore) -> UInt32 {
    var text = id.text
    return text.withUTF8 { unsafe insert(UnsafeRawBufferPointer($0), store) }
  }

  /// The hash of an id's lower case; nil for an id that is its own, or when nobody asks.
  private func foldedHash(_ id: UnsafeRawBufferPointer) -> UInt32? {
    folded == nil ? nil : unsafe Self.foldedHash(id, of: slots)
  }

  private static func foldedHash(_ id: UnsafeRawBufferPointer, of slots: IDSlots) -> UInt32? {
    guard unsafe id.contains(where: { $0 >= 0x80 || (0x41...0x5A).contains($0) }) else {
      return nil
    }
    let exact = unsafe Identifier(String(decoding: id, as: UTF8.self))
    let lowered = exact.lowercased()
    guard lowered != exact else { return nil }
    var text = lowered.text
    return text.withUTF8 { unsafe slots.hash(UnsafeRawBufferPointer($0)) }
  }

  mutating func reserve(_ count: Int, _ store: PageStore) {
    let (slots, base) = (slots, base)
    self.slots.reserve(count, base, store) { unsafe slots.hash(base.characters(at: $0)) }
  }

  /// Takes back the ids that were added since `before`, a version of this table.
  func rollBack(to before: IDTable) {
    for (now, then) in [(slots, before.slots)] + [(folded, before.folded)].compactMap(Self.both) {
      guard then.capacity > 0 else { continue }
      // Entries of the shared slots beyond the older count; in a table that grew since they are
      // at most as many as were added before it grew.
      for index in 0..<then.capacity where now.used > then.used {
        let slot = then.load(index)
        if slot != 0, Int(IDArena.index(at: base.address(at: slot))) >= before.count {
          then.store(index, 0)
        }
      }
    }
  }

  private static func both(_ pair: (IDSlots?, IDSlots?)) -> (IDSlots, IDSlots)? {
    guard let now = pair.0, let then = pair.1 else { return nil }
    return (now, then)
  }

  func free(except mapped: Range<UInt> = 0..<0) {
    addresses.free(except: mapped)
    slots.free(except: mapped)
    folded?.free(except: mapped)
  }
}
