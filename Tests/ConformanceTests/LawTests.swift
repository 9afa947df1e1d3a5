import PushFanout
import PushReference
import PushModel
import TestSupport
import Testing

/// Goal: what must hold whatever the settings are, on random worlds of both vendors.
///
/// `PUSH_SEED=n swift test --filter LawTests` runs one more seed; each failure names its own.
@Suite struct LawTests {
  static let seeds = TestSupport.seeds(Array(1...12))

  static let worlds: [RandomWorld] = seeds.flatMap { seed in
    RuleSet.allCases.map { RandomWorld($0, seed: seed) }
  }

  private func label(_ world: Int) -> String {
    let rules = RuleSet.allCases
    return "seed \(Self.seeds[world / rules.count]), \(rules[world % rules.count].rawValue)"
  }

  @Test func theWorldsAreNotEmpty() {
    var counts = OutcomeCounts()
    for world in Self.worlds {
      var evaluator = ReferenceEvaluator(world.settings())
      for message in world.messages { evaluator.decide(message) { counts.add($1.outcome) } }
    }
    let reasons = Set(counts.nonZero.map(\.outcome.reason))
    #expect(reasons == Set(Reason.allCases), "every reason occurs in some world")
  }

  /// Of all actions, reasons and scopes, what the reference answers is what the rule set says it
  /// has, each with a code and words.
  @Test(arguments: RuleSet.allCases)
  func outcomesAreThoseOfTheRuleSet(_ rules: RuleSet) {
    var counts = OutcomeCounts()
    for world in Self.worlds where world.rules == rules {
      var reference = ReferenceEvaluator(world.settings())
      for message in world.messages { reference.decide(message) { counts.add($1.outcome) } }
    }
    let outcomes = counts.nonZero.map(\.outcome)
    #expect(outcomes.filter { $0.code == 0 || $0.phrase == $0.key } == [])
    #expect(Set(outcomes.compactMap(\.scope)) == Set(rules.scopes))
  }

  @Test(arguments: worlds.indices)
  func theCountsAreComplete(world index: Int) {
    let world = Self.worlds[index]
    var evaluator = ReferenceEvaluator(world.settings())
    let totals = world.messages.map { message in
      var counts = OutcomeCounts()
      evaluator.decide(message) { counts.add($1.outcome) }
      return counts.total
    }
    #expect(totals == world.messages.map { world.recipients(of: $0).count }, "\(label(index))")
  }

  @Test(arguments: worlds.indices)
  func explanationsEndInTheDecision(world index: Int) {
    let world = Self.worlds[index]
    var evaluator = ReferenceEvaluator(world.settings())
    for message in world.messages {
      let explained = world.users.map { evaluator.explain(message, for: $0).decision }
      let decided = world.users.map { evaluator.decision(message, for: $0) }
      #expect(explained == decided, "\(label(index)), \(message.id)")
    }
  }

  @Test(arguments: worlds.indices)
  func theReferenceKeepsThem(world: Int) throws {
    let laws = EvaluatorLaws(Self.worlds[world], world, label(world)) { ReferenceEvaluator($0) }
    #expect(try laws.all() == [])
  }

  @Test(.tags(.slow), .unlessFast, arguments: worlds.indices)
  func theEngineKeepsThem(world: Int) throws {
    let laws = EvaluatorLaws(Self.worlds[world], world, label(world)) {
      try Fanout($0, threads: 1)
    }
    #expect(try laws.all() == [])
  }
}
