/// Where a title or a body comes from, from the least to the most.
///
/// - Source: docs/content.md, "Which words".
public enum ContentSource: String, CaseIterable, Sendable {
  /// The recipient's display style, with the vendor's own words.
  case displayStyle
  /// The template `default`, or `detail` for those who want a summary (Easemob).
  case defaultTemplate
  /// The message's own title or content: `em_push_title`, `em_push_content` (Easemob), `pushTitle`,
  /// `pushContent` (RongCloud).
  case message
  /// The template that the recipient has chosen (Easemob).
  case recipientTemplate
  /// The template that the sender has chosen (Easemob).
  case senderTemplate
  /// The template that the sender has chosen for this recipient among others (Easemob).
  case directedTemplate
  /// What mentioned recipients see (RongCloud).
  case mentionedContent
}

/// Which of the two texts.
public enum ContentField: String, Sendable {
  /// The title of the push.
  case title
  /// The body of the push.
  case body
}

/// Why words are not those that were asked for.
public enum ContentNote: Hashable, Sendable {
  /// There is no template of that name: the next source counts.
  case templateMissing(ContentSource, name: String)
  /// The template came out without a body: the next source counts.
  case bodyEmpty(ContentSource, name: String)
  /// The body is only white space and characters without a width: the vendor's words stand there.
  case bodyBlank(ContentSource)
  /// The template asks for an argument that the message does not give: nothing stands there.
  case argumentMissing(ContentSource, ContentField, index: Int)
  /// A summary was asked for, and the message has no text: the banner counts.
  case noText
  /// The text is a translation.
  case translated(LanguageTag)
  /// There are translations, but none in the recipient's language: the original counts.
  case notTranslated(LanguageTag)
  /// A text was longer than 65,536 bytes.
  case cutOff(ContentField)
}

extension ContentNote: CustomStringConvertible {
  public var description: String {
    switch self {
    case .templateMissing(let source, let name):
      "\(source): there is no template \"\(name)\""
    case .bodyEmpty(let source, let name):
      "\(source): the template \"\(name)\" comes out empty"
    case .bodyBlank(let source):
      "\(source): the body shows no character; the vendor's words stand there"
    case .argumentMissing(let source, let field, let index):
      "\(source): the \(field) has no argument {\(index)}"
    case .noText: "the message has no text to show"
    case .translated(let tag): "shown in \(tag)"
    case .notTranslated(let tag): "not translated into \(tag)"
    case .cutOff(let field): "the \(field) is cut off at \(LimitedText.byteLimit) bytes"
    }
  }
}

/// The words of a push, and where they come from.
public struct RenderedContent: Hashable, Sendable {
  /// Empty for none.
  public internal(set) var title = ""
  /// Empty for none.
  public internal(set) var subtitle = ""
  /// Never blank.
  public internal(set) var body = ""
  /// Where the title comes from.
  public internal(set) var titleSource = ContentSource.displayStyle
  /// Where the body comes from.
  public internal(set) var bodySource = ContentSource.displayStyle
  /// In the order in which they were met.
  public internal(set) var notes: [ContentNote] = []
}

/// Why a payload is not that of its content.
public enum ContentProblem: Error, Hashable, Sendable {
  /// Even with the shortest body, which is "…" or what is shorter, the payload would have so many
  /// bytes, which is over the limit.
  case payloadTooLarge(bytes: Int)

  /// The stable code of the case, such as `content.payload-too-large`.
  public var code: String {
    switch self {
    case .payloadTooLarge: "content.payload-too-large"
    }
  }
}

extension ContentProblem: CustomStringConvertible {
  public var description: String {
    switch self {
    case .payloadTooLarge(let bytes):
      "the payload has \(bytes) bytes with the shortest body, of at most \(APNsPayload.byteLimit)"
    }
  }
}
