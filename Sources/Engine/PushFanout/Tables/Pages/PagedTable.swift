internal import CPushKernels
internal import PushSupport

/// An array in pages of 1 KiB, whose versions share unchanged pages.
///
/// A copy is a new version, made in O(1). A change copies a page, its node of page addresses and
/// the root, unless the update made them.
///
/// SAFETY: readers access indices below their own ``count``. The one writer appends beyond every
/// published count, and changes older elements in its update's pages only. So no thread reads
/// memory being written.
@safe struct PagedTable<Element: BitwiseCopyable>: @unchecked Sendable {
  typealias Page = UnsafeMutablePointer<Element>
  typealias Node = UnsafeMutablePointer<Page>

  private(set) var root: UnsafeMutablePointer<Node>?
  private(set) var nodeCapacity = 0
  private(set) var count = 0

  /// The binary logarithm of ``pageSize``.
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

  /// The bytes of a page with its header.
  static var storedPageSize: Int { pageSize * MemoryLayout<Element>.stride + PageStore.headerSize }

  /// Elements per node.
  static var nodeSize: Int { 1 << nodeShift }

  private var pageSize: Int { Self.pageSize }
  var pageCount: Int { (count + Self.mask) >> Self.shift }
  var nodeCount: Int { (pageCount + 127) >> 7 }

  @inline(__always)
  func page(at index: Int) -> Page {
    unsafe root.unsafelyUnwrapped[index >> Self.nodeShift][index >> Self.shift & 127]
  }

  subscript(index: Int) -> Element {
    @inline(__always) get {
      assert(0 <= index && index < count, "index out of range")
      return unsafe page(at: index)[index & Self.mask]
    }
  }

  @inline(__always)
  func pointer(at index: Int) -> UnsafePointer<Element> {
    unsafe UnsafePointer(page(at: index) + index & Self.mask)
  }

  /// Prefetches an element and its page's address.
  ///
  /// It computes the place from the node's first page, as pages made together are consecutive:
  /// nothing waits for the page's address. Pages elsewhere are not prefetched.
  @inline(__always)
  func prefetch(_ index: Int) {
    let node = unsafe root.unsafelyUnwrapped[index >> Self.nodeShift]
    let page = index >> Self.shift & 127
    unsafe pk_prefetch(node + page)
    unsafe pk_prefetch(
      UnsafeRawPointer(node[0]) + page * Self.storedPageSize
        + (index & Self.mask) * MemoryLayout<Element>.stride)
  }

  /// Prefetches through the page's address, which is mostly cached when many elements are read; a
  /// wait delays no other.
  @inline(__always)
  func prefetchAmongMany(_ index: Int) { unsafe pk_prefetch(pointer(at: index)) }

  /// At most `limit` elements, within one page.
  @inline(__always)
  func chunk(from index: Int, limit: Int) -> UnsafeBufferPointer<Element> {
    let inPage = index & Self.mask
    return unsafe UnsafeBufferPointer(
      start: page(at: index) + inPage, count: min(limit, pageSize - inPage))
  }

  @inline(__always)
  func forEachChunk(
    _ range: Range<Int>, _ body: (_ offset: Int, UnsafeBufferPointer<Element>) -> Void
  ) {
    var index = range.lowerBound
    while index < range.upperBound {
      let chunk = unsafe chunk(from: index, limit: range.upperBound - index)
      unsafe body(index - range.lowerBound, chunk)
      index += chunk.count
    }
  }

  /// Calls `body` per node with the offset, the page addresses, the first element's index in its
  /// page, and the number of elements.
  @inline(__always)
  func forEachRun(
    of range: Range<Int>,
    _ body: (Int, UnsafePointer<UnsafePointer<Element>?>, _ first: Int, _ count: Int) -> Void
  ) {
    guard let root = unsafe root else { return }
    var index = range.lowerBound
    while index < range.upperBound {
      let end = min(range.upperBound, (index >> Self.nodeShift + 1) << Self.nodeShift)
      let pages = unsafe root[index >> Self.nodeShift] + (index >> Self.shift & 127)
      unsafe body(
        index - range.lowerBound,
        UnsafeRawPointer(pages).assumingMemoryBound(to: UnsafePointer<Element>?.self),
        index & Self.mask, end - index)
      index = end
    }
  }

  // MARK: Writing

  /// Replaces an element in O(1).
  mutating func set(_ index: Int, _ element: Element, _ store: PageStore) {
    assert(0 <= index && index < count, "index out of range")
    // If the update made the page, it made its node and root.
    let page = unsafe page(at: index)
    if unsafe store.isOwn(UnsafeMutableRawPointer(page)) {
      unsafe page[index & Self.mask] = element
    } else {
      unsafe ownPage(at: index, store)[index & Self.mask] = element
    }
  }

