/// An operation on all tables. A visitor that only reads returns its argument.
protocol TableVisitor: ~Copyable {
  associatedtype Failure: Error = Never

  mutating func visit(_ ids: IDTable, _ parts: IDParts) throws(Failure) -> IDTable
  mutating func visit(_ map: PagedMap, _ part: SnapshotPart) throws(Failure) -> PagedMap
  mutating func visit<Element>(
    _ table: PagedTable<Element>, _ part: SnapshotPart
  ) throws(Failure) -> PagedTable<Element>
  mutating func visit(_ rare: RareTables?) throws(Failure) -> RareTables
}

/// Missing tables are visited as empty.
extension TableVisitor where Self: ~Copyable {
  @inline(__always)
  mutating func visit(
    _ ids: IDTable?, folds: Bool, _ parts: IDParts
  ) throws(Failure) -> IDTable {
    try visit(ids ?? IDTable(folds: folds), parts)
  }

  @inline(__always)
  mutating func visit(_ map: PagedMap?, _ part: SnapshotPart) throws(Failure) -> PagedMap {
    try visit(map ?? PagedMap(), part)
  }

  @inline(__always)
  mutating func visit<Element>(
    _ table: PagedTable<Element>?, _ part: SnapshotPart
  ) throws(Failure) -> PagedTable<Element> {
    try visit(table ?? PagedTable(), part)
  }

  mutating func visit(_ rare: RareTables?) throws(Failure) -> RareTables {
    try RareTables(rare, &self)
  }
}

struct CopyTables: TableVisitor {
  /// An empty visitor has no address, which the thread sanitizer reads of what is passed `inout`.
  private let isCopying = true

  @inline(__always)
  func visit(_ ids: IDTable, _ parts: IDParts) -> IDTable { ids }
  @inline(__always)
  func visit(_ map: PagedMap, _ part: SnapshotPart) -> PagedMap { map }
  @inline(__always)
  func visit<Element>(
    _ table: PagedTable<Element>, _ part: SnapshotPart
  ) -> PagedTable<Element> { table }
  @inline(__always)
  func visit(_ rare: RareTables?) -> RareTables { rare ?? .initial }
}

struct FreeTables: TableVisitor {
  let mapped: Range<UInt>
  let shared: UInt64

  func visit(_ ids: IDTable, _ parts: IDParts) -> IDTable {
    ids.free(except: mapped, madeAfter: shared)
    return ids
  }

  func visit(_ map: PagedMap, _ part: SnapshotPart) -> PagedMap {
    map.free(except: mapped, madeAfter: shared)
    return map
  }

  func visit<Element>(
    _ table: PagedTable<Element>, _ part: SnapshotPart
  ) -> PagedTable<Element> {
    table.free(except: mapped, madeAfter: shared)
    return table
  }
}

struct ListIDTables: TableVisitor {
  private(set) var tables: [IDTable] = []

  mutating func visit(_ ids: IDTable, _ parts: IDParts) -> IDTable {
    tables.append(ids)
    return ids
  }
  func visit(_ map: PagedMap, _ part: SnapshotPart) -> PagedMap { map }
  func visit<Element>(
    _ table: PagedTable<Element>, _ part: SnapshotPart
  ) -> PagedTable<Element> { table }
}
