internal import PushModel

/// The users that a message mentions, found by the file of each rule set.
struct MentionedUsers {
  var everyone = false
  var ids: [Identifier] = []
  /// Whether ids are compared in lower case (E-47).
  var folds = false
}
