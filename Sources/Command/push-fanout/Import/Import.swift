import ArgumentParser
import PushFiles
import PushImport
import PushSupport

/// `push-fanout import`: the export of a chat system as a world of open rules.
struct Import: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Make a world of what Mattermost or Zulip exports.",
    discussion: """
      Examples:

        push-fanout import mattermost export.zip --output acme

        push-fanout import zulip zulip-export.tar.gz --output acme

        push-fanout evaluate --settings acme/settings.ndjson \\
          --messages acme/messages.ndjson --format summary

      docs/import.md says what comes over and what does not.
      """,
    subcommands: [ImportMattermost.self, ImportZulip.self])
}

/// `push-fanout import mattermost`.
struct ImportMattermost: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mattermost",
    abstract: "Make a world of an export of Mattermost.",
    discussion: """
      The export is the archive of mmctl export create, or its import.jsonl, also with .gz. What \
      it leaves out the server's API tells; each of these files is NDJSON or one JSON array.

      Examples:

        push-fanout import mattermost export.zip --output acme

        push-fanout import mattermost export.zip --output acme \\
          --api-users users.json --collapsed-threads off

      \(ImportArguments.help)
      """)

  enum Switch: String, CaseIterable, ExpressibleByArgument { case on, off }

  @Argument(help: ArgumentHelp("The export; - for standard input.", valueName: "export"))
  var export: InputPath

  @OptionGroup var common: ImportArguments

  @Option(help: "The server's setting of collapsed threads: on or off.")
  var collapsedThreads = Switch.on

  @Option(
    help: ArgumentHelp(
      "From so many members of a channel on, @channel reaches nobody: MaxNotificationsPerChannel.",
      valueName: "count"))
  var mentionLimit = MattermostOptions().mentionLimit

  @Option(
    help: ArgumentHelp("Users, as /api/v4/users tells a system admin.", valueName: "file"))
  var apiUsers: InputPath?

  @Option(
    help: ArgumentHelp(
      "Statuses, as /api/v4/users/status/ids tells; needs --api-users.", valueName: "file"))
  var apiStatuses: InputPath?

  @Option(
    help: ArgumentHelp(
      "Members of channels: team, channel, username, notify_props.", valueName: "file"))
  var apiMembers: InputPath?

  @Option(help: ArgumentHelp("Groups: name, members (user names).", valueName: "file"))
  var apiGroups: InputPath?

  func validate() throws {
    if mentionLimit < 1 {
      throw ValidationError("--mention-limit \(mentionLimit) is not positive.")
    }
    if apiStatuses != nil, apiUsers == nil {
      throw ValidationError("--api-statuses needs --api-users, which has the names of ids.")
    }
  }

  func run() throws {
    var options = MattermostOptions()
    options.collapsesThreads = collapsedThreads == .on
    options.mentionLimit = mentionLimit
    options.users = apiUsers?.path
    options.statuses = apiStatuses?.path
    options.members = apiMembers?.path
    options.groups = apiGroups?.path
    try common.run(.mattermost(options), export)
  }
}

/// `push-fanout import zulip`.
struct ImportZulip: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "zulip",
    abstract: "Make a world of an export of Zulip.",
    discussion: """
      The export is the .tar.gz of manage.py export or of the organization's settings, or its \
      folder: realm.json and messages-*.json.

      Examples:

        push-fanout import zulip zulip-export.tar.gz --output acme

        push-fanout import zulip zulip-export.tar.gz --output acme --strict

      \(ImportArguments.help)
      """)

  @Argument(help: ArgumentHelp("The archive or the folder.", valueName: "export"))
  var export: InputPath

  @OptionGroup var common: ImportArguments

  func run() throws { try common.run(.zulip, export) }
}

/// What every import is told.
struct ImportArguments: ParsableArguments {
  static let help = """
    The output is a folder, which appears when it is complete: settings.ndjson, messages.ndjson, \
    and report.json with what open rules cannot say, by kind. The last lines on standard error \
    say the same in words.

    What is wrong with the export stops the import, with FILE:LINE: what is wrong, in an archive \
    ARCHIVE/ENTRY:LINE, and exit status 1.
    """

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("The folder, which must be empty or not exist yet.", valueName: "folder"))
  var output: OutputPath

  @Flag(help: "Of texts keep only the keywords that occur in them.")
  var withoutTexts = false

  @Option(
    help: ArgumentHelp(
      "Replace each id by a hash with the key in this file: 32 hexadecimal digits.",
      valueName: "file"))
  var hashIds: InputPath?

  @Flag(help: "Exit with status 1 when something was counted that open rules cannot say.")
  var strict = false

  @Option(
    help: ArgumentHelp(
      "How many threads read. (default: the cores it may use)", valueName: "count"))
  var threads: Int?

  @OptionGroup var habits: QuietOption

  func validate() throws {
    if let threads, !(1...1024).contains(threads) {
      throw ValidationError("--threads \(threads) is not 1...1024.")
    }
  }

  func run(_ system: ImportSystem, _ export: InputPath) throws {
    let start = ContinuousClock.now
    let bar = ProgressBar("importing")
    defer { bar.finish() }
    var importer = Importer()
    importer.threads = threads
    importer.isWithoutTexts = withoutTexts
    importer.progress = { bar.update($0) }
    if let key = hashIds?.path {
      guard importer.hashIDs(key: try WholeFile.read(key)) else {
        throw Failure(
          text: "\(key): the key is not 32 hexadecimal digits; openssl rand -hex 16 makes one")
      }
    }
    let folder = try OutputFolder(
      path: output.path, names: Importer.fileNames, replacesEmpty: true)
    Interruption.beginOutput(output.path, temporaryNames: folder.temporaryNames)
    defer { folder.abandon() }
    let report = try importer.run(system, export.path, into: folder)
    try Interruption.publish { () throws(OutputProblem) in try folder.finish() }
    bar.finish()
    for line in report.lines { Terminal.note(line) }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    Terminal.note(
      "\(output.path) has the world, \(Number.text(seconds)) s"
        + (hashIds == nil ? "; \(system.personalIDs)" : ""))
    if strict, report.failsStrictly { throw ExitCode(1) }
  }
}
