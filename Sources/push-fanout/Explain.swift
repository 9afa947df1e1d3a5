import ArgumentParser
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

      If several messages have the id, each is explained. The arrow marks the step that decided.
      """)

  @OptionGroup var world: WorldOptions

  @Option(
    help: ArgumentHelp(
      "Messages, NDJSON or (by its name) CSV; - for NDJSON on standard input.", valueName: "file"))
  var messages: String

  @Option(help: ArgumentHelp("The message's id.", valueName: "id"))
  var message: String

  @Option(help: ArgumentHelp("The user's id.", valueName: "id"))
  var user: String

  @Flag(help: "One JSON object a message.")
  var json = false

  func run() throws {
    let settings = try world.load()
    let user = Identifier(self.user)
    guard settings.index(of: user) != nil else {
      throw Failure(text: "no user \"\(user)\" in the settings, users or members")
    }
    let reader = try MessageReader(path: messages, rules: settings.app.rules)
    var evaluator = ReferenceEvaluator(settings)
    var explanations: [Explanation] = []
    let bar = ProgressBar("searching")
    defer { bar.finish() }
    while let message = try reader.next() {
      bar.update(reader.progress)
      if message.id == Identifier(self.message) {
        explanations.append(evaluator.explain(message, for: user))
      }
    }
    guard !explanations.isEmpty else {
      throw Failure(text: "no message in \(messages) has the id \"\(message)\"")
    }
    let texts = try explanations.map {
      json ? try ExplanationText.json($0) : ExplanationText.text($0)
    }
    Terminal.printResult(texts.joined(separator: "\n"))
  }
}
