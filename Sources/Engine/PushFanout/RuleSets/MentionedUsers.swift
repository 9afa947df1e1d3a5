internal import PushModel

/// The users that a message mentions, looked up by index; which of its fields say so is in the file
/// of the rule set.
struct MentionedUsers {
  var everyone = false
  var ids: [Identifier] = []
  /// Whether ids are compared by their lower case (E-47).
  var folds = false

  /// Calls `body` with every user mentioned by name, possibly more than once.
  func forEachUser(in tables: Tables, _ body: (UInt32) -> Void) {
    let users = tables.userIDs.lookup
    for id in ids {
      if folds {
        users.forEachIndex(loweredTo: id.lowercased(), body)
      } else if let user = users.index(of: id, hash: users.hash(id)) {
        body(user)
      }
    }
  }
}
