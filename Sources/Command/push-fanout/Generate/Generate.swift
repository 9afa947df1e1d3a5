import ArgumentParser
import PushFanout
import PushFiles
import PushModel
import PushSupport
import PushWorkload

/// `push-fanout generate`: settings and traffic of any size, from a seed.
struct Generate: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Generate test data of any size: users, rooms, messages, presence, changes.",
    discussion: """
      Everything is drawn from a seed by measured and published rates, which docs/generate.md names; \
      each has a flag. The same flags give the same bytes, with any number of threads.

      The output is a folder, which appears when it is complete: users.csv, members.csv, \
      messages.csv, presence.csv, changes.ndjson, and settings.ndjson with the app and what CSV \
      cannot say. With --devices, and for RongCloud's users who have set levels, all users are in \
      settings.ndjson. With --format ndjson it has settings.ndjson, messages.ndjson, presence.csv \
      and changes.ndjson. Open rules have that format only, and no presence.csv.

      Examples:

        push-fanout generate --output world

        push-fanout generate --output world --users 1000000 \\
          --memberships 10000000 --seed 7

        push-fanout generate --output world --rules rongcloud --like zulip \\
          --devices --duration 7d --messages 200000

        push-fanout generate --output families --like family --format ndjson \\
          --text

        push-fanout generate --output open --rules open --text

        push-fanout generate --output earlier --rates 1

        push-fanout evaluate --settings world/settings.ndjson \\
          --users world/users.csv --members world/members.csv \\
          --messages world/messages.csv --format summary

        push-fanout replay --settings world/settings.ndjson \\
          --users world/users.csv --members world/members.csv \\
          --messages world/messages.csv --presence world/presence.csv \\
          --changes world/changes.ndjson

      Shares are 0...1. The last line on standard error says the seed and what was made.
      """)

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("The folder, which must not exist yet.", valueName: "folder"))
  var output: OutputPath

  @Option(help: "Whose rules: easemob, rongcloud or open.")
  var rules = Rules(WorkloadOptions().rules)

  @Option(help: "csv or ndjson. (default: csv; under open rules ndjson)")
  var format: Format?

  @Option(
    help: """
      Version of the rates: 2 (time zones shared within rooms, hours of sleep, connected senders, \
      different days, changing settings), or 1, whose output never changes.
      """)
  var rates = Rates.people

  @Option(
    help: """
      Traffic and sizes as they were measured of gitter, telegram, zulip or irc, or as they are \
      assumed of family, small private groups; other flags win.
      """)
  var like: Archive?

  /// The rule sets, rates, formats and archives by their names on the command line.
  struct Rules: RawRepresentable, CaseIterable, ExpressibleByArgument {
    let ruleSet: RuleSet

    static var allCases: [Rules] { RuleSet.allCases.map { Rules($0) } }

    init(_ ruleSet: RuleSet) { self.ruleSet = ruleSet }

    init?(rawValue: String) {
      guard let ruleSet = RuleSet(rawValue: rawValue) else { return nil }
      self.ruleSet = ruleSet
    }

    var rawValue: String { ruleSet.rawValue }
  }

  enum Rates: String, CaseIterable, ExpressibleByArgument {
    case first = "1"
    case people = "2"
  }

  enum Format: String, CaseIterable, ExpressibleByArgument {
    case csv, ndjson
    var format: WorkloadFormat { self == .csv ? .csv : .ndjson }
  }

  enum Archive: String, CaseIterable, ExpressibleByArgument {
    case gitter, telegram, zulip, irc, family
    var preset: WorkloadPreset? { WorkloadPreset(rawValue: rawValue) }
  }

  @Option(help: ArgumentHelp("Another seed gives another world.", valueName: "number"))
  var seed: UInt64 = 1

  @Option(
    help: ArgumentHelp(
      "How many threads work. (default: the cores it may use)", valueName: "count"))
  var threads: Int?

  @OptionGroup var habits: QuietOption

  @OptionGroup(title: "Sizes") var sizes: SizeFlags
  @OptionGroup(title: "Traffic") var traffic: TrafficFlags
  @OptionGroup(title: "People") var people: PeopleFlags
  @OptionGroup(title: "Presence") var presence: PresenceFlags
  @OptionGroup(title: "Open rules") var open: OpenFlags

  private var fitsColumns: Bool { rules.ruleSet.fitsColumns }
  private var chosenFormat: WorkloadFormat { (format ?? (fitsColumns ? .csv : .ndjson)).format }

  func validate() throws {
    if let threads, !(1...1024).contains(threads) {
      throw ValidationError("--threads \(threads) is not 1...1024.")
    }
    let later = sizes.later + traffic.later + people.later + presence.later + open.given
    if rates == .first, let flag = later.first {
      throw ValidationError("\(flag) needs --rates 2.")
    }
    if traffic.text, chosenFormat == .csv {
      throw ValidationError("--text needs --format ndjson: CSV has no texts.")
    }
    if !fitsColumns, format == .csv {
      throw ValidationError(
        "--rules open needs --format ndjson: CSV has no lists of classes, roles, keywords, senders, "
          + "threads' records and texts.")
    }
    if fitsColumns, let flag = open.given.first {
      throw ValidationError("\(flag) needs --rules open.")
    }
    let options = try options()
    do throws(WorkloadError) {
      try options.validate()
    } catch {
      throw ValidationError("--\(error).")
    }
  }

  private func options() throws -> WorkloadOptions {
    var options = WorkloadOptions()
    options.seed = seed
    options.rates = rates == .first ? .first : .people
    options.rules = rules.ruleSet
    if let preset = like?.preset { options.apply(preset) }
    sizes.apply(to: &options.sizes)
    try traffic.apply(to: &options.traffic)
    people.apply(to: &options.people)
    presence.apply(to: &options.presence)
    open.apply(to: &options.open)
    return options
  }

  func run() throws {
    let start = ContinuousClock.now
    let threads = threads ?? Fanout.coreCount
    let options = try options()
    // Existing files are reported before the long run.
    let names = WorkloadText.File.allCases.map { WorkloadText.name(of: $0, chosenFormat) }
    let folder = try OutputFolder(path: output.path, names: names)
    Interruption.beginOutput(output.path, temporaryNames: folder.temporaryNames)
    defer { folder.abandon() }
    let workload: Workload
    do throws(WorkloadError) {
      workload = try Workload(options, threads: threads)
    } catch {
      throw Failure(text: "\(error)")
    }
    let text = WorkloadText(workload, chosenFormat)
    let files = text.files.filter { $0 != .presence || !presence.noPresence }
    let progress = Progress(files.reduce(0) { $0 + text.rowCount(of: $1) })
    var presenceCount = 0
    let hasEvents = files.contains(.messages) && files.contains(.presence)
    for file in files where !(hasEvents && file == .presence) {
      let target = try folder.file(text.name(of: file))
      let write = { (bytes: [UInt8], rows: Int) throws(OutputProblem) in
        try target.write(whole: bytes)
        progress.add(rows)
      }
      if hasEvents, file == .messages {
        let presence = try folder.file(text.name(of: .presence))
        try text.writeEvents(threads: threads, messages: write) {
          (bytes, rows) throws(OutputProblem) in
          try presence.write(whole: bytes)
          presenceCount += rows
          progress.add(rows)
        }
        try presence.finish()
      } else {
        let before = progress.rows
        try text.write(file, threads: threads, to: write)
        if file == .presence { presenceCount = progress.rows - before }
      }
      try target.finish()
    }
    try Interruption.publish { () throws(OutputProblem) in try folder.finish() }
    progress.bar.finish()
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    Terminal.note(
      "seed \(seed): \(workload.userCount.counted("user")), \(workload.roomCount.counted("room")), "
        + "\(workload.membershipCount.counted("membership")), "
        + "\(workload.messageCount.counted("message")), "
        + "\(presenceCount.counted("presence change")), \(Number.text(seconds)) s, "
        + "\(Int(Double(progress.rows) / max(seconds, 0.001)).grouped) rows/s")
  }

  /// How far it is.
  private final class Progress {
    let bar = ProgressBar("generating")
    private(set) var rows = 0
    private let total: Int
    private let start = ContinuousClock.now

    init(_ total: Int) { self.total = total }

    func add(_ count: Int) {
      rows += count
      bar.update(min(1, Double(rows) / Double(max(1, total))), details)
    }

    private var details: [String] {
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      return [
        rows.counted("row"), "\(Int(Double(rows) / max(seconds, 0.001)).grouped) rows/s",
      ]
    }
  }
}
