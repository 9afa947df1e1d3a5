package import PushRules

extension FanoutUpdate {
  /// Replaces every record in `settings`, users in their order; the app's settings are kept.
  ///
  /// - Complexity: O(records).
  package mutating func add(_ settings: FanoutSettings) throws(FanoutError) {
    for number in 0..<UInt32(settings.userCount) {
      let index = UserIndex(number)
      let id = settings.id(of: index)
      if settings.isDeclared(index) {
        try setUser(id, settings.user(index))
      } else {
        try name(user: id)
      }
    }
    for id in settings.conversationIDs {
      if settings.isDeclared(id), let record = settings.conversation(id) {
        try setConversation(id, record)
      }
      for user in settings.members(of: id) {
        if let member = settings.member(user, of: id) {
          try setMember(settings.id(of: user), of: id, member)
        }
      }
    }
  }
}
