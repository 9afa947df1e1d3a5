import PushReference
import PushModel
import TestSupport
import Testing

/// Goal: the properties of a rule set agree with the rules.
@Suite struct RuleSetTests {
  /// What the reference answers in random worlds stays within what the rule set says it has.
  @Test(arguments: RuleSet.allCases, Array(1...12) as [UInt64])
  func decisionsReportOnlyScopesOfTheRuleSet(rules: RuleSet, seed: UInt64) {
    let world = RandomWorld(rules, seed: seed)
    var reference = ReferenceEvaluator(world.settings())
    var scopes: Set<Scope> = []
    for message in world.messages {
      reference.decide(message) { if let scope = $1.outcome.scope { scopes.insert(scope) } }
    }
    #expect(scopes.subtracting(rules.scopes) == [], "seed \(seed)")
  }

  /// A field is of some rule set, and one that all had would need no mention.
  @Test func eachFieldIsOfSomeRuleSetsAndNotOfAll() {
    let all = RuleSet.allCases.map(\.fields)
    let some = all.reduce(VendorFields()) { $0.union($1) }
    let common = all.dropFirst().reduce(all[0]) { $0.intersection($1) }
    #expect(some.rawValue == (1 << 33) - 1)
    #expect(common == [])
  }

  @Test func everyKindAndLevelIsOfSomeRuleSet() {
    #expect(Set(RuleSet.allCases.flatMap(\.kinds)) == Set(ConversationKind.allCases))
    #expect(Set(RuleSet.allCases.flatMap(\.levels)) == Set(NotificationLevel.allCases))
  }
}
