public import PushContent
public import PushModel

extension ContentRenderer {
  /// Explains the text of a push; nil for a user who gets none.
  public func explain(
    _ decision: Decision, _ message: Message, _ content: MessageContent, for user: Identifier
  ) -> ContentExplanation? {
    switch decision.outcome.action {
    case .push: explain(message, content, for: user)
    case .local: explain(message, content, for: user, as: .local)
    case .suppress: nil
    }
  }

  /// Explains messages for a user as they are read, and what their pushes say.
  ///
  /// - Parameters:
  ///   - user: the recipient.
  ///   - explaining: explains a message.
  ///   - next: the next message, and what it says of its own push, nil if that is not to be
  ///     explained; nil at the end.
  /// - Returns: for each message the explanation, and that of its push if it is wanted and there is
  ///   one.
  /// - Throws: ``ServiceError/noPushContent(_:)``, and what `next` throws.
  package func explain(
    for user: Identifier, by explaining: (Message) -> Explanation,
    next: () throws -> (message: Message, content: MessageContent?)?
  ) throws -> [(decision: Explanation, content: ContentExplanation?)] {
    var found: [(decision: Explanation, content: ContentExplanation?)] = []
    while let (message, content) = try next() {
      if content != nil, !rules.hasPushContent { throw ServiceError.noPushContent(rules) }
      var explanation = explaining(message)
      explanation.conversationName = name(of: message.conversation)
      let words = content.flatMap { content in
        explanation.decision.flatMap { explain($0, message, content, for: user) }
      }
      found.append((decision: explanation, content: words))
    }
    return found
  }
}
