import ArgumentParser
import PushFanout
import PushFiles
import PushModel
import PushSupport

/// Messages: NDJSON, or CSV by its name or with `csv:` in front.
struct MessagesPath: FileArgument {
  let name: String

  init(argument: String) { name = argument }

  var file: NamedFile? { .input(FileKind.file(named: name)) }
}

/// Files of messages, for commands that go through them once.
struct MessageInput: ParsableArguments {
  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp(
      "Messages, NDJSON or (by its name) CSV; - for NDJSON on standard input, csv:- for CSV. Several "
        + "are read one after the other.", valueName: "file"))
  var messages: [MessagesPath]

  @OptionGroup var form: MessageFormOptions

  @OptionGroup var slice: SliceOptions

  /// - Parameter users: those for whom messages are decided; none for all.
  func options(users: [String] = []) throws -> MessageOptions {
    try form.options(messages, slice, users: users)
  }

  /// Readers of the files.
  func readers(_ rules: RuleSet, _ options: MessageOptions) throws -> [MessageReader] {
    let names = messages.map(\.name)
    for (index, name) in names.enumerated() where names[..<index].contains(name) {
      try FileProblem.checkCanBeReadAgain(name)
    }
    return try names.map { try MessageReader(path: $0, rules: rules, options) }
  }

  func validate() throws { _ = try options() }
}

/// How CSV of messages is written that comes from elsewhere.
struct MessageFormOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "What separates the columns of CSV messages, like ';', or tab. Items of a list may then be "
        + "separated by commas. (default: a comma)", valueName: "character"))
  var delimiter: String?

  @Option(
    help: ArgumentHelp(
      "The names that CSV messages have for columns, like at=Timestamp,sender='Sent by'; "
        + "ignore=NAME leaves a column out, ignore=* all unknown ones.", valueName: "names"))
  var columns: String?

  @Option(
    help: ArgumentHelp(
      "The zone of local times in CSV messages, and of --from and --to where a command has them. "
        + "(default: UTC for these; instants in files need an offset)", valueName: "zone"))
  var zone: String?

  /// How messages of these files are read, and which.
  func options(
    _ paths: [MessagesPath], _ slice: SliceOptions? = nil, users: [String] = []
  ) throws -> MessageOptions {
    var texts = MessageOptionTexts(prefix: "--")
    (texts.delimiter, texts.columns, texts.zone) = (delimiter, columns, zone)
    (texts.from, texts.to) = (slice?.from, slice?.to)
    (texts.conversations, texts.users) = (slice?.conversation ?? [], users)
    do {
      return try texts.options(hasCSV: paths.contains { FileKind(path: $0.name) == .csv })
    } catch let problem as OptionProblem {
      throw ValidationError("\(problem).")
    }
  }
}

/// Which messages count. Whatever reads or decides them goes by ``MessageSlice``.
struct SliceOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Only messages from this instant on: a day, a time, or Unix milliseconds.",
      valueName: "instant"))
  var from: String?

  @Option(
    help: ArgumentHelp("Only messages before this instant.", valueName: "instant"))
  var to: String?

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Only messages of these conversations.", valueName: "id"))
  var conversation: [String] = []
}

/// Whether bad lines end a command.
struct SkipOption: ParsableArguments {
  @Flag(help: "Report bad lines of messages and presence and go on; the exit status is 1.")
  var skipInvalid = false

  /// What prints a bad line that is left out, below a bar; nil where it is an error.
  func report(_ bar: ProgressBar) -> ((FileProblem) -> Void)? {
    guard skipInvalid else { return nil }
    return { problem in
      bar.finish()
      Terminal.say("\(problem)")
    }
  }

  /// Says how many lines were left out, if there were any.
  static func say(_ count: Int) {
    if count > 0 { Terminal.say("push-fanout: bad lines left out: \(count)") }
  }
}

/// For whom messages are decided.
struct UsersOption: ParsableArguments {
  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp(
      "Only decisions for these users; rooms keep their sizes.", valueName: "id"))
  var user: [String] = []
}
