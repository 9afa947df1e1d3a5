internal import GRDB
internal import PushFanout
public import PushRules

/// How much a store holds.
public struct StoreStatistics: Hashable, Sendable {
  public let rules: RuleSet
  /// Ids of users; those with settings; their devices.
  public let users, declaredUsers, devices: Int
  /// Ids of conversations; memberships; those with settings.
  public let conversations, members, memberSettings: Int
  /// Entries of the change feed.
  public let feedEntries: Int
  /// The place behind the last one: whoever reads all settings now goes on from there.
  public let end: FeedCursor
  /// Sizes of the files, in bytes: the database, and what was not yet moved into it.
  public let fileBytes, logBytes: Int
  /// The snapshot's size, and the change that it is of; nil when there is none that can be read.
  public let snapshotBytes: Int?
  public let snapshotSequence: Int64?
}

extension StoreReader {
  /// Counts what is stored.
  ///
  /// - Complexity: O(size of the file).
  public func statistics() throws -> StoreStatistics {
    try read { rows in
      func count(_ what: String) throws -> Int {
        try Int.fetchOne(rows.db, sql: "SELECT count(*) FROM \(what)") ?? 0
      }
      let file = store.file
      let snapshot = try? SnapshotInfo(path: SnapshotKeeper.path(path))
      return StoreStatistics(
        rules: try rows.app().rules, users: try count("users"),
        declaredUsers: try count("users WHERE is_declared"), devices: try count("devices"),
        conversations: try count("conversations"), members: try count("members"),
        memberSettings: try count("member_settings"), feedEntries: try count("feed"),
        end: try rows.cursor(at: rows.lastSequence()), fileBytes: StoreName.size(file),
        logBytes: StoreName.size(file + "-wal"), snapshotBytes: snapshot?.byteCount,
        snapshotSequence: snapshot.map { Int64(clamping: $0.sequence) })
    }
  }
}
