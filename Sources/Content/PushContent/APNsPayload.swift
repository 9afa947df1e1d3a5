internal import PushModel

/// What Apple's push service takes.
///
/// - Source: Apple, "Generating a remote notification"; docs/content.md, "The payload".
public enum APNsPayload {
  /// The most bytes of a payload.
  public static let byteLimit = 4_096
}

/// What a message's payload is beside its words, the same for every recipient.
struct PayloadLayout: Sendable {
  let kind: Kind
  let message: Message
  let content: MessageContent
  let conversation: ConversationKind

  init(
    _ kind: Kind, _ message: Message, _ content: MessageContent, in conversation: ConversationKind
  ) {
    self.kind = kind
    self.message = message
    self.content = content
    self.conversation = conversation
  }

  /// What comes instead of a payload that is too large, from the most to the least: the vendor's
  /// plainest words with the sender's badge, flags, sound, category and thread and with the ids;
  /// then without the longest of sound, category and thread, and so on; then all of it without the
  /// ids. The last always has room.
  var fallbacks: [(words: RenderedContent, template: PayloadTemplate)] {
    var steps = [senderExtension.beside]
    while let less = steps.last?.withoutLongest { steps.append(less) }
    return [true, false].flatMap { hasIDs in steps.map { fallback($0, hasIDs: hasIDs) } }
  }

  private func fallback(
    _ apns: MessageContent.APNsExtension, hasIDs: Bool
  ) -> (words: RenderedContent, template: PayloadTemplate) {
    var words = RenderedContent()
    words.title = plainTitle
    words.body = plainBody
    var draft = PayloadDraft()
    putAPS(words, apns, &draft)
    if hasIDs { putIDs(&draft) }
    draft.raw("}")
    return (words, PayloadTemplate(draft, body: words.body))
  }

  func putAPS(
    _ words: RenderedContent, _ apns: MessageContent.APNsExtension, _ draft: inout PayloadDraft
  ) {
    draft.raw("{\"aps\":{\"alert\":{")
    if !words.title.isEmpty {
      draft.raw("\"title\":")
      draft.string(words.title)
      draft.raw(",")
    }
    if !words.subtitle.isEmpty {
      draft.raw("\"subtitle\":")
      draft.string(words.subtitle)
      draft.raw(",")
    }
    draft.raw("\"body\":\"")
    draft.bodyHere()
    draft.raw("\"},\"badge\":")
    if let badge = apns.badge { draft.number(badge) } else { draft.badgeHere() }
    draft.raw(",\"sound\":")
    draft.string(apns.sound ?? "default")
    if apns.isMutable { draft.raw(",\"mutable-content\":1") }
    if apns.isContentAvailable { draft.raw(",\"content-available\":1") }
    if let category = apns.category.saying {
      draft.raw(",\"category\":")
      draft.string(category)
    }
    if let thread = apns.threadID.saying {
      draft.raw(",\"thread-id\":")
      draft.string(thread)
    }
    draft.raw("}")
  }

}

extension MessageContent.APNsExtension {
  /// The fields that determine how a push is presented, not its words.
  fileprivate var beside: MessageContent.APNsExtension {
    var beside = self
    (beside.title, beside.subtitle, beside.content, beside.extra) = (nil, nil, nil, nil)
    return beside
  }

  /// The same without the longest of its texts; nil when it has none that could be left out.
  fileprivate var withoutLongest: MessageContent.APNsExtension? {
    let texts: [WritableKeyPath<MessageContent.APNsExtension, String?>] = [
      \.sound, \.category, \.threadID,
    ]
    let sizes = texts.map { self[keyPath: $0]?.utf8.count ?? 0 }
    guard let longest = sizes.indices.max(by: { sizes[$0] < sizes[$1] }), sizes[longest] > 0
    else { return nil }
    var less = self
    less[keyPath: texts[longest]] = nil
    return less
  }
}
