/// A set of ids that numbers them from 0 in the order in which they were inserted.
///
/// A plain dictionary would do, and loading settings as values takes a fifth longer with one; here an
/// id is hashed and compared by its bytes, eight at a time, and a probe that meets another id reads
/// nothing but its hash.
///
/// - Memory: 29 to 42 bytes an id, and its characters when there are more than 15.
/// - Limit: 2^32 - 2 ids, checked.
public struct IdentifierTable: Sendable {
  private var ids: [Identifier] = []
  /// Open addressing with linear probing: the hash above, the index plus one below; 0 is empty.
  private var slots: [UInt64] = Array(repeating: 0, count: 16)
  /// Ids are untrusted input: collisions cannot be constructed without the seed.
  private let seed = processSeed()

  /// An empty table.
  public init() {}

  /// How many ids the table has.
  public var count: Int { ids.count }

  /// The id at an index.
  ///
  /// - Precondition: the index came from this table.
  public subscript(index: UInt32) -> Identifier { ids[Int(index)] }

  /// Makes room for so many ids in all.
  public mutating func reserveCapacity(_ count: Int) {
    ids.reserveCapacity(count)
    while count * 8 > slots.count * 5 { grow() }
  }

  /// The index of an id; nil for one that is not in the table.
  ///
  /// - Complexity: O(1) on average, beside the characters.
  public func index(of id: Identifier) -> UInt32? {
    let slot = slots[find(id, hash(of: id))]
    return slot == 0 ? nil : UInt32(truncatingIfNeeded: slot) - 1
  }

  /// The index of the id of these characters; nil for one that is not in the table.
  ///
  /// - Precondition: `utf8` is valid UTF-8.
  /// - Complexity: O(1) on average, beside the characters; makes no string.
  public func index(ofUTF8 utf8: RawSpan) -> UInt32? {
    unsafe utf8.withUnsafeBytes { (bytes) -> UInt32? in
      let slot = slots[unsafe find(bytes, unsafe hash(of: bytes))]
      return slot == 0 ? nil : UInt32(truncatingIfNeeded: slot) - 1
    }
  }

  /// The index of an id, which is inserted if it is not in the table.
  public mutating func insert(_ id: Identifier) -> UInt32 {
    let hash = hash(of: id)
    let found = find(id, hash)
    if slots[found] != 0 { return UInt32(truncatingIfNeeded: slots[found]) - 1 }
    precondition(ids.count < Int(UInt32.max) - 1, "at most 2^32 - 2 ids")
    let index = UInt32(ids.count)
    ids.append(id)
    slots[found] = UInt64(hash) << 32 | UInt64(index + 1)
    if ids.count * 8 > slots.count * 5 { grow() }
    return index
  }

  /// The slot that holds the id, or the empty one where it belongs.
  private func find(_ id: Identifier, _ hash: UInt32) -> Int {
    unsafe id.withUTF8 { utf8 in unsafe find(utf8, hash) }
  }

  private func find(_ bytes: UnsafeRawBufferPointer, _ hash: UInt32) -> Int {
    let mask = slots.count - 1
    var index = Int(hash) & mask
    while true {
      let slot = slots[index]
      if slot == 0 { return index }
      if UInt32(truncatingIfNeeded: slot >> 32) == hash,
        unsafe ids[Int(UInt32(truncatingIfNeeded: slot)) - 1].hasUTF8(bytes)
      {
        return index
      }
      index = (index + 1) & mask
    }
  }

  private mutating func grow() {
    let old = slots
    slots = Array(repeating: 0, count: old.count * 2)
    let mask = slots.count - 1
    for slot in old where slot != 0 {
      var index = Int(slot >> 32) & mask
      while slots[index] != 0 { index = (index + 1) & mask }
      slots[index] = slot
    }
  }

  private func hash(of id: Identifier) -> UInt32 {
    unsafe id.withUTF8 { utf8 in unsafe hash(of: utf8) }
  }

  private func hash(of bytes: UnsafeRawBufferPointer) -> UInt32 { unsafe seededHash(bytes, seed) }
}

/// A random seed of hashes, private to this process.
///
/// It is made as `Hasher` makes its own, so that `SWIFT_DETERMINISTIC_HASHING` makes it the same in
/// every run, for instruction counts.
package func processSeed() -> UInt64 { UInt64(bitPattern: Int64(Hasher().finalize())) }

/// Multiplies and folds, eight bytes at a time, like wyhash.
@inlinable package func seededHash(_ bytes: UnsafeRawBufferPointer, _ seed: UInt64) -> UInt32 {
  var state = seed ^ UInt64(bytes.count)
  var offset = 0
  while offset < bytes.count {
    state = fold(state ^ (unsafe word(of: bytes, at: offset)), 0x9E37_79B9_7F4A_7C15)
    offset += 8
  }
  return UInt32(truncatingIfNeeded: fold(state, 0xD6E8_FEB8_6659_FD93))
}

@inlinable @inline(__always) func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
  let product = left.multipliedFullWidth(by: right)
  return product.high ^ product.low
}

@inlinable @inline(__always) func areSame<Word: FixedWidthInteger & BitwiseCopyable>(
  _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer, at offset: Int,
  as type: Word.Type
) -> Bool {
  unsafe left.loadUnaligned(fromByteOffset: offset, as: type)
    == right.loadUnaligned(fromByteOffset: offset, as: type)
}

/// The eight bytes from `offset` on, or those that are left at the end, the last of them lowest.
///
/// SAFETY: bytes are loaded only where there are as many.
@inlinable @inline(__always) func word(of bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
  let left = bytes.count - offset
  if left >= 8 { return unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
  if left >= 4 {
    let first = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
    // Some of the last four may be among the first.
    let last = unsafe bytes.loadUnaligned(fromByteOffset: bytes.count - 4, as: UInt32.self)
    let shift = UInt64(8 * (left - 4))
    return UInt64(first.bigEndian) << shift | UInt64(last.bigEndian) & (1 << shift - 1)
  }
  var word: UInt64 = 0
  for index in offset..<bytes.count { word = word << 8 | UInt64(unsafe bytes[index]) }
  return word
}

/// Whether two ranges of bytes are the same.
@inlinable package func haveSameBytes(
  _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
) -> Bool {
  let count = left.count
  guard count == right.count else { return false }
  if count >= 8 {
    var offset = 0
    while offset < count - 8 {
      guard unsafe areSame(left, right, at: offset, as: UInt64.self) else { return false }
      offset += 8
    }
    // Some of the last eight may have been compared.
    return unsafe areSame(left, right, at: count - 8, as: UInt64.self)
  }
  if count >= 4 {
    return unsafe areSame(left, right, at: 0, as: UInt32.self)
      && areSame(left, right, at: count - 4, as: UInt32.self)
  }
  for index in 0..<count where unsafe left[index] != right[index] { return false }
  return true
}
