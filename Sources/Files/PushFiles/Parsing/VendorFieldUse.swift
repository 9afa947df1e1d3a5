internal import PushModel

/// For each rule set, the first field, level or kind of a record that the rule set does not have.
///
/// A line may be read before the rule set is known, as the app's record can come last. So a reader
/// notes what it finds, and the check is made once the rule set is known.
struct VendorFieldUse {
  private enum Lack {
    /// Something that another rule set has.
    case belongs(String, to: RuleSet)
    /// The same by its name, or by words: no text is made of each that is read.
    case named(StaticString, isInWords: Bool, to: RuleSet)
    /// A field that exists here under other rules; under these it is as unknown as any.
    case field(String)
    /// A field that only other rules can do without.
    case missing(String)
    /// A name of a conversation of so many bytes; nil for what is no text.
    case nameOfBytes(Int?)
    /// A word that is a level of other rules.
    case level(String, field: String)
  }

  /// Made once: a list of all cases is made anew each time it is asked for.
  private static let ruleSets = RuleSet.allCases

  /// The rule set, if it is known: what others do not have is not noted then.
  private let known: RuleSet?
  private var easemob: Lack?
  private var rongcloud: Lack?
  private var open: Lack?

  /// - Parameter known: the rule set of all records that are read.
  init(under known: RuleSet? = nil) { self.known = known }

  private subscript(rules: RuleSet) -> Lack? {
    get {
      switch rules {
      case .easemob: easemob
      case .rongcloud: rongcloud
      case .open: open
      }
    }
    set {
      switch rules {
      case .easemob: easemob = newValue
      case .rongcloud: rongcloud = newValue
      case .open: open = newValue
      }
    }
  }

  @inline(__always)
  mutating func note(_ field: VendorFields, _ what: @autoclosure () -> String) {
    note {
      $0.fields.contains(field)
    } lack: {
      .belongs(what(), to: $0)
    }
  }

  @inline(__always)
  mutating func note(_ field: VendorFields, named name: StaticString, isInWords: Bool) {
    note {
      $0.fields.contains(field)
    } lack: {
      .named(name, isInWords: isInWords, to: $0)
    }
  }

  /// Notes a level by its word: a vendor's levels are the other's too, or said to be; open rules
  /// have words of their own.
  mutating func note(level text: String, _ field: String) {
    let isOfVendor = NotificationLevel.named(text) != nil
    note {
      NotificationLevel.written(text, $0)?.exists(under: $0) ?? false
    } lack: {
      isOfVendor
        ? .belongs("the level \"\(text)\" of \"\(field)\"", to: $0) : .level(text, field: field)
    }
  }

  mutating func note(_ kind: ConversationKind, _ what: @autoclosure () -> String) {
    note {
      kind.exists(under: $0)
    } lack: {
      .belongs(what(), to: $0)
    }
  }

  /// Notes an option.
  mutating func note(option name: String) {
    note { rules in
      rules.options.contains { $0.name == name }
    } lack: {
      .belongs("the option \"\(name)\"", to: $0)
    }
  }

  /// Notes a field of a conversation that is of no kind that has it under other rules.
  mutating func note(unknown field: String, but owner: VendorFields) {
    note {
      $0.fields.contains(owner)
    } lack: { _ in
      .field(field)
    }
  }

  /// Notes that a field is not there that most rules need.
  mutating func note(missing field: String, but owner: VendorFields) {
    note {
      $0.fields.contains(owner)
    } lack: { _ in
      .missing(field)
    }
  }

  /// Notes the name of a conversation that some rules refuse: no text, or of so many bytes.
  mutating func note(nameOfBytes count: Int?) {
    note {
      $0.fields.contains(.anyName)
    } lack: { _ in
      .nameOfBytes(count)
    }
  }

  @inline(__always)
  private mutating func note(_ has: (RuleSet) -> Bool, lack: (_ owner: RuleSet) -> Lack) {
    if let known, has(known) { return }
    for rules in Self.ruleSets
    where !has(rules) && self[rules] == nil && (known ?? rules) == rules {
      guard let owner = Self.ruleSets.first(where: has) else { return }
      self[rules] = lack(owner)
    }
  }

  /// Adds what another record uses.
  ///
  /// - Returns: whether a rule set lacks part of that, for which nothing was noted before.
  mutating func add(_ other: VendorFieldUse) -> Bool {
    var isNew = false
    for rules in Self.ruleSets where self[rules] == nil && other[rules] != nil {
      self[rules] = other[rules]
      isNew = true
    }
    return isNew
  }

  /// What does not belong under `rules`, if anything.
  func foreign(to rules: RuleSet) -> FileProblem.Problem? {
    switch self[rules] {
    case nil: nil
    case .belongs(let what, let owner): .fieldOfOtherRules(what, owner, rules: rules)
    case .named(let name, let isInWords, let owner):
      .fieldOfOtherRules(isInWords ? "\(name)" : "\"\(name)\"", owner, rules: rules)
    case .field(let name): .unknownField(name, nearest: nil)
    case .missing(let name): .missingField(name)
    case .nameOfBytes(let count?):
      .outOfRange("name", value: "\(count) bytes", range: "1...256")
    case .nameOfBytes(nil): .wrongType("name", expected: "a string")
    case .level(let text, let field): .unknownLevel(field, value: text, rules: rules)
    }
  }

  /// Whether the rules have all of it; if they are not known, whether all rules have.
  func isAllowed(by rules: RuleSet?) -> Bool {
    guard let rules else { return isEmpty }
    return self[rules] == nil
  }

  /// Whether every rule set has all of it.
  var isEmpty: Bool { Self.ruleSets.allSatisfy { self[$0] == nil } }
}
