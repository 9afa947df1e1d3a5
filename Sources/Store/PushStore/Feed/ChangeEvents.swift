public import PushModel

/// The entries of the change feed, present and future.
///
///     for try await event in store.events(after: last, of: "u1") {
///       try await deliver(event)
///       last = event.cursor
///     }
///
/// A slow consumer loses no entries: they are read from the store on demand.
/// A consumer that keeps the cursor of the last entry it has dealt with reads on after it, also
/// after a restart, and sees each entry at least once. When the store was replaced meanwhile, by an
/// old copy or by one that was imported again, the sequence throws
/// ``StoreError/unknownChange(_:_:)``: entries are missed, so read everything, and go on from
/// ``StoreReader/endOfFeed()`` as it was before that.
///
/// It ends when the store is closed or the task is cancelled.
public struct ChangeEvents: AsyncSequence, Sendable {
  /// One entry of the feed.
  public typealias Element = ChangeEvent

  let store: SettingsStore
  let start: FeedCursor
  let user: Identifier?

  /// Begins to read after the cursor; each iterator reads the feed by itself.
  public func makeAsyncIterator() -> Iterator {
    Iterator(store: store, user: user, cursor: start)
  }

  /// Reads the feed in pages of 256 entries, and waits at its end.
  public struct Iterator: AsyncIteratorProtocol {
    let store: SettingsStore
    let user: Identifier?
    /// The last entry that was read.
    var cursor: FeedCursor
    var read: ArraySlice<ChangeEvent> = []

    /// - Throws: ``StoreError`` when the store cannot be read, or its feed does not have the entry
    ///   that it was to go on behind, or its engine follows no more.
    public mutating func next() async throws -> ChangeEvent? {
      while true {
        if let event = read.popFirst() { return event }
        if Task.isCancelled { return nil }
        let notifications = store.feedNotifier.notifications
        if store.feedNotifier.isClosed { return nil }
        do {
          let page = try await store.feed(after: cursor, of: user, limit: 256)
          read = page.events[...]
          cursor = page.end
        } catch {
          if Task.isCancelled || store.feedNotifier.isClosed { return nil }
          throw error
        }
        if !read.isEmpty { continue }
        if let failure = store.feedNotifier.failure { throw failure }
        if store.isWriter {
          await store.feedNotifier.wait(since: notifications)
        } else {
          // Another process writes; its commits notify no follower in this one.
          try? await Task.sleep(for: SettingsStore.pollInterval)
        }
      }
    }
  }
}

extension SettingsStore {
  /// How often a store that was opened for reading looks for changes of another process.
  public static let pollInterval = Duration.milliseconds(100)

  /// The entries of the change feed after a cursor, and every later change.
  ///
  /// In the process that writes, a follower is woken by each commit, when the engine decides by it;
  /// in one that reads, it looks every ``pollInterval``.
  ///
  /// - Parameters:
  ///   - cursor: that of the last entry that is not wanted any more; ``FeedCursor/start`` for all.
  ///   - user: only entries that concern a user, or all users.
  public func events(after cursor: FeedCursor = .start, of user: Identifier? = nil) -> ChangeEvents
  {
    ChangeEvents(store: self, start: cursor, user: user)
  }

  /// The number of the last entry of the change feed that the engine decides by: a decision that
  /// begins now is by all changes up to it, at least.
  public var visibleSequence: Int64 { feedNotifier.last }

  /// Waits until the engine decides by an entry of the change feed, the task is cancelled, or the
  /// store is closed or has an engine that follows no more.
  ///
  /// - Returns: whether it does.
  public func waitUntilVisible(_ sequence: Int64) async -> Bool {
    while true {
      let notifications = feedNotifier.notifications
      if feedNotifier.last >= sequence { return true }
      if feedNotifier.isClosed || feedNotifier.failure != nil || Task.isCancelled { return false }
      await feedNotifier.wait(since: notifications)
    }
  }

  /// Some entries of the feed, and up to where it was read for them.
  func feed(
    after cursor: FeedCursor, of user: Identifier?, limit: Int
  ) async throws -> (events: [ChangeEvent], end: FeedCursor) {
    // Entries that the engine does not follow yet are for the next ring.
    let limited = isWriter ? feedNotifier.last : nil
    return try await reader.read { queries in
      let last = try limited ?? queries.lastSequence()
      let events = try queries.changes(after: cursor, of: user, limit: limit)
        .filter { $0.sequence <= last }
      // A whole page may not be all.
      if events.count == limit, let end = events.last { return (events, end.cursor) }
      return (events, last > cursor.sequence ? try queries.cursor(at: last) : cursor)
    }
  }
}
