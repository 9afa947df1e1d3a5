internal import PushRules

/// The users that a message mentions, looked up by index.
struct MentionedUsers {
  var everyone = false
  private(set) var ids: [Identifier] = []
  /// Whether ids are compared by their lower case (E-47).
  private var folds = false

  /// E-46 to E-48.
  init(easemob message: borrowing Message, _ options: EasemobOptions) {
    folds = options.atListIDCase == .insensitive
    if message.mentions != nil || message.mentionsAll != nil {
      everyone = message.mentionsAll ?? false
      ids = message.mentions ?? []
      return
    }
    var list = message.ext.atList
    if list == .absent, options.atListLegacyAPNsExt { list = message.ext.legacyAtList }
    switch list {
    case .absent, .unreadable: break
    case .text(let text):
      if text.lowercased() == "all" {
        everyone = true
      } else if options.atListStringAsID {
        ids = [text]
      }
    case .ids(let list):
      ids = list
      if options.atListAllInArray { everyone = list.contains { $0.lowercased() == "all" } }
    }
  }

  ///
  init(rongcloud message: borrowing Message, _ kind: ConversationKind) {
    guard kind == .group || kind == .ultraGroup else { return }
    let all = message.mentionsAll ?? false
    let named = message.mentions ?? []
    guard message.isMentioned ?? (all || !named.isEmpty) else { return }
    everyone = all
    ids = all ? [] : named
  }

  /// Calls `body` with every user mentioned by name, possibly more than once.
  func forEachUser(in tables: Tables, _ body: (UInt32) -> Void) {
    for id in ids {
      if folds {
        tables.userIDs.forEachIndex(loweredTo: id.lowercased(), body)
      } else if let user = tables.userIDs.index(of: id) {
        body(user)
      }
    }
  }
}
