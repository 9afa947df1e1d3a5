import Foundation
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
