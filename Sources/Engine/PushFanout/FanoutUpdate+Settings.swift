package import PushModel

extension FanoutUpdate {
  /// Replaces the record of the same key.
  package mutating func set(_ record: SettingsRecord) throws(FanoutError) {
    switch record {
    case .app(let app): try setApp(app)
    case .user(let id, let user): try setUser(id, user)
    case .conversation(let id, let conversation): try setConversation(id, conversation)
    case .member(let user, let conversation, let member, _):
      try setMember(user, of: conversation, member)
    }
  }

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
