internal import CPushKernels
internal import PushModel

/// An element of a table of ids: the id itself if it is short, otherwise where its characters are
/// in the table's ``IDArena``.
struct IDEntry: BitwiseCopyable {
  /// A short id, or the offset of characters from the arena's base below their number, whose
  /// highest bit is 0.
  fileprivate(set) var words: ShortIdentifier

  @inline(__always)
  init(_ short: ShortIdentifier) { words = short }

  init(offset: UInt, count: Int) {
    words = ShortIdentifier(low: UInt64(offset), high: UInt64(UInt32(count)))
  }

  var isShort: Bool { words.high >> 63 == 1 }

  /// Of an id that is not short, the offset and the number of its characters.
  var long: (offset: UInt, count: Int) { (UInt(words.low), Int(words.high)) }
}

/// The ids of a table by index, without references.
///
/// SAFETY: valid as long as a version of the table is retained.
struct IDReader: @unchecked Sendable {
  private var entries = PagedTable<IDEntry>()
  private var base: UInt = 0
  /// Whether some ids are not short, so that reading them touches characters too.
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

  /// The characters of the id of an index, in the table's memory.
  @inline(__always)
  func characters(_ index: UInt32) -> UnsafeRawBufferPointer {
    let entry = unsafe entries.pointer(at: Int(index))
    if unsafe entry.pointee.isShort {
      return unsafe UnsafeRawBufferPointer(start: entry, count: entry.pointee.words.count)
    }
    return unsafe characters(entry.pointee)
  }

  /// The characters of an id that is not short.
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

  /// Whether the id of an index is short and has these words.
  @inline(__always)
  func isEqual(_ index: UInt32, _ short: ShortIdentifier) -> Bool {
    entries[Int(index)].words == short
  }

  // MARK: Ahead

  /// Prefetches an id, if it is short; otherwise what ``prefetchCharacters(_:)`` reads.
  @inline(__always)
  func prefetch(_ index: UInt32) { entries.prefetchAmongMany(Int(index)) }

  /// Prefetches the characters of an id that is not short.
  @inline(__always)
  func prefetchCharacters(_ index: UInt32) {
    let entry = entries[Int(index)]
    if !entry.isShort { unsafe pk_prefetch(characters(entry).baseAddress) }
  }
}

/// Finds the ids of a table without counting references, which all threads that look up would
/// write.
///
/// SAFETY: valid as long as a version of the table is retained.
struct IDLookup {
  let slots: IDSlots
  fileprivate let folded: IDSlots?
  let reader: IDReader

  init(slots: IDSlots, folded: IDSlots?, reader: IDReader) {
    self.slots = slots
    self.folded = folded
    self.reader = reader
  }

  /// The index of an id by its hash.
  @inline(__always)
  func index(of id: UnsafeRawBufferPointer, hash: UInt32) -> UInt32? {
    // An index that is not below the count is of a later version.
    if let short = unsafe ShortIdentifier(utf8: id) {
      return slots.first(of: hash) { $0 < reader.count && reader.isEqual($0, short) }
    }
    return unsafe index(ofLong: id, hash: hash)
  }

  /// The index of an id that is not short.
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

  /// The hash of an id.
  @inline(__always)
  func hash(_ id: borrowing Identifier) -> UInt32 {
    if let short = ShortIdentifier(id, isFormOfStrings: reader.isFormOfStrings) {
      return short.hash(slots.seed)
    }
    return unsafe id.withUTF8 { unsafe seededHash($0, slots.seed) }
  }

  /// Prefetches the id that a hash most likely leads to.
  ///
  /// - Returns: its index.
  @inline(__always)
  @discardableResult
  func prefetch(_ hash: UInt32) -> UInt32? {
    let index = slots.first(of: hash) { $0 < reader.count }
    if let index { reader.prefetch(index) }
    return index
  }

  /// Calls `body` with the index of every id whose lower case is `lowered` (E-47).
  ///
  /// - Precondition: `lowered` is its own lower case, and the table folds.
  func forEachIndex(loweredTo lowered: Identifier, _ body: (UInt32) -> Void) {
    let hash = hash(lowered)
    if let index = index(of: lowered, hash: hash) { body(index) }
    // Both have the same seed.
    _ = folded?.first(of: hash) { index in
      if index < reader.count, reader[index].lowercased() == lowered { body(index) }
      return false
    }
  }
}
