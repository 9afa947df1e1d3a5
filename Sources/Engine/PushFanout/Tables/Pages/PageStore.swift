/// Allocates pages and records which may be freed; not thread-safe, for the one writer.
///
/// An update changes its own pages in place. It copies older ones and retires the originals, which
/// older versions read.
@safe final class PageStore {
  /// The number of the update in progress.
  private(set) var generation: UInt64
  /// Pages up to this update are another engine's (`Fanout.fork()`); 0 for none.
  private let shared: UInt64
  /// Pages made and retired by the update.
  private var created: [UInt] = []
  private var retired: [UInt] = []
  /// The bytes before a page: the update that made it, and the allocated size.
  static let headerSize = 16
  /// The generation of mapped pages, which is no update's, so that each update copies them.
  static let mapped: UInt64 = 0

  /// - Parameter shared: another engine's newest update.
  init(after shared: UInt64 = 0) {
    self.shared = shared
    generation = shared + 1
  }

  /// Frees the pages of a builder that was dropped.
  deinit { rollBack() }

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

  func freeLast(_ count: Int) {
    for page in created.suffix(count) { Self.free(page) }
    created.removeLast(count)
  }

  /// Takes over another store's pages.
  ///
  /// - Precondition: both are in their first update.
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

  func rollBack() {
    generation += 1
    for page in created { Self.free(page) }
    created.removeAll()
    retired.removeAll()
  }

  /// Frees a page newer than `shared` and not mapped.
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
