internal import PushModel

/// The users that a message mentions. Which of its fields say so is in the file of the rule set.
struct MentionedUsers {
  var everyone = false
  var ids: [Identifier] = []
  /// Whether ids are compared by their lower case (E-47).
  var folds = false
}
