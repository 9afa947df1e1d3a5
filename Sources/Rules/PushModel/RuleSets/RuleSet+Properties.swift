// What each rule set has: a value in a file of its own, which a new rule set adds.

extension RuleSet {
  /// All that is asked of a rule set.
  struct Properties: Sendable {
    let vendorName: String
    let hasPushContent: Bool
    let kinds: [ConversationKind]
    let threadParents: [ConversationKind]
    let levels: LevelForm
    let everyoneHidesNames: Bool
    let scopes: [Scope]
    let options: [AppOption]
    let fields: VendorFields
  }

  /// One of the properties; the others are not copied.
  @inline(__always)
  private func property<Value>(_ read: (Properties) -> Value) -> Value {
    switch self {
    case .easemob: read(.easemob)
    case .rongcloud: read(.rongcloud)
    case .open: read(.open)
    }
  }

  /// The name of the vendor, for people; of open rules that of the rules.
  package var vendorName: String { property { $0.vendorName } }

  /// Whether the rules say what a push contains.
  public var hasPushContent: Bool { property { $0.hasPushContent } }

  /// The kinds of conversations that exist.
  public var kinds: [ConversationKind] { property { $0.kinds } }

  /// The kinds of conversations that may have threads (E-63, O-4).
  public var threadParents: [ConversationKind] { property { $0.threadParents } }

  var levelForm: LevelForm { property { $0.levels } }

  /// Whether a message that mentions everyone mentions nobody by name.
  package var everyoneHidesNames: Bool { property { $0.everyoneHidesNames } }

  /// The scopes that a decision can report.
  public var scopes: [Scope] { property { $0.scopes } }

  /// The options, by which an app chooses between readings of the rules.
  package var options: [AppOption] { property { $0.options } }

  /// The fields of settings and messages, and the forms of their values, that not every rule set
  /// has.
  public var fields: VendorFields { property { $0.fields } }

  /// The first rule set that has one of `fields`; nil for none.
  package static func owner(of fields: VendorFields) -> RuleSet? {
    allCases.first { !$0.fields.isDisjoint(with: fields) }
  }
}

extension AppSettings {
  /// How long a device in the background stays connected; nil where one is never taken for
  /// connected by its background.
  package var backgroundGraceMilliseconds: Int64? {
    switch rules {
    case .easemob: nil
    case .rongcloud: rongcloud.backgroundGraceMilliseconds
    case .open: nil
    }
  }
}

extension AppSettings {
  /// How many seconds a push is worth delivering where its sender does not say (S-2).
  package var requestSeconds: Int64 {
    switch rules {
    case .easemob: min(easemob.expireSeconds, PushSender.longestTTL)
    case .rongcloud, .open: 86_400
    }
  }
}

/// The options by their names in files, with their values as text, to be stored outside of settings
/// files.
extension AppSettings {
  /// The options of the app's rule set, every one of them, by name.
  package var optionTexts: [(name: String, value: String)] {
    rules.options.map { ($0.name, $0.text(in: self)) }
  }

  /// Sets an option of the app's rule set.
  ///
  /// - Returns: whether there is an option of that name, and it may have that value.
  package mutating func setOption(_ name: String, to value: String) -> Bool {
    rules.options.first { $0.name == name }?.set(value, in: &self) ?? false
  }
}
