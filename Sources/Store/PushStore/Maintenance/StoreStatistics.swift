internal import Foundation
internal import GRDB
internal import PushContent
internal import PushFanout
public import PushModel

/// How much a store holds, and how it is.
public struct StoreStatistics: Hashable, Sendable {
  /// Who has a store open for writing.
  public struct Writer: Hashable, Sendable {
    /// The process.
    public let process: Int
    /// When it was started, which may be before it opened the store: the system does not record
    /// when a lock was taken. nil where that cannot be read.
    public let started: Instant?
  }

  /// The rule set of the store.
  public let rules: RuleSet
  /// Which store it is: drawn when it was made; a backup has another one.
  public let identity: String
  /// Ids of users that are not removed; those with settings; their devices.
  public let users, declaredUsers, devices: Int
  /// Ids of conversations that are not removed; memberships; those with settings.
  public let conversations, members, memberSettings: Int
  /// Templates.
  public let templates: Int
  /// Entries of the change feed.
  public let feedEntries: Int
  /// The bytes of the feed and its indices; nil where SQLite was compiled without `dbstat`.
  public let feedBytes: Int?
  /// The cursor before the first entry that the feed still has.
  public let start: FeedCursor
  /// The cursor of the last entry, from which to follow the feed after reading all settings.
  public let end: FeedCursor
  /// When the first and the last entry of the feed were made; nil for an empty feed.
  public let firstAt, lastAt: Instant?
  /// What writers keep of the feed by themselves; nil for everything.
  public let retention: FeedRetention?
  /// Whether an erasure was interrupted, and is finished by the next opening for writing.
  public let isErasing: Bool
  /// Sizes of the files, in bytes: the database, and what was not yet moved into it.
  public let fileBytes, logBytes: Int
  /// The part of the file that is free, in bytes.
  public let freeBytes: Int
  /// The snapshot's size in bytes; nil when there is none that can be read.
  public let snapshotBytes: Int?
  /// The number of the last change that the snapshot holds; nil without one.
  public let snapshotSequence: Int64?
  /// When the snapshot was written; nil without one.
  public let snapshotAt: Instant?
  /// Who has the right to write; nil when no process has, or it cannot be read.
  public let writer: Writer?
}

extension StoreReader {
  /// Counts what is stored.
  ///
  /// - Complexity: O(size of the file).
  public func statistics() throws -> StoreStatistics {
    try read { queries in
      func count(_ what: String) throws -> Int {
        try Int.fetchOne(queries.db, sql: "SELECT count(*) FROM \(what)") ?? 0
      }
      func number(_ sql: String) throws -> Int {
        try Int.fetchOne(queries.db, sql: sql) ?? 0
      }
      let snapshotPath = SnapshotKeeper.path(store.file)
      let snapshot = try? SnapshotInfo(path: snapshotPath)
      let limit = try queries.feedLimit()
      let identity = try queries.identity()
      return StoreStatistics(
        rules: try queries.app().rules, identity: "\(identity)",
        users: try count("users WHERE is_declared <> 2"),
        declaredUsers: try count("users WHERE is_declared = 1"), devices: try count("devices"),
        conversations: try count("conversations WHERE is_declared <> 2"),
        members: try count("members"), memberSettings: try count("member_settings"),
        templates: try queries.templates().count, feedEntries: try count("feed"),
        feedBytes: try queries.feedBytes(), start: limit.cursor,
        end: try queries.cursor(at: queries.lastSequence()),
        firstAt: try queries.feedInstant("ORDER BY sequence"),
        lastAt: try queries.feedInstant("ORDER BY sequence DESC"), retention: limit.retention,
        isErasing: limit.isErasing, fileBytes: StoreName.size(store.file),
        logBytes: StoreName.size(store.file + "-wal"),
        freeBytes: try number("PRAGMA freelist_count") * number("PRAGMA page_size"),
        snapshotBytes: snapshot?.byteCount,
        snapshotSequence: snapshot.map { Int64(clamping: $0.sequence) },
        snapshotAt: snapshot.flatMap { _ in StoreInode.status(snapshotPath)?.modified },
        writer: LockHolder.of(store.inode))
    }
  }
}

extension SettingsQueries {
  fileprivate func feedInstant(_ order: String) throws -> Instant? {
    let at = try Int64.fetchOne(db, sql: "SELECT at FROM feed \(order) LIMIT 1")
    return try at.map { try instant($0, "feed.at") }
  }

  fileprivate func feedBytes() throws -> Int? {
    do {
      return try Int.fetchOne(
        db,
        sql: """
          SELECT coalesce(sum(pgsize), 0) FROM dbstat
          WHERE aggregate = TRUE AND name IN ('feed', 'feed_by_user', 'feed_for_all')
          """)
    } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
      return nil
    }
  }
}
