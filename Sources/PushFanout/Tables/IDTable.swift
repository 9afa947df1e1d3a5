internal import PushModel

/// A table of ids and their indices, whose versions share all common data.
///
/// - Memory: 13 bytes per id, its characters, and 8 bytes per slot at a load of 31 to 62 %: 26 to
///   39 bytes per id beyond its characters.
/// - Limit: 2^32 - 2 ids, enforced by the caller.
struct IDTable {
  /// Stands for the index of an id that never appeared.
  static let unknown = UInt32.max

  private let arena: IDArena
  /// The offset of each id's record from the base.
  var addresses = PagedTable<UInt>()
  var slots: IDSlots
  /// The ids that differ from their lower case, by its hash (E-47); nil if the table does not fold.
  var folded: IDSlots?

  /// - Parameter folds: whether ids can be looked up by their lower case.
  init(folds: Bool) {
    // Ids are untrusted input; the secret seed keeps them from being made to collide.
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

  /// The ids by index, without references.
  var reader: IDReader { IDReader(addresses: addresses, base: base) }

  var base: IDBase { arena.base }

  /// The mapping of the first ids, and its addresses.
  var mapping: Mapping? { arena.mapping }
  var mapped: Range<UInt> { arena.mapping?.addresses ?? 0..<0 }

  /// The bytes of the table, and of the characters.
  var byteCounts: (table: Int, characters: Int) {
    (addresses.byteCount + slots.byteCount + (folded?.byteCount ?? 0), arena.byteCount)
  }

  /// The characters of the id of an index.
  @inline(__always)
  func characters(_ index: UInt32) -> UnsafeRawBufferPointer { unsafe reader.characters(index) }

  /// The id of an index.
  subscript(index: UInt32) -> Identifier { reader[index] }

  @inline(__always)
  func index(of id: Identifier) -> UInt32? { slots.index(of: id, below: addresses.count, base) }

  @inline(__always)
  func index(of id: UnsafeRawBufferPointer) -> UInt32? {
    unsafe slots.index(of: id, below: addresses.count, base)
  }

  /// The index of an id by its hash.
  @inline(__always)
  func index(of id: UnsafeRawBufferPointer, hash: UInt32) -> UInt32? {
    unsafe slots.index(of: id, hash: hash, below: addresses.count, base)
  }

  func hash(_ id: UnsafeRawBufferPointer) -> UInt32 { unsafe slots.hash(id) }

  /// What finding ids needs, without references.
  @inline(__always)
  var lookup: IDLookup { IDLookup(slots: slots, folded: folded, base: base, count: count) }

  // MARK: Writing

  /// The index of an id, which is added if it is new.
  mutating func insert(_ id: UnsafeRawBufferPointer, _ store: PageStore) -> UInt32 {
    let hash = unsafe slots.hash(id)
    return unsafe index(of: id, hash: hash) ?? append(id, hash: hash, store)
  }

  /// Adds an id that is not in the table.
  ///
  /// - Returns: its index.
  mutating func append(
    _ id: UnsafeRawBufferPointer, hash: UInt32, _ store: PageStore
  ) -> UInt32 {
    let index = UInt32(addresses.count)
    let address = unsafe arena.add(id, index)
    addresses.append(base.distance(to: address), store)
    let (slots, base) = (slots, base)
    self.slots.add(hash, address, base, store) { unsafe slots.hash(base.characters(at: $0)) }
    if let hash = unsafe foldedHash(id) {
      folded?.add(hash, address, base, store) {
        unsafe Self.foldedHash(base.characters(at: $0), of: slots) ?? 0
      }
    }
    return index
  }

  /// Adds the record of an id, which no slot leads to yet.
  ///
  /// - Returns: its address.
  func add(record id: UnsafeRawBufferPointer, _ index: UInt32) -> UInt {
    unsafe arena.add(id, index)
  }

  /// Makes room for consecutive records, which no slot leads to yet.
  ///
  /// - Returns: the address of the first.
  func addRecords(byteCount: Int) -> UInt { arena.addRecords(byteCount: byteCount) }

  mutating func insert(_ id: Identifier, _ store: PageStore) -> UInt32 {
    unsafe id.withUTF8 { unsafe insert($0, store) }
  }

  /// The hash of an id's lower case; nil if the id equals it, or the table does not fold.
  private func foldedHash(_ id: UnsafeRawBufferPointer) -> UInt32? {
    folded == nil ? nil : unsafe Self.foldedHash(id, of: slots)
  }

  static func foldedHash(_ id: UnsafeRawBufferPointer, of slots: IDSlots) -> UInt32? {
    guard unsafe id.contains(where: { $0 >= 0x80 || (0x41...0x5A).contains($0) }) else {
      return nil
    }
    let exact = unsafe Identifier(String(decoding: id, as: UTF8.self))
    let lowered = exact.lowercased()
    guard lowered != exact else { return nil }
    return slots.hash(lowered)
  }

  mutating func reserve(_ count: Int, _ store: PageStore, threads: Int = 1) {
    let (slots, base) = (slots, base)
    self.slots.reserve(count, base, store, threads: threads) {
      unsafe slots.hash(base.characters(at: $0))
    }
  }

  /// Removes the ids added since `before`, an earlier version of this table.
  func rollBack(to before: IDTable) {
    for (now, then) in [(slots, before.slots)] + [(folded, before.folded)].compactMap(Self.both) {
      guard then.capacity > 0 else { continue }
      // Only entries of the shared slots that are beyond the older count; a table that grew since
      // has slots of its own.
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

/// Finds the ids of a table without counting references, which all threads that look up would
/// write.
///
/// SAFETY: valid as long as a version of the table is retained.
struct IDLookup {
  let slots: IDSlots
  let folded: IDSlots?
  let base: IDBase
  let count: Int

  /// The index of an id by its hash.
  @inline(__always)
  func index(of id: Identifier, hash: UInt32) -> UInt32? {
    slots.index(of: id, hash: hash, below: count, base)
  }

  /// Calls `body` with the index of every id whose lower case is `lowered` (E-47).
  ///
  /// - Precondition: `lowered` is its own lower case, and the table folds.
  func forEachIndex(loweredTo lowered: Identifier, _ body: (UInt32) -> Void) {
    let hash = slots.hash(lowered)
    if let index = index(of: lowered, hash: hash) { body(index) }
    // Both have the same seed.
    folded?.forEachAddress(of: hash, base) { address in
      let index = IDArena.index(at: address)
      if index < count {
        let id = unsafe Identifier(utf8: base.characters(at: address))
        if id.lowercased() == lowered { body(index) }
      }
      return true
    }
  }
}

/// The ids of a table by index.
///
/// SAFETY: valid as long as a version of the table is retained.
struct IDReader: @unchecked Sendable {
  private var addresses = PagedTable<UInt>()
  private var base = IDBase()

  init() {}

  init(addresses: PagedTable<UInt>, base: IDBase) {
    self.addresses = addresses
    self.base = base
  }

  var count: Int { addresses.count }

  /// The characters of the id of an index.
  @inline(__always)
  func characters(_ index: UInt32) -> UnsafeRawBufferPointer {
    unsafe characters(at: address(index))
  }

  @inline(__always)
  subscript(index: UInt32) -> Identifier { unsafe Identifier(utf8: characters(index)) }

  // MARK: Several at a time

  /// Prefetches the address of an id's record.
  @inline(__always)
  func prefetch(_ index: UInt32) { addresses.prefetch(Int(index)) }

  /// The address of an id's record.
  @inline(__always)
  func address(_ index: UInt32) -> UInt { base.address(at: UInt64(addresses[Int(index)])) }

  /// The characters of the id whose record has an address.
  @inline(__always)
  func characters(at address: UInt) -> UnsafeRawBufferPointer {
    unsafe base.characters(at: address)
  }
}
