import ArgumentParser
import PushContent
import PushFanout
import PushFiles
import PushModel
import PushService
import PushStore

/// `push-fanout render`: the payload of each push.
struct Render: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show the content of pushes: a payload for each recipient.",
    discussion: """
      Examples:

        push-fanout render --settings world.ndjson --templates templates.ndjson \\
          --messages today.ndjson --output payloads.ndjson

        push-fanout render --settings world.ndjson --messages today.ndjson \\
          --message m1 --user u1

      Who gets a push is decided as by evaluate. Each line names message, user and action (push, or \
      local for a notification that RongCloud's SDK shows), and has the payload: for a push what \
      Apple's push service takes, of at most 4,096 bytes.

      A payload that would be larger even with a shortened body is replaced by the vendor's \
      generic text; its line has a problem, and the exit status is 1. Templates and arguments that \
      are missing are counted at the end.
      """)

  @OptionGroup var world: WorldOptions

  @Option(
    help: ArgumentHelp(
      "Messages, NDJSON or (by its name) CSV; - for NDJSON on standard input.", valueName: "file"))
  var messages: InputPath

  @OptionGroup var content: ContentOptions

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Render only the messages with these ids.", valueName: "id"))
  var message: [String] = []

  @Option(help: ArgumentHelp("Render only for this user.", valueName: "id"))
  var user: String?

  @Option(
    help: ArgumentHelp(
      "How many threads decide and render. (default: as many as there are cores)",
      valueName: "count"))
  var threads: Int?

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Write to a file, which appears when it is complete.", valueName: "file"))
  var output: OutputPath?

  func validate() throws {
    if let threads, !(1...1024).contains(threads) {
      throw ValidationError("--threads \(threads) is not 1...1024.")
    }
  }

  func run() throws {
    let (fanout, directory) = try world.loadFanoutWithContent(threads: threads)
    if let user, fanout.user(Identifier(user)) == nil {
      throw Failure(text: "no user \"\(user)\" in the settings, users or members")
    }
    let service = FanoutService(
      fanout, content: directory, templates: try content.load(for: fanout.app.rules))
    let reader = try MessageReader(path: messages.path, rules: fanout.app.rules)
    let target = try output?.open() ?? OutputFile()
    Interruption.beginOutput(target)
    defer { target.abandon() }
    let writer = PayloadWriter(target)
    var wanted = WantedIDs(message)
    var notes = NoteTally()
    let bar = ProgressBar("rendering")
    defer { bar.finish() }
    while let (message, content) = try reader.nextWithContent() {
      bar.update(reader.progress, "\(writer.messageCount) messages, \(writer.payloadCount) pushes")
      guard wanted.take(message.id) else { continue }
      try service.render(
        message, content, onlyFor: user.map { Identifier($0) }, threads: threads, into: writer
      ) { notes.add($0) }
    }
    if let missing = wanted.missing {
      throw Failure(text: "no message in \(messages.path) has the id \"\(missing)\"")
    }
    try target.finish()
    Interruption.endOutput()
    bar.finish()
    Terminal.say("\(writer.messageCount) messages, \(writer.payloadCount) payloads")
    for line in notes.lines { Terminal.say("push-fanout: \(line)") }
    if writer.problemCount > 0 {
      Terminal.say(
        "push-fanout: payloads replaced by the vendor's plainest words: \(writer.problemCount)")
      throw ExitCode(1)
    }
  }
}

/// Counts the reasons why payloads lack what was requested.
struct NoteTally {
  /// The most distinct notes that are counted: senders may use any number of names.
  private static let limit = 10

  private var notes: [ContentNote] = []
  private var counts: [ContentNote: Int] = [:]
  private var otherCount = 0

  mutating func add(_ push: RenderedPush) {
    for note in push.content.notes where note.isUnexpected {
      if counts[note] != nil {
        counts[note, default: 0] += 1
      } else if notes.count < Self.limit {
        notes.append(note)
        counts[note] = 1
      } else {
        otherCount += 1
      }
    }
  }

  /// A line for each, in the order in which they were first met.
  var lines: [String] {
    let known = notes.map { note in
      let text = "\(note)"
      let short = text.count > 200 ? text.prefix(200) + "…" : text[...]
      return "\(Self.payloads(counts[note] ?? 0)): \(short)"
    }
    let others = "\(Self.payloads(otherCount)): other notes; explain --content shows them"
    return otherCount > 0 ? known + [others] : known
  }

  private static func payloads(_ count: Int) -> String {
    count == 1 ? "1 payload" : "\(count) payloads"
  }
}

extension ContentNote {
  /// Whether the note is about something missing or too long, rather than about a user's settings.
  fileprivate var isUnexpected: Bool {
    switch self {
    case .templateMissing, .bodyEmpty, .bodyBlank, .argumentMissing, .cutOff: true
    case .noText, .translated, .notTranslated: false
    }
  }
}

/// What is asked for by id, and whether it came.
struct WantedIDs {
  private var found: [Identifier: Bool]

  init(_ ids: [String]) {
    found = Dictionary(ids.map { (Identifier($0), false) }) { first, _ in first }
  }

  /// Whether an id is wanted, like all are when none is named.
  mutating func take(_ id: Identifier) -> Bool {
    if found.isEmpty { return true }
    guard found[id] != nil else { return false }
    found[id] = true
    return true
  }

  /// The first of those that did not come.
  var missing: String? { found.filter { !$0.value }.keys.map(\.text).min() }
}

/// What commands need to render the content of pushes.
struct ContentOptions: ParsableArguments {
  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Templates, NDJSON. Several are read as one.", valueName: "file"))
  var templates: [InputPath] = []

  /// Reads the templates.
  func load(for rules: RuleSet) throws -> TemplateCatalog {
    if !templates.isEmpty, !rules.fields.contains(.templates) {
      let owner = RuleSet.owner(of: .templates)?.rawValue ?? "other rules"
      throw Failure(
        text: "--templates belongs to \(owner), but the rules are \(rules.rawValue)")
    }
    return try TemplateReader.load(templates.map(\.path))
  }
}

extension WorldOptions {
  /// Loads the settings into the engine, and the content directory.
  func loadFanoutWithContent(threads: Int?) throws -> (fanout: Fanout, content: ContentDirectory) {
    if let store = store?.path {
      return try reading(store) { reader in
        let (fanout, content, opening) = try reader.fanoutWithContent(threads: threads)
        if case .rebuilt = opening { Terminal.say("\(store): \(opening)") }
        return (fanout, content)
      }
    }
    let bar = ProgressBar("loading")
    defer { bar.finish() }
    return try SettingsLoader.loadFanoutWithContent(files.paths, threads: threads) {
      bar.update($0)
    }
  }

  /// Loads the settings as values, and the content directory.
  func loadWithContent() throws -> (settings: FanoutSettings, content: ContentDirectory) {
    if let store { return try reading(store.path) { try $0.settingsWithContent() } }
    let bar = ProgressBar("loading")
    defer { bar.finish() }
    return try SettingsLoader.loadWithContent(files.paths) { bar.update($0) }
  }

  private func reading<Value>(_ store: String, _ body: (StoreReader) throws -> Value) throws
    -> Value
  {
    let reader = try StoreReader(store)
    defer { try? reader.close() }
    return try body(reader)
  }
}
