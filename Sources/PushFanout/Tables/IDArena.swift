/// An append-only arena of ids' characters, which never move or change.
@safe final class IDArena {
  private var chunks: [(address: UInt, byteCount: Int)] = []
  private var free: UnsafeMutableRawPointer?
  private var freeCount = 0
  private(set) var byteCount = 0
  /// The sizes of the first chunk, and of one when there is more than one.
  private static let (firstSize, chunkSize) = (1 << 18, PageMemory.blockSize)
  /// The file of the first ids and of all mapped pages. Retained by every version of the tables.
  let mapping: Mapping?
  /// The base of the offsets in tables and slots.
  let base: IDBase

  init() {
    unsafe free = nil
    mapping = nil
    base = IDBase()
  }

  /// - Parameter byteCount: the number of bytes of ids in the mapping, from the base on.
  init(_ mapping: Mapping, _ base: IDBase, byteCount: Int) {
    unsafe free = nil
    self.mapping = mapping
    self.base = base
    self.byteCount = byteCount
  }

  deinit {
    for chunk in chunks {
      guard let start = unsafe UnsafeMutableRawPointer(bitPattern: chunk.address) else { continue }
      unsafe PageMemory.shared.free(start, chunk.byteCount)
    }
  }

  /// Appends an id and its index.
  ///
  /// - Returns: the address of the record: the index, the byte count (one byte, or five from 255
  ///   on), the characters.
  func add(_ id: UnsafeRawBufferPointer, _ index: UInt32) -> UInt {
    let address = addRecords(byteCount: Self.recordSize(id.count))
    unsafe Self.write(id, index, at: address)
    return address
  }

  /// Makes room for consecutive records.
  ///
  /// - Returns: the address of the first, which has to be written with
  ///   ``write(_:_:at:)``, as those behind it.
  func addRecords(byteCount: Int) -> UInt {
    if byteCount > freeCount { addChunk(byteCount) }
    let start = unsafe free.unsafelyUnwrapped
    unsafe free = start + byteCount
    freeCount -= byteCount
    return UInt(bitPattern: start)
  }

  /// The size of the record of an id.
  @inline(__always)
  static func recordSize(_ characterCount: Int) -> Int {
    (characterCount < 255 ? 5 : 9) + characterCount
  }

  /// Writes the record of an id.
  @inline(__always)
  static func write(_ id: UnsafeRawBufferPointer, _ index: UInt32, at address: UInt) {
    guard let start = unsafe UnsafeMutableRawPointer(bitPattern: address) else { return }
    let header = id.count < 255 ? 5 : 9
    unsafe start.storeBytes(of: index, as: UInt32.self)
    unsafe (start + 4).storeBytes(of: UInt8(min(id.count, 255)), as: UInt8.self)
    if header == 9 { unsafe (start + 5).storeBytes(of: UInt32(id.count), as: UInt32.self) }
    if let characters = id.baseAddress {
      unsafe (start + header).copyMemory(from: characters, byteCount: id.count)
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

  /// The size of the record of an id of 15 characters, most of which are shorter.
  static let shortSize: UInt = 20

  /// The index in the record at an address.
  @inline(__always)
  static func index(at address: UInt) -> UInt32 {
    guard let start = unsafe UnsafeRawPointer(bitPattern: address) else { return .max }
    return unsafe start.loadUnaligned(as: UInt32.self)
  }
}

/// The base of ids' offsets: 0, or the address of mapped ids, so that the offsets in a file hold
/// wherever it is mapped.
struct IDBase {
  private var address: UInt = 0
  /// The end of the mapped ids.
  private var end: UInt = 0

  init() {}

  init(mapped addresses: Range<UInt>) {
    address = addresses.lowerBound
    end = addresses.upperBound
  }

  /// The address at an offset, modulo 2^48.
  @inline(__always)
  func address(at distance: UInt64) -> UInt { (address &+ UInt(distance)) & Self.mask }

  func distance(to address: UInt) -> UInt { (address &- self.address) & Self.mask }

  private static let mask: UInt = 0xFFFF_FFFF_FFFF

  /// The characters in the record at an address.
  ///
  /// A slot of a file may point anywhere before the mapping's end, so a long id is cut off there.
  /// Ids in memory are not affected: the distance to the end, modulo 2^64, is larger than any of
  /// them.
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
