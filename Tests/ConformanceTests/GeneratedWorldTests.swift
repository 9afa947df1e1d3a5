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

  static let cases: [Case] = RuleSet.vendors.flatMap { rules in
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
    let wanted: Set<Reason> = [.allowed, .quietHours, .levelNone, .notMentioned]
    #expect(wanted.isSubset(of: reasons))
    #expect(reasons.contains(.noToken) == world.options.people.listsDevices)
  }
}
