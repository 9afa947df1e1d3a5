internal import PushRules

/// What Apple's push service takes.
///
/// - Source: Apple, "Generating a remote notification"; docs/content.md, "The payload".
public enum APNsPayload {
  /// The most bytes of a payload.
  public static let byteLimit = 4_096
}

/// What a message's payload is beside its words, the same for every recipient.
struct PayloadLayout: Sendable {
  enum Kind: Sendable {
    case easemob
    case rongcloud
    /// A notification that RongCloud's SDK shows itself, of which there is no largest.
    case local
  }

  let kind: Kind
  private let message: Message
  private let content: MessageContent
  private let conversation: ConversationKind

  init(
    _ kind: Kind, _ message: Message, _ content: MessageContent, in conversation: ConversationKind
  ) {
    self.kind = kind
    self.message = message
    self.content = content
    self.conversation = conversation
  }

  /// The most bytes of a payload.
  var limit: Int { kind == .local ? .max : APNsPayload.byteLimit }

  /// The payload of some words.
  func template(_ words: RenderedContent) -> PayloadTemplate {
    var draft = PayloadDraft()
    switch kind {
    case .easemob:
      putAPS(words, content.apns, &draft)
      putEasemobIDs(&draft)
      if let extra = content.apns.extra ?? content.push.custom {
        draft.raw(",\"e\":")
        draft.raw(extra)
      }
    case .rongcloud:
      putAPS(words, MessageContent.APNsExtension(), &draft)
      draft.raw(",")
      putRC(&draft)
      if let data = content.pushData.saying {
        draft.raw(",\"appData\":")
        draft.string(data)
      }
    case .local:
      draft.raw("{\"alertBody\":\"")
      draft.bodyHere()
      draft.raw("\",\"userInfo\":{")
      putRC(&draft)
      draft.raw("}")
    }
    draft.raw("}")
    return PayloadTemplate(draft, body: words.body)
  }

  /// What comes instead of a payload that is too large, from the most to the least: the vendor's
  /// plainest words with the sender's badge, flags, sound, category and thread and with the ids;
  /// then without the longest of sound, category and thread, and so on; then all of it without the
  /// ids. The last always has room.
  var fallbacks: [(words: RenderedContent, template: PayloadTemplate)] {
    var steps = [kind == .easemob ? content.apns.beside : MessageContent.APNsExtension()]
    while let less = steps.last?.withoutLongest { steps.append(less) }
    return [true, false].flatMap { hasIDs in steps.map { fallback($0, hasIDs: hasIDs) } }
  }

  private func fallback(
    _ apns: MessageContent.APNsExtension, hasIDs: Bool
  ) -> (words: RenderedContent, template: PayloadTemplate) {
    var words = RenderedContent()
    words.title = kind == .easemob ? VendorText.bannerTitle : ""
    words.body = plainBody
    var draft = PayloadDraft()
    putAPS(words, apns, &draft)
    if hasIDs, kind == .easemob { putEasemobIDs(&draft) }
    if hasIDs, kind != .easemob {
      draft.raw(",")
      putRC(&draft)
    }
    draft.raw("}")
    return (words, PayloadTemplate(draft, body: words.body))
  }

  /// The vendor's body that says no more than that there is a message.
  var plainBody: String { kind == .easemob ? VendorText.bannerBody : VendorText.hidden }

  private func putAPS(
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

  /// `f`, `t`, `g` and `m`.
  private func putEasemobIDs(_ draft: inout PayloadDraft) {
    if let sender = message.sender {
      draft.raw(",\"f\":")
      draft.string(sender.text)
    }
    draft.raw(",\"t\":\"")
    draft.recipientHere()
    draft.raw("\"")
    if conversation == .group || conversation == .thread {
      draft.raw(",\"g\":")
      draft.string(message.conversation.text)
    }
    draft.raw(",\"m\":")
    draft.string(message.id.text)
  }

  /// `rc`.
  private func putRC(_ draft: inout PayloadDraft) {
    draft.raw("\"rc\":{")
    if let code = conversation.rongCloudCode {
      draft.raw("\"cType\":")
      draft.string(code)
      draft.raw(",")
    }
    if let sender = message.sender {
      draft.raw("\"fId\":")
      draft.string(sender.text)
      draft.raw(",")
    }
    if let name = content.objectName.saying ?? message.body.rongCloudName {
      draft.raw("\"oName\":")
      draft.string(name)
      draft.raw(",")
    }
    draft.raw("\"tId\":")
    if conversation.isDirect, kind == .rongcloud {
      draft.raw("\"")
      draft.recipientHere()
      draft.raw("\"")
    } else {
      // On the recipient's own device the target of a direct chat is the other one.
      let target = conversation.isDirect ? message.sender : nil
      draft.string((target ?? message.conversation).text)
    }
    draft.raw(",\"mId\":")
    draft.string(message.id.text)
    draft.raw(",\"id\":")
    draft.string(message.id.text)
    draft.raw("}")
  }
}

extension MessageContent.APNsExtension {
  /// What of it says how a push comes, not what it says.
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

extension ConversationKind {
  /// `cType`; nil where the vendor names no code.
  var rongCloudCode: String? {
    switch self {
    case .private: "PR"
    case .discussion: "DS"
    case .group: "GRP"
    case .customerService: "CS"
    case .system: "SYS"
    case .thread, .ultraGroup, .room: nil
    }
  }
}

extension MessageBody {
  /// `oName` of a message that does not say its type; nil where there is no usual one.
  var rongCloudName: String? {
    switch self {
    case .text: "RC:TxtMsg"
    case .command: "RC:CmdMsg"
    case .status, .custom: nil
    }
  }
}
