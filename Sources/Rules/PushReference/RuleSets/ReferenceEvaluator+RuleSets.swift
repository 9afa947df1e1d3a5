internal import PushModel

extension ReferenceEvaluator {
  /// Where the procedure is, of which an explanation cites the first lines.
  var procedure: String {
    switch settings.app.rules {
    case .easemob, .rongcloud: "decision-rules §4"
    case .open: "open-rules §5"
    }
  }

  /// The decision for a recipient, by the rules of the app.
  mutating func decide(
    _ message: Message, _ conversation: ConversationSettings, _ recipient: Recipient,
    _ trace: inout Trace
  ) -> Decision {
    switch settings.app.rules {
    case .easemob: easemob(message, conversation, recipient, &trace)
    case .rongcloud: rongcloud(message, conversation, recipient, &trace)
    case .open: open(message, conversation, recipient, &trace)
    }
  }

  /// The classes of a message for a recipient, by the rules of the app.
  func classes(
    of message: Message, in conversation: ConversationSettings, _ mentions: Mentions,
    _ recipient: Recipient
  ) -> MessageClasses {
    switch settings.app.rules {
    case .easemob, .rongcloud: mentions.classes(for: recipient.id)
    case .open: openClasses(message, conversation, mentions, recipient)
    }
  }

  /// The users that a message mentions, by the rules of the app.
  func mentions(of message: Message, in conversation: ConversationSettings) -> Mentions {
    switch settings.app.rules {
    case .easemob: Mentions(easemob: message, options: settings.app.easemob)
    case .rongcloud: Mentions(rongcloud: message, kind: conversation.kind)
    case .open: Mentions(open: message)
    }
  }
}
