public import ArgumentParser
import PushFanout
public import PushFiles
import PushReference
import PushModel
import PushService

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

      With --format npy the output is a folder: message.npy, user.npy and outcome.npy hold a \
      number for every decision, and messages.csv, users.csv and outcomes.csv list what the numbers \
      mean.

      The last line on standard error counts messages, decisions, pushes, seconds and decisions a \
      second. A bad line stops the run with FILE:LINE: what is wrong, and no output is \
      written.
      """)

  @OptionGroup var world: WorldOptions

  @Option(
    help: ArgumentHelp(
      "Messages, NDJSON or (by its name) CSV; - for NDJSON on standard input.", valueName: "file"))
  var messages: InputPath

  @Option(
    help: """
      \(DecisionFormat.names). (default: summary on a terminal, otherwise ndjson)
      """)
  var format: DecisionFormat?

  @Option(help: .engine)
  var engine = DecidingEngine.packed

  @Option(
    help: ArgumentHelp(
      "How many threads decide and write. (default: as many as there are cores)", valueName: "count"
    ))
  var threads: Int?

  @Flag(help: "The summary as one JSON object; implies --format summary.")
  var json = false

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Write to a file, which appears when it is complete.", valueName: "file"))
  var output: OutputPath?

  @Flag(help: "List the devices of a push or local notification (ndjson only).")
  var devices = false

  @Flag(help: "Report bad message lines and go on; the exit status is 1 all the same.")
  var skipInvalid = false

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
    if engine == .reference, format == .npy || threads != nil {
      throw ValidationError("--format npy and --threads go with --engine packed.")
    }
    if let threads, !(1...1024).contains(threads) {
      throw ValidationError("--threads \(threads) is not 1...1024.")
    }
  }

  private var chosenFormat: DecisionFormat {
    if let format { return format }
    if json { return .summary }
    if devices { return .ndjson }
    return output == nil && Terminal.outputIsTerminal ? .summary : .ndjson
  }

  func run() throws {
    let start = ContinuousClock.now
    let run = engine == .packed ? try runPacked() : try runReference()
    let end = ContinuousClock.now
    if run.invalidCount > 0 {
      Terminal.say("push-fanout: bad message lines left out: \(run.invalidCount)")
    }
    let decisions = run.totals.total
    let seconds = (end - run.deciding) / .seconds(1)
    let rate = seconds > 0 ? Double(decisions) / seconds : 0
    Terminal.say(
      "\(run.messageCount) messages, \(decisions) decisions, "
        + "\(run.totals.total(of: .push)) pushes, \(Number.text((end - start) / .seconds(1))) s, "
        + "\(Int(rate)) decisions/s")
    if run.invalidCount > 0 { throw ExitCode(1) }
  }

  /// What a run came to, and when its loading was done.
  private struct Run {
    let deciding: ContinuousClock.Instant
    let invalidCount: Int
    let messageCount: Int
    let totals: OutcomeCounts
  }

  private func openFile() throws(OutputProblem) -> OutputFile {
    let file = try output?.open()
    let target = file ?? OutputFile()
    Interruption.beginOutput(target)
    return target
  }

  // MARK: The packed engine

  private func runPacked() throws -> Run {
    let fanout = try world.loadFanout(threads: threads)
    let stream = try MessageStream(self, fanout.app.rules)
    let format = chosenFormat
    guard format.isFolder, let output = output?.path else {
      let target = try openFile()
      defer { target.abandon() }
      let writer = try FanoutWriter(
        target, format: format, showsDevices: devices, summaryAsJSON: json,
        threads: fanout.threads)
      let run = try decide(fanout, stream, writer)
      try writer.finish()
      try target.finish()
      Interruption.endOutput()
      return run
    }
    let folder = try NumPyFolder(path: output)
    Interruption.beginOutput(output, temporaryNames: folder.temporaryNames)
    defer { folder.abandon() }
    let run = try decide(fanout, stream, FanoutWriter(folder, threads: fanout.threads))
    try folder.finish(fanout)
    Interruption.endOutput()
    return run
  }

  private func decide(
    _ fanout: Fanout, _ stream: MessageStream, _ writer: FanoutWriter
  ) throws -> Run {
    let deciding = ContinuousClock.now
    let bar = ProgressBar("deciding")
    defer { bar.finish() }
    try FanoutService(fanout).decide(into: writer, chosenFormat) {
      bar.update(
        stream.progress, "\(writer.messageCount) messages, \(writer.totals.total) decisions")
    } next: {
      try stream.next(bar)
    }
    try stream.checkWanted()
    return Run(
      deciding: deciding, invalidCount: stream.invalidCount, messageCount: writer.messageCount,
      totals: writer.totals)
  }

  // MARK: The reference

  private func runReference() throws -> Run {
    let settings = try world.load()
    let stream = try MessageStream(self, settings.app.rules)
    let target = try openFile()
    defer { target.abandon() }
    let writer = try DecisionWriter(
      target, format: chosenFormat, showsDevices: devices, summaryAsJSON: json)
    let deciding = ContinuousClock.now
    var evaluator = try ReferenceEvaluator.ofSystemZones(settings)
    let bar = ProgressBar("deciding")
    defer { bar.finish() }
    while let message = try stream.next(bar) {
      writer.begin(message)
      try evaluator.decide(message) { user, decision in
        try writer.write(settings.id(of: user), decision)
      }
      try writer.end()
      bar.update(
        stream.progress, "\(writer.messageCount) messages, \(writer.totals.total) decisions")
    }
    try stream.checkWanted()
    try writer.finish()
    try target.finish()
    Interruption.endOutput()
    return Run(
      deciding: deciding, invalidCount: stream.invalidCount, messageCount: writer.messageCount,
      totals: writer.totals)
  }
}

extension DecisionFormat: ExpressibleByArgument {
  /// The names of all formats, as prose.
  static var names: String {
    let names = allCases.map(\.rawValue)
    return names.dropLast().joined(separator: ", ") + " or " + names[names.count - 1]
  }
}

/// The messages of a run: those that are wanted, without the bad ones if they are to be skipped.
final class MessageStream {
  private let reader: MessageReader
  private let path: String
  private let skipsInvalid: Bool
  private var wanted: [Identifier: Bool]
  private(set) var invalidCount = 0

  init(_ command: Evaluate, _ rules: RuleSet) throws(FileProblem) {
    path = command.messages.path
    skipsInvalid = command.skipInvalid
    wanted = Dictionary(command.message.map { (Identifier($0), false) }) { first, _ in first }
    reader = try MessageReader(path: path, rules: rules)
  }

  var progress: Double? { reader.progress }

  func next(_ bar: ProgressBar) throws(FileProblem) -> Message? {
    while true {
      do throws(FileProblem) {
        guard let message = try reader.next() else { return nil }
        if wanted.isEmpty { return message }
        guard wanted[message.id] != nil else { continue }
        wanted[message.id] = true
        return message
      } catch {
        if !skipsInvalid || !error.isOfOneLine { throw error }
        bar.finish()
        Terminal.say("\(error)")
        invalidCount += 1
      }
    }
  }

  /// - Throws: when an id that was asked for did not come.
  func checkWanted() throws(Failure) {
    if let missing = wanted.filter({ !$0.value }).keys.map(\.text).min() {
      throw Failure(text: "no message in \(path) has the id \"\(missing)\"")
    }
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
