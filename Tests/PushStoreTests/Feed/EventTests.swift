import Foundation
import PushFanout
import PushModel
import PushStore
import Testing
import TestSupport

/// Goal: whoever follows the change feed sees every change in order, also a slow one, also after a
/// restart, and without asking again and again.
@Suite struct EventTests {
  private func write(_ user: Identifier, to store: SettingsStore) async throws {
    try await store.write(at: .zero) { try $0.setUser(user, UserSettings()) }
  }

  @Test func aFollowerIsWokenByEachCommit() async throws {
    try await withStore { path in
      let store = try SettingsStore(path, .create, threads: 1)
      let seen = Locked<[Int64]>([])
      let follower = Task {
        for try await event in store.events() {
          // What it is told of is what is decided by.
          if let user = event.user { #expect(store.fanout.user(user) != nil) }
          seen.withLock { $0.append(event.sequence) }
        }
      }
      for number in 0..<30 { try await write(Identifier("u\(number)"), to: store) }
      try await until { seen.withLock { $0.count } == 30 }
      for number in 0..<30 { try await write(Identifier("u\(number)"), to: store) }
      try await until { seen.withLock { $0.count } == 60 }
      #expect(seen.withLock { $0 } == Array(1...60))
      try await store.close()
      try await follower.value
    }
  }

  @Test func aSlowFollowerLosesNothingAndGoesOnAfterARestart() async throws {
    try await withStore { path in
      let store = try SettingsStore(path, .create, threads: 1)
      for number in 0..<700 {
        try await write(Identifier("u\(number % 3)"), to: store)
      }
      var events = store.events(of: "u1").makeAsyncIterator()
      var seen: [Int64] = []
      var last = FeedCursor.start
      while seen.count < 100, let event = try await events.next() {
        seen.append(event.sequence)
        last = event.cursor
      }
      try await store.close()

      let again = try SettingsStore(path, threads: 1)
      var rest = again.events(after: last, of: "u1").makeAsyncIterator()
      while seen.count < 233, let event = try await rest.next() { seen.append(event.sequence) }
      #expect(seen == (1...700).filter { $0 % 3 == 2 })
      // An import concerns everybody.
      try await again.importSettings(FanoutSettings(), at: .zero)
      #expect(try await rest.next()?.change == .imported)
      try await again.close()
      #expect(try await rest.next() == nil)
    }
  }

  @Test func aCancelledFollowerEnds() async throws {
    try await withStore { path in
      let store = try SettingsStore(path, .create, threads: 1)
      let followers = (0..<20).map { _ in
        Task { () -> Int in
          var count = 0
          for try await _ in store.events() { count += 1 }
          return count
        }
      }
      try await write("u", to: store)
      for follower in followers { follower.cancel() }
      for follower in followers { #expect(try await follower.value <= 1) }
      try await store.close()
    }
  }

  @Test func aReaderSeesTheChangesOfTheWriter() async throws {
    try await withStore { path in
      let store = try SettingsStore(path, .create, threads: 1)
      let reader = try SettingsStore(path, .read, threads: 1)
      var events = reader.events().makeAsyncIterator()
      for number: Int64 in 1...3 {
        try await write(Identifier("u\(number)"), to: store)
        #expect(try await events.next()?.sequence == number)
      }
      try await reader.close()
      try await store.close()
    }
  }

  /// Waits for what happens soon.
  private func until(_ isTrue: () -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(3600)
    while !isTrue() {
      try #require(ContinuousClock.now < end)
      try await Task.sleep(for: .milliseconds(1))
    }
  }
}

/// Goal: an id is a key of any characters: stored and read back exactly, or refused for its length.
@Suite struct IdentifierTests {
  static let ids: [Identifier] = [
    "'", "\"", "\\", "'; DROP TABLE users; --", "a\0b", "\0", "\u{1}\u{1F}\n\r\t", "é", "e\u{301}",
    "\u{FEFF}x", "\u{202E}abc", "😀👨‍👩‍👧", "\u{10FFFF}", "%s%n?1:x@y$z", "NULL", " ", "u", "U",
    Identifier(String(repeating: "ü'\"", count: 2500)),
    Identifier(String(repeating: "x", count: 65_536)),
  ]

  @Test func idsComeBackAsTheyWere() throws {
    try withStore { path in
      let store = try SettingsStore(path, .create, threads: 1)
      for (number, id) in Self.ids.enumerated() {
        var user = UserSettings()
        user.mutedUntil = Instant(milliseconds: Int64(number) + 1)
        user.devices = [Device(id: id, notifier: id)]
        let settings = user
        try store.write(at: .zero, from: id) { write in
          try write.setUser(id, settings)
          try write.setConversation(id, ConversationSettings(kind: .room, channels: [id: .all]))
          try write.setMember(id, of: id, MemberSettings(level: .all, channels: [id: .blocked]))
        }
      }
      let found = try store.reader.settings()
      #expect(found.userCount == Self.ids.count)
      for (number, id) in Self.ids.enumerated() {
        #expect(found.user(id).mutedUntil.milliseconds == Int64(number) + 1)
        #expect(found.user(id).devices == [Device(id: id, notifier: id)])
        #expect(found.conversation(id)?.channels == [id: .all])
        #expect(
          found.index(of: id).flatMap { found.member($0, of: id) }
            == MemberSettings(level: .all, channels: [id: .blocked]))
        #expect(store.fanout.user(id)?.mutedUntil.milliseconds == Int64(number) + 1)
        #expect(try store.changes(of: id).compactMap(\.device) == [id, id])
      }
      try store.close()
      let again = try SettingsStore(path, threads: 1)
      for id in Self.ids { #expect(again.fanout.memberCount(of: id) == 1) }
      try again.close()
    }
  }

  @Test func idsThatAreTooLongOrEmptyAreRefused() throws {
    try withStore { path in
      let store = try SettingsStore(path, .create, threads: 1)
      for (id, count) in [("", 0), (Identifier(String(repeating: "é", count: 32_769)), 65_538)] {
        let error = StoreError.idLength(count)
        #expect(throws: error) { try store.write(at: .zero) { try $0.setUser(id, .init()) } }
        #expect(throws: error) { try store.write(at: .zero) { try $0.setMember("u", of: id) } }
        var settings = FanoutSettings()
        settings.setMember(id, of: "g")
        let refused = settings
        #expect(throws: error) { try store.importSettings(refused, at: .zero) }
      }
      #expect(store.fanout.userCount == 0)
      #expect(try store.changes() == [])
      #expect(StoreError.idLength(0).description == "an id of 0 bytes is not in 1...65536")
      try store.close()
    }
  }
}
