import ArgumentParser
import PushContent
import PushFanout
import PushFiles
import PushModel
import PushService
import PushStore
import PushSupport

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

        push-fanout render --settings world.ndjson --messages today.ndjson \\
          --platform apns fcm --senders senders.ndjson --share-bodies

      Who gets a push is decided as by evaluate. Each line names message, user and action (push, or \
      local for a notification that RongCloud's SDK shows), and has the payload: for a push what \
      Apple's push service takes, of at most 4,096 bytes.

      A payload that would be larger even with a shortened body is replaced by the vendor's \
      generic text; its line has a problem, and the exit status is 1. Templates and arguments that \
      are missing are counted at the end.

      With --platform a line is a request to a provider, for one device: its url, headers and body, \
      without credentials (docs/sending.md). Its problem is noSender, badToken or payloadTooLarge, \
      and the exit status is 1, too.

      A bad line of messages stops the run with FILE:LINE: what is wrong, and exit status 1. An \
      output file is then not written at all; standard output has the payloads of the messages \
      before that line.
      """)

  @OptionGroup var world: WorldOptions

  @OptionGroup var input: MessageInput

  @OptionGroup var content: ContentOptions

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Write requests to these providers.", valueName: "name"))
  var platform: [PushPlatform] = []

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp(
      "How requests are made, NDJSON. Several are read as one.", valueName: "file"))
  var senders: [InputPath] = []

  @Flag(help: "Write a body that several requests of a message have once, before them.")
  var shareBodies = false

  @OptionGroup var skipping: SkipOption

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Render only the messages with these ids.", valueName: "id"))
  var message: [String] = []

  @Option(help: ArgumentHelp("Render only for this user.", valueName: "id"))
  var user: String?

  @Option(
    help: ArgumentHelp(
      "How many threads decide and render. (default: the cores it may use)",
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
    if platform.isEmpty, !senders.isEmpty || shareBodies {
      throw ValidationError("--senders and --share-bodies go with --platform.")
    }
    if !platform.isEmpty, senders.isEmpty {
      throw ValidationError("--platform needs --senders.")
    }
    let (fanout, directory, stored) = try world.loadFanoutWithContent(threads: threads)
    guard fanout.app.rules.hasPushContent else {
      throw Failure(
        text: "the rules \(fanout.app.rules.rawValue) do not say what a push contains; "
          + "evaluate --devices says to whom it goes")
    }
    if let user, fanout.user(Identifier(user)) == nil {
      throw FanoutError.unknownUser(Identifier(user))
    }
    let service = FanoutService(
      fanout, content: directory,
      templates: try content.load(for: fanout.app.rules, orStored: stored))
    let senders = try SenderReader.load(self.senders.map(\.path), rules: fanout.app.rules)
    let options = try input.options()
    try options.slice.apply(to: fanout)
    let readers = try input.readers(fanout.app.rules, options)
    let bar = ProgressBar("rendering")
    defer { bar.finish() }
    let target = try output?.open() ?? OutputFile()
    Interruption.beginOutput(target)
    defer { target.abandon() }
    let writer = PayloadWriter(target)
    let requests = RequestWriter(target, sharesBodies: shareBodies)
    let selection = MessageSelection(
      readers, ids: message.map { Identifier($0) }, skipped: skipping.report(bar),
      progress: {
        bar.update(
          $0,
          platform.isEmpty
            ? [writer.messageCount.counted("message"), writer.payloadCount.counted("payload")]
            : [requests.messageCount.counted("message"), requests.requestCount.counted("request")])
      })
    var notes = ContentNoteTally()
    var refused = RefusedRecipients()
    let version = fanout.currentVersion
    if let user { try version.checkIsDecided(Identifier(user)) }
    while let (message, content) = try selection.nextWithContent() {
      if user == nil { refused.add(version.refusedRecipients(of: message)) }
      let user = user.map { Identifier($0) }
      if platform.isEmpty {
        try service.render(message, content, onlyFor: user, threads: threads, into: writer) {
          notes.add($0.content)
        }
        continue
      }
      requests.begin(message)
      let stream = service.requests(
        of: message, content, by: senders, for: Set(platform), onlyFor: user, threads: threads)
      for request in stream {
        try requests.write(request)
        if let content = request.content { notes.add(content) }
      }
    }
    try selection.checkAllFound()
    // What goes to standard output is written before the error, and a file does not appear.
    if output != nil { try refused.check() }
    try target.finish()
    Interruption.endOutput()
    try refused.check()
    bar.finish()
    SkipOption.say(selection.skippedCount)
    Terminal.note(
      platform.isEmpty
        ? "\(writer.messageCount.counted("message")), \(writer.payloadCount.counted("payload"))"
        : "\(requests.messageCount.counted("message")), \(requests.requestCount.counted("request"))"
    )
    for line in notes.lines { Terminal.say("push-fanout: \(line)") }
    if writer.problemCount > 0 {
      Terminal.say(
        "push-fanout: payloads replaced by the vendor's plainest words: \(writer.problemCount)")
    }
    if requests.problemCount > 0 {
      Terminal.say("push-fanout: requests with a problem: \(requests.problemCount)")
    }
    if writer.problemCount + requests.problemCount + selection.skippedCount > 0 {
      throw ExitCode(1)
    }
  }
}

extension ContentNoteTally {
  /// A line for each note, in the order in which they were first met.
  fileprivate var lines: [String] {
    let known = counts.map { note, count in
      let text = "\(note)"
      let short = text.count > 200 ? text.prefix(200) + "…" : text[...]
      return "\(Self.payloads(count)): \(short)"
    }
    let others = "\(Self.payloads(otherCount)): other notes; explain --content shows them"
    return otherCount > 0 ? known + [others] : known
  }

  private static func payloads(_ count: Int) -> String {
    count == 1 ? "1 payload" : "\(count) payloads"
  }
}

/// What commands need to render the content of pushes.
struct ContentOptions: ParsableArguments {
  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp(
      "Templates, NDJSON. Several are read as one. (default: those of the store)",
      valueName: "file"))
  var templates: [InputPath] = []

  /// Reads the templates.
  ///
  /// - Parameter stored: those of the store, which count when no file is named.
  func load(for rules: RuleSet, orStored stored: TemplateCatalog) throws -> TemplateCatalog {
    if templates.isEmpty { return stored }
    if !templates.isEmpty, !rules.fields.contains(.templates) {
      let owner = RuleSet.owner(of: .templates)?.rawValue ?? "other rules"
      throw Failure(
        text: "--templates belongs to \(owner), but the rules are \(rules.rawValue)")
    }
    return try TemplateReader.load(templates.map(\.path))
  }
}

extension WorldOptions {
  /// Loads the settings into the engine, the content directory, and the templates of a store.
  func loadFanoutWithContent(
    threads: Int?
  ) throws -> (fanout: Fanout, content: ContentDirectory, templates: TemplateCatalog) {
    if let store = store?.path {
      return try reading(store) { reader in
        let (fanout, content, templates, opening) = try ProgressBar.watch(
          "opening", store, passes: 0.6
        ) {
          try reader.fanoutWithContent(threads: threads, unknownZones: zones.unknownZones)
        }
        opening.say(store)
        return (reported(fanout), content, templates)
      }
    }
    let bar = ProgressBar("loading")
    defer { bar.finish() }
    var builder = FanoutBuilder(threads: threads, unknownZones: paths.unknownZones)
    let files = try SettingsLoader.load(
      paths, into: &builder, LoadOptions(readsContent: true) { bar.update($0) })
    let fanout = try builder.build(threads: threads)
    bar.finish()
    return (reported(fanout), files.content, TemplateCatalog())
  }

  private func reading<Value>(_ store: String, _ body: (StoreReader) throws -> Value) throws
    -> Value
  {
    let reader = try StoreReader(store)
    defer { try? reader.close() }
    return try body(reader)
  }
}
