internal import PushModel

/// A table of ids and their indices, whose versions share data.
///
/// - Memory: 16 bytes an id, the characters of ids above 15 bytes, and 8 bytes a slot at a load of
///   31 to 62 %: 29 to 42 bytes for a short id.
/// - Limit: 2^32 - 2 ids, enforced by the caller.
struct IDTable {
  /// The index of an id that never appeared.
  static let unknown = UInt32.max

  var arena: IDArena
  var entries = PagedTable<IDEntry>()
  var slots: IDSlots
  /// Ids that differ from their lower case, by its hash (E-47); nil without folding.
  var folded: IDSlots?
  /// Whether reading some ids touches the arena.
  var hasLong = false
  /// The last field, as each version copies all.
  private let isFormOfStrings = ShortIdentifier.isFormOfStrings

  /// - Parameter folds: allows look-ups by lower case.
  init(folds: Bool) {
    // A secret seed prevents collisions by untrusted ids.
    let seed = processSeed()
    arena = IDArena()
    slots = IDSlots(seed: seed)
    if folds { folded = IDSlots(seed: seed) }
  }

  init(_ arena: IDArena, _ entries: PagedTable<IDEntry>, _ slots: IDSlots, folded: IDSlots?) {
    self.arena = arena
    hasLong = arena.byteCount > 0
    self.entries = entries
    self.slots = slots
    self.folded = folded
  }

  var count: Int { entries.count }

  @inline(__always)
  var reader: IDReader {
    IDReader(
      entries: entries, base: arena.base, hasLong: hasLong, isFormOfStrings: isFormOfStrings)
  }

  @inline(__always)
  var lookup: IDLookup { IDLookup(slots: slots, folded: folded, reader: reader) }

  /// The mapping of the first ids.
  var mapping: Mapping? { arena.mapping }
  var mapped: Range<UInt> { arena.mapping?.addresses ?? 0..<0 }

  var byteCounts: (table: Int, characters: Int) {
    (entries.byteCount + slots.byteCount + (folded?.byteCount ?? 0), arena.byteCount)
  }

  @inline(__always)
  func characters(_ index: UInt32) -> UnsafeRawBufferPointer { unsafe reader.characters(index) }

  subscript(index: UInt32) -> Identifier {
    @inline(never) get { reader[index] }
  }

  @inline(never)
  func index(of id: Identifier) -> UInt32? {
    let lookup = lookup
    return lookup.index(of: id, hash: lookup.hash(id))
  }

  @inline(never)
  func index(of id: UnsafeRawBufferPointer, hash: UInt32) -> UInt32? {
    unsafe lookup.index(of: id, hash: hash)
  }

  func hash(_ id: UnsafeRawBufferPointer) -> UInt32 { unsafe slots.hash(id) }

  // MARK: Writing

  /// The index of an id, added if new.
  mutating func insert(_ id: Identifier, _ store: PageStore) -> UInt32 {
    unsafe id.withUTF8 { id in
      let hash = unsafe slots.hash(id)
      return unsafe index(of: id, hash: hash) ?? append(id, hash: hash, store)
    }
  }

  /// - Precondition: the id is new.
  mutating func append(
    _ id: UnsafeRawBufferPointer, hash: UInt32, _ store: PageStore
  ) -> UInt32 {
    let index = UInt32(entries.count)
    let entry = unsafe entry(of: id)
    entries.append(entry, store)
    slots.add(hash, index, store)
    if let hash = unsafe foldedHash(id) { folded?.add(hash, index, store) }
    return index
  }

  /// - Precondition: the new id is not in the table.
  /// - Complexity: O(ids), as shared slots are copied.
  mutating func rename(_ index: UInt32, to id: Identifier, _ store: PageStore) {
    precondition(self.index(of: id) == nil, "an id that is in the table")
    slots.remove(index, store)
    folded?.remove(index, store)
    unsafe id.withUTF8 { (id) -> Void in
      let entry = unsafe entry(of: id)
      entries.set(Int(index), entry, store)
      slots.add(unsafe slots.hash(id), index, store)
      if let hash = unsafe foldedHash(id) { folded?.add(hash, index, store) }
    }
  }

