/// An array in pages of 1 KiB, of which many versions share what did not change.
///
/// A copy of the value is a version of its own, made in O(1). Changing one element copies one page,
/// one node of page addresses and the root, unless the update in progress made them.
///
/// The elements are plain bytes. Whoever holds the last version frees the memory with ``free()``.
///
/// SAFETY: a reader looks only at indices below its own ``count``. The one writer puts new elements
/// behind the count of every published version, and changes older ones only in pages it has made
/// itself since; so nobody reads what is being written.
@safe struct PagedTable<Element: BitwiseCopyable> {
  typealias Page = UnsafeMutablePointer<Element>
  typealias Node = UnsafeMutablePointer<Page>

  private(set) var root: UnsafeMutablePointer<Node>?
  private(set) var nodeCapacity = 0
  private(set) var count = 0

  /// The number of elements a page as a power of two.
  static var shift: Int {
    (1024 / MemoryLayout<Element>.stride).trailingBits
  }
  static var pageSize: Int { 1 << shift }
  private static var mask: Int { pageSize - 1 }
  private static var nodeShift: Int { shift + 7 }

  init() { unsafe root = nil }

  var byteCount: Int {
    pageCount * Self.storedPageSize + nodeCount * (1024 + 16) + nodeCapacity * 8
  }

  /// Bytes of a page and of what stands before it.
  static var storedPageSize: Int { pageSize * MemoryLayout<Element>.stride + PageStore.headerSize }

  private var pageSize: Int { Self.pageSize }
  var pageCount: Int { (count + Self.mask) >> Self.shift }
  var nodeCount: Int { (pageCount + 127) >> 7 }

  /// The page that holds a index.
  @inline(__always)
  func page(at index: Int) -> Page {
    unsafe root.unsafelyUnwrapped[index >> Self.nodeShift][index >> Self.shift & 127]
  }

  subscript(index: Int) -> Element {
    @inline(__always) get {
      assert(0 <= index && index < count)
      return unsafe page(at: index)[index & Self.mask]
    }
  }

  /// The elements from `index` on that lie in one stretch of memory, at most `limit` of them.
  @inline(__always)
  func stretch(from index: Int, limit: Int) -> UnsafeBufferPointer<Element> {
    let inPage = index & Self.mask
    return unsafe UnsafeBufferPointer(
      start: page(at: index) + inPage, count: min(limit, pageSize - inPage))
  }

  /// Calls `body` with the elements of `range`, stretch by stretch.
  @inline(__always)
  func forEachStretch(
    _ range: Range<Int>, _ body: (_ offset: Int, UnsafeBufferPointer<Element>) -> Void
  ) {
    var index = range.lowerBound
    while index < range.upperBound {
      let stretch = unsafe stretch(from: index, limit: range.upperBound - index)
      unsafe body(index - range.lowerBound, stretch)
      index += stretch.count
    }
  }

  // MARK: Writing

  /// Replaces an element.
  ///
  /// - Complexity: O(1): at most a page, a node and the root are copied.
  mutating func set(_ index: Int, _ element: Element, _ store: PageStore) {
    assert(0 <= index && index < count)
    // The node and the root of a page of the update's own are its own, too.
    let page = unsafe page(at: index)
    if unsafe store.isOwn(UnsafeMutableRawPointer(page)) {
      unsafe page[index & Self.mask] = element
    } else {
      unsafe ownPage(at: index, store)[index & Self.mask] = element
    }
  }

  /// The page of a index, made the update's own.
  mutating func ownPage(at index: Int, _ store: PageStore) -> Page {
    let root = unsafe own(root.unsafelyUnwrapped, nodeCapacity, store)
    unsafe self.root = root
    let nodeIndex = index >> Self.nodeShift
    let node = unsafe own(root[nodeIndex], 128, store)
    unsafe root[nodeIndex] = node
    let pageIndex = index >> Self.shift & 127
    let page = unsafe own(node[pageIndex], pageSize, store)
    unsafe node[pageIndex] = page
    return unsafe page
  }

  /// Adds an element behind the last.
  ///
  /// - Complexity: O(1) amortised; nothing that an older version reads is copied or changed.
  mutating func append(_ element: Element, _ store: PageStore) {
    if count & Self.mask == 0 { addPage(store) }
    let index = count
    count += 1
    unsafe page(at: index)[index & Self.mask] = element
  }

  /// Adds elements of any value, to be set.
  mutating func grow(to newCount: Int, repeating element: Element, _ store: PageStore) {
    while count < newCount {
      if count & Self.mask == 0 { addPage(store) }
      let stretch = min(newCount - count, pageSize - count & Self.mask)
      unsafe (page(at: count) + count & Self.mask).initialize(repeating: element, count: stretch)
      count += stretch
    }
  }

