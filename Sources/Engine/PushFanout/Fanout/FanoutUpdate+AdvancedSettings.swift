internal import PushModel

extension FanoutUpdate {
  /// Resets all levels, quiet hours and durations of users and members; time zones and devices
  /// stay.
  ///
  /// - Complexity: O(users + memberships).
  package mutating func removeAdvancedSettings() throws(FanoutError) {
    for index in 0..<UInt32(writer.tables.userCount) {
      let before = writer.tables.user(index)
      var user = before
      (user.level, user.quietHours, user.mutedUntil) = (.unset, nil, .zero)
      if user != before { try setUser(writer.tables.userIDs[index], user) }
    }
    for conversation in 0..<UInt32(writer.tables.conversations.count) {
      for slot in writer.tables.conversations[Int(conversation)].range {
        let index = writer.tables.memberUsers[slot]
        guard let before = writer.tables.member(index, of: conversation) else { continue }
        var member = before
        (member.level, member.mutedUntil) = (.unset, .zero)
        guard member != before else { continue }
        try setMember(
          writer.tables.userIDs[index], of: writer.tables.conversationIDs[conversation], member)
      }
    }
  }
}
