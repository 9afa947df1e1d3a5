import Foundation
import GRDB
import Glibc
import PushFanout
import PushModel
import TestSupport
import Testing

@testable import PushStore

@Suite struct StatisticsTests {
  private static let now = Instant(milliseconds: 1_764_000_000_000)

  private func fill(_ store: SettingsStore) throws {
    for number in 0..<20 {
      try store.write(at: Self.now.after(minutes: Int64(number))) { write in
        try write.setUser(Identifier("u\(number)"), UserSettings())
        try write.setMember(Identifier("u\(number)"), of: "g", MemberSettings(level: .mention))
      }
    }
  }

  @Test func theStateOfAStoreIsKnown() throws {
    try withStore { path in
      let store = try SettingsStore(path, .create, threads: 1)
      try fill(store)
      try store.write(at: Self.now.after(minutes: 30)) { write in
        try write.removeUser("u0")
        try write.removeUser("u1")
      }
      try store.compact(FeedRetention(entries: 10), at: Self.now)
      try store.setRetention(FeedRetention(age: .seconds(60), entries: 7), at: Self.now)
      try store.writeSnapshot()
      let found = try store.reader.statistics()
      let counts: [Int] = [found.users, found.declaredUsers, found.conversations, found.members]
      let wanted: [Int] = [18, 18, 1, 18]
      #expect(counts.elementsEqual(wanted))
      #expect(found.feedEntries == 10 && found.start.sequence == 32 && found.end.sequence == 42)
      #expect(found.firstAt == Self.now.after(minutes: 16))
      #expect(found.lastAt == Self.now.after(minutes: 30))
      #expect(found.retention == FeedRetention(age: .seconds(60), entries: 7))
      #expect(found.feedBytes.map { $0 > 0 } ?? true)
      #expect(found.snapshotSequence == 42)
      #expect(found.snapshotAt.map { $0 > Self.now } == true)
      #expect(found.identity.count == 32)
      // This process has the right to write, where the system tells.
      if let writer = found.writer { #expect(writer.process == Int(getpid())) }
      try store.close()
      #expect(try StoreReader(path).statistics().writer == nil)
    }
  }

  @Test func theHolderOfALockIsFound() {
    let locks = """
      1: POSIX  ADVISORY  READ  70 08:01:99 128 128
      2: FLOCK  ADVISORY  WRITE 71 103:02:1234 0 EOF
      2: -> FLOCK  ADVISORY  WRITE 72 08:01:1234 0 EOF
      3: FLOCK  ADVISORY  WRITE 73 08:01:1234 0 EOF
      """
    #expect(LockHolder.process(locking: 8 << 8 | 1, 1234, locks) == 73)
    #expect(LockHolder.process(locking: 259 << 8 | 2, 1234, locks) == 71)
    #expect(LockHolder.process(locking: 8 << 8 | 1, 99, locks) == nil)
    let stat = "73 (a ) b) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 500 0"
    let rate = Int64(sysconf(Int32(_SC_CLK_TCK)))
    #expect(
      LockHolder.started(stat, "cpu 1\nbtime 1764000000\n")
        == Instant(milliseconds: 1_764_000_000_000 + 500_000 / rate))
  }

  // MARK: Checks and backups

  @Test func theFastCheckFindsWrongPagesAndSnapshots() throws {
    try ScratchFolder.with { folder in
      let url = folder.appending(path: "s")
      let store = try SettingsStore(url.path, .create, threads: 1)
      try fill(store)
      try store.writeSnapshot()
      #expect(try store.reader.checkFast() == [])
      try store.close()
      #expect(try StoreReader(url.path).checkFast() == [])
      let snapshot = url.appendingPathExtension("snapshot")
      let whole = (try Data(contentsOf: url), try Data(contentsOf: snapshot))
      var bytes = whole.0
      bytes[bytes.count / 2] ^= 1
      try bytes.write(to: url)
      #expect(try StoreReader(url.path).checkFast().map(\.kind) == [.database])
      try whole.0.write(to: url)
      bytes = whole.1
      bytes[bytes.count / 2] ^= 1
      try bytes.write(to: snapshot)
      #expect(try StoreReader(url.path).checkFast().map(\.kind) == [.snapshot])
      try whole.1.write(to: snapshot)
      let queue = try storeQueue(url.path)
      try queue.write { try $0.execute(sql: "DELETE FROM feed WHERE sequence = 1") }
      try queue.close()
      #expect(try StoreReader(url.path).checkFast().map(\.kind) == [.feed])
    }
  }

  @Test func aBackupIsVerifiedBySums() throws {
    try ScratchFolder.with { folder in
      let path = folder.appending(path: "s").path
      let copy = folder.appending(path: "copy").path
      let store = try SettingsStore(path, .create, threads: 1)
      try fill(store)
      try store.reader.backup(to: copy)
      let end = try store.reader.endOfFeed()
      let whole = try StoreReader(copy).verifyBackup()
      #expect(whole.problems == [])
      #expect(whole.hasSums && whole.rows > 80 && whole.end == end)
      #expect(try StoreReader(path).verifyBackup().hasSums == false)
      // A row that is changed with right checksums, and one that is gone.
      for sql in [
        "UPDATE members SET since = 5 WHERE user = 7", "DELETE FROM member_settings WHERE user = 3",
      ] {
        let queue = try storeQueue(copy)
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
      }
      let changed = try StoreReader(copy).verifyBackup()
      let tables = changed.problems.map { $0.description.prefix { $0 != " " } }
      #expect(tables == ["member_settings", "members"])
      // What is opened for writing is a store from then on.
      try SettingsStore(copy, threads: 1).close()
      let opened = try StoreReader(copy).verifyBackup()
      #expect(opened.problems == [] && !opened.hasSums)
      // A page that is wrong.
      let url = URL(fileURLWithPath: copy)
      var bytes = try Data(contentsOf: url)
      bytes[bytes.count / 2] ^= 1
      try bytes.write(to: url)
      #expect(try StoreReader(copy).verifyBackup().problems.map(\.kind) == [.database])
      try store.close()
    }
  }
}
