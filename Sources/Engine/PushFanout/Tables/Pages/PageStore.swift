/// Allocates tables' pages and records which may be freed, for the one writer; not thread-safe.
///
/// An update changes its own pages in place. It copies older pages and retires the originals, which
/// older versions read until they end.
@safe final class PageStore {
  /// The number of the update in progress.
  private(set) var generation: UInt64
  /// Pages of updates up to this one are another engine's (`Fanout.fork()`); 0 for none.
  private let shared: UInt64
  /// The addresses that the update made and retired.
  private var created: [UInt] = []
  private var retired: [UInt] = []
  /// The bytes before each page: its generation, which is the update that made it, and its
  /// allocated size.
  static let headerSize = 16
  /// The generation of mapped pages; no update has it, so each copies them before a change.
  static let mapped: UInt64 = 0

  /// - Parameter shared: the newest update with another engine's pages.
  init(after shared: UInt64 = 0) {
    self.shared = shared
    generation = shared + 1
  }

  /// Frees pages without a version, such as a dropped builder's.
  deinit { rollBack() }

  /// Allocates memory behind a header.
  func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer {
    let start = unsafe PageMemory.shared.allocate(byteCount + Self.headerSize)
    unsafe start.storeBytes(of: generation, as: UInt64.self)
    unsafe start.storeBytes(of: byteCount + Self.headerSize, toByteOffset: 8, as: Int.self)
    let page = unsafe start + Self.headerSize
    created.append(UInt(bitPattern: page))
    return unsafe page
  }

  func isOwn(_ page: UnsafeMutableRawPointer) -> Bool {
    unsafe (page - Self.headerSize).load(as: UInt64.self) == generation
  }

  func retire(_ page: UnsafeMutableRawPointer) {
    if shared > 0, Self.generation(of: UInt(bitPattern: page)) <= shared { return }
    retired.append(UInt(bitPattern: page))
  }

  /// Frees the pages made last.
  func freeLast(_ count: Int) {
    for page in created.suffix(count) { Self.free(page) }
    created.removeLast(count)
  }

  /// Takes over another store's pages, unless freed.
  ///
  /// - Precondition: both stores are in their first update.
  func adopt(_ other: PageStore) {
    precondition(generation == 1 && other.generation == 1, "pages of a later update")
    created += other.created
    retired += other.retired
    other.created = []
    other.retired = []
  }

  /// Ends the update and returns the retired pages, which only older versions read.
  func commit() -> [UInt] {
    generation += 1
    created.removeAll(keepingCapacity: created.count < 4096)
    defer { retired.removeAll() }
    return retired
  }

  /// Frees the pages made by the update and keeps those retired.
  func rollBack() {
    generation += 1
    for page in created { Self.free(page) }
    created.removeAll()
    retired.removeAll()
  }

  /// Frees a page made after update `shared`; mapped ones never are.
  static func free(_ page: UnsafeMutableRawPointer, madeAfter shared: UInt64 = mapped) {
    let start = unsafe page - headerSize
    guard unsafe start.load(as: UInt64.self) > shared else { return }
    unsafe PageMemory.shared.free(start, start.load(fromByteOffset: 8, as: Int.self))
  }

  static func generation(of address: UInt) -> UInt64 {
    guard let page = unsafe UnsafeRawPointer(bitPattern: address) else { return 0 }
    return unsafe (page - headerSize).load(as: UInt64.self)
  }

  static func free(_ address: UInt) {
    if let page = unsafe UnsafeMutableRawPointer(bitPattern: address) { unsafe free(page) }
  }
}
