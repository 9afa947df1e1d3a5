internal import PushSupport
internal import Synchronization

/// Engines that begin with the settings of another.
///
/// A fork shares the pages of the version that it was made of. A page says which update made it, and
/// the fork counts its updates from that version on. So a page that is not newer than the version is
/// the other engine's: the fork copies it before a change, as any update does with an older page,
/// and neither retires nor frees it. The fork's tables retain the version, which keeps the pages.
///
/// Some memory is written in place, because no older version reads that part of it. Both engines
/// would write it, so the fork has its own from the beginning: the last page of each table, with the
/// nodes that lead to it, since elements are appended there; the slots of ids; and the arena of
/// characters. The calendar is new as well, because it numbers schedules as one engine does.
extension Fanout {
  /// An engine with the current settings, and updates and versions of its own.
  ///
  /// It has the users and conversations of this one under the same indices. Either engine may end
  /// first.
  ///
  /// - Memory: the slots of ids, 13 to 26 bytes an id, and what either engine changes later.
  /// - Complexity: O(ids).
  package func fork() -> Fanout {
    let writer = writerLock.withLock { _ in
      let version = current
      let store = PageStore(after: version.generation)
      return TableWriter(Tables(forking: version, store), store)
    }
    return Fanout(writer, threads: threads, cacheBytes: cacheByteLimit)
  }
}

extension Tables {
  /// - Precondition: no update of the version's engine is in progress.
  fileprivate convenience init(forking version: EngineVersion, _ store: PageStore) {
    var forking = ForkTables(store: store)
    self.init(version.tables, &forking)
    base = SharedPages(owner: version, generation: version.generation)
    calendar = QuietCalendar()
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
