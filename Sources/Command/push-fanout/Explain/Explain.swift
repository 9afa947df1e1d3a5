import ArgumentParser
import PushContent
import PushFanout
import PushFiles
import PushModel
import PushReplay
import PushService
import PushStore

/// `push-fanout explain`: the rules, one by one, for one message and one user.
struct Explain: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Say why a user gets a push for a message or not, and what would change that.",
    discussion: """
      Examples:

        push-fanout explain --settings world.ndjson --messages today.ndjson \\
          --message m1 --user u1

        push-fanout explain --users users.csv --members members.csv \\
          --messages messages.csv --message 17 --user u42 --json

        push-fanout explain --settings world.ndjson --templates templates.ndjson \\
          --messages today.ndjson --message m1 --user u1 --content

        push-fanout explain --settings world.ndjson --messages may.ndjson \\
          --presence presence.csv --changes changes.ndjson --message m1 --user u1

      The answer comes first, then what was examined, in order, up to what stopped the push, then \
      what the answer would be with one fact changed; a later instant within \
      \(FanoutVersion.explainedDays) days. If several messages have the id, each is \
      explained. With --presence and --changes the settings and devices are those at the moment of \
      the message, as a replay has them; without, those of the files or the store.
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

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Who goes online or offline, CSV, sorted by time.", valueName: "file"))
  var presence: [InputPath] = []

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Settings changes, NDJSON, sorted by time.", valueName: "file"))
  var changes: [InputPath] = []

  @OptionGroup var skipping: SkipOption

  @Flag(help: "One JSON object a message.")
  var json = false

  func validate() throws {
    if !content, !templates.templates.isEmpty {
      throw ValidationError("--templates goes with --content.")
    }
  }

  func run() throws {
    if content, !presence.isEmpty || !changes.isEmpty {
      throw ValidationError(
        "--content explains by the settings as they are: leave out --presence and --changes.")
    }
    let user = Identifier(user)
    let (fanout, directory, stored) = try world.loadFanoutWithContent(threads: nil)
    try fanout.currentVersion.checkIsDecided(user)
    guard fanout.user(user) != nil else { throw FanoutError.unknownUser(user) }
    if !presence.isEmpty || !changes.isEmpty {
      var (found, skipped) = try explanationsAtTheirMoments(fanout, user)
      for index in found.indices {
        found[index].conversationName = directory.name(of: found[index].conversation)
      }
      return try show(found.map { ($0, nil) }, skipped) { fanout.conversation($0) != nil }
    }
    let rules = fanout.app.rules
    let renderer = ContentRenderer(
      rules: rules, templates: try templates.load(for: rules, orStored: stored),
      directory: directory)
    let options = try input.options()
    try options.slice.apply(to: fanout)
    let readers = try input.readers(rules, options)
    let bar = ProgressBar("searching")
    defer { bar.finish() }
    let selection = MessageSelection(
      readers, ids: [Identifier(message)], skipped: skipping.report(bar),
      progress: { bar.update($0) })
    let version = fanout.currentVersion
    var explanations = try renderer.explain(for: user, by: { version.explain($0, for: user) }) {
      () throws -> (message: Message, content: MessageContent?)? in
      guard content else { return try selection.next().map { ($0, nil) } }
      return try selection.nextWithContent().map { ($0.message, $0.content) }
    }
    try selection.checkAllFound()
    if let store = world.store?.path {
      let reader = try StoreReader(store)
      defer { try? reader.close() }
      for index in explanations.indices {
        let explanation = explanations[index].decision
        let conversations = version.chain(of: explanation.conversation)
        explanations[index].decision.settings =
          try reader.changes(after: explanation.at, of: user, in: conversations)
          .text(after: explanation.at)
      }
    }
    try show(explanations, selection.skippedCount) { fanout.conversation($0) != nil }
  }

  private func explanationsAtTheirMoments(
    _ fanout: Fanout, _ user: Identifier
  ) throws -> (found: [Explanation], skippedLines: Int) {
    var files = ReplayFiles(
      messages: input.messages.map(\.name), presence: presence.map(\.path),
      changes: changes.map(\.path))
    files.unknownZones = world.zones.ofFiles
    files.options = try input.options()
    let bar = ProgressBar("searching")
    defer { bar.finish() }
    var replayed = try ReplayedUser(user, files, on: fanout, skipped: skipping.report(bar))
    let id = Identifier(message)
    var found: [Explanation] = []
    while let next = try replayed.next() {
      if next.id == id { found.append(fanout.currentVersion.explain(next, for: user)) }
    }
    if found.isEmpty {
      throw MissingMessage(id, in: files.messages)
    }
    return (found, replayed.skippedCount)
  }

  private func show(
    _ explanations: [(decision: Explanation, content: ContentExplanation?)], _ skipped: Int,
    isKnown: (Identifier) -> Bool
  ) throws {
    let texts = explanations.map {
      json
        ? String(decoding: ServiceJSON.explanation($0.decision, $0.content), as: UTF8.self)
        : Terminal.styled(ServiceText.explanation($0.decision, $0.content))
    }
    Terminal.printResult(texts.joined(separator: "\n"))
    for id in Set(explanations.map(\.decision.conversation)) {
      let advice = isKnown(id) ? "" : KnownIDs.advice(conversation: id.text)
      if !advice.isEmpty {
        Terminal.note("push-fanout: there is no conversation \"\(id)\"\(advice)")
      }
    }
    SkipOption.say(skipped)
    if skipped > 0 { throw ExitCode(1) }
  }
}
