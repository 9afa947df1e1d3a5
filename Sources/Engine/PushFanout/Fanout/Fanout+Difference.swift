internal import PushModel

extension Fanout {
  /// The number of users and member slots, a measure of the engine's size.
  package var recordCount: Int {
    reading { $0.userCount + $0.memberUsers.count }
  }

  /// The number of conversation ids that have appeared.
  package var conversationCount: Int { reading { $0.conversations.count } }

  /// Describes the first difference between two engines' settings; nil when they are equal. The
  /// order of users matters, that of conversations does not.
  ///
  /// - Complexity: O(users + memberships).
  package func difference(from other: Fanout) -> String? {
    reading { tables in other.reading { tables.difference(from: $0) } }
  }
}

extension Tables {
  fileprivate func difference(from other: Tables) -> String? {
    if app != other.app { return "the app's settings" }
    if userCount != other.userCount { return "\(userCount) users and \(other.userCount)" }
    for index in 0..<UInt32(userCount) {
      let id = userIDs[index]
      if id != other.userIDs[index] { return "user \(index) is \(id) and \(other.userIDs[index])" }
      if user(index) != other.user(index) { return "the settings of user \(id)" }
    }
    if conversations.count != other.conversations.count {
      return "\(conversations.count) conversations and \(other.conversations.count)"
    }
    for index in 0..<UInt32(conversations.count) {
      let id = conversationIDs[index]
      guard let otherIndex = other.conversationIDs.index(of: id) else {
        return "conversation \(id)"
      }
      if conversation(index) != other.conversation(otherIndex) {
        return "the settings of conversation \(id)"
      }
      if let user = memberDifference(index, other, otherIndex) {
        return "member \(user) of conversation \(id)"
      }
    }
    return nil
  }

  /// The first user whose membership differs.
  private func memberDifference(
    _ index: UInt32, _ other: Tables, _ otherIndex: UInt32
  ) -> Identifier? {
    let row = conversations[Int(index)]
    let otherRow = other.conversations[Int(otherIndex)]
    for rank in 0..<Int(min(row.count, otherRow.count)) {
      let user = memberUsers[Int(row.start) + rank]
      let otherUser = other.memberUsers[Int(otherRow.start) + rank]
      if user != otherUser { return userIDs[min(user, otherUser)] }
      let record = record(at: Int(row.start) + rank, index, row)
      let otherRecord = other.record(at: Int(otherRow.start) + rank, otherIndex, otherRow)
      if member(record) != other.member(otherRecord) { return userIDs[user] }
    }
    guard row.count != otherRow.count else { return nil }
    let (longer, at) = row.count > otherRow.count ? (self, row) : (other, otherRow)
    return userIDs[longer.memberUsers[Int(at.start) + Int(min(row.count, otherRow.count))]]
  }
}
