import ArgumentParser
import PushContent
import PushRules
import PushStore

/// `push-fanout settings display`: how pushes look to a user, and what others see of the user.
struct SettingsDisplay: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "display",
    abstract: "Print or change how pushes look: display name, style, language, template, remarks.",
    discussion: """
      Without anything to set it prints what is set. An empty name, language, template or remark \
      takes it away; style default is that of the rules.

      Examples:

        push-fanout settings display --store app.store --user u1 --json

        push-fanout settings display --store app.store --user u1 --name Ann \\
          --style messageSummary --language zh-Hans --template tpl --remark u9=Nina
      """)

  @OptionGroup var options: StoreOptions
  @Option(help: ArgumentHelp("The user's id.", valueName: "id"))
  var user: String

  @Option(help: "The push nickname, which others see (updatePushDisplayName).")
  var name: String?

  @Option(help: "simpleBanner, messageSummary or default (updatePushDisplayStyle).")
  var style: Style?

  @Option(
    help: "A BCP 47 tag, like zh-Hans (setPreferredNotificationLanguage; easemob).")
  var language: String?

  @Option(help: "The name of a template (setPushTemplate; easemob).")
  var template: String?

  @Option(
    help: ArgumentHelp("What the user calls another; may be repeated.", valueName: "id=text"))
  var remark: [String] = []

  @Option(
    help: ArgumentHelp(
      "How many messages wait for the user, the next push's among them: the badge.",
      valueName: "count"))
  var offlineMessages: UInt32?

  @OptionGroup var writing: WriteOptions

  enum Style: String, CaseIterable, ExpressibleByArgument {
    case simpleBanner, messageSummary, `default`
  }

  func validate() throws {
    if let language, !language.isEmpty, LanguageTag(language) == nil {
      throw ValidationError("--language \(language) is not a language tag, like en or zh-Hans.")
    }
    if let template, !template.isEmpty, !PushTemplate.isName(template) {
      throw ValidationError("--template: \(TemplateProblem.badName(template)).")
    }
    if let offlineMessages, offlineMessages > RecipientDisplay.badgeLimit {
      throw ValidationError(
        "--offline-messages: \(SettingsWriteError.badgeOutOfRange(Int64(offlineMessages))).")
    }
    for text in remark where text.hasPrefix("=") || !text.contains("=") {
      throw ValidationError("--remark \(text) is not ID=TEXT.")
    }
  }

  private var writes: Bool {
    name != nil || style != nil || language != nil || template != nil || !remark.isEmpty
      || offlineMessages != nil
  }

  func run() throws {
    let user = Identifier(user)
    if !writes {
      return try options.reading { store in
        try options.show([DisplayResult(user, store.pushDisplay(of: user))])
      }
    }
    let remarks = remark.map { text in
      let place = text.firstIndex(of: "=") ?? text.endIndex
      return (Identifier(String(text[..<place])), String(text[place...].dropFirst()))
    }
    let (name, style, language, template) = (name, style, language, template)
    let offlineMessages = offlineMessages
    try options.writing { store in
      try store.write(at: writing.now, from: writing.device) { write in
        if let name { try write.updatePushDisplayName(name.isEmpty ? nil : name, of: user) }
        if let style {
          try write.updatePushDisplayStyle(DisplayStyle(rawValue: style.rawValue), of: user)
        }
        if let language {
          try write.setPreferredNotificationLanguage(LanguageTag(language), of: user)
        }
        if let template {
          try write.setPushTemplate(template.isEmpty ? nil : template, of: user)
        }
        for (other, remark) in remarks {
          try write.setRemark(remark.isEmpty ? nil : remark, for: other, by: user)
        }
        if let offlineMessages { try write.setOfflineMessages(offlineMessages, of: user) }
      }
      try options.show([DisplayResult(user, store.pushDisplay(of: user))])
    }
  }
}

/// How pushes look to a user; named like the fields of settings files.
struct DisplayResult: SettingResult {
  struct Display: Encodable {
    let name, style, language, template: String?
    let offlineMessages: UInt32
  }

  let user: String
  let display: Display
  let remarks: [String: String]?

  init(_ user: Identifier, _ display: RecipientDisplay) {
    self.user = user.text
    self.display = Display(
      name: display.name, style: display.style?.rawValue, language: display.language?.text,
      template: display.template, offlineMessages: display.offlineMessages)
    remarks =
      display.remarks.isEmpty
      ? nil : Dictionary(display.remarks.map { ($0.key.text, $0.value) }) { first, _ in first }
  }

  var text: String {
    var parts = [
      display.name.map { "name \($0)" }, display.style.map { "style \($0)" },
      display.language.map { "language \($0)" }, display.template.map { "template \($0)" },
      display.offlineMessages == 1 ? nil : "offline messages \(display.offlineMessages)",
    ].compactMap { $0 }
    parts += (remarks ?? [:]).sorted { $0.key < $1.key }.map { "calls \($0.key) \($0.value)" }
    return "\(user): " + (parts.isEmpty ? "nothing set" : parts.joined(separator: ", "))
  }
}
