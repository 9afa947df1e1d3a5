import Foundation
import GRDB
import PushModel
import TestSupport
import Testing

@testable import PushFanout
@testable import PushStore

/// Goal: a store that is opened by its snapshot is the store that it is without one; a snapshot
/// that is of no use is said, passed over, and replaced.
@Suite struct StoreSnapshotTests {
  /// A store with records of every kind and its snapshot, in which nobody is called `late`.
  private static func store(in folder: URL, _ name: String = "settings.store") throws -> String {
    let path = folder.appending(path: name).path
    let store = try SettingsStore(path, .create, threads: 1)
    var settings = FanoutSettings()
    for number in 0..<4 {
      var model = WriterModel(writer: number, imports: false)
      model.advance(to: 20)
      model.add(to: &settings)
    }
    settings.setConversation("t", ConversationSettings(kind: .thread, parent: "g1"))
    try store.importSettings(settings, at: .zero)
    try store.writeSnapshot()
    try store.close()
    return path
  }

  private static func snapshot(_ path: String) -> URL { URL(filePath: path + ".snapshot") }

  /// How a store opens, and that it holds then what its tables hold.
  private func opening(
    _ path: String, _ access: SettingsStore.Access = .write,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> StoreOpening {
    let store = try SettingsStore(path, access, threads: 1)
    let rebuilt = try store.reader.read { try $0.fanout(threads: 1) }
    let difference = store.fanout.difference(from: rebuilt)
    #expect(difference == nil, sourceLocation: sourceLocation)
    try store.close()
    return store.opening
  }

  @Test func changesBehindTheSnapshotAreRead() throws {
    try ScratchFolder.with { folder in
      let path = try Self.store(in: folder)
      #expect(try opening(path) == .snapshot(sequence: 1, changes: 0))
      #expect(try opening(path, .read) == .snapshot(sequence: 1, changes: 0))
      let store = try SettingsStore(path, threads: 1)
      // New users who are only named, members who come and go, a new group with nobody left in it.
      try store.write(at: .zero) { write in
        try write.setMember("late-b", of: "new")
        try write.setMember("late-a", of: "new", MemberSettings(level: .blocked))
        try write.removeMember("late-b", of: "new")
        try write.removeMember("late-a", of: "new")
        try write.setMember(
          "late-c", of: "g1", MemberSettings(mutedUntil: Instant(milliseconds: 5)))
        try write.setConversation("t2", ConversationSettings(kind: .thread, parent: "g-unheard"))
        var app = try write.app()
        app.timeZone = "Asia/Kathmandu"
        try write.setApp(app)
        try write.updateUser("late-c") { $0.level = .mention }
      }
      let last = try #require(try store.changes(limit: 10_000).last?.sequence)
      try store.close()
      #expect(try opening(path) == .snapshot(sequence: 1, changes: last - 1))
      #expect(try opening(path, .read) == .snapshot(sequence: 1, changes: last - 1))
    }
  }

  @Test func anImportBehindTheSnapshotRebuilds() throws {
    try ScratchFolder.with { folder in
      let path = try Self.store(in: folder)
      var settings = FanoutSettings()
      settings.setMember("late", of: "g1", MemberSettings(level: .all))
      try StoreImport(path).run(settings, at: .zero, replacingApp: false)
      #expect(try opening(path) == .rebuilt("records were imported since the snapshot"))
    }
  }

  /// Everything that can be wrong with the file; the store opens all the same.
  @Test func aSnapshotThatIsOfNoUseIsSaid() throws {
    try ScratchFolder.with { folder in
      let path = try Self.store(in: folder)
      let url = Self.snapshot(path)
      let bytes = try Data(contentsOf: url)
      try FileManager.default.removeItem(at: url)
      #expect(try opening(path) == .rebuilt("there is no snapshot"))

      var changed = bytes
      changed[bytes.count / 2] ^= 4
      let cut = bytes.prefix(bytes.count - 1)
      for (bytes, message) in [
        (Data("text".utf8), "is not a snapshot"), (Data(), "is not a snapshot"),
        (cut, "is damaged: \(cut.count) bytes, expected \(bytes.count)"),
        (changed, "is damaged: checksum mismatch in "),
      ] {
        try bytes.write(to: url)
        for access in [SettingsStore.Access.read, .write] {
          let opening = try opening(path, access)
          guard case .rebuilt(let reason) = opening else {
            Issue.record("\(opening)")
            continue
          }
          #expect(reason.hasPrefix("snapshot \(url.path) \(message)"))
        }
        let reader = try StoreReader(path)
        let problems = try reader.check()
        try reader.close()
        #expect(problems.map(\.kind) == [.snapshot])
      }
      // Another store's.
      let other = try Self.store(in: folder, "other.store")
      try FileManager.default.removeItem(at: url)
      try FileManager.default.copyItem(at: Self.snapshot(other), to: url)
      guard case .rebuilt(let reason) = try opening(path, .read) else {
        Issue.record("another store's snapshot was taken")
        return
      }
      #expect(reason.contains("belongs to another store"))
      // Who writes the store leaves it, until another takes its place.
      #expect(try opening(path) == .rebuilt(reason))
    }
  }

  /// A snapshot of an earlier program is no fault: the engine is built from the records, and who
  /// writes the store replaces it.
  @Test func aSnapshotOfAnotherVersionIsReplaced() throws {
    try ScratchFolder.with { folder in
      let path = try Self.store(in: folder)
      let url = Self.snapshot(path)
      var bytes = [UInt8](try Data(contentsOf: url))
      bytes[12] -= 1
      let sum = checksum(Array(bytes[..<4088]))
      bytes.replaceSubrange(
        4088..<4096, with: (0..<8).map { UInt8(truncatingIfNeeded: sum >> UInt64(8 * $0)) })
      try Data(bytes).write(to: url)
      let other = StoreOpening.rebuilt(
        "snapshot \(url.path) has an unsupported version: tables 5, expected 6")
      #expect(try opening(path, .read) == other)
      let reader = try StoreReader(path)
      #expect(try reader.check() == [])
      try reader.close()
      let store = try SettingsStore(path, threads: 1)
      #expect(store.opening == other)
      try store.writeSnapshot()
      try store.close()
      #expect(try opening(path) == .snapshot(sequence: 1, changes: 0))
    }
  }

  /// An old copy of the file is put back: its changes are others from some number on.
  @Test(arguments: [true, false]) func anOldCopyIsPutBack(opensBetween: Bool) throws {
    try ScratchFolder.with { folder in
      let path = try Self.store(in: folder)
      let old = try Data(contentsOf: URL(filePath: path))
      let store = try SettingsStore(path, threads: 1)
      for number in 0..<5 {
        try store.write(at: .zero) { try $0.setMember(Identifier("one-\(number)"), of: "g1") }
      }
      try store.writeSnapshot()
      try store.close()
      #expect(try opening(path) == .snapshot(sequence: 6, changes: 0))
      try old.write(to: URL(filePath: path))
      if opensBetween {
        #expect(
          try opening(path, .read)
            == .rebuilt(
              "the snapshot is of change 6, the store ends at 1: unless an older copy was "
                + "restored, the log with the changes since was lost; write them again, or restore "
                + "a backup"))
      }
      // Somebody writes on, without ever deciding.
      let again = try SettingsStore(path, .write, withEngine: false)
      for number in 0..<9 {
        try again.write(at: .zero) { try $0.setMember(Identifier("other-\(number)"), of: "g2") }
      }
      try again.close()
      let other = "the snapshot is of changes that the store does not have"
      #expect(try opening(path) == .rebuilt(other))
    }
  }

