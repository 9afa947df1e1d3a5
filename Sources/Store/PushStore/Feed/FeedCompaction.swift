internal import GRDB
internal import PushModel

/// The removal of entries of the feed in pieces, each a transaction, with other writes in between.
struct FeedCompaction {
  /// So many entries a piece has at most: some milliseconds.
  static let piece: Int64 = 16_384
  /// The same while the index by users is there: entries that follow each other are all over it,
  /// and each page that is changed is written.
  static let indexedPiece: Int64 = 1_024
  /// For more entries than this it pays to remove the index first.
  private static let manyEntries: Int64 = 100_000
  /// The index is not removed when more entries than this stay: making it again takes a transaction
  /// as long as they are many, a microsecond for each.
  private static let fewEntries: Int64 = 250_000

  private enum Phase {
    case begins, removes, ends
  }

  private let store: SettingsStore
  private let now: Instant
  /// The first entry that is kept.
  private let first: Int64
  private let removesIndex: Bool
  private var phase = Phase.begins
  /// How many entries were removed so far.
  private(set) var removed: Int64 = 0

  init(_ store: SettingsStore, _ retention: FeedRetention, at now: Instant) throws {
    self.store = store
    self.now = now
    // Nothing that is written meanwhile makes an entry stay.
    let (start, first, last) = try store.read { queries in
      (
        try queries.feedLimit().cursor.sequence,
        try queries.firstKept(by: retention, at: now, limit: .max >> 1), try queries.lastSequence()
      )
    }
    self.first = first
    let (going, staying) = (first - 1 - start, last - first + 1)
    removesIndex = going > Self.manyEntries && staying <= min(going, Self.fewEntries)
  }

  /// Does a piece.
  ///
  /// - Returns: whether there is more to do.
  mutating func step() throws -> Bool {
    switch phase {
    case .begins:
      if removesIndex {
        try store.write(at: now) {
          try $0.queries.db.execute(sql: "DROP INDEX IF EXISTS feed_by_user")
        }
      }
      phase = .removes
    case .removes:
      let (first, piece) = (first, removesIndex ? Self.piece : Self.indexedPiece)
      let count = try store.write(at: now) { write in
        let start = try write.queries.feedLimit().cursor.sequence
        return try write.queries.removeFeed(below: min(first, start + piece + 1))
      }
      removed += count
      if count == 0 { phase = .ends }
    case .ends:
      if removesIndex {
        try store.write(at: now) { try $0.queries.db.execute(sql: Schema.feedIndices) }
      }
      return false
    }
    return true
  }

  /// Makes the index again that a compaction has removed which was interrupted.
  ///
  /// - Complexity: O(1) when it is there, otherwise O(entries log entries).
  static func finish(_ store: OpenStore) throws {
    try StoreFile.errors(store.path) {
      try store.pool.write { db in
        let names = try db.indexes(on: "feed").map(\.name)
        if names.contains("feed_by_user") { return }
        try store.right?.check()
        try db.execute(sql: Schema.feedIndices)
      }
    }
  }
}
