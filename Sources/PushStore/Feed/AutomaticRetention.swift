internal import GRDB
internal import PushModel

/// Removes entries that a store's retention does not keep, a few with each commit that needs it.
struct AutomaticRetention {
  /// After so many new entries it is looked again.
  static let interval: Int64 = 256
  /// So many are removed at a time: more than can be added meanwhile.
  static let portion: Int64 = 2 * interval
  private var next: Int64 = 0

  /// Called in the transaction of a commit.
  ///
  /// - Parameters:
  ///   - last: the last entry of the feed.
  ///   - snapshot: the change that the snapshot is of, whose successors stay; nil for none.
  mutating func step(
    _ queries: SettingsQueries, last: Int64, snapshot: Int64?, at now: Instant
  ) throws {
    guard last >= next else { return }
    if let retention = try queries.feedLimit().retention {
      let first = try queries.firstKept(by: retention, at: now, limit: Self.portion)
      try queries.removeFeed(below: min(first, snapshot.map { $0 + 1 } ?? first))
    }
    next = last + Self.interval
  }
}
