import Foundation
import PushFanout
import PushReference
import PushModel
import PushService
import QuietTime
import TestSupport
import Testing

/// Goal: the engine equals the reference, in action, reason, scope and devices, on random worlds of
/// both vendors, by every entry point and in whatever order messages come.
///
/// `PUSH_SEED=n swift test --filter EngineEqualityTests` runs one more seed; each failure names its
/// own.
@Suite struct EngineEqualityTests {
  /// A world, and what the reference makes of its messages.
  struct Case {
    let world: RandomWorld
    let settings: FanoutSettings
    let expected: [[Row]]
    let label: String

    init(_ rules: RuleSet, _ seed: UInt64, _ userCount: Int, _ messageCount: Int, _ density: Int) {
      world = RandomWorld(
        rules, seed: seed, userCount: userCount, messageCount: messageCount,
        style: RandomWorld.Style(density: density, isVaried: seed % 4 != 0))
      settings = world.settings()
      var evaluator = ReferenceEvaluator(settings)
      expected = world.messages.map { evaluator.rows($0) }
      label = "seed \(seed), \(rules.rawValue)"
    }

    /// The places of the messages in the order of their instants.
    var byTime: [Int] {
      world.messages.indices.sorted { world.messages[$0].at < world.messages[$1].at }
    }
  }

  /// The rules of RongCloud take longer to be worked out.
  static func seeds(_ first: UInt64, _ rules: RuleSet, _ count: UInt64) -> [UInt64] {
    TestSupport.seeds(Array(first..<first + (rules == .easemob ? 3 * count : count)))
  }

  @Test(.tags(.slow), .unlessFast, arguments: RuleSet.allCases)
  func smallWorldsOneMessageAtATime(rules: RuleSet) throws {
    for seed in Self.seeds(100, rules, 6) {
      let test = Case(rules, seed, 24, 60, 70)
      let fanout = try Fanout(test.settings, threads: 2)
      for (message, expected) in zip(test.world.messages, test.expected) {
        let difference = fanout.decide(message).disagreement(with: expected)
        #expect(difference == nil, "\(test.label), \(message)")
        let explained = test.world.users.compactMap { user -> Row? in
          let explanation = fanout.currentVersion.explain(message, for: user)
          let marked = explanation.steps.filter(\.decides).count
          guard marked == 1, let index = test.settings.index(of: user) else { return nil }
          return explanation.decision.map { Row(index, $0) }
        }.sorted { $0.user < $1.user }
        #expect(firstDifference(explained, expected) == nil, "\(test.label), \(message)")
        let single = test.world.users.compactMap { user -> Row? in
          guard let index = test.settings.index(of: user) else { return nil }
          return fanout.decision(message, for: user).map { Row(index, $0) }
        }.sorted { $0.user < $1.user }
        let singleDifference = firstDifference(single, expected)
        #expect(singleDifference == nil, "\(test.label), one by one, \(message)")
        if difference != nil || singleDifference != nil { return }
      }
      #expect(fanout.decision(test.world.messages[0], for: "stranger") == nil)
      #expect(nextChangeDifference(fanout, test) == nil, "\(test.label)")
    }
  }

