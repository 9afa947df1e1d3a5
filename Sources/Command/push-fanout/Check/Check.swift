import ArgumentParser
import PushFiles
import PushSupport

/// `push-fanout check`: validates files.
struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Validate settings, messages, presence, changes, templates and senders.",
    discussion: """
      Settings, messages, presence, changes, templates and senders: the kind of a file is detected \
      by its columns or its first record. All files are checked together, so name the settings \
      beside the messages: they determine the rule set. Of each kind of problem the first 20 are \
      printed.

      Examples:

        push-fanout check world.ndjson today.ndjson.gz

        push-fanout check app.ndjson users.csv members.csv messages.csv

        push-fanout check members.csv export.csv --delimiter ';' \\
          --columns at=Timestamp,'ignore=*' --zone Europe/Berlin

      Of users.csv and members.csv without all columns it says what their rows leave or remove.

      Warnings are about what is allowed and probably a mistake: instants before 2000 or more than \
      ten years ahead, senders, mentioned users and conversations that the settings do not have, \
      and messages that are not in the order of time.

      Exit status 0 when nothing is wrong, 1 when something is, with --strict also for a warning.
      """)

  @Argument(
    help: ArgumentHelp(
      "Files to check; with csv: in front one is CSV whatever its name.", valueName: "file"))
  var files: [MessagesPath]

  @OptionGroup var form: MessageFormOptions

  @Flag(help: "Exit with status 1 for warnings too.")
  var strict = false

  @Flag(help: "Print all problems and warnings, not the first 20 of each kind.")
  var all = false

  @Flag(help: "One JSON object a problem or warning, all of them.")
  var json = false

  @OptionGroup var habits: QuietOption

  func validate() throws {
    if files.contains(where: { FileKind.file(named: $0.name) == "-" }) {
      throw ValidationError(
        "check needs files, which it reads more than once; - is standard input.")
    }
    _ = try form.options(files)
  }

  func run() throws {
    let bar = ProgressBar("checking")
    let checker = FileChecker(
      files.map(\.name), try form.options(files), now: try Clock.now
    ) { bar.update($0) }
    bar.finish()
    let lines =
      json
      ? try checker.problems.map {
        try Finding(kind: "problem", file: $0.file, line: $0.line, text: "\($0.problem)").encoded()
      }
        + checker.warnings.map {
          try Finding(kind: "warning", file: $0.file, line: $0.line, text: $0.text).encoded()
        }
      : shown(checker.problems) { $0.isLike($1) } + shown(checker.warnings) { $0.kind == $1.kind }
    if !lines.isEmpty {
      Terminal.printResult(json ? lines.joined(separator: "\n") : TerminalText.lines(lines))
    }
    for note in checker.notes { Terminal.note(note) }
    let (problems, warnings) = (checker.problems.count, checker.warnings.count)
    Terminal.note(
      "\(files.count.counted("file")), \(checker.recordCount.counted("record")), "
        + problems.counted("problem") + (warnings == 0 ? "" : ", " + warnings.counted("warning")))
    if problems > 0 || strict && warnings > 0 { throw ExitCode(1) }
  }

  private struct Finding: Encodable {
    let kind, file: String
    let line: Int?
    let text: String
  }

  private static let limit = 20

  /// What is printed of findings: the first of each kind, and how many more there are.
  private func shown<Finding: CustomStringConvertible>(
    _ findings: [Finding], _ areLike: (Finding, Finding) -> Bool
  ) -> [String] {
    if all { return findings.map { "\($0)" } }
    var kinds: [(first: Finding, count: Int)] = []
    var lines: [String] = []
    for finding in findings {
      let index = kinds.firstIndex { areLike($0.first, finding) } ?? kinds.count
      if index == kinds.count { kinds.append((finding, 0)) }
      kinds[index].count += 1
      if kinds[index].count <= Self.limit { lines.append("\(finding)") }
    }
    for (first, count) in kinds where count > Self.limit {
      lines.append(
        "… and \((count - Self.limit).grouped) more like \(first); --all shows them")
    }
    return lines
  }
}
