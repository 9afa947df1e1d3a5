import PushFanout
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

  @Test func everyKindAndLevelIsOfSomeRuleSet() {
    #expect(Set(RuleSet.allCases.flatMap(\.kinds)) == Set(ConversationKind.allCases))
    #expect(Set(RuleSet.allCases.flatMap(\.levels)) == Set(NotificationLevel.allCases))
  }
}
