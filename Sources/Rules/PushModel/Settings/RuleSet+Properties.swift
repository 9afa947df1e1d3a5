// What each rule set has. A new rule set needs a line in each of these switches.

extension RuleSet {
  /// The name of the vendor, for people; of open rules that of the rules.
  package var vendorName: String {
    switch self {
    case .easemob: "Easemob"
    case .rongcloud: "RongCloud"
    case .open: "open rules"
    }
  }

  /// Whether the rules say what a push contains.
  public var hasPushContent: Bool {
    switch self {
    case .easemob, .rongcloud: true
    case .open: false
    }
  }

  /// The kinds of conversations that exist.
  public var kinds: [ConversationKind] {
    switch self {
    case .easemob: [.private, .group, .thread, .room]
    case .rongcloud:
      [.private, .group, .discussion, .customerService, .system, .ultraGroup, .room]
    case .open: [.private, .group, .thread, .room]
    }
  }

  /// The kinds of conversations that may have threads (E-63, O-4).
  public var threadParents: [ConversationKind] {
    switch self {
    case .easemob, .rongcloud: [.group]
    case .open: [.group, .private]
    }
  }

  /// The levels that can be set; under open rules those that have a word, beside every other set of
  /// classes.
  public var levels: [NotificationLevel] {
    switch self {
    case .easemob: [.unset, .all, .mention, .blocked]
    case .rongcloud: NotificationLevel.ofVendors
    case .open: [.unset] + MessageClasses.words.map { NotificationLevel($0.classes) }
    }
  }

  /// The levels that somebody may type, for people.
  package var typedLevels: String {
    guard fields.contains(.classLevels) else { return levelNames.joined(separator: ", ") }
    return (levelNames + [NotificationLevel.unset.name]).joined(separator: ", ")
      + ", or of classes with commas between: \(MessageClasses.all.names.joined(separator: ", "))"
  }

  /// The words by which levels are set.
  public var levelNames: [String] {
    if fields.contains(.classLevels) { return MessageClasses.words.map(\.word) }
    return levels.map(\.name)
  }

  /// Whether a message that mentions everyone mentions nobody by name (R-41).
  package var everyoneHidesNames: Bool {
    switch self {
    case .easemob: false
    case .rongcloud: true
    case .open: false
    }
  }

  /// The scopes that a decision can report.
  public var scopes: [Scope] {
    switch self {
    case .easemob: [.conversation, .app, .default]
    case .rongcloud:
      [
        .quietHours, .channel, .conversation, .type, .channelDefault, .groupDefault, .appKey,
        .default,
      ]
    case .open: [.thread, .conversation, .user, .conversationDefault, .appDefault, .default]
    }
  }

  /// The options, by which an app chooses between readings of the rules.
  package var options: [AppOption] {
    switch self {
    case .easemob: AppOption.easemob
    case .rongcloud: AppOption.rongcloud
    case .open: AppOption.open
    }
  }

  /// The fields of settings and messages, and the forms of their values, that not every rule set
  /// has.
  public var fields: VendorFields {
    switch self {
    case .easemob: Self.easemobFields
    case .rongcloud: Self.rongcloudFields
    case .open: Self.openFields
    }
  }

  /// The first rule set that has one of `fields`; nil for none.
  package static func owner(of fields: VendorFields) -> RuleSet? {
    allCases.first { !$0.fields.isDisjoint(with: fields) }
  }
}

extension AppSettings {
  /// How long a device in the background stays connected (R-53); nil where one is never taken for
  /// connected by its background.
  package var backgroundGraceMilliseconds: Int64? {
    switch rules {
    case .easemob: nil
    case .rongcloud: rongcloud.backgroundGraceMilliseconds
    case .open: nil
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
