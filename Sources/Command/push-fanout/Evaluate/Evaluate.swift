public import ArgumentParser
import PushFanout
public import PushFiles
import PushReference
import PushModel
import PushSupport
import QuietTime

/// `push-fanout evaluate`: one decision for every recipient of every message.
struct Evaluate: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Decide messages for all their recipients.",
    discussion: """
      Examples:

        push-fanout evaluate --settings world.ndjson --messages today.ndjson.gz \\
          --format summary

        push-fanout evaluate --users users.csv --members members.csv \\
          --messages messages.csv --format ndjson --output decisions.ndjson

        push-fanout evaluate --settings world.ndjson --messages today.ndjson \\
          --format npy --output decisions

        push-fanout evaluate --members members.csv --messages export.csv \\
          --delimiter ';' --columns 'at=Time,conversation=Group,sender=From' \\
          --zone Asia/Shanghai --from 2024-06-03 --user u1 --format csv

      With --format npy the output is a folder. codes.npy has one byte for each member of each \
      message's conversation, 0 for a member who is not a recipient. The codes of a message begin \
      at message_start.npy; message_list.npy is its list of members, which begins at \
      list_start.npy in members.npy. messages.csv, users.csv and outcomes.csv list what the \
      numbers mean. docs/formats.md has a Python program that reads the folder.

      The last line on standard error counts messages, decisions, pushes, seconds and decisions a \
      second; one before it, and the summary, count messages to conversations that the settings do \
      not have. A bad line of messages stops the run with FILE:LINE: what is wrong, and exit status \
      1. An output file or folder is then not written at all; standard output has the decisions of \
      the messages before that line.
      """)

  @OptionGroup var world: WorldOptions

  @OptionGroup var input: MessageInput

  @OptionGroup var users: UsersOption

  @Option(
    help: """
      \(DecisionFormat.names). (default: summary on a terminal, otherwise ndjson)
      """)
  var format: DecisionFormat?

  @Option(
    help: """
      packed, or reference: the rules member by member, for comparison. Both give the same answers.
      """)
  var engine = DecidingEngine.packed

  @Option(
    help: ArgumentHelp(
      "How many threads decide and encode; if more than one, another one reads and writes. "
        + "(default: the cores it may use)", valueName: "count"))
  var threads: Int?

  @Flag(help: "The summary as one JSON object; implies --format summary.")
  var json = false

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Write to a file, which appears when it is complete and replaces one of its name.",
      valueName: "file"))
  var output: OutputPath?

  @Flag(help: "List the devices of a push or local notification (ndjson only).")
  var devices = false

  @OptionGroup var skipping: SkipOption

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Decide only the messages with these ids.", valueName: "id"))
  var message: [String] = []

  func validate() throws {
    if json, let format, format != .summary {
      throw ValidationError("--json goes with --format summary; \(format.rawValue) has one form.")
    }
    if devices, json || (format ?? .ndjson) != .ndjson {
      throw ValidationError("--devices goes with --format ndjson.")
    }
    if let format, format.isFolder, output == nil {
      throw ValidationError("--format \(format.rawValue) writes a folder: name it with --output.")
    }
    if engine == .reference, format?.isFolder ?? false || threads != nil {
      throw ValidationError("--threads and formats that are folders go with --engine packed.")
    }
    if let threads, !(1...1024).contains(threads) {
      throw ValidationError("--threads \(threads) is not 1...1024.")
    }
  }

  /// Whether the output is what a person sees.
  private var outputIsRead: Bool { output == nil && Terminal.outputIsTerminal }

  private var chosenFormat: DecisionFormat {
    if let format { return format }
    if json { return .summary }
    if devices { return .ndjson }
    return outputIsRead ? .summary : .ndjson
  }

  func run() throws {
    let start = ContinuousClock.now
    let run = engine == .packed ? try runPacked() : try runReference()
    let end = ContinuousClock.now
    // A summary on a terminal has said it.
    if run.unknown.recordCount > 0, !(chosenFormat == .summary && outputIsRead) {
      Terminal.say(run.unknown.note)
    }
    SkipOption.say(run.invalidCount)
    let decisions = run.totals.total
    let seconds = (end - run.deciding) / .seconds(1)
    let rate = seconds > 0 ? Double(decisions) / seconds : 0
    Terminal.note(
      "\(run.messageCount.counted("message")), \(decisions.counted("decision")), "
        + "\(run.totals.total(of: .push).grouped) pushed, \(Number.text((end - start) / .seconds(1))) s, "
        + "\(Int(rate).grouped) decisions/s")
    if run.invalidCount > 0 { throw ExitCode(1) }
  }

  /// What a run came to, and when its loading was done.
  private struct Run {
    let deciding: ContinuousClock.Instant
    let invalidCount: Int
    let messageCount: Int
    let totals: OutcomeCounts
    /// The conversations of messages that the settings do not have.
    let unknown: UnknownNames
    /// The recipients who were not decided for.
    let refused: RefusedRecipients
  }

  private func openFile() throws(OutputProblem) -> OutputFile {
    let file = try output?.open()
    let target = file ?? OutputFile()
    Interruption.beginOutput(target)
    return target
  }

  /// How messages are read, which, and for whom they are decided.
  private func options() throws -> MessageOptions { try input.options(users: users.user) }

  /// The messages to decide.
  private func selection(_ rules: RuleSet, _ bar: ProgressBar) throws -> MessageSelection {
    MessageSelection(
      try input.readers(rules, options()), ids: message.map { Identifier($0) },
      skipped: skipping.report(bar))
  }

  // MARK: The packed engine

  private func runPacked() throws -> Run {
    let fanout = try world.loadFanout(threads: threads)
    try options().slice.apply(to: fanout)
    // The system frees the memory of a process that ends faster than the engine frees its own.
    _ = unsafe Unmanaged.passRetained(fanout)
    let bar = ProgressBar("deciding")
    let selection = try selection(fanout.app.rules, bar)
    let format = chosenFormat
    guard format.isFolder, let output = output?.path else {
      let target = try openFile()
      defer { target.abandon() }
      let writer = try FanoutWriter(
        target, format: format, showsDevices: devices, summaryAsJSON: json,
        threads: fanout.threads)
      let run = try decide(fanout, selection, writer, bar)
      try writer.finish()
      try finish(target, run)
      return run
    }
    let folder = try NumPyFolder(path: output)
    Interruption.beginOutput(output, temporaryNames: folder.temporaryNames)
    defer { folder.abandon() }
    let run = try decide(
      fanout, selection, FanoutWriter(folder, threads: fanout.threads), bar)
    try run.refused.check()
    try folder.complete(fanout)
    try Interruption.publish { () throws(OutputProblem) in try folder.finish() }
    return run
  }

  private func decide(
    _ fanout: Fanout, _ selection: MessageSelection, _ writer: FanoutWriter, _ bar: ProgressBar
  ) throws -> Run {
    let deciding = ContinuousClock.now
    defer { bar.finish() }
    let version = fanout.currentVersion
    var refused = RefusedRecipients()
    try writer.write(by: fanout, line: { selection.lineNumber }) {
      bar.update(
        selection.progress,
        [writer.messageCount.counted("message"), writer.totals.total.counted("decision")])
    } next: {
      let message = try selection.next()
      if let message { refused.add(version.refusedRecipients(of: message)) }
      return message
    }
    try selection.checkAllFound()
    return Run(
      deciding: deciding, invalidCount: selection.skippedCount, messageCount: writer.messageCount,
      totals: writer.totals, unknown: writer.unknown, refused: refused)
  }

  /// Ends the output: what goes to standard output is written before the error that some recipients
  /// were not decided for, and a file does not appear then.
  private func finish(_ target: OutputFile, _ run: Run) throws {
    if output != nil { try run.refused.check() }
    try target.finish()
    Interruption.endOutput()
    try run.refused.check()
  }

  // MARK: The reference

  private func runReference() throws -> Run {
    let zoned = try world.loadZoned()
    var settings = zoned.settings
    try world.apply(options().slice, to: &settings)
    let bar = ProgressBar("deciding")
    defer { bar.finish() }
    let selection = try selection(settings.app.rules, bar)
    let target = try openFile()
    defer { target.abandon() }
    let writer = try FanoutWriter(
      target, format: chosenFormat, showsDevices: devices, summaryAsJSON: json)
    let deciding = ContinuousClock.now
    var refused = RefusedRecipients()
    var evaluator = ReferenceEvaluator(settings, zoneOffset: zoned.zones.offset)
    try writer.write(by: &evaluator, id: settings.id) {
      bar.update(
        selection.progress,
        [writer.messageCount.counted("message"), writer.totals.total.counted("decision")])
    } next: {
      let message = try selection.next()
      guard let message else { return nil }
      refused.add(zoned.refusedRecipients(of: message))
      if settings.conversation(message.conversation) == nil {
        writer.unknown.add(message.conversation, line: selection.lineNumber)
      }
      return message
    }
    try selection.checkAllFound()
    try writer.finish()
    let run = Run(
      deciding: deciding, invalidCount: selection.skippedCount, messageCount: writer.messageCount,
      totals: writer.totals, unknown: writer.unknown, refused: refused)
    try finish(target, run)
    return run
  }
}

extension DecisionFormat: ExpressibleByArgument {
  /// The names of all formats, as prose.
  static var names: String {
    let names = allCases.map(\.rawValue)
    return names.dropLast().joined(separator: ", ") + " or " + names[names.count - 1]
  }
}

/// Numbers as plain text.
enum Number {
  /// Three decimals.
  static func text(_ value: Double) -> String {
    let thousandths = Int((value * 1000).rounded())
    let fraction = String(thousandths % 1000)
    return "\(thousandths / 1000)." + String(repeating: "0", count: 3 - fraction.count) + fraction
  }
}
