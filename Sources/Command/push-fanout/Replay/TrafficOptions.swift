import ArgumentParser
import PushReplay

/// What happens along time, for commands that go through it.
struct TrafficOptions: ParsableArguments {
  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp(
      "Messages, NDJSON or (by its name) CSV, sorted by time; - for NDJSON on standard input, "
        + "csv:- for CSV. Several are merged.", valueName: "file"))
  var messages: [MessagesPath]

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp(
      "Who is online, CSV, or under open rules heartbeats of devices, NDJSON; sorted by time.",
      valueName: "file"))
  var presence: [InputPath] = []

  @OptionGroup var form: MessageFormOptions

  @OptionGroup var slice: SliceOptions

  func validate() throws { _ = try form.options(messages, slice, users: []) }

  /// - Parameter users: those for whom messages are decided; none for all.
  func files(
    changes: [InputPath] = [], _ zones: UnknownZoneOption, users: [String] = []
  ) throws -> ReplayFiles {
    var files = ReplayFiles(
      messages: messages.map(\.name), presence: presence.map(\.path), changes: changes.map(\.path))
    files.unknownZones = zones.ofFiles
    files.options = try form.options(messages, slice, users: users)
    return files
  }
}

/// How such a command works, and where its result goes.
struct ResultOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "How many threads decide. (default: the cores it may use)", valueName: "count"))
  var threads: Int?

  @Flag(help: "The whole result as one JSON object.")
  var json = false

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Write the whole result, JSON, to a file, which appears when it is complete.",
      valueName: "file"))
  var output: OutputPath?

  @Option(
    help: ArgumentHelp(
      "List every person with days and pushes, CSV, in a file beside the result.",
      valueName: "file"))
  var people: OutputPath?

  @Option(
    help: ArgumentHelp(
      "How many pushes the provider takes, like 10000/s: when more come, and how they queue.",
      valueName: "rate"))
  var rateLimit: RateArgument?

  func validate() throws {
    if let threads, !(1...1024).contains(threads) {
      throw ValidationError("--threads \(threads) is not 1...1024.")
    }
  }
}

/// Pushes a second, `10000/s`.
struct RateArgument: ExpressibleByArgument {
  let perSecond: Int

  init?(argument: String) {
    guard let rate = PushRate(argument) else { return nil }
    perSecond = rate.perSecond
  }
}
