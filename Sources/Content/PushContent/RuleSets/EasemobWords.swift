internal import PushModel

/// The title and body of a message of Easemob's, for any recipient.
///
/// - Source: docs/content.md, "Which words".
struct EasemobWords: Sendable {
  private typealias Arguments = (title: [TemplateText], content: [TemplateText])

  private let catalog: TemplateCatalog
  private let content: MessageContent
  /// Those with text.
  private let translations: [LanguageTag: String]
  private let senderName: String
  private let groupNickname: String?
  private let arguments: Arguments
  private let directedArguments: Arguments

  init(
    _ content: MessageContent, _ catalog: TemplateCatalog, senderName: String,
    groupNickname: String?
  ) {
    self.catalog = catalog
    self.content = content
    translations = content.translations.filter { !$0.value.isEmpty }
    self.senderName = senderName
    self.groupNickname = groupNickname
    let use = content.template
    arguments = Self.compiled(use.titleArguments, use.contentArguments)
    directedArguments = Self.compiled(
      use.directed?.titleArguments ?? [], use.directed?.contentArguments ?? [])
  }

  private static func compiled(_ title: [String], _ content: [String]) -> Arguments {
    let compiled = { (texts: [String]) in texts.map { TemplateText(argument: $0) } }
    return (compiled(title), compiled(content))
  }

  func choose(for context: RecipientContext, _ selection: inout ContentSelection) {
    let values = values(for: context, &selection)
    selection.setSubtitle(content.apns.subtitle)
    if context.isDirected, let directed = content.template.directed {
      selection.offer(
        .directedTemplate, template: directed.name, in: catalog, values, directedArguments)
    } else {
      selection.pass(.directedTemplate)
    }
    if selection.isDone { return }
    if let name = content.template.name.saying {
      selection.offer(.senderTemplate, template: name, in: catalog, values, arguments)
    } else {
      selection.pass(.senderTemplate)
    }
    if selection.isDone { return }
    if let name = context.preferences.template.saying {
      selection.offer(.recipientTemplate, template: name, in: catalog, values, arguments)
    } else {
      selection.pass(.recipientTemplate)
    }
    if selection.isDone { return }
    offerOwn(&selection)
    if selection.isDone { return }
    let style = context.preferences.style ?? .simpleBanner
    let name =
      style == .messageSummary ? TemplateCatalog.detailName : TemplateCatalog.defaultName
    if catalog[name] != nil {
      selection.offer(.defaultTemplate, template: name, in: catalog, values, arguments)
    } else {
      // It was not requested by name, so there is nothing to note.
      selection.pass(.defaultTemplate, "no template \"\(name)\"")
    }
    if selection.isDone { return }
    offerStyle(style, values, &selection)
  }

  private func values(for context: RecipientContext, _ selection: inout ContentSelection)
    -> TemplateValues
  {
    var values = TemplateValues()
    values.fromNickname = senderName
    values.dynamicFrom = context.remark.saying ?? groupNickname.saying ?? senderName
    values.msg = content.text ?? ""
    if let language = context.preferences.language, !translations.isEmpty {
      if let (tag, text) = translations.text(in: language) {
        values.msg = text
        selection.languageNote = .translated(tag)
      } else {
        selection.languageNote = .notTranslated(language)
      }
    }
    return values
  }

  /// `em_apns_ext` takes precedence over `em_push_ext`.
  private func offerOwn(_ selection: inout ContentSelection) {
    let title = content.apns.title.saying ?? content.push.title.saying
    let body = content.apns.content.saying ?? content.push.content.saying
    if title == nil, body == nil { return selection.pass(.message) }
    let names = [title.map { _ in "title" }, body.map { _ in "content" }].compactMap(\.self)
    selection.offer(.message, title: title, body: body, names.joined(separator: " and "))
  }

  private func offerStyle(
    _ style: DisplayStyle, _ values: TemplateValues, _ selection: inout ContentSelection
  ) {
    var body = LimitedText.Cut(text: VendorText.bannerBody)
    if style == .messageSummary {
      if !values.msg.isEmpty {
        body = Self.summary(values.dynamicFrom, values.msg)
      } else if selection.needsBody {
        selection.note(.noText)
      }
    }
    selection.offer(
      .displayStyle, title: LimitedText.Cut(text: VendorText.bannerTitle), body: body,
      style.rawValue)
  }

  /// "nick: text"; only the text when there is no sender. No more of either is read than has room.
  static func summary(_ name: String, _ text: String) -> LimitedText.Cut {
    var summary = LimitedText()
    if !name.isEmpty {
      summary.append(name)
      summary.append(": ")
    }
    summary.append(message: text)
    return summary.text
  }
}
