internal import PushModel

/// The title and body of a message of RongCloud's, for any recipient.
///
/// - Source: docs/content.md, "RongCloud's words".
struct RongCloudWords: Sendable {
  private let pushContent: String
  private let content: MessageContent
  private let isDirect: Bool
  /// Whether those who want nothing shown are not asked (S-32).
  private let showsDetail: Bool
  private let senderName: String
  private let conversationName: String?

  init(
    _ message: Message, _ content: MessageContent, isDirect: Bool, showsDetail: Bool,
    senderName: String, conversationName: String?
  ) {
    pushContent = message.pushContent
    self.content = content
    self.isDirect = isDirect
    self.showsDetail = showsDetail
    self.senderName = senderName
    self.conversationName = conversationName
  }

  func choose(for context: RecipientContext, _ selection: inout ContentSelection) {
    if context.preferences.style == .simpleBanner, !showsDetail {
      // The recipient wants nothing of a message shown, neither its words nor who wrote.
      selection.offer(
        .displayStyle, title: "", body: VendorText.hidden, DisplayStyle.simpleBanner.rawValue)
      return
    }
    if context.isMentioned, let mentioned = content.mentionedContent.saying {
      selection.offer(.mentionedContent, title: nil, body: mentioned, "mentionedContent")
    } else {
      selection.pass(.mentionedContent, context.isMentioned ? "not set" : "not mentioned")
    }
    if selection.isDone { return }
    let title = content.pushTitle.saying
    let body = pushContent.isEmpty ? nil : pushContent
    if title == nil, body == nil {
      selection.pass(.message)
    } else {
      let names = [title.map { _ in "pushTitle" }, body.map { _ in "pushContent" }]
      selection.offer(
        .message, title: title, body: body, names.compactMap(\.self).joined(separator: " and "))
    }
    if selection.isDone { return }
    offerSummary(context, &selection)
  }

  private func offerSummary(_ context: RecipientContext, _ selection: inout ContentSelection) {
    let name = context.remark.saying ?? senderName
    var body = LimitedText.Cut(text: VendorText.hidden)
    if let text = content.text.saying {
      body = isDirect ? LimitedText.limited(text) : EasemobWords.summary(name, text)
    } else if selection.needsBody {
      selection.note(.noText)
    }
    selection.offer(
      .displayStyle, title: LimitedText.limited(isDirect ? name : conversationName ?? ""),
      body: body, DisplayStyle.messageSummary.rawValue)
  }
}
