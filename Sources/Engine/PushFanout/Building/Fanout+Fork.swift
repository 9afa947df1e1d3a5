internal import PushSupport
internal import Synchronization

/// A fork begins with another engine's settings. It shares a version's pages, retains the version,
/// and numbers its updates from there. It copies older pages before a change, and never retires or
/// frees them.
///
/// What is written in place is its own: each table's last page with its nodes, the slots of ids,
/// and the arena; also the calendar, which numbers one engine's schedules.
extension Fanout {
  /// An engine with the same settings and indices; either may end first.
  ///
  /// - Memory: the slots of ids, 13 to 26 bytes an id, and what either engine changes later.
  /// - Complexity: O(ids).
  package func fork() -> Fanout {
    let writer = writerLock.withLock { _ in
      let version = current
      let store = PageStore(after: version.generation)
      let forked = TableWriter(Tables(forking: version, store), store)
      forked.replaced = ReplacedValues(madeNow: forked.tables)
      return forked
    }
    return Fanout(writer, threads: threads, cacheBytes: cacheByteLimit)
  }
}

extension Tables {
  /// - Precondition: no update of that engine is in progress.
  fileprivate convenience init(forking version: EngineVersion, _ store: PageStore) {
    var forking = ForkTables(store: store)
    self.init(version.tables, &forking)
    base = SharedPages(owner: version, generation: version.generation)
    calendar = QuietCalendar(rules)
  }
}

private struct ForkTables: TableVisitor {
  let store: PageStore

  func visit(_ ids: IDTable, _ parts: IDParts) -> IDTable {
    var ids = ids
    ids.fork(store)
    return ids
  }

  func visit(_ map: PagedMap, _ part: SnapshotPart) -> PagedMap {
    var map = map
    map.slots.fork(store)
    return map
  }

  func visit<Element>(
    _ table: PagedTable<Element>, _ part: SnapshotPart
  ) -> PagedTable<Element> {
    var table = table
    table.fork(store)
    return table
  }
}

extension PagedTable {
  fileprivate mutating func fork(_ store: PageStore) {
    if count == 0 { self = PagedTable() } else { _ = unsafe ownPage(at: count - 1, store) }
  }
}

extension IDTable {
  fileprivate mutating func fork(_ store: PageStore) {
    arena = IDArena(behind: arena)
    entries.fork(store)
    slots.copy(store)
    folded?.copy(store)
  }
}
