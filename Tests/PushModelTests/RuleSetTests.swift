import PushModel
import Testing

/// Goal: the properties of the rule sets cover everything that there is to say.
@Suite struct RuleSetTests {
  /// A field is of some rule set, and one that all had would need no mention.
  @Test func eachFieldIsOfSomeRuleSetsAndNotOfAll() {
    let all = RuleSet.allCases.map(\.fields)
    let some = all.reduce(VendorFields()) { $0.union($1) }
    let common = all.dropFirst().reduce(all[0]) { $0.intersection($1) }
    #expect(some.rawValue == (1 << 55) - 1)
    #expect(common == [])
  }

  @Test func everyKindAndLevelIsOfSomeRuleSet() {
    #expect(Set(RuleSet.allCases.flatMap(\.kinds)) == Set(ConversationKind.allCases))
    let words = MessageClasses.words.map { NotificationLevel($0.classes) }
    #expect(
      Set(RuleSet.allCases.flatMap(\.levels)) == Set(NotificationLevel.ofVendors + words))
  }

  /// Every outcome that has a code is of a scope that some rule set has.
  @Test func everyScopeIsOfSomeRuleSet() {
    let scopes = Set(RuleSet.allCases.flatMap(\.scopes))
    #expect(Set(Outcome.coded.compactMap(\.outcome.scope)) == scopes)
    #expect(scopes == Set(Scope.allCases))
  }

  /// A level is said in one way, and read again.
  @Test(arguments: RuleSet.allCases)
  func levelsAreReadAsTheyAreNamed(_ rules: RuleSet) {
    for level in rules.levels {
      #expect(level.exists(under: rules))
      #expect(NotificationLevel.typed(level.name(under: rules), rules) == level)
      #expect(level.classNames(under: rules) == nil)
    }
    #expect(rules.levelNames.allSatisfy { NotificationLevel.written($0, rules) != nil })
    let list = NotificationLevel([.mentionsMe, .private])
    #expect(list.exists(under: rules) == !rules.levelClasses.isEmpty)
    #expect(
      list.classNames(under: rules) == (rules.levelClasses.isEmpty ? nil : ["me", "private"]))
    #expect(
      (NotificationLevel.typed("me,private", rules) == list) == !rules.levelClasses.isEmpty)
  }
}
