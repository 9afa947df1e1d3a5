import Foundation
import GRDB
import PushModel
import PushStore
import Testing
import TestSupport

/// Goal: a file that was cut off or changed is an error, or reads as it was; it never crashes.
@Suite struct DamageTests {
  /// The bytes of a store with records of every kind, and its settings.
  private static func store(in folder: URL) throws -> (bytes: Data, settings: FanoutSettings) {
    let path = folder.appending(path: "whole").path
    var settings = FanoutSettings()
    for number in 0..<4 {
      var model = WriterModel(writer: number, imports: false)
      model.advance(to: 40)
      model.add(to: &settings)
    }
    settings.setConversation("t", ConversationSettings(kind: .thread, parent: "g1"))
    let store = try SettingsStore(path, .create, threads: 1)
    try store.importSettings(settings, at: .zero)
    for number in 0..<20 {
      try store.write(at: .zero) { try $0.setMember("late", of: Identifier("g\(number)")) }
    }
    settings = try store.reader.settings()
    try store.close()
    return (try Data(contentsOf: URL(filePath: path)), settings)
  }

  /// What came of opening and reading a changed file: nil for settings that are as they were.
  private func outcome(_ path: String, _ settings: FanoutSettings) -> String? {
    defer {
      for end in ["-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: path + end)
      }
    }
    do {
      let store = try SettingsStore(path, threads: 1)
      defer { try? store.close() }
      let problems = try store.reader.check()
      if let first = problems.first { return "found: \(first.kind.rawValue): \(first)" }
      _ = try store.changes(limit: 100)
      return try store.reader.settings().hasSameRecords(as: settings) ? nil : "silently different"
    } catch let error as StoreError {
      return error.description
    } catch {
      return "another error: \(error)"
    }
  }

  @Test func aFileThatIsCutOffIsAnError() throws {
    try ScratchFolder.with { folder in
      let (bytes, settings) = try Self.store(in: folder)
      var random = SeededGenerator(seed: 11)
      let random20 = (0..<20).map { _ in Int.random(in: 1..<bytes.count, using: &random) }
      var silent: [Int] = []
      for length in [1, 16, 99, 100, 512, 4095, 4096, 4097, 8192, bytes.count - 1] + random20 {
        let path = folder.appending(path: "cut").path
        try bytes.prefix(length).write(to: URL(filePath: path))
        let outcome = outcome(path, settings)
        if outcome == "silently different" { silent.append(length) }
        #expect(outcome?.hasPrefix("another error") != true)
      }
      #expect(silent == [])
    }
  }

  @Test(arguments: seeds([1, 2]))
  func changedBitsAreNoticedOrChangeNoMore(seed: UInt64) throws {
    try ScratchFolder.with { folder in
      let (bytes, settings) = try Self.store(in: folder)
      var random = SeededGenerator(seed: seed)
      var other: [String] = []
      var noticed = 0
      for _ in 0..<150 {
        var changed = bytes
        for _ in 0..<Int.random(in: 1...8, using: &random) {
          let place = Int.random(in: 0..<bytes.count, using: &random)
          changed[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
        let path = folder.appending(path: "changed").path
        try changed.write(to: URL(filePath: path))
        let outcome = outcome(path, settings)
        if outcome?.hasPrefix("another error") == true || outcome == "silently different" {
          other.append(outcome ?? "")
        }
        if outcome != nil { noticed += 1 }
      }
      #expect(other == [])
      // A check reads free pages too.
      #expect(noticed == 150)
    }
  }

  /// Numbers without gaps are compared by their range, and settings with members as both are read.
  @Test func aCheckCountsRowsThatLeadNowhere() throws {
    try ScratchFolder.with { folder in
      let path = folder.appending(path: "settings.store").path
      let store = try SettingsStore(path, .create, threads: 1)
      try store.write(at: .zero) { write in
        try write.setMember("u1", of: "g", MemberSettings(level: .blocked))
        try write.setUser("u2", UserSettings())
        try write.setMember("u3", of: "other", MemberSettings(level: .mention))
      }
      try store.close()
      func found(_ sql: String...) throws -> Set<String> {
        let queue = try storeQueue(path)
        try queue.write { db in for one in sql { try db.execute(sql: one) } }
        try queue.close()
        let reader = try StoreReader(path)
        defer { try? reader.close() }
        return Set(try reader.check().map(\.description))
      }
      #expect(try found() == [])
      // Before a member's settings, between those of two conversations, and of no conversation.
      let settings = try found(
        """
        INSERT INTO member_settings
          VALUES (2, 1, 1, 0, NULL), (1, 2, 1, 0, NULL), (3, 7, 5, 0, NULL)
        """)
      #expect(settings == ["member_settings of a user who is not a member: 3"])
      let members = try found("INSERT INTO members VALUES (1, 99, 0), (42, 2, 0)")
      #expect(
        members == [
          "member_settings of a user who is not a member: 3", "members.user leads nowhere: 1",
          "members.conversation leads nowhere: 1", "members.user has an invalid value",
        ])
      let channels = try found(
        "DELETE FROM members WHERE user = 99 OR conversation = 42", "DELETE FROM member_settings",
        "INSERT INTO member_channels VALUES (2, 1, x'61', 1), (1, 9, x'61', 1)")
      #expect(
        channels == [
          "member_channels of a user who is not a member: 2",
          "member_channels.user names no member",
        ])
      // With a gap the numbers themselves are looked for.
      let gap = try found(
        "DELETE FROM member_channels", "DELETE FROM users WHERE number = 2",
        "INSERT INTO devices (user, position, id, kind, state, has_token)"
          + " VALUES (2, 0, x'61', 'mobile', 'offline', 1)")
      #expect(
        gap == [
          "users.number has gaps: 2 of 3 are there", "devices.user leads nowhere: 1",
          "users.number has an invalid value",
        ])
    }
  }

  @Test func aLogThatIsDeletedLeavesTheStoreReadable() throws {
    try ScratchFolder.with { folder in
      let path = folder.appending(path: "settings.store").path
      let writer = try StoreWriter(["write", path, "1", "0", "1000000"], in: folder)
      try writer.wait(for: "ack")
      writer.kill()
      // Whoever deletes the log deletes what is only there; the rest is whole or said not to be.
      for end in ["-wal", "-shm"] { try FileManager.default.removeItem(atPath: path + end) }
      do {
        let store = try SettingsStore(path, .write, threads: 1)
        #expect(try store.reader.check() == [])
        try store.close()
      } catch let error as StoreError {
        let known = [
          "\(path) is damaged: database disk image is malformed",
          "\(path) is damaged: the checksum of a page is wrong, or the page is gone",
        ]
        #expect(known.contains(error.description))
      }
    }
  }
}

extension FanoutSettings {
  /// Whether there are the same records, in the same order of users.
  func hasSameRecords(as other: FanoutSettings) -> Bool {
    guard app == other.app, userCount == other.userCount,
      conversationIDs == other.conversationIDs
    else { return false }
    for place in 0..<UInt32(userCount) {
      let index = UserIndex(place)
      if id(of: index) != other.id(of: index) || user(index) != other.user(index) { return false }
    }
    return conversationIDs.allSatisfy { id in
      conversation(id) == other.conversation(id) && members(of: id) == other.members(of: id)
        && members(of: id).allSatisfy { member($0, of: id) == other.member($0, of: id) }
    }
  }
}
