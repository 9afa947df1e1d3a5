package import PushModel

extension ContentDirectory {
  /// Takes over a conversation's record; its name and nicknames stay.
  package mutating func setConversation(_ id: Identifier, _ record: ConversationSettings) {
    setConversation(id, kind: record.kind, name: name(of: id), parent: record.parent)
  }

  /// Replaces the display settings of the users that the settings have a record of.
  ///
  /// - Complexity: O(records of the settings).
  package mutating func replace(by other: ContentDirectory, for settings: FanoutSettings) {
    for index in 0..<UInt32(settings.userCount) where settings.isDeclared(UserIndex(index)) {
      let id = settings.id(of: UserIndex(index))
      setUser(id, other.user(id))
      setDevices(other.devices(of: id), of: id)
    }
    for id in settings.conversationIDs {
      if settings.isDeclared(id), let record = settings.conversation(id) {
        setConversation(id, kind: record.kind, name: other.name(of: id), parent: record.parent)
      }
      for user in settings.members(of: id) {
        let user = settings.id(of: user)
        let nickname = other.nickname(of: user, in: id)
        if nickname != nil || hasNicknames(in: id) { setNickname(nickname, of: user, in: id) }
      }
    }
  }
}
