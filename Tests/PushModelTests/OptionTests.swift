import PushModel
import Testing

/// Goal: options are the same by name and in code, and no value of one ends the process.
@Suite struct OptionTests {
  @Test(arguments: RuleSet.allCases)
  func everyOptionIsListedOnceAndCanBeSetByItsText(rules: RuleSet) {
    let app = AppSettings(rules: rules)
    let count =
      Mirror(reflecting: app.easemob).children.count
      + Mirror(reflecting: app.rongcloud).children.count
      + Mirror(reflecting: app.open).children.count
    #expect(RuleSet.allCases.map(\.options.count).reduce(0, +) == count)
    // Easemob and open rules both have expireSeconds.
    #expect(Set(RuleSet.allCases.flatMap { $0.options.map(\.name) }).count == count - 1)
    for option in rules.options {
      var changed = app
      let other =
        switch option.value {
        case .choice(let allowed, _, _): allowed.first { $0 != option.text(in: app) }
        case .flag: option.text(in: app) == "true" ? "false" : "true"
        case .seconds: "7"
        }
      let isSet = other.map { changed.setOption(option.name, to: $0) }
      #expect(isSet == true, "\(option.name)")
      #expect(option.text(in: changed) == other, "\(option.name)")
      let differing = zip(changed.optionTexts, app.optionTexts).filter { $0.0.value != $0.1.value }
      #expect(differing.map { $0.0.name } == [option.name])
      let refused = ["", "-1", "maybe", "9007199254740992"].filter {
        changed.setOption(option.name, to: $0)
      }
      #expect(refused == [], "\(option.name)")
      #expect(option.text(in: changed) == other, "\(option.name)")
    }
  }

  @Test func secondsBeyondAllInstantsStaySpans() {
    let values: [Int64] = [
      .min, -1, 0, 120, Instant.maximumMilliseconds, Instant.maximumMilliseconds + 1, .max,
    ]
    let longest = Instant.maximumMilliseconds * 1000
    let expected = [-longest, -1000, 0, 120_000, longest, longest, longest]
    #expect(values.map { Instant.milliseconds(ofSeconds: $0) } == expected)
  }
}