  /// Where the two differ in when answers change by themselves.
  private func nextChangeDifference(_ fanout: Fanout, _ test: Case) -> String? {
    var evaluator = ReferenceEvaluator(test.settings)
    for (number, message) in test.world.messages.enumerated() {
      let user = test.world.users[number % test.world.users.count]
      let id = message.conversation
      guard let conversation = test.settings.conversation(id),
        let index = test.settings.index(of: user)
      else { continue }
      let parent = conversation.kind == .thread ? conversation.parent : nil
      guard test.settings.member(index, of: parent ?? id) != nil else {
        let error = #expect(throws: FanoutError.self) {
          try fanout.nextChange(for: user, in: id, after: message.at)
        }
        if error == .notAMember(user: user, conversation: parent ?? id) { continue }
        return "\(user) in \(id): \(String(describing: error))"
      }
      let records = [id, parent].compactMap { $0 }.compactMap {
        test.settings.member(index, of: $0)
      }
      let dependence = try! NextChangeSolver(
        app: test.settings.app, user: test.settings.user(index), records: records)
      let expected = dependence.nextChange(after: message.at) { at -> Outcome? in
        if test.settings.app.rules == .open {
          return evaluator.openDecision(ofClasses: nil, for: user, in: id, at: at)
        }
        var plain = Message(id: "plain", conversation: id, at: at)
        plain.channel = message.channel
        return evaluator.decide(plain, for: user)?.outcome
      }
      let found: Instant?
      do throws(FanoutError) {
        found = try fanout.nextChange(
          for: user, in: id, channel: message.channel, after: message.at)
      } catch {
        return "\(user) in \(id) after \(message.at): \(error)"
      }
      if found != expected {
        return "\(user) in \(id) after \(message.at): "
          + "\(String(describing: found)) instead of \(String(describing: expected))"
      }
    }
    return nil
  }

  /// Conversations of all users are large enough for their states to be kept, and for the users'
  /// classes to be worked out; in small steps of time states are carried on, in large ones not.
  @Test(.tags(.slow), .unlessFast, arguments: RuleSet.allCases)
  func largeRoomsInAnyOrder(rules: RuleSet) throws {
    for seed in Self.seeds(200, rules, 3) {
      var random = SeededGenerator(seed: seed)
      let test = Case(rules, seed, Int.random(in: 66...140, using: &random), 70, 100)
      let fanout = try Fanout(test.settings, threads: 2)
      let advances = seed % 2 == 0
      let byTime = test.byTime
      let twice = byTime.flatMap { [$0, $0] }
      let orders = [byTime, twice, byTime.shuffled(using: &random), byTime]
      var result = FanoutResult()
      for (round, order) in orders.enumerated() {
        for place in order {
          let message = test.world.messages[place]
          if advances, random.chance(40) { fanout.advance(to: message.at) }
          fanout.decide(message, into: &result)
          let difference =
            random.chance(25)
            ? result.disagreement(with: test.expected[place])
            : firstDifference(result.rows, test.expected[place])
          #expect(difference == nil, "\(test.label), round \(round), \(message)")
          if difference != nil { return }
        }
      }
    }
  }

  @Test(.tags(.slow), .unlessFast, arguments: RuleSet.allCases, [1, 2, 7])
  func manyMessagesAtOnce(rules: RuleSet, threads: Int) throws {
    for seed in Self.seeds(300, rules, 1) {
      var random = SeededGenerator(seed: seed)
      let test = Case(rules, seed, 100, 60, 95)
      let fanout = try Fanout(test.settings, threads: threads)
      let byTime = test.byTime
      for order in [byTime, byTime.shuffled(using: &random) + byTime, byTime.reversed(), byTime] {
        if seed % 3 == 0 { fanout.advance(to: test.world.messages[order[0]].at) }
        let messages = order.map { test.world.messages[$0] }
        let results = fanout.decide(messages)
        #expect(results.count == messages.count, "\(test.label)")
        let differences = zip(order, results).compactMap { place, result in
          result.disagreement(with: test.expected[place]).map { "message \(place): \($0)" }
        }
        #expect(differences.first == nil, "\(test.label), \(threads) threads")
        let rows = Collected<[Row]>(count: messages.count)
        fanout.decide(messages) { place, result in
          let copy = copy result
          rows.set(place, copy.rows)
        }
        let found = rows.values
        let place = found.indices.first { found[$0] != [test.expected[order[$0]]] }
        #expect(place == nil, "\(test.label), \(threads) threads, with a body")
        if !differences.isEmpty || place != nil { return }
      }
    }
  }

  @Test func noMessagesAndNobody() throws {
    let fanout = try Fanout(app: AppSettings(), threads: 2)
    let nowhere = Message(id: "m", conversation: "c", at: Instant(milliseconds: 1))
    #expect(fanout.decide([]).isEmpty)
    #expect(fanout.decide(nowhere).disagreement(with: []) == nil)
    #expect(fanout.decision(nowhere, for: "u") == nil)
    #expect(FanoutResult().disagreement(with: []) == nil)
    #expect(FanoutResult().version == 0)
    #expect(fanout.decide(nowhere).version == 1)
  }

  /// In settings that were made in code a span may be any number; files have no such numbers.
  @Test(arguments: [.min, -1, Instant.maximumMilliseconds + 1, .max] as [Int64])
  func spansLongerThanTimeAreDecided(seconds: Int64) throws {
    for rules in RuleSet.allCases {
      for seed in TestSupport.seeds([7, 8]) {
        let world = RandomWorld(
          rules, seed: seed, userCount: 24, messageCount: 60,
          style: RandomWorld.Style(isVaried: true))
        var settings = world.settings()
        settings.app.easemob.expireSeconds = seconds
        settings.app.rongcloud.backgroundGraceSeconds = seconds
        var reference = ReferenceEvaluator(settings)
        var fanout = try Fanout(settings, threads: 1)
        let label: Comment = "\(rules), seed \(seed)"
        #expect(
          world.messages.map { EvaluatorConformance.rows($0, &fanout) }
            == world.messages.map { EvaluatorConformance.rows($0, &reference) }, label)
        // Each user's next change, wherever the user is a member.
        let changes = world.messages.flatMap { message in
          world.users.map { user in
            try? fanout.nextChange(for: user, in: message.conversation, after: message.at)
          }
        }
        #expect(changes.count == world.messages.count * world.users.count)
      }
    }
  }
}
