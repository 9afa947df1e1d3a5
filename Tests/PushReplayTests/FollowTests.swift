import PushFanout
import PushModel
import PushReference
import PushReplay
import TestSupport
import Testing

/// Goal: what is followed is every message to a user, or in a room, with what the reference says of
/// it.
///
/// `PUSH_SEED=n swift test --filter FollowTests` runs one more seed.
@Suite struct FollowTests {
  /// How often outcomes occur, by their keys.
  private static func counts(_ outcomes: some Sequence<Outcome>) -> [String: Int] {
    outcomes.reduce(into: [:]) { $0[$1.key, default: 0] += 1 }
  }

  /// Whether a message mentions the user, or any member, by name; and whether everyone.
  private static func mentions(
    in message: Message, _ user: Identifier?, _ settings: FanoutSettings,
    _ reference: ReferenceEvaluator
  ) -> String {
    let id = message.conversation
    let members = settings.members(of: settings.conversation(id)?.parent ?? id)
      .map { settings.id(of: $0) }
    let isNamed = members.contains { member in
      (user == nil || user == member)
        && reference.namingClasses(of: message, for: member).contains(.mentionsMe)
    }
    let everyone = reference.namingClasses(of: message, for: "anybody")
    return "\(isNamed) \(everyone.contains(.mentionsEveryone))"
  }

  private static func replay(
    _ settings: FanoutSettings, _ messages: [Message], user: Identifier?, room: Identifier?,
    holds: Bool = false
  ) throws -> FollowResult {
    var options = ReplayOptions()
    (options.followedUser, options.followedConversation) = (user, room)
    options.holds = holds
    options.batch = (messages: 5, versions: 128)
    let replayer = try Replayer(try Fanout(settings, threads: 2), options)
    for message in messages { try replayer.add(.message(message)) }
    return try #require(replayer.finish().follow)
  }

  @Test(arguments: RuleSet.allCases) func itIsWhatTheReferenceSays(rules: RuleSet) throws {
    for seed in TestSupport.seeds([41, 42]) {
      let world = RandomWorld(
        rules, seed: seed, userCount: 12, messageCount: 80,
        style: RandomWorld.Style(density: 80, isVaried: true))
      let settings = ModelWorld(world).settings
      let messages = world.messages.filter { settings.conversation($0.conversation) != nil }
        .sorted { $0.at < $1.at }
      let user = settings.id(of: UserIndex(0))
      let room = try #require(messages.first?.conversation)
      for (user, room) in [(user, nil), (user, room), (nil, room)] as [(Identifier?, Identifier?)] {
        var reference = ReferenceEvaluator(settings)
        var expected: [String] = []
        var decided: [Outcome] = []
        var hours: [Int64: Int] = [:]
        for message in messages where room == nil || message.conversation == room {
          var outcomes: [Identifier: Outcome] = [:]
          reference.decide(message) { outcomes[settings.id(of: $0)] = $1.outcome }
          let hour = message.at.milliseconds / 3_600_000 * 3_600_000
          if user == nil {
            decided += outcomes.values
            hours[hour, default: 0] += 1
          } else if let outcome = outcomes[user!] {
            decided.append(outcome)
            hours[hour, default: 0] += 1
          }
          let head =
            "\(message.id) \(message.conversation) \(message.at.milliseconds) "
            + "\(message.sender?.text ?? "-") "
            + Self.mentions(in: message, user, settings, reference)
          if let user {
            if let outcome = outcomes[user] { expected.append("\(head) \(outcome.key)") }
          } else {
            let most = Dictionary(grouping: outcomes.values) { $0 }.mapValues(\.count).values.max()
            let pushes = outcomes.values.count { $0.action == .push }
            expected.append("\(head) \(outcomes.count) \(pushes) \(most ?? 0)")
          }
        }
        let follow = try Self.replay(
          settings, messages, user: user, room: room, holds: seed == 41)
        let found = follow.messages.enumerated().map { index, message in
          let head =
            "\(message.id) \(message.conversation) \(message.at) \(message.sender ?? "-") "
            + "\(message.mentions) \(message.mentionsEveryone)"
          let key = message.outcome.map {
            [$0.action, $0.reason, $0.scope].compactMap { $0 }.joined(separator: "/")
          }
          if user != nil { return "\(head) \(key ?? "")" }
          // How many have the outcome that is said to be that of most.
          var count = 0
          let original = messages.filter { room == nil || $0.conversation == room }[index]
          reference.decide(original) { count += $1.outcome.key == key ? 1 : 0 }
          return "\(head) \(message.recipients ?? -1) \(message.pushes ?? -1) \(count)"
        }
        #expect(found == expected, "seed \(seed), \(rules.rawValue), \(user?.text ?? "room")")
        #expect(follow.count == expected.count && !expected.isEmpty, "seed \(seed)")
        let totals = follow.outcomes.map { outcome in
          let key = [outcome.action, outcome.reason, outcome.scope].compactMap { $0 }
          return (key.joined(separator: "/"), outcome.count)
        }
        #expect(
          Dictionary(uniqueKeysWithValues: totals) == Self.counts(decided), "seed \(seed)")
        #expect(follow.hours.at == hours.keys.sorted(), "seed \(seed)")
        #expect(follow.hours.messages == hours.sorted { $0.key < $1.key }.map(\.value))
        #expect(follow.hours.outcomes?.map { $0.reduce(0, +) } == totals.map(\.1))
        #expect(
          follow.hours.pushes.reduce(0, +) == decided.count { $0.action == .push }, "seed \(seed)")
        #expect(follow.user == user?.text && follow.conversation == room?.text)
      }
    }
  }

  @Test func mentionsAreSaid() throws {
    let settings = ReplayerTests.world(3)
    let messages = (0..<4).map { number in
      var message = Message(
        id: Identifier("m\(number)"), conversation: "g", at: ReplayerTests.at(number))
      if number == 1 { message.mentions = ["u0"] }
      if number == 2 { message.mentionsAll = true }
      if number == 3 { message.mentions = ["u2"] }
      return message
    }
    func mentions(_ user: Identifier?) throws -> [[Bool]] {
      try Self.replay(settings, messages, user: user, room: "g").messages.map {
        [$0.mentions, $0.mentionsEveryone]
      }
    }
    let (none, name, all) = ([false, false], [true, false], [false, true])
    #expect(try mentions("u0") == [none, name, all, none])
    #expect(try mentions(nil) == [none, name, all, name])
  }

  @Test(arguments: [7, 1_000, 2_500]) func theListHasTheLast(more: Int) throws {
    let messages = (0..<FollowResult.limit + more).map { number in
      Message(
        id: Identifier("m\(number)"), conversation: "g",
        at: ReplayerTests.at(0, 0, number))
    }
    let follow = try Self.replay(ReplayerTests.world(1), messages, user: "u0", room: nil)
    #expect(follow.count == messages.count)
    #expect(follow.messages.map(\.id) == messages.suffix(FollowResult.limit).map(\.id.text))
    #expect(follow.outcomes.map(\.count) == [messages.count])
    #expect(follow.hours.messages.reduce(0, +) == messages.count)
  }

  @Test func whoIsUnknownCannotBeFollowed() throws {
    #expect(throws: FanoutError.unknownUser("nobody")) {
      try Self.replay(ReplayerTests.world(1), [], user: "nobody", room: "g")
    }
    #expect(throws: FanoutError.unknownConversation("nowhere")) {
      try Self.replay(ReplayerTests.world(1), [], user: "u0", room: "nowhere")
    }
  }
}
