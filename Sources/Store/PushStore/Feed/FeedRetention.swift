internal import GRDB
public import PushModel

/// Which entries of the change feed are kept. An entry goes when no limit keeps it; the last one
/// always stays. Numbers and cursors of the others stay as they are.
public struct FeedRetention: Hashable, Sendable {
  /// Keeps entries that are not older, in milliseconds; nil for no such limit.
  public let milliseconds: Int64?
  /// Keeps so many of the last entries, at least 1; nil for no such limit.
  public let entries: Int64?

  /// - Parameters:
  ///   - age: keeps entries that are not older.
  ///   - entries: keeps so many of the last entries.
  /// - Precondition: at least one is given, the age is not negative, and the number is positive.
  public init(age: Duration? = nil, entries: Int? = nil) {
    precondition(age != nil || entries != nil, "a retention without limits")
    precondition(age ?? .zero >= .zero && entries ?? 1 > 0, "limits of a retention")
    milliseconds = age.map { Int64($0 / .milliseconds(1)) }
    self.entries = entries.map { Int64($0) }
  }

  init?(milliseconds: Int64?, entries: Int64?) {
    guard milliseconds != nil || entries != nil else { return nil }
    self.milliseconds = milliseconds
    self.entries = entries
  }
}

/// The row of the table `retention`: up to where the feed was compacted, and how it is.
struct FeedLimit {
  /// The cursor of the last entry that was removed; the beginning when none was.
  var cursor = FeedCursor.start
  /// What writers keep by themselves; nil for everything.
  var retention: FeedRetention?
  /// Whether an id was erased of which traces may be left in the files.
  var isErasing = false
}

extension SettingsQueries {
  /// How far the feed was compacted.
  func feedLimit() throws -> FeedLimit {
    let find = try db.cachedStatement(
      sql: """
        SELECT sequence, token, keep_milliseconds, keep_entries, is_erasing FROM retention
        """)
    guard let row = try Row.fetchOne(find) else {
      throw StoreError.damaged(path, reason: "retention has no row")
    }
    return FeedLimit(
      cursor: FeedCursor(
        sequence: try get(row, 0, "retention.sequence"), token: try get(row, 1, "retention.token")),
      retention: FeedRetention(
        milliseconds: try self.find(row, 2, "retention.keep_milliseconds"),
        entries: try self.find(row, 3, "retention.keep_entries")),
      isErasing: try get(row, 4, "retention.is_erasing"))
  }

  /// The number of the first entry that a retention keeps. One that is later than now, from a clock
  /// that was ahead, is as old as the next that is not.
  ///
  /// - Parameter limit: looks at so many of the first entries; what is behind them counts as kept.
  /// - Complexity: O(entries that are not kept, up to `limit`, and those later than now behind them).
  func firstKept(by retention: FeedRetention, at now: Instant, limit: Int64) throws -> Int64 {
    let last = try lastSequence()
    let start = try feedLimit().cursor.sequence
    var first = min(last, start + limit + 1)
    if let count = retention.entries { first = min(first, max(start, last - count) + 1) }
    if let age = retention.milliseconds {
      let oldest = now.milliseconds - age
      var from = start + 1
      while let young = try entry(from: from, to: first, at: oldest ... .max) {
        let next =
          young.at > now.milliseconds
          ? try entry(from: young.sequence, to: .max, at: .min...now.milliseconds) : nil
        guard let next, next.at < oldest else {
          first = young.sequence
          break
        }
        from = next.sequence
      }
    }
    return max(first, start + 1)
  }

  /// The first entry of a part of the feed with one of these dates.
  private func entry(
    from start: Int64, to end: Int64, at dates: ClosedRange<Int64>
  ) throws -> (sequence: Int64, at: Int64)? {
    let find = try db.cachedStatement(
      sql: """
        SELECT sequence, at FROM feed WHERE sequence >= ? AND sequence < ? AND at BETWEEN ? AND ?
        ORDER BY sequence LIMIT 1
        """)
    let row = try Row.fetchOne(
      find, arguments: [start, end, dates.lowerBound, dates.upperBound])
    return row.map { ($0[0], $0[1]) }
  }

  /// Removes the entries of the feed below a number, which has one itself.
  ///
  /// - Returns: how many there were.
  /// - Complexity: O(removed), or O(entries) where more than half of many are removed.
  @discardableResult
  func removeFeed(below first: Int64) throws -> Int64 {
    let start = try feedLimit().cursor.sequence
    let count = first - 1 - start
    guard count > 0 else { return 0 }
    try db.execute(
      sql: "UPDATE retention SET sequence = ?1, token = ?2",
      arguments: [first - 1, try token(at: first - 1)])
    // Of many entries the indices are rebuilt: they are all over them.
    let isMost = try count > 100_000 && count > lastSequence() - first
    if isMost { try db.execute(sql: "DROP INDEX feed_by_user; DROP INDEX feed_for_all") }
    try db.execute(sql: "DELETE FROM feed WHERE sequence < ?", arguments: [first])
    if isMost { try db.execute(sql: Schema.feedIndices) }
    return count
  }
}

extension StoreReader {
  /// The cursor before the first entry that the change feed still has: ``FeedCursor/start`` until
  /// it is compacted.
  public func startOfFeed() throws -> FeedCursor { try read { try $0.feedLimit().cursor } }
}

extension SettingsStore {
  /// Removes old entries of the change feed now. Numbers, tags and cursors of the others stay; a
  /// follower that is further behind is told to read everything again
  /// (``StoreError/changesDropped(_:_:upTo:)``).
  ///
  /// It is done in pieces, each a transaction: other writes wait for one of them at most, and when
  /// it is interrupted, some are done. The space is used by later writes; ``shrink()`` gives it
  /// back. When the snapshot needs entries that are gone a new one is written.
  ///
  /// - Parameter now: from when on ages count.
  /// - Returns: how many entries were removed.
  /// - Throws: ``StoreError``.
  /// - Complexity: O(removed).
  @discardableResult
  public func compact(_ retention: FeedRetention, at now: Instant) throws -> Int {
    var compaction = try FeedCompaction(self, retention, at: now)
    while try compaction.step() {}
    if compaction.removed > 0 { try writeSnapshotIfBehindFeed() }
    return Int(compaction.removed)
  }

  /// Sets what is kept of the change feed from now on: writers remove the rest by themselves, a
  /// part with each of their commits; what the snapshot needs stays until there is a newer one.
  ///
  /// - Parameter retention: nil to keep everything.
  /// - Throws: ``StoreError``.
  public func setRetention(_ retention: FeedRetention?, at now: Instant) throws {
    try write(at: now) { write in
      try write.queries.db.execute(
        sql: "UPDATE retention SET keep_milliseconds = ?, keep_entries = ?",
        arguments: [retention?.milliseconds, retention?.entries])
    }
  }

  /// What writers keep of the change feed by themselves; nil for everything.
  public func retention() throws -> FeedRetention? { try read { try $0.feedLimit().retention } }
}
