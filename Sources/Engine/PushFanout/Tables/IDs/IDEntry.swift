internal import CPushKernels
internal import PushModel

/// A short id, or where its characters are in the ``IDArena``.
struct IDEntry: BitwiseCopyable {
  /// A short id; otherwise the characters' offset below their number, whose highest bit is 0.
  fileprivate(set) var words: ShortIdentifier

  @inline(__always)
  init(_ short: ShortIdentifier) { words = short }

  init(offset: UInt, count: Int) {
    words = ShortIdentifier(low: UInt64(offset), high: UInt64(UInt32(count)))
  }

  var isShort: Bool { words.high >> 63 == 1 }

  /// - Precondition: the id is not short.
  var long: (offset: UInt, count: Int) { (UInt(words.low), Int(words.high)) }
}

/// Reads ids by index without counting references.
///
/// SAFETY: valid while a version of the table is retained.
struct IDReader: @unchecked Sendable {
  private var entries = PagedTable<IDEntry>()
  private var base: UInt = 0
  private(set) var hasLong = false
  /// See ``ShortIdentifier/isFormOfStrings``.
  private(set) var isFormOfStrings = false

  init() {}

  init(entries: PagedTable<IDEntry>, base: UInt, hasLong: Bool, isFormOfStrings: Bool) {
    self.entries = entries
    self.base = base
    self.hasLong = hasLong
    self.isFormOfStrings = isFormOfStrings
  }

  var count: Int { entries.count }

  @inline(__always)
  func characters(_ index: UInt32) -> UnsafeRawBufferPointer {
    let entry = unsafe entries.pointer(at: Int(index))
    if unsafe entry.pointee.isShort {
      return unsafe UnsafeRawBufferPointer(start: entry, count: entry.pointee.words.count)
    }
    return unsafe characters(entry.pointee)
  }

  private func characters(_ entry: IDEntry) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(
      start: UnsafeRawPointer(bitPattern: base &+ entry.long.offset), count: entry.long.count)
  }

  @inline(__always)
  subscript(index: UInt32) -> Identifier {
    let entry = entries[Int(index)]
    return entry.isShort
      ? Identifier(entry.words, isFormOfStrings: isFormOfStrings)
      : unsafe Identifier(utf8: characters(entry))
  }

  @inline(__always)
  func isEqual(_ index: UInt32, _ short: ShortIdentifier) -> Bool {
    entries[Int(index)].words == short
  }

  // MARK: Ahead

  /// Prefetches an id, or what ``prefetchCharacters(_:)`` reads.
  @inline(__always)
  func prefetch(_ index: UInt32) { entries.prefetchAmongMany(Int(index)) }

  /// Prefetches the characters of an id that is not short.
  @inline(__always)
  func prefetchCharacters(_ index: UInt32) {
    let entry = entries[Int(index)]
    if !entry.isShort { unsafe pk_prefetch(characters(entry).baseAddress) }
  }
}

/// Finds ids without counting references, which threads would contend for.
///
/// SAFETY: valid while a version of the table is retained.
struct IDLookup {
  let slots: IDSlots
  fileprivate let folded: IDSlots?
  let reader: IDReader

  init(slots: IDSlots, folded: IDSlots?, reader: IDReader) {
    self.slots = slots
    self.folded = folded
    self.reader = reader
  }

  func index(of id: UnsafeRawBufferPointer) -> UInt32? {
    if let short = unsafe ShortIdentifier(utf8: id) {
      return slots.first(of: short.hash(slots.seed)) {
        $0 < reader.count && reader.isEqual($0, short)
      }
    }
    return unsafe index(ofLong: id, hash: seededHash(id, slots.seed))
  }

  @inline(__always)
  func index(of id: UnsafeRawBufferPointer, hash: UInt32) -> UInt32? {
    // Higher indices belong to later versions.
    if let short = unsafe ShortIdentifier(utf8: id) {
      return slots.first(of: hash) { $0 < reader.count && reader.isEqual($0, short) }
    }
    return unsafe index(ofLong: id, hash: hash)
  }

  private func index(ofLong id: UnsafeRawBufferPointer, hash: UInt32) -> UInt32? {
    slots.first(of: hash) {
      unsafe $0 < reader.count && haveSameBytes(reader.characters($0), id)
    }
  }

  @inline(__always)
  func index(of id: borrowing Identifier, hash: UInt32) -> UInt32? {
    if let short = ShortIdentifier(id, isFormOfStrings: reader.isFormOfStrings) {
      return slots.first(of: hash) { $0 < reader.count && reader.isEqual($0, short) }
    }
    return unsafe id.withUTF8 { (id) -> UInt32? in unsafe index(ofLong: id, hash: hash) }
  }

  @inline(__always)
  func hash(_ id: borrowing Identifier) -> UInt32 {
    if let short = ShortIdentifier(id, isFormOfStrings: reader.isFormOfStrings) {
      return short.hash(slots.seed)
    }
    return unsafe id.withUTF8 { unsafe seededHash($0, slots.seed) }
  }

  /// Prefetches the likely id of a hash, and returns its index.
  @inline(__always)
  @discardableResult
  func prefetch(_ hash: UInt32) -> UInt32? {
    let index = slots.first(of: hash) { $0 < reader.count }
    if let index { reader.prefetch(index) }
    return index
  }

  /// Calls `body` with the index of each id with this lower case (E-47).
  ///
  /// - Precondition: `lowered` is in lower case, and the table folds.
  func forEachIndex(loweredTo lowered: Identifier, _ body: (UInt32) -> Void) {
    let hash = hash(lowered)
    if let index = index(of: lowered, hash: hash) { body(index) }
    // Both tables have the same seed.
    _ = folded?.first(of: hash) { index in
      if index < reader.count, reader[index].lowercased() == lowered { body(index) }
      return false
    }
  }
}
