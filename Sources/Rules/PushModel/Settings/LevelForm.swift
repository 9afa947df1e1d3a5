/// How a rule set says its levels.
enum LevelForm: Sendable {
  /// Each of a list by its name in files, or as the vendor writes it.
  case named([NotificationLevel], orWritten: @Sendable (String) -> NotificationLevel?)
  /// Every set of classes, by its word or as a list of their names (O-2).
  case classes
}

extension RuleSet {
  /// The levels that can be set; where every set of classes is one, those that have a word.
  public var levels: [NotificationLevel] {
    switch levelForm {
    case .named(let levels, _): levels
    case .classes: [.unset] + MessageClasses.words.map { NotificationLevel($0.classes) }
    }
  }

  /// The classes that a level may be a list of; none where levels have names only.
  public var levelClasses: MessageClasses {
    switch levelForm {
    case .named: []
    case .classes: .all
    }
  }

  /// The words by which levels are set.
  public var levelNames: [String] {
    switch levelForm {
    case .named(let levels, _): levels.map(\.name)
    case .classes: MessageClasses.words.map(\.word)
    }
  }

  /// The levels that somebody may type, for people.
  package var typedLevels: String {
    switch levelForm {
    case .named: levelNames.joined(separator: ", ")
    case .classes:
      (levelNames + [NotificationLevel.unset.name]).joined(separator: ", ")
        + ", or of classes with commas between: \(levelClasses.names.joined(separator: ", "))"
    }
  }
}

extension NotificationLevel {
  /// Whether the level exists under `rules`.
  public func exists(under rules: RuleSet) -> Bool {
    switch rules.levelForm {
    case .named(let levels, _): levels.contains(self)
    case .classes: true
    }
  }

  /// The level's name under a rule set: a word or, of another set of classes, their names.
  public func name(under rules: RuleSet) -> String {
    switch rules.levelForm {
    case .named: name
    case .classes: isSet ? mask.name : name
    }
  }

  /// The names of classes that stand for the level in files; nil where it has a word.
  package func classNames(under rules: RuleSet) -> [String]? {
    switch rules.levelForm {
    case .named: nil
    case .classes: isSet && mask.word == nil ? mask.names : nil
    }
  }

  /// The level of a text: its name in files, or as a rule set's vendor writes it.
  ///
  /// - Returns: nil for another text, and for what only another vendor writes.
  public static func written(_ text: String, _ rules: RuleSet) -> NotificationLevel? {
    switch rules.levelForm {
    case .named(_, let written): named(text) ?? written(text)
    case .classes: MessageClasses(word: text).map { NotificationLevel($0) }
    }
  }

  /// The level of a text that somebody types: `default` and lists of classes too.
  ///
  /// - Returns: nil as ``written(_:_:)``.
  package static func typed(_ text: String, _ rules: RuleSet) -> NotificationLevel? {
    switch rules.levelForm {
    case .named: written(text, rules)
    case .classes:
      text == unset.name ? .unset : (try? MessageClasses(typed: text)).map { NotificationLevel($0) }
    }
  }
}
