import Foundation
import PushFanout
import PushModel
import PushStore
import TestSupport
import Testing

@Suite struct StoreTests {
  @Test func whatIsWrittenIsThereAfterReopening() throws {
    try withStore { path in
      let store = try SettingsStore(path, .create)
      let now = Instant(milliseconds: 1_764_000_000_000)
      var user = UserSettings()
      user.level = .mention
      user.timeZone = "Asia/Kathmandu"
      user.quietHours = try QuietInterval.parse(start: "22:00", end: "7:30").map { .interval($0) }
      user.mutedUntil = Instant(milliseconds: 1_764_000_600_000)
      user.devices = [
        Device(id: "a\0b", kind: .web, state: .loggedOut, hasToken: false, notifier: "n"),
        Device(id: "p", state: .background, backgroundSince: now),
      ]
      let settings = user
      try store.write(at: now) { write in
        try write.setUser("ü'\"", settings)
        try write.setMember("ü'\"", of: "g", MemberSettings(level: .all, since: now))
        try write.setMember("only named", of: "g")
      }
      #expect(store.fanout.user("ü'\"") == user)
      try store.close()
      #expect(throws: StoreError.closed(path)) { try store.write(at: now) { _ in } }

      let again = try SettingsStore(path)
      #expect(again.fanout.user("ü'\"") == user)
      #expect(again.fanout.user("only named") == UserSettings())
      #expect(
        again.fanout.member("ü'\"", of: "g") == MemberSettings(level: .all, since: now))
      #expect(again.fanout.memberCount(of: "g") == 2)
      #expect(
        try again.changes().map(\.change) == [.user, .member, .member])
      try again.close()
    }
  }

  @Test func aWriteThatThrowsChangesNothing() throws {
    try withStore { path in
      let store = try SettingsStore(path, .create)
      struct Refused: Error {}
      #expect(throws: Refused.self) {
        try store.write(at: .zero) { write in
          try write.setMember("u", of: "g")
          throw Refused()
        }
      }
      #expect(store.fanout.memberCount(of: "g") == 0)
      #expect(try store.changes().isEmpty)
      #expect(throws: StoreError.unknownTimeZone("Mars/Base")) {
        try store.write(at: .zero) { write in
          try write.updateUser("u", .quietHours) { $0.timeZone = "Mars/Base" }
        }
      }
      #expect(throws: StoreError.idLength(65_537)) {
        try store.write(at: .zero) { write in
          try write.setUser(Identifier(String(repeating: "x", count: 65_537)), UserSettings())
        }
      }
      try store.write(at: .zero) { write in
        try write.setUser(Identifier(String(repeating: "x", count: 65_536)), UserSettings())
      }
      try store.close()
    }
  }

  /// What stands in the feed is as long as an id may be.
  @Test func theWritingDeviceAndTheChannelAreIds() throws {
    try withStore { path in
      let store = try SettingsStore(path, .create)
      let long = Identifier(String(repeating: "x", count: 65_537))
      #expect(throws: StoreError.idLength(65_537)) {
        try store.write(at: .zero, from: long) { try $0.setUser("u", UserSettings()) }
      }
      #expect(throws: StoreError.idLength(0)) {
        try store.write(at: .zero, from: "") { try $0.setUser("u", UserSettings()) }
      }
      #expect(throws: StoreError.idLength(65_537)) {
        try store.write(at: .zero) {
          try $0.setConversation("c", ConversationSettings(), channel: long)
        }
      }
      try store.write(at: .zero, from: "p") { try $0.setUser("v", UserSettings()) }
      let events = try store.changes().map { [$0.user, $0.device] }
      #expect(events == [["v", "p"]])
      try store.close()
    }
  }

  /// A record of an import replaces that of the same key with all that belongs to it.
  @Test func anImportReplacesRecordsWhole() throws {
    try withStore { path in
      let store = try SettingsStore(path, .create, threads: 1)
      func imports(_ device: Identifier?, _ channel: Identifier?) throws {
        var settings = FanoutSettings(app: AppSettings(rules: .rongcloud))
        for id: Identifier in ["u1", "u2"] {
          var user = UserSettings()
          user.devices = device.map { [Device(id: $0), Device(id: "second")] }
          settings.setUser(id, user)
          settings.setMember(
            id, of: "g",
            MemberSettings(
              level: channel == nil ? .unset : .mention,
              channels: channel.map { [$0: .blocked] } ?? [:]))
        }
        settings.setConversation("g", ConversationSettings(kind: .ultraGroup))
        try store.importSettings(settings, at: .zero)
        for id: Identifier in ["u1", "u2"] {
          let found = try store.reader.settings()
          #expect(found.user(id) == settings.user(id))
          #expect(
            found.index(of: id).flatMap { found.member($0, of: "g") }
              == settings.index(of: id).flatMap { settings.member($0, of: "g") })
          #expect(store.fanout.user(id) == settings.user(id))
        }
        #expect(try store.reader.check() == [])
      }
      try imports(nil, nil)
      try imports(nil, nil)
      try imports("a", "x")
      try imports("b", "y")
      try imports(nil, nil)
      try store.close()
    }
  }

  @Test func anotherWriterIsRefused() throws {
    try withStore { path in
      let store = try SettingsStore(path, .create)
      #expect(throws: StoreError.inUse(path, byThisProcess: true)) { try SettingsStore(path) }
      let reader = try SettingsStore(path, .read)
      #expect(throws: StoreError.readOnly(path)) {
        try reader.write(at: .zero) { try $0.setMember("u", of: "g") }
      }
      try store.close()
    }
  }

  /// Every third write throws after it has changed something, which leaves the others of the same
  /// commit as they are.
  @Test func manyWritersShareCommits() async throws {
    struct Refused: Error {}
    try await withStore { path in
      let store = try SettingsStore(path, .create, commitInterval: .milliseconds(5))
      try await withThrowingTaskGroup { group in
        for writer in 0..<50 {
          group.addTask {
            for number in 0..<20 {
              let id = Identifier("u\(writer)-\(number)")
              if number % 3 == 2 {
                await #expect(throws: Refused.self) {
                  try await store.write(at: .zero) {
                    try $0.setMember(id, of: "g")
                    throw Refused()
                  }
                }
              } else {
                try await store.write(at: .zero) { try $0.setMember(id, of: "g") }
              }
              #expect((store.fanout.member(id, of: "g") == nil) == (number % 3 == 2))
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(store.fanout.memberCount(of: "g") == 700)
      #expect(try store.changes(limit: 5000).map(\.sequence) == Array(1...700))
      try await store.close()
      let again = try SettingsStore(path)
      #expect(again.fanout.memberCount(of: "g") == 700)
      try await again.close()
    }
  }
}

/// A path in a folder that is removed afterwards.
func withStore<Value>(_ body: (String) async throws -> Value) async throws -> Value {
  let folder = ScratchFolder()
  defer { withExtendedLifetime(folder) {} }
  return try await body(folder.path("settings.store"))
}

func withStore<Value>(_ body: (String) throws -> Value) throws -> Value {
  try ScratchFolder.with { try body($0.appending(path: "settings.store").path) }
}
