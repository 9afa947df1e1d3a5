import PushContent
import PushFanout
import PushModel
import PushStore
import TestSupport
import Testing

/// Goal: what is read together is of one commit, while somebody writes.
@Suite struct StoreReadingTests {
  /// A user's mute and push name, which each write makes the same.
  private static func write(_ number: Int64, to store: SettingsStore) throws {
    try store.write(at: .zero) { write in
      try write.updateUser("u") { $0.mutedUntil = Instant(milliseconds: number) }
      try write.updatePushDisplayName("\(number)", of: "u")
    }
  }

  private static func found(_ user: UserSettings, _ content: ContentDirectory) -> [String?] {
    ["\(user.mutedUntil.milliseconds)", content.user("u").name]
  }

  @Test func recordsAndContentAreOfOneCommit() throws {
    let path = ScratchFolder()
    let store = try SettingsStore(path.path("s"), .create)
    try Self.write(1, to: store)
    let reader = try StoreReader(path.path("s"))
    var content = ContentDirectory()
    var user = UserSettings()
    try reader.forEachRecord(content: {
      content = $0
      try Self.write(2, to: store)
    }) { record in
      if case .user(_, let found) = record { user = found }
    }
    let first = Self.found(user, content)
    let (settings, later, _) = try reader.settingsWithContent()
    let second = Self.found(settings.user("u"), later)
    try reader.close()
    try store.close()
    #expect([first, second] == [["1", "1"], ["2", "2"]])
  }

  /// What a reader made beside a store, it removes; while somebody writes, nothing is removed.
  @Test func theLogStaysForAWriter() throws {
    let folder = ScratchFolder()
    let path = folder.path("s")
    func members() throws -> Int {
      let reader = try StoreReader(path)
      defer { try? reader.close() }
      return try reader.settingsWithContent().0.members(of: "g").count
    }
    func write(_ id: Identifier, _ store: SettingsStore) throws {
      try store.write(at: .zero) { try $0.setMember(id, of: "g") }
    }
    try SettingsStore(path, .create, threads: 1).close()
    #expect(try members() == 0)
    #expect(try folder.names.filter { $0.contains("-wal") || $0.contains("-shm") } == [])
    // One that opened first ends while a writer has its log, and while it was closed and opened again.
    let first = try StoreReader(path)
    let store = try SettingsStore(path, .write, threads: 1)
    try write("a", store)
    try first.close()
    #expect(try folder.names.contains("s-wal"))
    try write("b", store)
    #expect(try members() == 2)
    let second = try StoreReader(path)
    try store.close()
    let again = try SettingsStore(path, .write, threads: 1)
    try write("c", again)
    try second.close()
    try write("d", again)
    #expect(try members() == 4)
    try again.close()
    #expect(try members() == 4)
  }

  @Test func engineAndContentAreOfOneCommit() async throws {
    let path = ScratchFolder()
    let store = try SettingsStore(path.path("s"), .create)
    try Self.write(1, to: store)
    let isDone = Locked(false)
    let writer = Task.detached {
      var number: Int64 = 1
      while !isDone.withLock({ $0 }) {
        number += 1
        try Self.write(number, to: store)
      }
    }
    var differing: [[String?]] = []
    for _ in 0..<100 {
      let reader = try StoreReader(path.path("s"))
      let (fanout, content, _, _) = try reader.fanoutWithContent(threads: 1)
      let found = Self.found(fanout.user("u") ?? UserSettings(), content)
      if found[0] != found[1] { differing.append(found) }
      try reader.close()
    }
    isDone.withLock { $0 = true }
    try await writer.value
    try await store.close()
    #expect(differing == [])
  }
}
