import PushFanout
import PushReference
import PushModel
import PushWorkload
import TestSupport
import Testing

/// Goal: engine and reference agree on generated worlds, in which settings and traffic are
/// distributed as in real ones.
@Suite struct GeneratedWorldTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let rules: RuleSet
    let seed: UInt64
    var testDescription: String { "\(rules.rawValue) seed \(seed)" }
  }

  static let cases: [Case] = RuleSet.allCases.flatMap { rules in
    seeds([1, 2]).map { Case(rules: rules, seed: $0) }
  }

  private func workload(_ test: Case) throws -> Workload {
    var options = WorkloadOptions()
    options.seed = test.seed
    options.rules = test.rules
    options.sizes.users = 300
    options.sizes.rooms = 80
    options.sizes.giants = [250]
    options.sizes.joinShare = 0.3
    options.people.listsDevices = test.seed % 2 == 0
    options.traffic.messages = 400
    options.traffic.mentionShare = 0.3
    options.traffic.smallAllShare = 0.05
    options.traffic.hasText = true
    options.open.blockedSenderShare = 0.3
    return try Workload(options)
  }

  private func messages(_ world: Workload) -> [Message] {
    var messages: [Message] = []
    world.forEachMessage { messages.append(world.message($0, number: messages.count + 1)) }
    return messages
  }

  @Test(.tags(.slow), .unlessFast, arguments: cases)
  func theEngineAgreesWithTheReference(test: Case) throws {
    let world = try workload(test)
    let settings = world.settings()
    let fanout = try Fanout(settings, threads: 2)
    var evaluator = ReferenceEvaluator(settings)
    var result = FanoutResult()
    var reasons: Set<Reason> = []
    for message in messages(world) {
      let expected = evaluator.rows(message)
      reasons.formUnion(expected.compactMap { $0.outcome?.reason })
      fanout.decide(message, into: &result)
      let difference = result.disagreement(with: expected)
      #expect(difference == nil, "\(test.testDescription), \(message)")
      if difference != nil { return }
    }
    var wanted: Set<Reason> = [.allowed, .quietHours, .levelNone]
    wanted.formUnion(
      RuleSet.vendors.contains(test.rules)
        ? [.notMentioned] : [.levelExcludes, .notFollowing, .senderBlocked, .muted])
    #expect(wanted.isSubset(of: reasons))
    #expect(reasons.contains(.noToken) == world.options.people.listsDevices)
  }

  /// How many recipients have each class: with a level that has it alone.
  @Test func everyClassOfOpenRulesOccurs() throws {
    var options = WorkloadOptions()
    options.rules = .open
    options.sizes.users = 5000
    options.traffic.messages = 3000
    options.traffic.hasText = true
    let world = try Workload(options)
    var settings = world.settings()
    for user in 0..<world.userCount {
      settings.updateUser(Workload.userID(user)) {
        $0.level = .unset
        $0.quietHours = nil
      }
    }
    for id in settings.conversationIDs {
      for user in settings.members(of: id) {
        guard var member = settings.member(user, of: id), member.level.isSet else { continue }
        member.level = .unset
        settings.setMember(settings.id(of: user), of: id, member)
      }
    }
    let fanout = try Fanout(settings, threads: 2)
    let messages = messages(world)
    var shares: [String: Double] = [:]
    for (name, group) in MessageClasses.named {
      var app = world.app
      app.level = NotificationLevel(group)
      try fanout.update { (update) throws(FanoutError) in try update.setApp(app) }
      let results = fanout.decide(messages)
      let pushes = results.reduce(0) { $0 + $1.pushCount }
      shares[name] = Double(pushes) / Double(results.reduce(0) { $0 + $1.recipientCount })
    }
    #expect(shares.count == 9 && shares.values.allSatisfy { $0 > 0 }, "\(shares)")
    #expect((0.0005...0.02).contains(shares["keyword"] ?? 0), "\(shares)")
  }
}
