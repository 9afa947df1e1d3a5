internal import PushModel

/// A part of a ``ContentDirectory``: what belongs to the ids of some hashes.
///
/// INVARIANT: a shard is changed only while one directory has it; a directory that shares it copies
/// it first. Each of its arrays and dictionaries is copied only when it is changed itself.
final class DirectoryShard: @unchecked Sendable {
  var ids = IdentifierTable()
  var people: [ContentDirectory.Person] = []
  /// Of each person, nil for none.
  var names: [String?] = []
  /// The remarks that a person has set for others, by the person's index here.
  var remarked: [UInt32: [Identifier]] = [:]
  /// The remarks for users of this shard, by the indices of those who set them.
  var remarks: [Identifier: [UInt32: String]] = [:]
  /// Of users of this shard.
  var nicknames: [Identifier: [Identifier: String]] = [:]
  var conversations: [Identifier: ContentDirectory.Conversation] = [:]
  /// How many nicknames there are in conversations of this shard.
  var nicknameCounts: [Identifier: Int] = [:]

  init() {}

  init(copy other: DirectoryShard) {
    ids = other.ids
    people = other.people
    names = other.names
    remarked = other.remarked
    remarks = other.remarks
    nicknames = other.nicknames
    conversations = other.conversations
    nicknameCounts = other.nicknameCounts
  }
}
