import PushModel
import Testing

/// Goal: the properties of the rule sets cover everything that there is to say.
@Suite struct RuleSetTests {
  /// A field is of some rule set, and one that all had would need no mention.
  @Test func eachFieldIsOfSomeRuleSetsAndNotOfAll() {
    let all = RuleSet.allCases.map(\.fields)
    let some = all.reduce(VendorFields()) { $0.union($1) }
    let common = all.dropFirst().reduce(all[0]) { $0.intersection($1) }
    #expect(some.rawValue == (1 << 54) - 1)
    #expect(common == [])
  }

  @Test func everyKindAndLevelIsOfSomeRuleSet() {
    #expect(Set(RuleSet.allCases.flatMap(\.kinds)) == Set(ConversationKind.allCases))
    let words = MessageClasses.words.map { NotificationLevel($0.classes) }
    #expect(
      Set(RuleSet.allCases.flatMap(\.levels)) == Set(NotificationLevel.ofVendors + words))
  }
}
