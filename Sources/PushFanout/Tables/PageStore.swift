/// Where the pages of tables come from, and when they may be freed.
///
/// A page belongs to the update that made it. That update changes it in index; a later one copies
/// it and retires the old one, which older versions go on reading until they are gone.
///
/// Not for several threads at once: one writer has it.
@safe final class PageStore {
  /// The update in progress.
  private(set) var generation: UInt64 = 1
  /// Addresses of pages.
  private var created: [UInt] = []
  private var retired: [UInt] = []
  /// Bytes before each page, the first eight of which say which update made it.
  static let headerSize = 16
  /// The update that made the pages of a mapping: none, so that each copies them before it changes
  /// them.
  static let mapped: UInt64 = 0

  /// Frees what no version has come to own, as of a builder that built nothing.
  deinit { rollBack() }

  /// Bytes of memory with the mark of the update in progress before them.
  func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer {
    let start = UnsafeMutableRawPointer.allocate(
      byteCount: byteCount + Self.headerSize, alignment: 16)
    unsafe start.storeBytes(of: generation, as: UInt64.self)
    let page = unsafe start + Self.headerSize
    created.append(UInt(bitPattern: page))
    return unsafe page
  }

  func isOwn(_ page: UnsafeMutableRawPointer) -> Bool {
    unsafe (page - Self.headerSize).load(as: UInt64.self) == generation
  }

  func retire(_ page: UnsafeMutableRawPointer) { retired.append(UInt(bitPattern: page)) }

  /// Ends the update; its pages are no longer changed in index.
  ///
  /// - Returns: what only older versions still read.
  func commit() -> [UInt] {
    generation += 1
    created.removeAll(keepingCapacity: created.count < 4096)
    defer { retired.removeAll() }
    return retired
  }

  /// Takes the update back: what it made is freed, what it retired goes on.
  func rollBack() {
    generation += 1
    for page in created { Self.free(page) }
    created.removeAll()
    retired.removeAll()
  }

  /// Frees a page; one of a mapping goes with the mapping.
  static func free(_ page: UnsafeMutableRawPointer) {
    let start = unsafe page - headerSize
    if unsafe start.load(as: UInt64.self) != mapped { unsafe start.deallocate() }
  }

  /// The update that made the page at an address.
  static func generation(of address: UInt) -> UInt64 {
    guard let page = unsafe UnsafeRawPointer(bitPattern: address) else { return 0 }
    return unsafe (page - headerSize).load(as: UInt64.self)
  }

  /// Frees a page by its address.
  static func free(_ address: UInt) {
    if let page = unsafe UnsafeMutableRawPointer(bitPattern: address) { unsafe free(page) }
  }
}
