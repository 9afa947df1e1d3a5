/// Allocates the pages of tables, and records which may be freed.
///
/// A page belongs to the update that made it. That update changes it in place; a later one copies
/// it and retires the original, which older versions read until they end.
///
/// Not thread-safe: owned by the one writer.
@safe final class PageStore {
  /// The update in progress.
  private(set) var generation: UInt64
  /// Pages of updates up to this one are another engine's (`Fanout.fork()`); 0 for none.
  private let shared: UInt64
  /// The addresses of pages made and retired by the update in progress.
  private var created: [UInt] = []
  private var retired: [UInt] = []
  /// The size of the header before each page: the generation, which is the update that made the
  /// page, and the number of bytes that were allocated.
  static let headerSize = 16
  /// The generation of mapped pages: no update's, so that every update copies them before changing
  /// them.
  static let mapped: UInt64 = 0

  /// - Parameter shared: the newest update whose pages are another engine's.
  init(after shared: UInt64 = 0) {
    self.shared = shared
    generation = shared + 1
  }

  /// Frees the pages that no version owns, as of a builder that was dropped.
  deinit { rollBack() }

  /// Allocates memory behind a header with the generation of the update in progress.
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

  /// Frees the pages that were made last.
  func freeLast(_ count: Int) {
    for page in created.suffix(count) { Self.free(page) }
    created.removeLast(count)
  }

  /// Makes the pages of another store's update this one's, as far as they are not freed.
  ///
  /// - Precondition: neither store has committed or reverted an update.
  func adopt(_ other: PageStore) {
    precondition(generation == 1 && other.generation == 1, "pages of a later update")
    created += other.created
    retired += other.retired
    other.created = []
    other.retired = []
  }

  /// Ends the update, whose pages are no longer changed in place.
  ///
  /// - Returns: the retired pages, which only older versions read.
  func commit() -> [UInt] {
    generation += 1
    created.removeAll(keepingCapacity: created.count < 4096)
    defer { retired.removeAll() }
    return retired
  }

  /// Reverts the update: frees the pages that it made and keeps those that it retired.
  func rollBack() {
    generation += 1
    for page in created { Self.free(page) }
    created.removeAll()
    retired.removeAll()
  }

  /// Frees a page, unless it belongs to a mapping or was made by an update up to `shared`.
  static func free(_ page: UnsafeMutableRawPointer, madeAfter shared: UInt64 = mapped) {
    let start = unsafe page - headerSize
    guard unsafe start.load(as: UInt64.self) > shared else { return }
    unsafe PageMemory.shared.free(start, start.load(fromByteOffset: 8, as: Int.self))
  }

  /// The generation of the page at an address.
  static func generation(of address: UInt) -> UInt64 {
    guard let page = unsafe UnsafeRawPointer(bitPattern: address) else { return 0 }
    return unsafe (page - headerSize).load(as: UInt64.self)
  }

  /// Frees a page by its address.
  static func free(_ address: UInt) {
    if let page = unsafe UnsafeMutableRawPointer(bitPattern: address) { unsafe free(page) }
  }
}
