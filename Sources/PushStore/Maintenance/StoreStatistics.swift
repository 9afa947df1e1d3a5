internal import GRDB
internal import PushFanout
public import PushModel

/// How much a store holds.
public struct StoreStatistics: Hashable, Sendable {
  /// The rule set of the store.
  public let rules: RuleSet
  /// Ids of users; those with settings; their devices.
  public let users, declaredUsers, devices: Int
  /// Ids of conversations; memberships; those with settings.
  public let conversations, members, memberSettings: Int
  /// Entries of the change feed.
  public let feedEntries: Int
  /// The cursor of the last entry, from which to follow the feed after reading all settings.
  public let end: FeedCursor
  /// Sizes of the files, in bytes: the database, and what was not yet moved into it.
  public let fileBytes, logBytes: Int
  /// The snapshot's size in bytes; nil when there is none that can be read.
  public let snapshotBytes: Int?
  /// The number of the last change that the snapshot holds; nil without one.
  public let snapshotSequence: Int64?
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
      let file = store.file
      let snapshot = try? SnapshotInfo(path: SnapshotKeeper.path(path))
      return StoreStatistics(
        rules: try queries.app().rules, users: try count("users"),
        declaredUsers: try count("users WHERE is_declared"), devices: try count("devices"),
        conversations: try count("conversations"), members: try count("members"),
        memberSettings: try count("member_settings"), feedEntries: try count("feed"),
        end: try queries.cursor(at: queries.lastSequence()), fileBytes: StoreName.size(file),
        logBytes: StoreName.size(file + "-wal"), snapshotBytes: snapshot?.byteCount,
        snapshotSequence: snapshot.map { Int64(clamping: $0.sequence) })
    }
  }
}
