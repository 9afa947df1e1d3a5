internal import PushModel

/// What a record says that a rule set does not have: the first such thing for each rule set.
///
/// A line is read before the rules may be known, as the app's record can come last. So a reader
/// notes what it finds, and whoever knows the rules decides.
struct VendorFieldUse {
  private struct Lack {
    let what: String
    /// A rule set that has it.
    let owner: RuleSet
  }

  private var easemob: Lack?
  private var rongcloud: Lack?

  private subscript(rules: RuleSet) -> Lack? {
    switch rules {
    case .easemob: easemob
    case .rongcloud: rongcloud
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
    let (inEasemob, inRongCloud) = (has(.easemob), has(.rongcloud))
    if !inEasemob, inRongCloud, easemob == nil { easemob = Lack(what: what(), owner: .rongcloud) }
    if !inRongCloud, inEasemob, rongcloud == nil { rongcloud = Lack(what: what(), owner: .easemob) }
  }

  /// Takes in what another record says.
  ///
  /// - Returns: whether that lacks in a rule set for which nothing was noted.
  mutating func add(_ other: VendorFieldUse) -> Bool {
    let isNew =
      easemob == nil && other.easemob != nil || rongcloud == nil && other.rongcloud != nil
    easemob = easemob ?? other.easemob
    rongcloud = rongcloud ?? other.rongcloud
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
