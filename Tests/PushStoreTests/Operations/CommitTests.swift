import Foundation
import GRDB
import PushFanout
import PushModel
import TestSupport
import Testing

@testable import PushStore

/// Writes that share a commit, and the frames of the log that a transaction is made of.
@Suite struct CommitTests {
  private struct Refused: Error {}

  /// Writes of one commit are done in their order and make one version; one that throws does not
  /// disturb them.
  @Test func writesOfACommitAreOneVersionAndAreDoneInOrder() throws {
    try withStore { path in
      let store = try SettingsStore(path, .create)
      try store.write(at: .zero) { try $0.setMember("u0", of: "g") }
      let version = store.fanout.version
      let done = Locked<[String]>([])
      try store.betweenCommits { _ in
        for number in 1...8 {
          store.write(at: .zero) { write in
            try write.setMember(Identifier("u\(number)"), of: "g")
            if number == 3 { throw Refused() }
            return try write.sequence
          } then: { result in
            let isVisible = store.fanout.member(Identifier("u\(number)"), of: "g") != nil
            done.withLock { $0.append("\(number) \((try? result.get()) ?? 0) \(isVisible)") }
          }
        }
      }
      try store.betweenCommits { _ in }
      #expect(
        done.withLock { $0 } == [
          "1 2 true", "2 3 true", "3 0 false", "4 4 true", "5 5 true", "6 6 true", "7 7 true",
          "8 8 true",
        ])
      #expect(store.fanout.version == version + 1)
      try store.close()
      let wasClosed = Locked<(any Error)?>(nil)
      store.write(at: .zero) {
        try $0.setMember("u9", of: "g")
      } then: { result in
        if case .failure(let error) = result { wasClosed.withLock { $0 = error } }
      }
      #expect(wasClosed.withLock { $0 as? StoreError } == .closed(path))
    }
  }

  /// A membership is written where it differs from what is stored, channels among it.
  @Test func aMembershipIsWrittenWhereItDiffers() throws {
    try withStore { path in
      let store = try SettingsStore(path, .create)
      try store.write(at: .zero) { write in
        try write.setApp(AppSettings(rules: .rongcloud))
        try write.setConversation("g", ConversationSettings(kind: .ultraGroup))
        try write.setMember("u", of: "g", MemberSettings(since: Instant(milliseconds: 5)))
      }
      var expected = MemberSettings(since: Instant(milliseconds: 5))
      func check() throws {
        #expect(store.fanout.member("u", of: "g") == expected)
        #expect(try store.read { try $0.member("u", of: "g") } == expected)
        #expect(try store.reader.check() == [])
      }
      for channel in ["a", "", "b"] as [Identifier] {
        try store.write(at: .zero) {
          try $0.setNotificationLevel(.mention, of: "u", in: "g", channel: channel)
        }
        expected.channels[channel] = .mention
        try check()
      }
      try store.write(at: .zero) { try $0.setNotificationLevel(.blocked, of: "u", in: "g") }
      expected.level = .blocked
      try check()
      try store.write(at: .zero) { write in
        try write.updateMember("u", of: "g") {
          $0.channels["a"] = nil
          $0.since = Instant(milliseconds: 7)
        }
      }
      expected.channels["a"] = nil
      expected.since = Instant(milliseconds: 7)
      try check()
      try store.write(at: .zero) { try $0.updateMember("u", of: "g") { $0 = MemberSettings() } }
      expected = MemberSettings()
      try check()
      try store.close()
    }
  }

  /// A write that is refused, of a commit so large that it was written to the log in part before:
  /// the others are in the log when it is recovered after a crash.
  @Test(arguments: seeds([1, 2, 3]))
  func aRefusedWriteOfALargeCommitTakesNothingWithIt(seed: UInt64) throws {
    try withStore { path in
      let store = try SettingsStore(path, .create)
      var random = SeededGenerator(seed: seed)
      try store.write(at: .zero) { write in
        for user in 0..<5000 { try write.setMember(Identifier("user \(user)"), of: "g") }
      }
      try store.betweenCommits { open in
        try open.pool.writeWithoutTransaction { db in
          try db.execute(sql: "PRAGMA cache_size = 20; PRAGMA wal_autocheckpoint = 0")
        }
      }
      var expected: [String: NotificationLevel] = [:]
      for round in 0..<20 {
        let refusals = Locked<[Int]>([])
        try store.betweenCommits { _ in
          // The refused ones write some pages once, and some again.
          for job in 0..<6 {
            let isRefused = job % 3 == 1
            let count = isRefused ? random.next() % 60 : 1
            let level: NotificationLevel = random.next() % 2 == 0 ? .blocked : .mention
            let users = (0..<count).map { _ in Identifier("user \(random.next() % 5000)") }
            store.write(at: .zero) { write in
              for user in users { try write.setMember(user, of: "g", MemberSettings(level: level)) }
              if isRefused { throw Refused() }
            } then: { result in
              if case .failure(is Refused) = result { refusals.withLock { $0.append(job) } }
            }
            if !isRefused { for user in users { expected[user.text] = level } }
          }
        }
        try store.betweenCommits { _ in }
        #expect(refusals.withLock { $0 } == [1, 4], "round \(round)")
        // As a crash would leave it.
        let copy = "\(path)-\(round)"
        for suffix in ["", "-wal"] {
          try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
        }
        let found = try storeQueue(copy).read { db in
          let queries = SettingsQueries(db: db, path: copy)
          return try expected.keys.reduce(into: [:]) { levels, user in
            levels[user] = try queries.member(Identifier(user), of: "g")?.level
          }
        }
        #expect(found == expected, "round \(round)")
      }
      try store.close()
    }
  }

  /// Frames that are kept to be written together: of transactions with more frames than are kept,
  /// with pages written twice, read again, taken back in part or altogether.
  @Test(arguments: seeds([1, 2, 3, 4, 5, 6]), [false, true])
  func theLogHasWhatWasCommitted(seed: UInt64, spills: Bool) throws {
    try withStore { path in
      try SettingsStore(path, .create).close()
      var random = SeededGenerator(seed: seed)
      // With few pages of memory transactions write to the log before they end. Nothing is taken back
      // in part then: SQLite 3.40 would leave frames without checksums, which count as damaged.
      let queues = try (0..<2).map { _ in
        let queue = try storeQueue(path)
        if spills { try queue.inDatabase { try $0.execute(sql: "PRAGMA cache_size = 5") } }
        return queue
      }
      try queues[0].write { try $0.execute(sql: "CREATE TABLE t (n INTEGER PRIMARY KEY, b BLOB)") }
      var rows: [Int: Int] = [:]
      for _ in 0..<60 {
        let writer = Int(random.next() % 2)
        let count = Int(random.next() % 120)
        var changed = rows
        try queues[writer].inTransaction(.immediate) { db in
          for step in 0..<count {
            let isTakenBack = !spills && random.next() % 5 == 0
            let (row, size) = (Int(random.next() % 100), Int(random.next() % 9000))
            try db.execute(sql: "SAVEPOINT s")
            try db.execute(
              sql: "INSERT OR REPLACE INTO t VALUES (?, zeroblob(?))", arguments: [row, size])
            if isTakenBack { try db.execute(sql: "ROLLBACK TO s") } else { changed[row] = size }
            try db.execute(sql: "RELEASE s")
            if step % 16 == 0 {
              #expect(try Self.rows(db) == changed)
            }
          }
          if random.next() % 4 == 0 { return .rollback }
          rows = changed
          return .commit
        }
        // What the other connection finds is in the file.
        #expect(try queues[1 - writer].read { try Self.rows($0) } == rows)
      }
      let problems = try queues[0].read { try String.fetchAll($0, sql: "PRAGMA integrity_check") }
      #expect(problems == ["ok"])
      for queue in queues { try queue.close() }
    }
  }

  private static func rows(_ db: Database) throws -> [Int: Int] {
    let rows = try Row.fetchAll(db, sql: "SELECT n, length(b) FROM t")
    return Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) })
  }
}
