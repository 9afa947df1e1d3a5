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