  private mutating func entry(of id: UnsafeRawBufferPointer) -> IDEntry {
    if let short = unsafe ShortIdentifier(utf8: id) { return IDEntry(short) }
    hasLong = true
    return unsafe IDEntry(offset: arena.add(id), count: id.count)
  }

  /// The lower case's hash; nil if equal, or without folding.
  private func foldedHash(_ id: UnsafeRawBufferPointer) -> UInt32? {
    guard folded != nil, unsafe id.contains(where: { $0 >= 0x80 || (0x41...0x5A).contains($0) })
    else { return nil }
    let exact = unsafe Identifier(utf8: id)
    let lowered = exact.lowercased()
    return lowered == exact ? nil : lookup.hash(lowered)
  }

  mutating func reserve(_ count: Int, _ store: PageStore, threads: Int = 1) {
    slots.reserve(count, store, threads: threads)
  }

  mutating func removeAll(_ store: PageStore) {
    entries.removeAll(store)
    slots.removeAll(store)
    folded?.removeAll(store)
    self = IDTable(folds: folded != nil)
  }

  func rollBack(to before: IDTable) {
    before.slots.rollBack(from: slots, below: before.count)
    if let folded { before.folded?.rollBack(from: folded, below: before.count) }
  }

  func free(except mapped: Range<UInt> = 0..<0, madeAfter shared: UInt64 = PageStore.mapped) {
    entries.free(except: mapped, madeAfter: shared)
    slots.free(except: mapped, madeAfter: shared)
    folded?.free(except: mapped, madeAfter: shared)
  }
}

/// An append-only arena for characters of ids that are not short.
@safe final class IDArena {
  private var chunks: [(address: UInt, byteCount: Int)] = []
  private var free: UnsafeMutableRawPointer?
  private var freeCount = 0
  private(set) var byteCount = 0
  /// The bytes of the first chunk and of later ones, at least.
  private static let (firstSize, chunkSize) = (1 << 14, PageMemory.blockSize)
  /// The file of the first ids and mapped pages, which each version retains.
  let mapping: Mapping?
  /// What offsets count from: 0, or mapped characters, so that a file may be mapped anywhere.
  let base: UInt

  init() {
    unsafe free = nil
    mapping = nil
    base = 0
  }

  /// - Parameter byteCount: mapped characters from `base` on.
  init(_ mapping: Mapping, base: UInt, byteCount: Int) {
    unsafe free = nil
    self.mapping = mapping
    self.base = base
    self.byteCount = byteCount
  }

  /// Continues another arena, which must be retained too.
  init(behind other: IDArena) {
    unsafe free = nil
    mapping = other.mapping
    base = other.base
    byteCount = other.byteCount
  }

  deinit {
    for chunk in chunks {
      guard let start = unsafe UnsafeMutableRawPointer(bitPattern: chunk.address) else { continue }
      unsafe PageMemory.shared.free(start, chunk.byteCount)
    }
  }

  func add(_ id: UnsafeRawBufferPointer) -> UInt {
    let offset = add(byteCount: id.count)
    unsafe Self.write(id, at: base &+ offset)
    return offset
  }

  func add(byteCount: Int) -> UInt {
    if byteCount > freeCount { addChunk(byteCount) }
    let start = unsafe free.unsafelyUnwrapped
    unsafe free = start + byteCount
    freeCount -= byteCount
    return UInt(bitPattern: start) &- base
  }

  static func write(_ id: UnsafeRawBufferPointer, at address: UInt) {
    guard let start = unsafe UnsafeMutableRawPointer(bitPattern: address) else { return }
    if let characters = id.baseAddress {
      unsafe start.copyMemory(from: characters, byteCount: id.count)
    }
  }

  private func addChunk(_ size: Int) {
    let size = max(size, chunks.isEmpty ? Self.firstSize : Self.chunkSize)
    let chunk = unsafe PageMemory.shared.allocate(size)
    chunks.append((UInt(bitPattern: chunk), size))
    unsafe free = chunk
    freeCount = size
    byteCount += size
  }
}
