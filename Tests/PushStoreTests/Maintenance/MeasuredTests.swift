import Foundation
import GRDB
import PushContent
import PushModel
import TestSupport
import Testing

@testable import PushStore

/// What operations on large stores take, printed. `PUSH_MEASURE=1 swift test --filter MeasuredTests`
/// runs them; `PUSH_ENTRIES` and `PUSH_PEOPLE` are the sizes.
@Suite(.serialized, .enabled(if: ProcessInfo.processInfo.environment["PUSH_MEASURE"] != nil))
struct MeasuredTests {
  private static func size(_ name: String, _ usual: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? usual
  }

  @Test func compactingALargeFeed() throws {
    try withStore { path in
      let count = Self.size("PUSH_ENTRIES", 10_000_000)
      try SettingsStore(path, .create, threads: 1).close()
      let queue = try storeQueue(path)
      try queue.write { db in
        try db.execute(
          sql: """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
            INSERT INTO feed (at, change, user, token)
              SELECT i, 'userLevel', CAST('user-' || (i * 7919 % 1000003) AS BLOB), random() FROM n
            """)
      }
      try queue.close()
      let store = try SettingsStore(path, .write, withEngine: false)
      let start = ContinuousClock.now
      let removed = try store.compact(FeedRetention(entries: count / 100), at: .zero)
      print("compaction of \(removed) of \(count) entries: \(ContinuousClock.now - start)")
      #expect(removed == count - count / 100)
      try store.close()
    }
  }

  @Test func aChangeOfALiveRenderer() throws {
    let count = Self.size("PUSH_PEOPLE", 1_000_000)
    var directory = ContentDirectory()
    var display = RecipientDisplay()
    for number in 0..<count {
      display.name = "Name of person \(number)"
      directory.setUser(Identifier("user-\(number)"), display)
    }
    let live = LiveRenderer(.easemob, TemplateCatalog(), directory, version: 1)
    let changes = 1000
    let start = ContinuousClock.now
    for number in 0..<changes {
      display.name = "Another name \(number)"
      let made = display
      live.publish(version: UInt64(number + 2), rules: nil) { directory, _ in
        directory.setUser(Identifier("user-\(number * 997 % count)"), made)
      }
    }
    let each = (ContinuousClock.now - start) / changes
    print("a change of a live renderer beside \(count) people: \(each)")
    #expect(live.directory.user("user-0").name == "Another name 0")
  }
}
