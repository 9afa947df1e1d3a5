import PushContent
import PushFanout
import PushModel
import PushStore
import TestSupport
import Testing

/// Goal: a copy that takes the changes of a store from time to time is as the store is after each
/// time, whatever was written; and it is told when it has to be made anew.
@Suite struct StoreChangesTests {
  /// A copy of a store, and the last entry of the store's feed that it has.
  private struct Copy {
    let store: SettingsStore
    private(set) var cursor: FeedCursor

    init(of store: SettingsStore, at path: String) throws {
      cursor = try store.reader.endOfFeed()
      try store.reader.backup(to: path)
      self.store = try SettingsStore(path, .write, threads: 1)
    }

    /// - Returns: false when it has to be made anew.
    mutating func follow(_ other: SettingsStore) throws -> Bool {
      guard let changes = try other.reader.changes(since: cursor, limit: 1000) else { return false }
      var settings = FanoutSettings(app: try other.reader.app())
      var hasApp = false
      for record in changes.records {
        settings.set(record)
        if case .app = record { hasApp = true }
      }
      try store.write(at: .zero) { [settings, hasApp] write in
        try write.follow(
          changes.removals, settings, content: changes.content, replacingApp: hasApp)
      }
      cursor = changes.end
      return true
    }
  }

  /// A record, and how pushes look by it.
  private struct Entry: Hashable {
    let record: SettingsRecord
    var display = RecipientDisplay()
    var name: String?
  }

  /// Everything that is stored; users in the order of their numbers.
  private static func records(_ store: SettingsStore) throws -> (all: Set<Entry>, users: [String]) {
    var all: Set<Entry> = []
    var users: [String] = []
    var content = ContentDirectory()
    try store.reader.forEachRecord(content: { content = $0 }) { record in
      var entry = Entry(record: record)
      switch record {
      case .app: break
      case .user(let id, _):
        users.append(id.text)
        entry.display = content.user(id)
      case .conversation(let id, _): entry.name = content.name(of: id)
      case .member(let user, let id, _, _): entry.name = content.nickname(of: user, in: id)
      }
      all.insert(entry)
    }
    return (all, users)
  }

  @Test(arguments: RuleSet.allCases, seeds([1, 2]))
  func aCopyIsAsTheStoreIs(rules: RuleSet, seed: UInt64) async throws {
    try await withStore { path in
      var random = SeededGenerator(seed: seed)
      let store = try SettingsStore(path, .create, threads: 1)
      var model = OperationDifferentialTests.model(rules)
      let start = model
      try await store.write(at: .zero) { write in
        try write.setApp(start.app)
        for id in start.ids {
          try write.setConversation(id, start.conversations[id] ?? ConversationSettings())
        }
        for place in start.members.keys { try write.setMember(place.user, of: place.conversation) }
      }
      var copies = 1
      var copy = try Copy(of: store, at: path + ".copy1")
      var followed = 0
      for round in 0..<60 {
        for _ in 0..<Int.random(in: 1...8, using: &random) {
          let operation = RandomWrite.random(rules, model, &random)
          _ = OperationDifferentialTests.apply([operation], to: &model, at: .zero)
          // Some are refused.
          do { try await store.write(at: .zero) { try operation.apply(to: &$0) } } catch {}
        }
        if random.oneIn(3) {
          let id = Identifier("new\(round)")
          try await store.write(at: .zero) { write in
            try write.setUser(id, UserSettings())
            if let group = start.ids.first { try write.setMember(id, of: group) }
          }
        }
        var isFollowed = false
        do { isFollowed = try copy.follow(store) } catch StoreError.changesDropped {}
        if !isFollowed {
          try await copy.store.close()
          copies += 1
          copy = try Copy(of: store, at: path + ".copy\(copies)")
        } else {
          followed += 1
        }
        let (expected, found) = (try Self.records(store), try Self.records(copy.store))
        #expect(
          found.all.symmetricDifference(expected.all) == [], "seed \(seed), round \(round)")
        #expect(found.users == expected.users, "seed \(seed), round \(round)")
      }
      #expect(followed > 20, "seed \(seed): \(copies) copies")
      try await copy.store.close()
      try await store.close()
    }
  }

  @Test func whatIsNotListedNeedsANewCopy() throws {
    try withStore { path in
      let store = try SettingsStore(path, .create, threads: 1)
      try store.write(at: .zero) { try $0.setUser("u1", UserSettings()) }
      let cursor = try store.reader.endOfFeed()
      #expect(try store.reader.changes(since: cursor, limit: 10)?.entryCount == 0)
      try store.write(at: .zero) { write in
        for number in 0..<5 { try write.setUser(Identifier("n\(number)"), UserSettings()) }
      }
      #expect(try store.reader.changes(since: cursor, limit: 4) == nil)
      #expect(
        try store.reader.changes(since: cursor, limit: 5)?.records
          == (0..<5).map { .user(Identifier("n\($0)"), UserSettings()) })
      let settings = FanoutSettings()
      try store.importSettings(settings, at: .zero, replacingApp: false)
      #expect(try store.reader.changes(since: cursor, limit: 100) == nil)
      let unknown = try #require(FeedCursor("3-00c0ffee00c0ffee"))
      #expect(throws: StoreError.unknownChange(path, unknown)) {
        _ = try store.reader.changes(since: unknown, limit: 100)
      }
      try store.close()
    }
  }
}
