internal import GRDB
internal import PushModel

/// Removes entries that a store's retention does not keep, a few with each commit that needs it.
struct AutomaticRetention {
  /// After so many new entries it is looked again.
  static let interval: Int64 = 256
  /// The last entry when it was looked.
  private var seen: Int64?

  /// Called in the transaction of a commit.
  ///
  /// - Parameters:
  ///   - last: the last entry of the feed.
  ///   - snapshot: the change that the snapshot is of, whose successors stay; nil for none.
  mutating func step(
    _ queries: SettingsQueries, last: Int64, snapshot: Int64?, at now: Instant
  ) throws {
    let added = last - (seen ?? last - Self.interval)
    guard added >= Self.interval else { return }
    if let retention = try queries.feedLimit().retention {
      // Twice as many as were added, so that a feed that is too long becomes shorter.
      let first = try queries.firstKept(by: retention, at: now, limit: 2 * added)
      try queries.removeFeed(below: min(first, snapshot.map { $0 + 1 } ?? first))
    }
    seen = last
  }
}
