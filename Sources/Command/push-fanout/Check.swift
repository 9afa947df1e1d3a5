import ArgumentParser
import PushFiles
import PushSupport

/// `push-fanout check`: validates files.
struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Validate settings, messages, presence, changes and templates.",
    discussion: """
      Settings, messages, presence, changes and templates: the kind of a file is detected by its \
      columns or its first record. All files are checked together, so name the settings beside \
      the messages: they determine the rule set. Every problem is printed.

      Examples:

        push-fanout check world.ndjson today.ndjson.gz

        push-fanout check app.ndjson users.csv members.csv messages.csv

      Of users.csv and members.csv without all columns it says what their rows leave or remove.

      Exit status 0 when nothing is wrong, 1 when something is.
      """)

  @Argument(help: ArgumentHelp("Files to check.", valueName: "file"))
  var files: [InputPath]

  func validate() throws {
    if files.contains(where: { $0.path == "-" }) {
      throw ValidationError(
        "check needs files, which it reads more than once; - is standard input.")
    }
  }

  func run() throws {
    let bar = ProgressBar("checking")
    let checker = FileChecker(files.map(\.path)) { bar.update($0) }
    bar.finish()
    if !checker.problems.isEmpty {
      Terminal.printResult(TerminalText.lines(checker.problems.map { "\($0)" }))
    }
    for note in checker.notes { Terminal.say(note) }
    let problems = checker.problems.count
    Terminal.say(
      "\(files.count) files, \(checker.recordCount) records, "
        + (problems == 1 ? "1 problem" : "\(problems) problems"))
    if problems > 0 { throw ExitCode(1) }
  }
}
