import ArgumentParser
import PushFanout
import PushFiles
import PushModel
import PushService
import PushSupport

/// `push-fanout test`: expectations of decisions, checked as tests of code are.
struct Test: ParsableCommand, WorldSource {
  enum Format: String, CaseIterable, ExpressibleByArgument { case text, junit, json }

  static let configuration = CommandConfiguration(
    abstract: "Check that messages are decided as expected, as in CI.",
    discussion: """
      An expectation is a line of NDJSON: a message, or the id of one of --messages, a user, and what \
      has to be decided, of which any part may be left out:

        {"message":"m1","user":"fay","expect":{"action":"push","scope":"user"}}

      With a field "settings", an array of records, a line has a world of its own. Without "user" the \
      message must have one recipient. An "id" names the expectation. A user who is no recipient \
      gets the action none.

      Examples:

        push-fanout test expectations.ndjson --settings settings.ndjson \\
          --messages messages.ndjson

        push-fanout test expectations.ndjson --store settings.db --format junit \\
          --output junit.xml

        push-fanout test expectations.ndjson --settings settings.ndjson \\
          --messages messages.ndjson --update

      What does not hold is printed with what was decided, and why. --update writes what is decided \
      into the files instead, for review: parts that a line has, all where it has none.

      Exit status 0 when everything holds, 1 when something does not, or nothing is expected.
      """)

  @Argument(
    help: ArgumentHelp("Expectations, NDJSON; - for standard input.", valueName: "file"))
  var expectations: [InputPath]

  @OptionGroup var files: FileOptions

  @Option(help: ArgumentHelp("A store, instead of files.", valueName: "file"))
  var store: StorePath?

  @OptionGroup var zones: UnknownZoneOption

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp(
      "Messages that expectations name by their ids, NDJSON or (by its name) CSV.",
      valueName: "file"))
  var messages: [MessagesPath] = []

  @OptionGroup var form: MessageFormOptions

  @Flag(help: "Write what is decided into the files, instead of failing.")
  var update = false

  @Option(
    help: "text, what does not hold; junit, XML for CI servers; json, an object an expectation.")
  var format = Format.text

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Write to a file, which appears when it is complete.", valueName: "file"))
  var output: OutputPath?

  @OptionGroup var habits: QuietOption

  func validate() throws {
    try checkIsOne()
    if !messages.isEmpty, store == nil, files.paths.count == 0 {
      throw ValidationError("--messages goes with --settings, --members or --store.")
    }
    _ = try form.options(messages)
    if update, let file = expectations.first(where: { $0.path == "-" || $0.path.hasSuffix(".gz") })
    {
      throw ValidationError(
        "--update writes into files of text; \(file.path) is \(file.path == "-" ? "none" : "packed")."
      )
    }
  }

  func run() throws {
    let engine = store == nil && files.paths.count == 0 ? nil : try loadFanout(threads: nil)
    let options = try form.options(messages)
    let readers = try messages.map { file throws(FileProblem) in
      try MessageReader(path: file.name, rules: engine?.app.rules ?? AppSettings().rules, options)
    }
    let results = try ExpectationCheck.results(
      of: expectations.map(\.path), by: engine, messages: readers, isUpdate: update)
    let wrong = results.filter { !$0.holds }
    let changed = update ? try write(wrong.filter { !$0.isProblem }) : 0
    let left = wrong.filter { !update || $0.isProblem }
    try print(results, left)
    let (held, count) = (results.count - left.count, results.count)
    if changed > 0 { Terminal.note("\(changed.counted("expectation")) updated") }
    // A file that was emptied by mistake would pass for ever.
    if results.isEmpty { throw Failure(text: "the files have no expectations") }
    Terminal.note("\(held.grouped) of \(count.counted("expectation")) hold")
    if !left.isEmpty { throw ExitCode(1) }
  }

  private func print(_ results: [ExpectationResult], _ wrong: [ExpectationResult]) throws {
    let text =
      switch format {
      case .text: wrong.map(shown).joined(separator: "\n")
      case .junit: ExpectationReport.junit(results)
      case .json: String(decoding: ExpectationReport.json(results), as: UTF8.self)
      }
    guard let output else {
      if !text.isEmpty { Terminal.printResult(text) }
      return
    }
    let file = try output.open()
    Interruption.beginOutput(file)
    defer { file.abandon() }
    try file.write(text.utf8)
    try file.finish()
    Interruption.endOutput()
  }

  /// A result, and the command that explains it.
  private func shown(_ result: ExpectationResult) -> String {
    guard case .differs = result.verdict, result.isNamed, let message = result.message,
      let user = result.user
    else { return "\(result)" }
    let world =
      store.map { ["--store", $0.path] }
      ?? [("--settings", files.settings), ("--users", files.users), ("--members", files.members)]
      .flatMap { name, paths in paths.isEmpty ? [] : [name] + paths.map(\.path) }
    let words =
      ["push-fanout", "explain"] + world + ["--messages"] + messages.map(\.name)
      + ["--message", message.text, "--user", user.text]
    return "\(result)\n  " + words.map(TerminalText.shellWord).joined(separator: " ")
  }

  /// Writes what is decided.
  ///
  /// - Returns: how many lines that are.
  private func write(_ changed: [ExpectationResult]) throws -> Int {
    for path in Set(changed.map(\.file)).sorted() {
      let lines = changed.filter { $0.file == path }
      let bytes = try WholeFile.read(path)
      let text: [UInt8]
      do throws(FileProblem.Problem) {
        text = try ExpectationReader.updated(
          bytes,
          Dictionary(
            lines.map { ($0.line, $0.expected.updated(to: $0.decision)) }, uniquingKeysWith: { $1 })
        )
      } catch {
        throw FileProblem(file: path, line: nil, problem: error)
      }
      let file = try OutputFile(path: path)
      Interruption.beginOutput(file)
      defer { file.abandon() }
      try file.write(text)
      try file.finish()
      Interruption.endOutput()
    }
    return changed.count
  }
}
