internal import PushModel

extension RenderingPlan {
  /// The title and body of a message, by the rules of the app.
  enum Words {
    case easemob(EasemobWords)
    case rongcloud(RongCloudWords)

    func choose(for context: RecipientContext, _ selection: inout ContentSelection) {
      switch self {
      case .easemob(let words): words.choose(for: context, &selection)
      case .rongcloud(let words): words.choose(for: context, &selection)
      }
    }
  }

  /// What of a plan differs between the vendors.
  struct VendorParts {
    let words: Words
    let layout: PayloadLayout
    /// The users with another template of the sender, in lower case.
    var targets: Set<Identifier> = []
    var mentioned: Set<Identifier> = []
    var mentionsEveryone = false

    init(
      _ renderer: ContentRenderer, _ message: Message, _ content: MessageContent,
      _ form: PayloadForm, for sender: PushSender?, _ kind: ConversationKind, name: String?,
      senderName: String
    ) {
      switch renderer.rules {
      case .easemob:
        let isGroup = kind == .group || kind == .thread
        let nickname =
          content.push.groupNickname.saying
          ?? message.sender.flatMap {
            renderer.directory.groupName(of: $0, in: message.conversation)
          }
        var written = content
        if sender?.platform == .fcm { written.apns = MessageContent.APNsExtension() }  // S-41
        words = .easemob(
          EasemobWords(
            written, renderer.templates, senderName: senderName,
            groupNickname: isGroup ? nickname : nil))
        layout = PayloadLayout(.easemob, message, content, in: kind, for: sender)
        let directed = isGroup ? content.template.directed?.targets ?? [] : []
        targets = Set(directed.filter { $0 == $0.lowercased() })
      case .rongcloud:
        words = .rongcloud(
          RongCloudWords(
            message, content, isDirect: kind.isDirect,
            showsDetail: sender != nil && content.requests.showsDetail, senderName: senderName,
            conversationName: name))
        layout = PayloadLayout(
          form == .local ? .local : .rongcloud, message, content, in: kind, for: sender)
        (mentioned, mentionsEveryone) = Self.mentions(message, kind)
      case .open: preconditionFailure("open rules do not say what a push says")
      }
    }

    /// The users that a RongCloud message mentions.
    private static func mentions(
      _ message: Message, _ kind: ConversationKind
    ) -> (ids: Set<Identifier>, everyone: Bool) {
      let ids = message.mentions ?? []
      let everyone = message.mentionsAll ?? false
      guard kind == .group || kind == .ultraGroup,
        message.isMentioned ?? (everyone || !ids.isEmpty)
      else { return ([], false) }
      return everyone ? ([], true) : (Set(ids), false)
    }
  }
}
