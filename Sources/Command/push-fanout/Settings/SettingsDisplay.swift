import ArgumentParser
import PushContent
import PushModel
import PushStore

/// `push-fanout settings display`: how pushes look to a user, and what others see of the user.
struct SettingsDisplay: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "display",
    abstract: "Print or change display settings: display name, style, language, template, remarks.",
    discussion: """
      Without anything to set it prints what is set. An empty name, language, template or remark \
      removes it; style default is that of the rules: simpleBanner (easemob), messageSummary \
      (rongcloud).

      Examples:

        push-fanout settings display --store app.store --user u1 --json

        push-fanout settings display --store app.store --user u1 --name Ann \\
          --style messageSummary --language zh-Hans --template tpl \\
          --remark u9=Nina
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
    help: ArgumentHelp(
      #"What the user calls another; may be repeated. A = in the id is \=, and \ is \\."#,
      valueName: "id=text"))
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
    for text in remark where Self.parts(ofRemark: text) == nil {
      throw ValidationError("--remark \(text) is not ID=TEXT; a = in an id is \\=.")
    }
  }

  /// The id and the text of a remark: `\=` and `\\` in the id are `=` and `\`.
  private static func parts(ofRemark remark: String) -> (Identifier, String)? {
    var (id, rest) = (String.UnicodeScalarView(), remark.unicodeScalars[...])
    while let first = rest.popFirst() {
      if first == "\\", let next = rest.first, next == "=" || next == "\\" {
        id.append(next)
        rest.removeFirst()
      } else if first == "=" {
        return id.isEmpty ? nil : (Identifier(String(id)), String(rest))
      } else {
        id.append(first)
      }
    }
    return nil
  }

  private var writes: Bool {
    name != nil || style != nil || language != nil || template != nil || !remark.isEmpty
      || offlineMessages != nil
  }

  func run() throws {
    let user = Identifier(user)
    if !writes {
      return try options.reading(of: user) { store in
        try options.show([DisplayResult(user, store.pushDisplay(of: user))])
      }
    }
    // Without a text it is removed.
    func own(_ text: String) -> String? { text.isEmpty ? nil : text }
    var operations: [SettingsOperation?] = [
      name.map { .updatePushDisplayName(user: user, name: own($0)) },
      style.map { .updatePushDisplayStyle(user: user, style: DisplayStyle(rawValue: $0.rawValue)) },
      language.map { .setPreferredNotificationLanguage(user: user, language: LanguageTag($0)) },
      template.map { .setPushTemplate(user: user, name: own($0)) },
    ]
    operations += remark.compactMap { Self.parts(ofRemark: $0) }.map { other, remark in
      .setRemark(user: user, other: other, remark: own(remark))
    }
    operations.append(offlineMessages.map { .setOfflineMessages(user: user, count: $0) })
    try options.writing(writing, user: user) { store in
      try store.apply(operations.compactMap { $0 }, writing)
      try options.show([DisplayResult(user, store.pushDisplay(of: user))])
    }
  }
}

/// How pushes look to a user; named like the fields of settings files.
struct DisplayResult: SettingResult {
  private let user: Identifier
  private let display: RecipientDisplay
  /// In the order of their ids' bytes.
  private let remarks: [(other: Identifier, remark: String)]

  init(_ user: Identifier, _ display: RecipientDisplay) {
    self.user = user
    self.display = display
    remarks =
      display.remarks
      .sorted { $0.key.text.utf8.lexicographicallyPrecedes($1.key.text.utf8) }
      .map { (other: $0.key, remark: $0.value) }
  }

  var text: String {
    var parts = [
      display.name.map { "name \($0)" }, display.style.map { "style \($0)" },
      display.language.map { "language \($0)" }, display.template.map { "template \($0)" },
      display.offlineMessages == 1 ? nil : "offline messages \(display.offlineMessages)",
    ].compactMap { $0 }
    parts += remarks.map { "calls \($0.other) \($0.remark)" }
    let text = parts.isEmpty ? "nothing set" : parts.joined(separator: ", ")
    return "\(user): \(text)"
  }

  /// Foundation's encoder takes names that look the same for one: two ids would be one remark.
  func json() -> String {
    let members: [(String, String?)] = [
      ("language", display.language?.text), ("name", display.name),
    ]
    var parts = members.compactMap { name, value in value.map { Self.member(name, $0) } }
    parts.append("\"offlineMessages\":\(display.offlineMessages)")
    if let style = display.style { parts.append(Self.member("style", style.rawValue)) }
    if let template = display.template { parts.append(Self.member("template", template)) }
    var json = "{\"display\":{" + parts.joined(separator: ",") + "}"
    if !remarks.isEmpty {
      let members = remarks.map { Self.member($0.other.text, $0.remark) }
      json += ",\"remarks\":{" + members.joined(separator: ",") + "}"
    }
    return json + "," + Self.member("user", user.text) + "}"
  }

  private static func member(_ name: String, _ value: String) -> String {
    var bytes: [UInt8] = []
    bytes.appendJSON(name)
    bytes.append(UInt8(ascii: ":"))
    bytes.appendJSON(value)
    return String(decoding: bytes, as: UTF8.self)
  }
}
