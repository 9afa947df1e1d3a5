internal import PushModel

/// For each rule set, the first field, level or kind of a record that the rule set does not have.
///
/// A line may be read before the rule set is known, as the app's record can come last. So a reader
/// notes what it finds, and the check is made once the rule set is known.
struct VendorFieldUse {
  private struct Lack {
    let what: String
    /// A rule set that has it.
    let owner: RuleSet
  }

  private var easemob: Lack?
  private var rongcloud: Lack?

  private subscript(rules: RuleSet) -> Lack? {
    get {
      switch rules {
      case .easemob: easemob
      case .rongcloud: rongcloud
      }
    }
    set {
      switch rules {
      case .easemob: easemob = newValue
      case .rongcloud: rongcloud = newValue
      }
    }
  }

  mutating func note(_ field: VendorFields, _ what: @autoclosure () -> String) {
    note(what) { $0.fields.contains(field) }
  }

  mutating func note(_ level: NotificationLevel, _ what: @autoclosure () -> String) {
    note(what) { level.exists(under: $0) }
  }

  mutating func note(_ kind: ConversationKind, _ what: @autoclosure () -> String) {
    note(what) { kind.exists(under: $0) }
  }

  /// Notes an option, which is of one rule set alone.
  mutating func note(option owner: RuleSet, _ what: @autoclosure () -> String) {
    note(what) { $0 == owner }
  }

  @inline(__always)
  private mutating func note(_ what: () -> String, ifMissing has: (RuleSet) -> Bool) {
    for rules in RuleSet.allCases where !has(rules) && self[rules] == nil {
      guard let owner = RuleSet.allCases.first(where: has) else { return }
      self[rules] = Lack(what: what(), owner: owner)
    }
  }

  /// Adds what another record uses.
  ///
  /// - Returns: whether a rule set lacks part of that, for which nothing was noted before.
  mutating func add(_ other: VendorFieldUse) -> Bool {
    var isNew = false
    for rules in RuleSet.allCases where self[rules] == nil && other[rules] != nil {
      self[rules] = other[rules]
      isNew = true
    }
    return isNew
  }

  /// What does not belong under `rules`, if anything.
  func foreign(to rules: RuleSet) -> FileProblem.Problem? {
    self[rules].map { .fieldOfOtherRules($0.what, $0.owner, rules: rules) }
  }

  /// Whether the rules have all of it; if they are not known, whether all rules have.
  func isAllowed(by rules: RuleSet?) -> Bool {
    guard let rules else { return isEmpty }
    return self[rules] == nil
  }

  /// Whether every rule set has all of it.
  var isEmpty: Bool { easemob == nil && rongcloud == nil }
}
