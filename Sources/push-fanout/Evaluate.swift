import ArgumentParser
import PushFiles
import PushReference
import PushRules

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

      The last line on standard error says messages, decisions, pushes, seconds and decisions a \
      second. A bad line stops the run with FILE:LINE: what is wrong, and nothing is left under \
      the output's name.
      """)

  @OptionGroup var world: WorldOptions

  @Option(
    help: ArgumentHelp(
      "Messages, NDJSON or (by its name) CSV; - for NDJSON on standard input.", valueName: "file"))
  var messages: String

  @Option(
    help: """
      ndjson, csv, counts, pushlist or summary. (default: summary on a terminal, otherwise ndjson)
      """)
  var format: Format?

  /// The formats by the names that people type.
  enum Format: String, CaseIterable, ExpressibleByArgument {
    case ndjson, csv, counts, pushlist, summary

    var decisions: DecisionFormat {
      switch self {
      case .ndjson: .ndjson
      case .csv: .csv
      case .counts: .counts
      case .pushlist: .pushlist
      case .summary: .summary
      }
    }
  }

  @Flag(help: "The summary as one JSON object; implies --format summary.")
  var json = false

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Write to a file, which appears when it is complete.", valueName: "file"))
  var output: String?

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
  }

  private var chosenFormat: DecisionFormat {
    if let format { return format.decisions }
    if json { return .summary }
    if devices { return .ndjson }
    return output == nil && Terminal.outputIsTerminal ? .summary : .ndjson
  }

  func run() throws {
    let start = ContinuousClock.now
    let settings = try world.load()
    let reader = try MessageReader(path: messages, rules: settings.app.rules)
    let file = try output.map { (path) throws(OutputProblem) in try OutputFile(path: path) }
    let target = file ?? OutputFile()
    Interruption.setTemporaryName(target.temporaryName)
    defer { target.abandon() }
    let writer = try DecisionWriter(target, format: chosenFormat, showsDevices: devices)
    let deciding = ContinuousClock.now
    let invalidCount = try decide(settings, reader, writer)
    let end = ContinuousClock.now
    if chosenFormat == .summary { try writer.writeSummary(asJSON: json) }
    try target.finish()
    Interruption.setTemporaryName(nil)

    if invalidCount > 0 {
      Terminal.say("push-fanout: bad message lines left out: \(invalidCount)")
    }
    let decisions = writer.totals.total
    let seconds = (end - deciding) / .seconds(1)
    let rate = seconds > 0 ? Double(decisions) / seconds : 0
    Terminal.say(
      "\(writer.messageCount) messages, \(decisions) decisions, "
        + "\(writer.totals.total(of: .push)) pushes, \(Number.text((end - start) / .seconds(1))) s, "
        + "\(Int(rate)) decisions/s")
    if invalidCount > 0 { throw ExitCode(1) }
  }

  /// Decides message by message.
  ///
  /// - Returns: how many lines were left out.
  private func decide(
    _ settings: FanoutSettings, _ reader: MessageReader, _ writer: DecisionWriter
  ) throws -> Int {
    var evaluator = ReferenceEvaluator(settings)
    var wanted = Dictionary(message.map { (Identifier($0), false) }) { first, _ in first }
    let bar = ProgressBar("deciding")
    defer { bar.finish() }
    var invalidCount = 0
    while true {
      let message: Message
      do throws(FileProblem) {
        guard let next = try reader.next() else { break }
        message = next
      } catch {
        if !skipInvalid || !error.isOfOneLine { throw error }
        bar.finish()
        Terminal.say("\(error)")
        invalidCount += 1
        continue
      }
      if !wanted.isEmpty {
        guard wanted[message.id] != nil else { continue }
        wanted[message.id] = true
      }
      try writer.begin(message)
      try evaluator.decide(message) { user, decision in
        try writer.write(settings.id(of: user), decision)
      }
      try writer.end()
      bar.update(
        reader.progress, "\(writer.messageCount) messages, \(writer.totals.total) decisions")
    }
    if let missing = message.first(where: { wanted[Identifier($0)] == false }) {
      throw Failure(text: "no message in \(messages) has the id \"\(missing)\"")
    }
    return invalidCount
  }
}

/// Numbers for people.
enum Number {
  /// Three places behind the point.
  static func text(_ value: Double) -> String {
    let thousandths = Int((value * 1000).rounded())
    let fraction = String(thousandths % 1000)
    return "\(thousandths / 1000)." + String(repeating: "0", count: 3 - fraction.count) + fraction
  }
}
