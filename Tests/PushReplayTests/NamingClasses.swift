import PushModel

@testable import PushReference

extension ReferenceEvaluator {
  /// The classes of a message for a user, but those of the conversation (§1, O-1): by the vendors'
  /// reading of mentions, and by open rules from the records alone.
  func namingClasses(of message: Message, for user: Identifier) -> MessageClasses {
    guard let place = settings.conversation(message.conversation) else { return [] }
    guard settings.app.rules == .open else {
      return mentions(of: message, in: place).classes(for: user).subtracting(.plain)
    }
    let own = settings.index(of: user).map { settings.user($0) } ?? UserSettings()
    let membership = settings.index(of: user).flatMap {
      settings.member($0, of: place.parent ?? message.conversation)
    }
    var classes: MessageClasses = []
    if message.mentions?.contains(user) ?? false { classes.insert(.mentionsMe) }
    if message.mentionsAll ?? false { classes.insert(.mentionsEveryone) }
    if let roles = message.mentionsRoles, membership?.roles.contains(where: roles.contains) ?? false
    {
      classes.insert(.role)
    }
    if message.replyToUser == user { classes.insert(.reply) }
    if let sender = message.sender, own.importantSenders.contains(sender) {
      classes.insert(.sender)
    }
    if let text = message.text.map({ TextTokens(ofMessage: $0) }),
      own.keywords.contains(where: { text.contains(TextTokens($0)) })
    {
      classes.insert(.keyword)
    }
    return classes
  }
}
