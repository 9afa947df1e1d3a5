import ArgumentParser
import PushContent
import PushFanout
import PushFiles
import PushModel
import PushService

/// `push-fanout explain`: the rules, one by one, for one message and one user.
struct Explain: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show, rule by rule, why a user gets a push for a message or does not.",
    discussion: """
      Examples:

        push-fanout explain --settings world.ndjson --messages today.ndjson \\
          --message m1 --user u1

        push-fanout explain --users users.csv --members members.csv \\
          --messages messages.csv --message 17 --user u42 --json

        push-fanout explain --settings world.ndjson --templates templates.ndjson \\
          --messages today.ndjson --message m1 --user u1 --content

      If several messages have the id, each is explained. The arrow marks the step that decided; with --content \
      also the sources of the push's text.
      """)

  @OptionGroup var world: WorldOptions

  @OptionGroup var input: MessageInput

  @Option(help: ArgumentHelp("The message's id.", valueName: "id"))
  var message: String

  @Option(help: ArgumentHelp("The user's id.", valueName: "id"))
  var user: String

  @Flag(help: "Show the content of the push too, and where its text comes from.")
  var content = false

  @OptionGroup var templates: ContentOptions

  @Flag(help: "One JSON object a message.")
  var json = false

  func validate() throws {
    if !content, !templates.templates.isEmpty {
      throw ValidationError("--templates goes with --content.")
    }
  }

  func run() throws {
    let user = Identifier(user)
    let (fanout, directory, stored) =
      content
      ? try world.loadFanoutWithContent(threads: nil)
      : (try world.loadFanout(threads: nil), ContentDirectory(), TemplateCatalog())
    try fanout.currentVersion.checkIsDecided(user)
    guard fanout.user(user) != nil else {
      throw Failure(text: "no user \"\(user)\" in the settings, users or members")
    }
    let rules = fanout.app.rules
    let renderer = ContentRenderer(
      rules: rules, templates: try templates.load(for: rules, orStored: stored),
      directory: directory)
    let options = try input.options()
    try options.slice.apply(to: fanout)
    let reader = try MessageReader(path: input.messages.name, rules: rules, options)
    let bar = ProgressBar("searching")
    defer { bar.finish() }
    let selection = MessageSelection(
      reader, ids: [Identifier(message)], progress: { bar.update($0) })
    let explanations = try renderer.explain(by: fanout.currentVersion, for: user) {
      () throws -> (message: Message, content: MessageContent?)? in
      guard content else { return try selection.next().map { ($0, nil) } }
      return try selection.nextWithContent().map { ($0.message, $0.content) }
    }
    try selection.checkAllFound()
    let texts = explanations.map {
      json
        ? String(decoding: ServiceJSON.explanation($0.decision, $0.content), as: UTF8.self)
        : ServiceText.explanation($0.decision, $0.content)
    }
    Terminal.printResult(texts.joined(separator: "\n"))
  }
}
