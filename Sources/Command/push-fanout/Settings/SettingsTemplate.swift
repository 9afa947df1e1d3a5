import ArgumentParser
import PushContent
import PushModel
import PushStore
import PushSupport

/// `push-fanout settings template`: the app's templates.
struct SettingsTemplate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "template",
    abstract: "List, set or remove the templates of pushes (easemob).",
    discussion: """
      Without --name it lists all templates. With --content it sets one, which replaces that of the \
      same name; --remove removes it. render and explain use the store's templates when no file is \
      named.

      Examples:

        push-fanout settings template --store app.store --json

        push-fanout settings template --store app.store --name sale \\
          --title 'Sale' --content '{$dynamicFrom}: {$msg}'

        push-fanout settings template --store app.store --name sale --remove
      """)

  @OptionGroup var options: StoreOptions
  @Option(help: "The template's name: 1 to 64 of A-Z, a-z, 0-9 and _.")
  var name: String?
  @Option(help: "Its title; none without one.")
  var title: String?
  @Option(help: "Its content, with arguments like {$msg} and {0}.")
  var content: String?
  @Flag(help: "Remove it.")
  var remove = false
  @OptionGroup var writing: WriteOptions

  func validate() throws {
    if content != nil || remove, name == nil { throw ValidationError("Say which: --name.") }
    if content != nil, remove {
      throw ValidationError("--content and --remove contradict each other.")
    }
    if title != nil, content == nil { throw ValidationError("--title goes with --content.") }
    do throws(TemplateProblem) { _ = try made } catch { throw ValidationError("\(error).") }
  }

  private var made: PushTemplate? {
    get throws(TemplateProblem) {
      guard let name, let content else { return nil }
      return try PushTemplate(name: name, title: title ?? "", content: content)
    }
  }

  func run() throws {
    let (name, template) = (name, try made)
    guard let name, template != nil || remove else {
      return try options.reading { store in
        let found = try store.reader.templates().sorted
        try options.show(found.filter { name == nil || $0.name == name }.map { TemplateResult($0) })
      }
    }
    try options.writing(writing) { store in
      let operation: SettingsOperation =
        if let content {
          .setTemplate(name: name, title: title, content: content)
        } else {
          .removeTemplate(name: name)
        }
      try store.apply([operation], writing)
      if let template { try options.show([TemplateResult(template)]) }
    }
  }
}

/// A template; named like the fields of templates.ndjson.
struct TemplateResult: SettingResult, Encodable {
  let name, title, content: String

  init(_ template: PushTemplate) {
    name = template.name
    title = template.titleSource
    content = template.contentSource
  }

  var text: String { "\(name): title \"\(title)\", content \"\(content)\"" }
}
