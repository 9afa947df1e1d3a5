import PushModel
import TestSupport
import Testing

@testable import PushFanout

/// Goal: ids that were fetched once belong to an answer exactly when epoch and membership version
/// are equal, and a pinned version keeps answering the same.
///
/// `PUSH_SEED=n swift test --filter MembershipVersionTests` runs one more seed.
@Suite struct MembershipVersionTests {
  private static let noon = Instant(milliseconds: 1_717_387_200_000)

  /// A conversation's members by rank, each way to read them, with the stamp of the answer.
  private struct Members: Equatable {
    let version: UInt64
    let ids: [Identifier]

    init(_ conversation: Identifier, _ engine: Fanout) {
      let result = engine.decide(Message(id: "m", conversation: conversation, at: noon))
      var ids: [Identifier] = []
      var users: [UInt32] = []
      result.forEachMember { user, id in
        ids.append(
          Identifier(unsafe id.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }))
        users.append(user.rawValue)
      }
      var written = [UInt32](repeating: .max, count: result.memberCount)
      var span = written.mutableSpan
      result.writeUsers(into: &span)
      #expect(written == users)
      #expect(ids == (0..<result.memberCount).map { result.id(of: result.member(at: $0)) })
      #expect(result.epoch == engine.epoch)
      version = result.membershipVersion
      self.ids = ids
    }
  }

  @Test(arguments: seeds) func equalVersionsMeanEqualRanks(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let users = (0..<40).map { Identifier("u\($0)") }
    let engine = try Fanout(app: AppSettings(), threads: 1)
    try engine.update { update throws(FanoutError) in
      try update.setConversation("t", ConversationSettings(kind: .thread, parent: "g0"))
    }
    var seen: [UInt64: [Identifier]] = [:]
    var changes = 0
    for step in 0..<600 {
      let conversation = Identifier("g\(Int.random(in: 0..<3, using: &random))")
      let user = random.pick(users)
      let before = Members(conversation, engine)
      let kind = Int.random(in: 0..<4, using: &random)
      let isMember = before.ids.contains(user)
      let level: NotificationLevel = random.pick([.all, .mention, .blocked])
      try engine.update { update throws(FanoutError) in
        switch kind {
        case 0: try update.setUser(user, UserSettings())
        case 1 where isMember: try update.removeMember(user, of: conversation)
        default: try update.setMember(user, of: conversation, MemberSettings(level: level))
        }
      }
      let after = Members(conversation, engine)
      #expect(
        (before.ids == after.ids) == (before.version == after.version), "seed \(seed), \(step)")
      if before.ids != after.ids { changes += 1 }
      for id in ["g0", "g1", "g2"] as [Identifier] {
        let members = Members(id, engine)
        guard !members.ids.isEmpty else {
          #expect(members.version == 0)
          continue
        }
        #expect(
          seen.updateValue(members.ids, forKey: members.version) ?? members.ids == members.ids)
      }
      #expect(Members("t", engine) == Members("g0", engine))
    }
    try #require(changes > 100)
  }

  @Test func enginesDifferInTheirEpochs() throws {
    let engines = try (0..<100).map { _ in try Fanout(app: AppSettings(), threads: 1) }
    #expect(Set(engines.map(\.epoch)).count == 100)
    #expect(!engines.contains { $0.epoch == 0 })
    #expect(FanoutResult().epoch == 0)
    #expect(FanoutResult().membershipVersion == 0)
  }

  @Test(arguments: seeds) func aPinnedVersionKeepsItsAnswers(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let engine = try Fanout(app: AppSettings(), threads: 1)
    let users = (0..<700).map { Identifier("u\($0)") }
    let message = Message(id: "m", conversation: "g", at: Self.noon)
    // More than are looked up at a time, and some to nobody.
    let messages = (0..<70).map { index in
      Message(
        id: "m", conversation: index % 9 == 0 ? "h" : "g",
        at: Instant(milliseconds: Self.noon.milliseconds + Int64(index)), sender: users[index * 5])
    }
    func answer(_ result: borrowing FanoutResult) -> [UInt8] {
      var codes = [UInt8](repeating: 0, count: result.memberCount)
      var span = codes.mutableSpan
      result.writeCodes(into: &span)
      return codes
    }
    var held: [(version: FanoutVersion, codes: [UInt8], ids: [Identifier])] = []
    for _ in 0..<30 {
      let changes = (0..<40).map { _ -> (user: Identifier, level: NotificationLevel) in
        (random.pick(users), random.pick([.unset, .all, .blocked]))
      }
      try engine.update { update throws(FanoutError) in
        for (user, level) in changes {
          try update.setMember(user, of: "g", MemberSettings(level: level))
        }
      }
      let result = engine.decide(message)
      held.append((engine.currentVersion, answer(result), Members("g", engine).ids))
    }
    for (version, codes, ids) in held.shuffled(using: &random) {
      var result = FanoutResult()
      engine.decide(message, on: version, into: &result)
      #expect(answer(result) == codes, "seed \(seed), version \(version.number)")
      #expect(result.version == version.number)
      var (found, expected) = ([Int: [UInt8]](), [Int: [UInt8]]())
      for index in 3..<68 {
        engine.decide(messages[index], on: version, into: &result)
        expected[index] = answer(result)
      }
      engine.decide(messages, 3..<68, on: version, into: &result) { found[$0] = answer($1) }
      #expect(found == expected, "seed \(seed), version \(version.number)")
      var all: [Identifier] = []
      version.forEachUserID(in: 0..<version.userCount) { _, id in
        all.append(
          Identifier(unsafe id.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }))
      }
      #expect(ids.allSatisfy(Set(all).contains))
    }
  }
}
