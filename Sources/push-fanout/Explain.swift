import ArgumentParser
import PushContent
import PushFiles
import PushReference
import PushRules

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
      also the sources that the words of the push come from.
      """)

  @OptionGroup var world: WorldOptions

  @Option(
    help: ArgumentHelp(
      "Messages, NDJSON or (by its name) CSV; - for NDJSON on standard input.", valueName: "file"))
  var messages: InputPath

  @Option(help: ArgumentHelp("The message's id.", valueName: "id"))
  var message: String

  @Option(help: ArgumentHelp("The user's id.", valueName: "id"))
  var user: String

  @Flag(help: "Show what the push says too, and where its words come from.")
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
    let (settings, directory) =
      content ? try world.loadWithContent() : (try world.load(), ContentDirectory())
    let renderer = ContentRenderer(
      rules: settings.app.rules, templates: try templates.load(for: settings.app.rules),
      directory: directory)
    let user = Identifier(self.user)
    guard settings.index(of: user) != nil else {
      throw Failure(text: "no user \"\(user)\" in the settings, users or members")
    }
    let reader = try MessageReader(path: messages.path, rules: settings.app.rules)
    var evaluator = ReferenceEvaluator(settings)
    var explanations: [(decision: Explanation, content: ContentExplanation?)] = []
    let bar = ProgressBar("searching")
    defer { bar.finish() }
    while let (message, said) = try next(reader) {
      bar.update(reader.progress)
      if message.id == Identifier(self.message) {
        let explanation = evaluator.explain(message, for: user)
        explanations.append(
          (explanation, content ? renderer.words(explanation, message, said) : nil))
      }
    }
    guard !explanations.isEmpty else {
      throw Failure(text: "no message in \(messages.path) has the id \"\(message)\"")
    }
    let texts = try explanations.map {
      json
        ? try ExplanationText.json($0.decision, $0.content)
        : ExplanationText.text($0.decision, $0.content)
    }
    Terminal.printResult(texts.joined(separator: "\n"))
  }

  /// The next message, with what it says of its push if that is asked for.
  private func next(
    _ reader: MessageReader
  ) throws(FileProblem) -> (message: Message, content: MessageContent)? {
    if content { return try reader.nextWithContent() }
    return try reader.next().map { ($0, MessageContent()) }
  }
}

extension ContentRenderer {
  /// Why a push says what it says; nil for somebody who gets none.
  fileprivate func words(
    _ explanation: Explanation, _ message: Message, _ content: MessageContent
  ) -> ContentExplanation? {
    switch explanation.decision?.outcome.action {
    case .push: explain(message, content, for: explanation.user)
    case .local: explain(message, content, for: explanation.user, as: .local)
    case .suppress, nil: nil
    }
  }
}