  private mutating func addPage(_ store: PageStore) {
    let nodeIndex = count >> Self.nodeShift
    if nodeIndex == nodeCapacity {
      let capacity = max(1, nodeCapacity * 2)
      let bigger = unsafe store.allocate(capacity * 8).bindMemory(to: Node.self, capacity: capacity)
      if let root = unsafe root {
        unsafe bigger.update(from: root, count: nodeCapacity)
        unsafe store.retire(UnsafeMutableRawPointer(root))
      }
      unsafe root = bigger
      nodeCapacity = capacity
    }
    let root = unsafe root.unsafelyUnwrapped
    if count & (1 << Self.nodeShift - 1) == 0 {
      unsafe root[nodeIndex] = store.allocate(1024).bindMemory(to: Page.self, capacity: 128)
    }
    unsafe root[nodeIndex][count >> Self.shift & 127] =
      store.allocate(pageSize * MemoryLayout<Element>.stride)
      .bindMemory(to: Element.self, capacity: pageSize)
  }

  private func own<Value: BitwiseCopyable>(
    _ page: UnsafeMutablePointer<Value>, _ count: Int, _ store: PageStore
  ) -> UnsafeMutablePointer<Value> {
    if unsafe store.isOwn(UnsafeMutableRawPointer(page)) { return unsafe page }
    let copy = unsafe store.allocate(count * MemoryLayout<Value>.stride)
      .bindMemory(to: Value.self, capacity: count)
    unsafe copy.update(from: page, count: count)
    unsafe store.retire(UnsafeMutableRawPointer(page))
    return unsafe copy
  }

  /// Frees the memory of the last version.
  ///
  /// - Parameter mapped: addresses of a mapping, of which nothing is touched: it may be on disk.
  func free(except mapped: Range<UInt> = 0..<0) {
    guard let root = unsafe root else { return }
    for index in 0..<pageCount {
      let page = unsafe UnsafeMutableRawPointer(root[index >> 7][index & 127])
      if !mapped.contains(UInt(bitPattern: page)) { unsafe PageStore.free(page) }
    }
    for node in 0..<nodeCount { unsafe PageStore.free(UnsafeMutableRawPointer(root[node])) }
    unsafe PageStore.free(UnsafeMutableRawPointer(root))
  }

  /// Retires all memory of the table, which the next version does without.
  mutating func removeAll(_ store: PageStore) {
    guard let root = unsafe root else { return }
    for page in 0..<pageCount {
      unsafe store.retire(UnsafeMutableRawPointer(root[page >> 7][page & 127]))
    }
    for node in 0..<nodeCount { unsafe store.retire(UnsafeMutableRawPointer(root[node])) }
    unsafe store.retire(UnsafeMutableRawPointer(root))
    self = PagedTable()
  }
}

/// Tables in mappings.
extension PagedTable {
  /// A table whose pages lie one behind the other in a mapping, each behind its header.
  ///
  /// A last page with room is copied, because elements are added to it in index.
  init(mapped start: UnsafeMutableRawPointer, count: Int, _ store: PageStore) {
    self.init()
    guard count > 0 else { return }
    self.count = count
    nodeCapacity = nodeCount
    let root = unsafe store.allocate(nodeCapacity * 8)
      .bindMemory(to: Node.self, capacity: nodeCapacity)
    for node in 0..<nodeCount {
      unsafe root[node] = store.allocate(1024).bindMemory(to: Page.self, capacity: 128)
    }
    unsafe self.root = root
    for page in 0..<pageCount {
      let address = unsafe start + (page * Self.storedPageSize + PageStore.headerSize)
      unsafe root[page >> 7][page & 127] =
        address.bindMemory(to: Element.self, capacity: Self.pageSize)
    }
    if count & Self.mask != 0 { _ = unsafe ownPage(at: count - 1, store) }
  }

  /// Calls `body` with the elements of each page.
  func forEachPage<Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) {
    for page in 0..<pageCount {
      let first = page << Self.shift
      try unsafe body(UnsafeRawBufferPointer(stretch(from: first, limit: count - first)))
    }
  }
}

extension PagedTable {
  /// Calls `body` with each element of `range` and its offset in it.
  func forEachStretchRank(_ range: Range<Int>, _ body: (Int, Element) -> Void) {
    unsafe forEachStretch(range) { (offset, elements) -> Void in
      for index in 0..<elements.count { body(offset + index, unsafe elements[index]) }
    }
  }
}

extension Int {
  /// The largest power of two that is not above the number, as an exponent.
  fileprivate var trailingBits: Int { Int.bitWidth - 1 - leadingZeroBitCount }
}
