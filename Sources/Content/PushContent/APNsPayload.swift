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
  /// The sender of whose requests it is the body; nil for a payload by itself.
  let sender: PushSender?

  init(
    _ kind: Kind, _ message: Message, _ content: MessageContent, in conversation: ConversationKind,
    for sender: PushSender? = nil
  ) {
    self.kind = kind
    self.message = message
    self.content = content
    self.conversation = conversation
    self.sender = sender
  }

  /// Whether it wakes the app and shows nothing (S-20).
  var isBackground: Bool { sender?.commands == .background && message.body == .command }

  /// What of recipients, beside words, it differs by.
  var traits: RecipientTraits {
    guard let sender, sender.platform == .apns, !isBackground else { return [] }
    if sender.relevance { return [.forced, .mentioned] }
    var traits: RecipientTraits = []
    if sender.forcedLevel != nil { traits.insert(.forced) }
    if sender.mentionLevel != nil { traits.insert(.mentioned) }
    return traits
  }

  /// The payload of some words.
  func template(_ words: RenderedContent, _ traits: RecipientTraits) -> PayloadTemplate {
    var draft = PayloadDraft()
    if sender?.platform == .fcm {
      putFCM(words, .all, &draft)
    } else {
      putPayload(words, traits, &draft)
    }
    return PayloadTemplate(draft, body: isBackground ? "" : words.body)
  }

  /// What comes instead of a payload that is too large, from the most to the least: the vendor's
  /// plainest words with the sender's badge, flags, sound, category and thread and with the ids;
  /// then without the longest of sound, category and thread, and so on; then all of it without the
  /// ids. The last always has room.
  /// S-33, S-51.
  func fallbacks(
    _ traits: RecipientTraits
  ) -> [(words: RenderedContent, template: PayloadTemplate)] {
    var words = RenderedContent()
    words.title = plainTitle
    words.body = plainBody
    func fallback(
      _ put: (inout PayloadDraft) -> Void
    ) -> (words: RenderedContent, template: PayloadTemplate) {
      var draft = PayloadDraft()
      put(&draft)
      return (words, PayloadTemplate(draft, body: isBackground ? "" : words.body))
    }
    if sender?.platform == .fcm {
      return [FCMParts.ids, .words].map { parts in fallback { putFCM(words, parts, &$0) } }
    }
    var steps = [senderExtension.beside]
    if !isBackground { while let less = steps.last?.withoutLongest { steps.append(less) } }
    return [true, false].flatMap { hasIDs in
      steps.map { apns in
        fallback { draft in
          draft.open()
          putAPS(words, apns, traits, hasIDs: hasIDs, &draft)
          if hasIDs { putIDs(&draft) }
          draft.raw("}")
        }
      }
    }
  }

  func putAPS(
    _ words: RenderedContent, _ apns: MessageContent.APNsExtension, _ traits: RecipientTraits,
    hasIDs: Bool = true, _ draft: inout PayloadDraft
  ) {
    draft.name("aps")
    draft.open()
    if isBackground { return draft.raw("\"content-available\":1}") }  // S-31
    draft.name("alert")
    draft.open()
    if sender == nil || !content.requests.hidesTitle {  // S-32
      draft.member("title", words.title.saying)
    }
    draft.member("subtitle", words.subtitle.saying)
    draft.body()
    draft.raw("}")
    draft.name("badge")
    if let badge = apns.badge { draft.number(badge) } else { draft.own(.badge) }
    draft.name("sound")
    let (sound, level) = (apns.sound ?? "default", level(traits))
    if level == .critical, !sound.isEmpty {  // S-30
      draft.raw("{\"critical\":1")
      draft.member("name", sound)
      draft.raw(",\"volume\":1}")
    } else {
      draft.string(sound)
    }
    if apns.isMutable { draft.raw(",\"mutable-content\":1") }
    if apns.isContentAvailable { draft.raw(",\"content-available\":1") }
    draft.member("category", apns.category.saying)
    draft.member("thread-id", apns.threadID.saying)
    if hasIDs, sender?.target == true {  // S-27
      draft.member("target-content-id", message.conversation.text)
    }
    draft.member("interruption-level", level?.rawValue)
    if sender?.relevance == true {  // S-29
      draft.name("relevance-score")
      if traits.isEmpty { draft.raw("0.5") } else { draft.raw("1") }
    }
    draft.raw("}")
  }

  /// S-28.
  private func level(_ traits: RecipientTraits) -> InterruptionLevel? {
    guard let sender else { return nil }
    return content.requests.level ?? (traits.contains(.forced) ? sender.forcedLevel : nil)
      ?? (traits.contains(.mentioned) ? sender.mentionLevel : nil) ?? sender.level
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
