internal import PushRules

/// Whom a message mentions, under its rule set.
struct Mentions {
  var everyone = false
  private var ids: Set<Identifier> = []
  private var ignoresCase = false

  /// The classes of the message for one recipient (§1).
  func classes(for user: Identifier) -> MessageClasses {
    var classes: MessageClasses = []
    if !ids.isEmpty, ids.contains(ignoresCase ? user.lowercased() : user) {
      classes.insert(.mentionsMe)
    }
    if everyone { classes.insert(.mentionsEveryone) }
    return classes.isEmpty ? .plain : classes
  }
}

extension Mentions {
  /// E-46 to E-48.
  init(easemob message: Message, options: EasemobOptions) {
    ignoresCase = options.atListIDCase == .insensitive  // E-47
    if message.mentions != nil || message.mentionsAll != nil {
      // A typed field hides em_at_list, also when it is false or empty.
      everyone = message.mentionsAll ?? false
      setIDs(message.mentions ?? [])
      return
    }
    var list = message.ext.atList
    if list == .absent, options.atListLegacyAPNsExt { list = message.ext.legacyAtList }  // E-48
    switch list {
    case .absent, .unreadable: break
    case .text(let text):  // E-46
      if text.lowercased() == "all" {
        everyone = true
      } else if options.atListStringAsID {
        setIDs([text])
      }
    case .ids(let ids):  // E-46
      setIDs(ids)
      if options.atListAllInArray { everyone = ids.contains { $0.lowercased() == "all" } }
    }
  }

  ///
  init(rongcloud message: Message, kind: ConversationKind) {
    guard kind == .group || kind == .ultraGroup else { return }
    let ids = message.mentions ?? []
    let all = message.mentionsAll ?? false
    guard message.isMentioned ?? (all || !ids.isEmpty) else { return }
    everyone = all
    if !all { setIDs(ids) }  // type 1 ignores its user list
  }

  private mutating func setIDs(_ list: [Identifier]) {
    ids = Set(ignoresCase ? list.map { $0.lowercased() } : list)
  }
}