  /// A snapshot of changes that are no longer there is not taken for one of others that got their
  /// numbers: neither when they were imported, nor when somebody wrote where no snapshot is kept.
  @Test(arguments: [true, false]) func changesGetTheNumbersOfOthers(byImport: Bool) throws {
    try ScratchFolder.with { folder in
      let path = try Self.store(in: folder)
      let old = try Data(contentsOf: URL(filePath: path))
      func change(_ user: Identifier, _ path: String) throws {
        var settings = UserSettings()
        settings.level = .blocked
        if byImport {
          var imported = FanoutSettings()
          imported.setUser(user, settings)
          try StoreImport(path).run(imported, at: .zero, replacingApp: false)
        } else {
          let store = try SettingsStore(path, .write, withEngine: false)
          let written = settings
          try store.write(at: .zero) { try $0.setUser(user, written) }
          try store.close()
        }
      }
      try change("one", path)
      let store = try SettingsStore(path, threads: 1)
      try store.writeSnapshot()
      try store.close()
      let stale = try Data(contentsOf: Self.snapshot(path))
      // The same numbers for something else, and more.
      let other = folder.appending(path: "other.store").path
      try old.write(to: URL(filePath: other))
      try change("two", other)
      try change("two", other)
      try Data(contentsOf: URL(filePath: other)).write(to: URL(filePath: path))
      let reader = try StoreReader(path)
      #expect(
        try reader.check().map(\.description) == [
          "the snapshot is of changes that the store does not have"
        ])
      try reader.close()
      #expect(
        try opening(path, .read)
          == .rebuilt("the snapshot is of changes that the store does not have"))
      try stale.write(to: Self.snapshot(path))
      try change("three", path)
      #expect(
        try opening(path)
          == .rebuilt("the snapshot is of changes that the store does not have"))
    }
  }

  @Test func aBackupIsAStoreOfItsOwn() throws {
    try ScratchFolder.with { folder in
      let path = try Self.store(in: folder)
      let copy = folder.appending(path: "copy.store").path
      let reader = try StoreReader(path)
      try reader.backup(to: copy)
      try reader.close()
      try FileManager.default.copyItem(at: Self.snapshot(path), to: Self.snapshot(copy))
      guard case .rebuilt(let reason) = try opening(copy, .read) else {
        Issue.record("the first store's snapshot was taken")
        return
      }
      #expect(reason.contains("belongs to another store"))
    }
  }

  /// Written beside other work when there is much, and what was left behind is removed.
  @Test func aLargeStoreHasOneWithoutBeingAsked() throws {
    try ScratchFolder.with { folder in
      let path = folder.appending(path: "settings.store").path
      var settings = FanoutSettings()
      for number in 0..<SnapshotKeeper.leastRecords / 2 {
        settings.setMember(Identifier("u\(number)"), of: "g")
      }
      let store = try SettingsStore(path, .create, threads: 1)
      try store.importSettings(settings, at: .zero)
      try store.close()
      #expect(try opening(path) == .snapshot(sequence: 1, changes: 0))
      let left = Self.snapshot(path).path + ".tmp-1"
      try Data("half".utf8).write(to: URL(filePath: left))
      try FileManager.default.removeItem(at: Self.snapshot(path))
      #expect(try opening(path) == .rebuilt("there is no snapshot"))
      #expect(!FileManager.default.fileExists(atPath: left))
      #expect(try opening(path, .read) == .snapshot(sequence: 1, changes: 0))
    }
  }

  @Test func aSnapshotThatCannotBeWrittenHarmsNothing() throws {
    try ScratchFolder.with { folder in
      let path = try Self.store(in: folder)
      let store = try SettingsStore(path, threads: 1)
      try FileManager.default.removeItem(at: Self.snapshot(path))
      try FileManager.default.createDirectory(
        at: Self.snapshot(path), withIntermediateDirectories: false)
      let message = "snapshot \(path).snapshot is not a regular file"
      #expect(throws: SnapshotError(path: path + ".snapshot", problem: .notAFile)) {
        try store.writeSnapshot()
      }
      #expect(store.snapshotProblem?.description == message)
      try store.write(at: .zero) { try $0.setMember("late", of: "g1") }
      try store.close()
      #expect(try opening(path) == .rebuilt(message))
      let reader = try SettingsStore(path, .read, threads: 1)
      #expect(throws: StoreError.readOnly(path)) { try reader.writeSnapshot() }
    }
  }

  /// However long the feed is, one user's part of it is found by an index.
  @Test func theFeedOfAUserIsNotSearched() throws {
    try ScratchFolder.with { folder in
      let path = try Self.store(in: folder)
      let reader = try StoreReader(path)
      let plan = try reader.read { queries in
        try Row.fetchAll(
          queries.db,
          sql: "EXPLAIN QUERY PLAN " + SettingsQueries.changesOfUser,
          arguments: [0, Data("u".utf8), 10]
        ).map { String(describing: $0["detail"] as String? ?? "") }
      }
      let steps = plan.filter { $0.contains("feed") }
      #expect(
        steps == [
          "SEARCH feed USING INDEX feed_by_user (user=? AND rowid>?)",
          "SEARCH feed USING INDEX feed_for_all (sequence>?)",
        ])
    }
  }
}
