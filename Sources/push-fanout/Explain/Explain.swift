import ArgumentParser
import PushContent
import PushFanout
import PushFiles
import PushReference
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

  @Option(
    help: ArgumentHelp(
      "Messages, NDJSON or (by its name) CSV; - for NDJSON on standard input.", valueName: "file"))
  var messages: InputPath

  @Option(help: ArgumentHelp("The message's id.", valueName: "id"))
  var message: String

  @Option(help: ArgumentHelp("The user's id.", valueName: "id"))
  var user: String

  @Flag(help: "Show the content of the push too, and where its text comes from.")
  var content = false

  @OptionGroup var templates: ContentOptions

  @Flag(help: "One JSON object a message.")
  var json = false

  @Option(help: .engine)
  var engine = DecidingEngine.packed

  func validate() throws {
    if !content, !templates.templates.isEmpty {
      throw ValidationError("--templates goes with --content.")
    }
  }

  func run() throws {
    let (source, renderer) = try load()
    let user = Identifier(self.user)
    guard source.knows(user) else {
      throw Failure(text: "no user \"\(user)\" in the settings, users or members")
    }
    var evaluator = source
    let reader = try MessageReader(path: messages.path, rules: renderer.rules)
    var explanations: [(decision: Explanation, content: ContentExplanation?)] = []
    let bar = ProgressBar("searching")
    defer { bar.finish() }
    while let (message, messageContent) = try next(reader) {
      bar.update(reader.progress)
      guard message.id == Identifier(self.message) else { continue }
      let explanation = evaluator.explain(message, for: user)
      let words =
        content
        ? explanation.decision.flatMap { renderer.explain($0, message, messageContent, for: user) }
        : nil
      explanations.append((explanation, words))
    }
    guard !explanations.isEmpty else {
      throw Failure(text: "no message in \(messages.path) has the id \"\(message)\"")
    }
    let texts = explanations.map {
      json
        ? String(decoding: ServiceJSON.explanation($0.decision, $0.content), as: UTF8.self)
        : ExplanationText.text($0.decision, $0.content)
    }
    Terminal.printResult(texts.joined(separator: "\n"))
  }

  /// The evaluator that explains, and the renderer of pushes.
  private func load() throws -> (source: Explainer, renderer: ContentRenderer) {
    let source: Explainer
    let directory: ContentDirectory
    let rules: RuleSet
    switch engine {
    case .packed:
      let (fanout, content) =
        content
        ? try world.loadFanoutWithContent(threads: nil)
        : (try world.loadFanout(threads: nil), ContentDirectory())
      (source, directory, rules) = (.engine(fanout), content, fanout.app.rules)
    case .reference:
      let (settings, content) =
        content ? try world.loadWithContent() : (try world.load(), ContentDirectory())
      (source, directory, rules) = (
        .reference(try ReferenceEvaluator.ofSystemZones(settings)), content, settings.app.rules
      )
    }
    let catalog = try templates.load(for: rules)
    return (source, ContentRenderer(rules: rules, templates: catalog, directory: directory))
  }

  /// The next message, with its own fields for its push if requested.
  private func next(
    _ reader: MessageReader
  ) throws(FileProblem) -> (message: Message, content: MessageContent)? {
    if content { return try reader.nextWithContent() }
    return try reader.next().map { ($0, MessageContent()) }
  }
}

/// Explains decisions, in either of the two ways.
enum Explainer {
  case engine(Fanout)
  case reference(ReferenceEvaluator)

  func knows(_ user: Identifier) -> Bool {
    switch self {
    case .engine(let fanout): fanout.user(user) != nil
    case .reference(let evaluator): evaluator.settings.index(of: user) != nil
    }
  }

  mutating func explain(_ message: Message, for user: Identifier) -> Explanation {
    switch self {
    case .engine(let fanout): return fanout.explain(message, for: user)
    case .reference(var evaluator):
      // Given back, as it keeps the calendars that it has made.
      defer { self = .reference(evaluator) }
      return evaluator.explain(message, for: user)
    }
  }
}
