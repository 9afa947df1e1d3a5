import Foundation
import GRDB
import PushFanout
import PushModel
import TestSupport
import Testing

@testable import PushStore

@Suite struct RetentionTests {
  private static let start = Instant(milliseconds: 1_764_000_000_000)

  /// A store with an entry a minute.
  private func withFeed(_ count: Int, _ body: (SettingsStore, String) throws -> Void) throws {
    try withStore { path in
      let store = try SettingsStore(path, .create, threads: 1)
      for minute in 0..<count {
        try store.write(at: Self.start.after(minutes: Int64(minute))) {
          try $0.setUser(Identifier("u\(minute % 3)"), UserSettings())
        }
      }
      try body(store, path)
      try store.close()
    }
  }

  @Test(arguments: [
    (FeedRetention(entries: 4), 6), (FeedRetention(entries: 1), 9),
    (FeedRetention(entries: 100), 0), (FeedRetention(age: .seconds(180)), 6),
    (FeedRetention(age: .zero), 9), (FeedRetention(age: .seconds(180), entries: 6), 4),
    (FeedRetention(age: .seconds(420), entries: 2), 2),
  ])
  func whatNoLimitKeepsGoes(_ retention: FeedRetention, removed: Int) throws {
    try withFeed(10) { store, path in
      let before = try store.changes()
      let now = Self.start.after(minutes: 9)
      #expect(try store.compact(retention, at: now) == removed)
      #expect(try store.compact(retention, at: now) == 0)
      let limit = try store.reader.startOfFeed()
      #expect(try store.changes(after: limit) == Array(before.dropFirst(removed)))
      #expect(limit.sequence == Int64(removed))
      for (place, event) in before.enumerated() {
        if place + 1 < removed {
          #expect(throws: StoreError.changesDropped(path, event.cursor, upTo: Int64(removed))) {
            try store.changes(after: event.cursor)
          }
        } else {
          #expect(try store.changes(after: event.cursor) == Array(before.dropFirst(place + 1)))
        }
      }
      if removed > 0 {
        let message = try #require(throws: StoreError.self) { try store.changes() }
        #expect("\(message)".contains("read everything again"))
      }
      // Numbers go on.
      try store.write(at: now) { try $0.setUser("u", UserSettings()) }
      #expect(try store.changes(after: limit).last?.sequence == 11)
      #expect(try store.reader.check() == [])
    }
  }

  /// Clocks may go back: an entry that is kept keeps all behind it.
  @Test func agesNeedNotAscend() throws {
    try withStore { path in
      let store = try SettingsStore(path, .create, threads: 1)
      for minute: Int64 in [0, 9, 1, 8, 2] {
        try store.write(at: Self.start.after(minutes: minute)) {
          try $0.setUser("u", UserSettings())
        }
      }
      #expect(
        try store.compact(FeedRetention(age: .seconds(120)), at: Self.start.after(minutes: 10)) == 1
      )
      try store.close()
    }
  }

  /// An entry of a clock that was ahead holds back none of those behind it.
  @Test(arguments: [
    ([0, 60, 1, 2, 3], 5, 4), ([60, 61, 1, 2, 9], 10, 4), ([0, 60, 61, 9, 10], 10, 1),
    ([0, 60, 1, 61, 9], 10, 3), ([60, 61, 62, 63, 64], 10, 0), ([0, 60, 61, 62, 63], 10, 1),
  ])
  func whatIsAheadIsAsOldAsWhatFollows(minutes: [Int64], now: Int64, removed: Int) throws {
    try withStore { path in
      let store = try SettingsStore(path, .create, threads: 1)
      for minute in minutes {
        try store.write(at: Self.start.after(minutes: minute)) {
          try $0.setUser("u", UserSettings())
        }
      }
      let retention = FeedRetention(age: .seconds(60))
      #expect(try store.compact(retention, at: Self.start.after(minutes: now)) == removed)
      try store.close()
    }
  }

  /// A snapshot whose successors are gone is replaced, and one that is older is not used.
  @Test func aSnapshotThatNeedsWhatIsGoneIsReplaced() throws {
    try withFeed(10) { store, path in
      try store.writeSnapshot()
      for _ in 0..<5 { try store.write(at: .zero) { try $0.setUser("v", UserSettings()) } }
      try store.compact(FeedRetention(entries: 2), at: .zero)
      try store.close()
      let again = try SettingsStore(path, threads: 1)
      #expect(again.opening == .snapshot(sequence: 15, changes: 0))
      try again.close()
      // One without an engine cannot write another.
      let bare = try SettingsStore(path, .write, withEngine: false)
      for _ in 0..<5 { try bare.write(at: .zero) { try $0.setUser("v", UserSettings()) } }
      try bare.compact(FeedRetention(entries: 2), at: .zero)
      try bare.close()
      let rebuilt = try SettingsStore(path, threads: 1)
      #expect(
        rebuilt.opening == .rebuilt("changes since the snapshot are not in the feed any more"))
      #expect(try rebuilt.reader.check() == [])
      try rebuilt.close()
    }
  }

  /// A writer keeps the feed short by itself.
  @Test func aWriterCompactsBetweenWrites() throws {
    try withStore { path in
      let store = try SettingsStore(path, .create, threads: 1)
      try store.setRetention(FeedRetention(entries: 100), at: .zero)
      for _ in 0..<40 {
        try store.write(at: .zero) { write in
          for number in 0..<50 { try write.setUser(Identifier("u\(number)"), UserSettings()) }
        }
      }
      let limit = try store.reader.startOfFeed().sequence
      let end = try store.reader.endOfFeed().sequence
      #expect(end == 2000)
      // At most one interval and one commit more than is kept.
      #expect((100...100 + 256 + 50).contains(end - limit), "\(end) - \(limit)")
      #expect(try store.retention() == FeedRetention(entries: 100))
      try store.close()
      let again = try SettingsStore(path, threads: 1)
      #expect(try again.retention() == FeedRetention(entries: 100))
      try again.setRetention(nil, at: .zero)
      #expect(try again.retention() == nil)
      #expect(try again.reader.check() == [])
      try again.close()
    }
  }

  /// Commits of any size are made up for.
  @Test func aWriterOfLargeCommitsKeepsTheFeedShort() throws {
    try withStore { path in
      let store = try SettingsStore(path, .create, threads: 1)
      try store.setRetention(FeedRetention(entries: 10), at: .zero)
      for _ in 0..<10 {
        try store.write(at: .zero) { write in
          for number in 0..<2000 { try write.setUser(Identifier("u\(number)"), UserSettings()) }
        }
      }
      let length = try store.reader.endOfFeed().sequence - store.reader.startOfFeed().sequence
      #expect((10...2010).contains(length), "\(length)")
      try store.close()
    }
  }

  /// A store with so many entries, made by statements: writes would take long.
  private func withLongFeed(
    _ count: Int, _ body: (SettingsStore, _ path: String) throws -> Void
  ) throws {
    try withStore { path in
      try SettingsStore(path, .create, threads: 1).close()
      let queue = try storeQueue(path)
      try queue.write { db in
        try db.execute(
          sql: """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
            INSERT INTO feed (at, change, user, token)
              SELECT i, 'userLevel', CAST('user-' || (i * 7919 % 10007) AS BLOB), random() FROM n
            """)
      }
      try queue.close()
      let store = try SettingsStore(path, .write, threads: 1)
      try body(store, path)
      try store.close()
    }
  }

  /// No transaction removes more than a piece; what is written in between is kept, and the store
  /// is whole after each piece.
  @Test(arguments: [(120_000, 50), (40_000, 30_000)])
  func aCompactionIsDoneInPieces(count: Int, kept: Int) throws {
    try withLongFeed(count) { store, path in
      var compaction = try FeedCompaction(store, FeedRetention(entries: kept), at: .zero)
      let piece = count > 100_000 ? FeedCompaction.piece : FeedCompaction.indexedPiece
      var (before, writes, pieces): (Int64, Int64, Int) = (0, 0, 0)
      while try compaction.step() {
        #expect(compaction.removed - before <= piece)
        if compaction.removed > before { pieces += 1 }
        before = compaction.removed
        try store.write(at: .zero) { [pieces] in
          try $0.updatePushDisplayName("\(pieces)", of: "user-1")
        }
        writes += 1
        #expect(try store.reader.startOfFeed().sequence == before)
      }
      #expect(pieces == (count - kept + Int(piece) - 1) / Int(piece))
      #expect(try store.reader.startOfFeed().sequence == Int64(count - kept))
      #expect(try store.reader.endOfFeed().sequence >= Int64(count) + 2)
      #expect(try indices(path) == ["feed_by_user", "feed_for_all"])
      #expect(try store.reader.check() == [])
      try store.writeSnapshot()
    }
  }

  /// One that is interrupted leaves a store that is whole; the next opening makes the index again.
  @Test func anInterruptedCompactionIsMadeUpFor() throws {
    try withLongFeed(120_000) { store, path in
      var compaction = try FeedCompaction(store, FeedRetention(entries: 50), at: .zero)
      _ = try compaction.step()
      _ = try compaction.step()
      #expect(try indices(path) == ["feed_for_all"])
      let start = try store.reader.startOfFeed()
      #expect(start.sequence == FeedCompaction.piece)
      #expect(try store.changes(after: start, of: "user-7919", limit: 1).count == 1)
      try store.writeSnapshot()
      #expect(try store.reader.check() == [])
      try store.close()
      try SettingsStore(path, .write, threads: 1).close()
      #expect(try indices(path) == ["feed_by_user", "feed_for_all"])
    }
  }

  private func indices(_ path: String) throws -> [String] {
    let reader = try StoreReader(path)
    defer { try? reader.close() }
    return try reader.read { try $0.db.indexes(on: "feed").map(\.name).sorted() }
  }

  /// A follower that waits at the end misses nothing; one that is behind is told.
  @Test func followersAtTheEndGoOn() async throws {
    try await withStore { path in
      let store = try SettingsStore(path, .create, threads: 1)
      for number in 0..<10 {
        try await store.write(at: .zero) {
          try $0.setUser(Identifier("u\(number)"), UserSettings())
        }
      }
      let end = try store.reader.endOfFeed()
      try store.compact(FeedRetention(entries: 1), at: .zero)
      var events = store.events(after: end).makeAsyncIterator()
      try await store.write(at: .zero) { try $0.removeUser("u1") }
      #expect(try await events.next()?.change == .userRemoved)
      var late = store.events().makeAsyncIterator()
      await #expect(throws: StoreError.changesDropped(path, .start, upTo: 9)) {
        _ = try await late.next()
      }
      try await store.close()
    }
  }
}
