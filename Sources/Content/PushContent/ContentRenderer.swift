public import PushModel

/// What is rendered for a recipient.
public enum PayloadForm: Sendable {
  /// The payload of a remote push, for Apple's push service.
  case push
  /// The notification that RongCloud's SDK shows itself.
  case local
}

/// Renders the content of pushes: from a message and the recipients of its push to the bytes that a
/// dispatch service hands on.
///
/// It decides nothing: each recipient that is passed gets a payload, in the order given.
///
///     let result = fanout.decide(message)
///     let pushes = renderer.stream(message, content, for: Array(result.pushes.ids))
///     for push in pushes { send(push.payload, to: push.recipient) }
///
/// - Source: docs/content.md.
public struct ContentRenderer: Sendable {
  /// The vendor whose payloads are rendered.
  public let rules: RuleSet
  let templates: TemplateCatalog
  let directory: ContentDirectory

  /// - Parameters:
  ///   - templates: those of the app; RongCloud has none.
  ///   - directory: the users' display settings, and the kinds of conversations.
  public init(
    rules: RuleSet, templates: TemplateCatalog = TemplateCatalog(),
    directory: ContentDirectory = ContentDirectory()
  ) {
    self.rules = rules
    self.templates = templates
    self.directory = directory
  }

  /// What a conversation is called; nil where nobody has named it.
  package func name(of conversation: Identifier) -> String? { directory.name(of: conversation) }

  /// The same with other templates.
  package func replacingTemplates(_ templates: TemplateCatalog) -> ContentRenderer {
    ContentRenderer(rules: rules, templates: templates, directory: directory)
  }

  /// A renderer of one message, one recipient at a time. Threads that share the work have one each.
  ///
  /// - Precondition: ``PayloadForm/local`` is RongCloud's.
  public func renderer(
    of message: Message, _ content: MessageContent, as form: PayloadForm = .push
  ) -> MessageRenderer {
    MessageRenderer(RenderingPlan(self, message, content, form))
  }

  /// How many recipients are one piece of work.
  static let pieceSize = 4_096

  /// Renders a message for many recipients, as the payloads are asked for: few are in memory at a
  /// time, also when every recipient sees another text.
  ///
  /// - Parameters:
  ///   - recipients: the users that the engine has decided to push to.
  ///   - form: what is rendered.
  ///   - threads: how many threads may work; nil for as many as the system gives.
  /// - Returns: a payload for each recipient, in their order.
  /// - Complexity: O(recipients + bytes); words are put together once for all who see the same.
  public func stream(
    _ message: Message, _ content: MessageContent, for recipients: [Identifier],
    as form: PayloadForm = .push, threads: Int? = nil
  ) -> RenderedStream {
    RenderedStream(RenderingPlan(self, message, content, form), recipients, threads: threads)
  }

  /// Explains which words a recipient sees of a message.
  public func explain(
    _ message: Message, _ content: MessageContent, for recipient: Identifier,
    as form: PayloadForm = .push
  ) -> ContentExplanation {
    let plan = RenderingPlan(self, message, content, form)
    let selection = plan.choose(for: plan.context(recipient), isTraced: true)
    var renderer = MessageRenderer(plan)
    return ContentExplanation(
      steps: selection.steps ?? [], content: selection.content, push: renderer.render(recipient))
  }
}

/// Which words a recipient sees, and why.
public struct ContentExplanation: Sendable {
  /// Every source, from the highest to the lowest.
  public let steps: [ContentStep]
  /// The result of the sources.
  public let content: RenderedContent
  /// What is sent, which may be a fallback.
  public let push: RenderedPush
}

/// The payload of one recipient.
public struct RenderedPush: Sendable {
  /// The id of the recipient.
  public let recipient: Identifier
  /// A JSON object in UTF-8.
  public let payload: ArraySlice<UInt8>
  /// The words, before the body was shortened.
  public let content: RenderedContent
  /// Whether only a part of the body had room.
  public let isShortened: Bool
  /// Why this is not the payload of the message's content, but the vendor's plainest words; nil
  /// when it is.
  public let problem: ContentProblem?
}