  /// - Precondition: the update made the page.
  @inline(__always)
  func update(_ index: Int, _ element: Element) {
    unsafe page(at: index)[index & Self.mask] = element
  }

  /// - Precondition: the update made the pages.
  func update(from index: Int, _ elements: some Collection<Element>) {
    let isContiguous: Void? = elements.withContiguousStorageIfAvailable { elements in
      unsafe update(from: index, elements)
    }
    if isContiguous == nil {
      for (offset, element) in elements.enumerated() { update(index + offset, element) }
    }
  }

  func update(from index: Int, _ elements: UnsafeBufferPointer<Element>) {
    guard let start = elements.baseAddress else { return }
    var item = 0
    while item < elements.count {
      let offset = (index + item) & Self.mask
      let count = min(elements.count - item, pageSize - offset)
      unsafe (page(at: index + item) + offset).update(from: start + item, count: count)
      item += count
    }
  }

  /// The page, copied unless the update made it.
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

  /// Appends an element in O(1) amortized, without copying pages of older versions.
  mutating func append(_ element: Element, _ store: PageStore) {
    if count & Self.mask == 0 { addPage(store) }
    let index = count
    count += 1
    unsafe page(at: index)[index & Self.mask] = element
  }

  mutating func grow(to newCount: Int, repeating element: Element, _ store: PageStore) {
    while count < newCount {
      if count & Self.mask == 0 { addPage(store) }
      let chunk = min(newCount - count, pageSize - count & Self.mask)
      unsafe (page(at: count) + count & Self.mask).initialize(repeating: element, count: chunk)
      count += chunk
    }
  }

  /// Appends elements without values; several threads make the memory.
  mutating func grow(to newCount: Int, _ store: PageStore, threads: Int) {
    PageMemory.shared.prepare(
      (newCount - count) >> Self.shift, of: Self.storedPageSize, threads: threads)
    while count < newCount {
      if count & Self.mask == 0 { addPage(store) }
      count += min(newCount - count, pageSize - count & Self.mask)
    }
  }

  /// Removes elements and frees their pages.
  ///
  /// - Precondition: ``grow(to:_:threads:)`` made these pages, under one node, as the store's last.
  mutating func shrink(to newCount: Int, _ store: PageStore) {
    let before = pageCount
    assert(newCount <= count && (count - newCount) < Self.nodeSize)
    count = newCount
    store.freeLast(before - pageCount)
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

  /// Frees the memory; for the last version.
  ///
  /// - Parameters:
  ///   - mapped: addresses not touched, as they may not be resident.
  ///   - shared: another engine's newest update.
  func free(except mapped: Range<UInt> = 0..<0, madeAfter shared: UInt64 = PageStore.mapped) {
    guard let root = unsafe root else { return }
    for index in 0..<pageCount {
      let page = unsafe UnsafeMutableRawPointer(root[index >> 7][index & 127])
      if !mapped.contains(UInt(bitPattern: page)) {
        unsafe PageStore.free(page, madeAfter: shared)
      }
    }
    for node in 0..<nodeCount {
      unsafe PageStore.free(UnsafeMutableRawPointer(root[node]), madeAfter: shared)
    }
    unsafe PageStore.free(UnsafeMutableRawPointer(root), madeAfter: shared)
  }

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

extension PagedTable where Element: Sendable {
  func initialize(repeating element: Element, threads: Int) {
    let pagesInPiece = 256
    Parallel.perform((pageCount + pagesInPiece - 1) / pagesInPiece, threads: threads) { piece in
      for page in piece * pagesInPiece..<min((piece + 1) * pagesInPiece, pageCount) {
        let first = page << Self.shift
        unsafe self.page(at: first).initialize(
          repeating: element, count: min(pageSize, count - first))
      }
    }
  }
}

extension PagedTable {
  /// A table of mapped pages with headers. A last page with room is copied for appending.
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

  func forEachPage<Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) {
    for page in 0..<pageCount {
      let first = page << Self.shift
      try unsafe body(UnsafeRawBufferPointer(chunk(from: first, limit: count - first)))
    }
  }
}

extension PagedTable {
  @inline(__always)
  func forEachChunkElement(_ range: Range<Int>, _ body: (Int, Element) -> Void) {
    unsafe forEachChunk(range) { (offset, elements) -> Void in
      for index in 0..<elements.count { body(offset + index, unsafe elements[index]) }
    }
  }
}

extension Int {
  /// The binary logarithm, rounded down.
  fileprivate var trailingBits: Int { Int.bitWidth - 1 - leadingZeroBitCount }
}
