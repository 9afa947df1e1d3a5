import Foundation
import PushModel
import PushStore
import TestSupport
import Testing

/// Goal: whoever follows the change feed misses nothing without being told: not after a restore of an
/// old copy, not after export and import.
@Suite struct FeedCursorTests {
  private func write(_ users: ClosedRange<Int>, _ prefix: String, to path: String) throws {
    let store = try SettingsStore(path, .create, threads: 1)
    for number in users {
      try store.write(at: .zero) { try $0.setMember(Identifier("\(prefix)\(number)"), of: "g") }
    }
    try store.close()
  }

  private func changes(_ path: String, after cursor: FeedCursor) throws -> [String] {
    let store = try SettingsStore(path, .read, threads: 1)
    defer { try? store.close() }
    return try store.changes(after: cursor).map { $0.user?.text ?? "" }
  }

  private func end(_ path: String) throws -> FeedCursor {
    let reader = try StoreReader(path)
    defer { try? reader.close() }
    return try reader.endOfFeed()
  }

  @Test func aCursorOfAnotherFeedIsRefused() async throws {
    let folder = ScratchFolder()
    let path = folder.path("settings.store")
    try write(1...5, "old", to: path)
    let (old, kept) = (try Data(contentsOf: URL(filePath: path)), try end(path))
    try write(6...9, "gone", to: path)
    let seen = try end(path)
    try old.write(to: URL(filePath: path))
    // Beyond the end, and then a number that another change has got.
    let error = StoreError.unknownChange(path, seen)
    #expect(throws: error) { try changes(path, after: seen) }
    try write(6...12, "new", to: path)
    #expect(throws: error) { try changes(path, after: seen) }
    #expect(try changes(path, after: kept) == (6...12).map { "new\($0)" })
    let store = try SettingsStore(path, .read, threads: 1)
    #expect(throws: error) { try store.announcements(to: "u", after: seen) }
    var events = store.events(after: seen).makeAsyncIterator()
    await #expect(throws: error) { try await events.next() }
    try await store.close()

    // Exported and imported, the entries are gone, and their numbers come again.
    let reader = try StoreReader(path)
    let settings = try reader.settings()
    try reader.close()
    let other = folder.path("other.store")
    try StoreImport(other).run(settings, at: .zero, replacingApp: true)
    try write(1...20, "new", to: other)
    #expect(throws: StoreError.unknownChange(other, kept)) { try changes(other, after: kept) }
    #expect(try changes(other, after: .start).count == 21)

    // A backup has the same entries up to where it was made.
    let copy = folder.path("copy.store")
    let source = try StoreReader(path)
    try source.backup(to: copy)
    try source.close()
    #expect(try changes(copy, after: kept).count == 7)
  }

  @Test func cursorsAsText() throws {
    try ScratchFolder.with { folder in
      let path = folder.appending(path: "settings.store").path
      #expect("\(FeedCursor.start)" == "0")
      try write(1...40, "u", to: path)
      let store = try SettingsStore(path, .read, threads: 1)
      let cursors = try store.changes().map(\.cursor)
      try store.close()
      #expect(cursors.map { FeedCursor("\($0)") } == cursors)
      #expect(cursors.allSatisfy { "\($0)".hasPrefix("\($0.sequence)-") })
      let wrong = [
        "", "1", "-1", "0-0123456789abcdef", "1-", "1-0123456789abcde", "1-0123456789abcdeg",
        "1-+123456789abcdef", "x-0123456789abcdef", "1-0123456789abcdef-",
      ]
      #expect(wrong.filter { FeedCursor($0) != nil } == [])
    }
  }
}
