import PushFanout
import PushReference
import PushRules
import TestSupport
import Testing

/// Goal: the engine equals the reference, in action, reason, scope and devices, on random worlds of
/// both vendors.
///
/// `PUSH_SEED=n swift test --filter EngineEqualityTests` runs one more seed; each failure names its
/// own.
@Suite struct EngineEqualityTests {
  static let seeds = TestSupport.seeds(Array(100..<140))

  @Test(arguments: RuleSet.allCases)
  func oneMessageAtATime(rules: RuleSet) throws {
    for seed in Self.seeds {
      let world = RandomWorld(rules, seed: seed)
      let settings = world.settings()
      var evaluator = ReferenceEvaluator(settings)
      let fanout = try Fanout(settings, threads: 2)
      for message in world.messages {
        var expected: [String] = []
        evaluator.decide(message) { expected.append("\($0.rawValue) \($1)") }
        let result = fanout.decide(message)
        var found: [String] = []
        result.forEachRecipient { user, outcome in
          found.append("\(user.rawValue) \(Decision(outcome, devices: result.devices(of: user)))")
        }
        #expect(found == expected, "seed \(seed), \(rules.rawValue), \(message)")
        if found != expected { return }
      }
    }
  }
}
