import PushModel
import PushReference
import PushStore
import TestSupport
import Testing

@testable import PushFanout

/// Goal: a follower of the feed that is cut off at any moment, and goes on from the cursor that it
/// had saved, ends with what the store has; whatever is written, compacted and erased meanwhile. So
/// does the store's engine, whose tables are made again in between.
@Suite struct FollowerTests {
  private static let writes = 300

  /// Writes at random, and compacts and erases now and then.
  private static func write(
    _ store: SettingsStore, _ rules: RuleSet, _ random: inout SeededGenerator
  ) throws {
    var model = OperationDifferentialTests.model(rules)
    for _ in 0..<writes {
      let operation = RandomWrite.random(rules, model, &random)
      _ = OperationDifferentialTests.apply([operation], to: &model, at: .zero)
      // Some are refused.
      do { try store.write(at: .zero) { try operation.apply(to: &$0) } } catch {}
      if random.oneIn(20) { try store.compact(FeedRetention(entries: 5), at: .zero) }
      if random.oneIn(40), let user = model.known.min(by: { $0.text < $1.text }) {
        model.erase(user)
        try store.erase(.user(user), at: .zero)
      }
      if random.oneIn(10) {
        try store.fanout.update { (update) throws(FanoutError) in update.writer.compact() }
      }
    }
  }

  /// Follows until it is cancelled, or until it stops by itself within an entry: what it has read
  /// of that is lost.
  private static func follow(
    _ store: SettingsStore, _ saved: Locked<StoreReplica>, seed: UInt64
  ) async throws {
    var random = SeededGenerator(seed: seed)
    var replica = saved.withLock { $0 }
    do {
      for try await event in store.events(after: replica.cursor) {
        if random.oneIn(10) { return try replica.apply(event, store) }
        try replica.take(event, store)
        saved.withLock { [replica] in $0 = replica }
        // A reload has moved the cursor.
        if replica.cursor != event.cursor { return }
      }
    } catch StoreError.changesDropped {
      try replica.reload(store)
      saved.withLock { [replica] in $0 = replica }
    }
  }

  @Test(arguments: RuleSet.allCases, seeds([1]))
  func aFollowerThatIsCutOffEndsEqual(rules: RuleSet, seed: UInt64) async throws {
    try await withStore { path in
      var random = SeededGenerator(seed: seed)
      let store = try SettingsStore(path, .create, threads: 1)
      let start = OperationDifferentialTests.model(rules)
      try await store.write(at: .zero) { write in
        try write.setApp(start.app)
        for id in start.ids {
          try write.setConversation(id, start.conversations[id] ?? ConversationSettings())
        }
        for place in start.members.keys { try write.setMember(place.user, of: place.conversation) }
      }
      let saved = Locked(try StoreReplica(store))
      let isDone = Locked(false)
      let writer = Task.detached { [random] in
        defer { isDone.withLock { $0 = true } }
        var random = random
        try Self.write(store, rules, &random)
      }
      var cuts = 0
      while !isDone.withLock({ $0 }) || cuts < 5 {
        let number = random.next()
        let follower = Task { try await Self.follow(store, saved, seed: number) }
        try await Task.sleep(for: .microseconds(Int.random(in: 0...5000, using: &random)))
        follower.cancel()
        try await follower.value
        cuts += 1
      }
      try await writer.value
      var replica = saved.withLock { $0 }
      try replica.catchUp(store)
      #expect(try replica.difference(from: store) == nil, "seed \(seed), \(cuts) cuts")
      let settings = try store.reader.settingsWithContent().0
      var reference = ReferenceEvaluator(settings)
      var recipients = 0
      for conversation in start.ids {
        let message = Message(
          id: "m", conversation: conversation, at: Instant(milliseconds: RandomWorld.noon))
        // Their users have other indices.
        let result = store.fanout.decide(message)
        let found = result.rows.map { "\(result.id(of: UserIndex($0.user))) \($0.code)" }
        let expected = reference.rows(message).map {
          "\(settings.id(of: UserIndex($0.user))) \($0.code)"
        }
        #expect(Set(found) == Set(expected), "seed \(seed)")
        recipients += found.count
      }
      #expect(recipients > 0, "seed \(seed)")
      try await store.close()
    }
  }
}
