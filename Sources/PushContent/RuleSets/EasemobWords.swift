internal import PushRules

/// The title and body of a message of Easemob's, for any recipient.
///
/// - Source: docs/content.md, "Which words".
struct EasemobWords: Sendable {
  private typealias Arguments = (title: [TemplateText], content: [TemplateText])

  private let catalog: TemplateCatalog
  private let content: MessageContent
  /// Those that say something.
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

  func choose(for viewer: Viewer, _ choice: inout Choice) {
    let values = values(for: viewer, &choice)
    choice.setSubtitle(content.apns.subtitle)
    if viewer.isDirected, let directed = content.template.directed {
      choice.offer(
        .directedTemplate, template: directed.name, in: catalog, values, directedArguments)
    } else {
      choice.pass(.directedTemplate)
    }
    if choice.isDone { return }
    if let name = content.template.name.saying {
      choice.offer(.senderTemplate, template: name, in: catalog, values, arguments)
    } else {
      choice.pass(.senderTemplate)
    }
    if choice.isDone { return }
    if let name = viewer.look.template.saying {
      choice.offer(.recipientTemplate, template: name, in: catalog, values, arguments)
    } else {
      choice.pass(.recipientTemplate)
    }
    if choice.isDone { return }
    offerOwn(&choice)
    if choice.isDone { return }
    let style = viewer.look.style ?? .simpleBanner
    let name =
      style == .messageSummary ? TemplateCatalog.detailName : TemplateCatalog.defaultName
    if catalog[name] != nil {
      choice.offer(.defaultTemplate, template: name, in: catalog, values, arguments)
    } else {
      // Nobody has asked for it by name, so there is nothing to note.
      choice.pass(.defaultTemplate, "no template \"\(name)\"")
    }
    if choice.isDone { return }
    offerStyle(style, values, &choice)
  }

  private func values(for viewer: Viewer, _ choice: inout Choice) -> TemplateValues {
    var values = TemplateValues()
    values.fromNickname = senderName
    values.dynamicFrom = viewer.remark.saying ?? groupNickname.saying ?? senderName
    values.msg = content.text ?? ""
    if let language = viewer.look.language, !translations.isEmpty {
      if let (tag, text) = translations.text(in: language) {
        values.msg = text
        choice.languageNote = .translated(tag)
      } else {
        choice.languageNote = .notTranslated(language)
      }
    }
    return values
  }

  /// `em_apns_ext` counts where `em_push_ext` says it too.
  private func offerOwn(_ choice: inout Choice) {
    let title = content.apns.title.saying ?? content.push.title.saying
    let body = content.apns.content.saying ?? content.push.content.saying
    if title == nil, body == nil { return choice.pass(.message) }
    let names = [title.map { _ in "title" }, body.map { _ in "content" }].compactMap(\.self)
    choice.offer(.message, title: title, body: body, names.joined(separator: " and "))
  }

  private func offerStyle(
    _ style: DisplayStyle, _ values: TemplateValues, _ choice: inout Choice
  ) {
    var body = LimitedText.Cut(text: VendorText.bannerBody)
    if style == .messageSummary {
      if !values.msg.isEmpty {
        body = Self.summary(values.dynamicFrom, values.msg)
      } else if choice.needsBody {
        choice.note(.noText)
      }
    }
    choice.offer(
      .displayStyle, title: LimitedText.Cut(text: VendorText.bannerTitle), body: body,
      style.rawValue)
  }

  /// "nick: text"; the text alone when nobody wrote it. No more of either is looked at than has room.
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
