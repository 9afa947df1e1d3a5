internal import PushModel

/// The users that a message mentions; the file of the rule set reads them from its fields.
struct Mentions {
  var everyone = false
  private var ids: Set<Identifier> = []
  /// Whether ids are compared without case.
  var ignoresCase = false
  /// The roles that are mentioned, under open rules.
  var roles: Set<Identifier> = []
  /// The tokens of the text, under open rules.
  var tokens: TextTokens?

  /// The classes of the message for one recipient (§1).
  func classes(for user: Identifier) -> MessageClasses {
    var classes: MessageClasses = []
    if !ids.isEmpty, ids.contains(ignoresCase ? user.lowercased() : user) {
      classes.insert(.mentionsMe)
    }
    if everyone { classes.insert(.mentionsEveryone) }
    return classes.isEmpty ? .plain : classes
  }

  /// Sets the ids that are mentioned, after ``ignoresCase``.
  mutating func setIDs(_ list: [Identifier]) {
    ids = Set(ignoresCase ? list.map { $0.lowercased() } : list)
  }
}
