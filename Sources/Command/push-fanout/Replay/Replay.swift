import ArgumentParser
import Glibc
import PushContent
import PushFanout
import PushFiles
import PushReplay
import PushModel
import PushSupport

/// `push-fanout replay`: what messages would have cost, along time.
struct Replay: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Replay messages, presence and settings changes in the order of time.",
    discussion: """
      Counts decisions and pushes, with reasons and instants: by outcome, hour, hour of \
      the week, conversation and size, with the busiest second and minute.

      Examples:

        push-fanout replay --users users.csv --members members.csv \\
          --messages messages.csv.gz

        push-fanout replay --settings world.ndjson --messages may.ndjson \\
          june.ndjson --presence presence.csv --changes changes.ndjson \\
          --per-person --output june.replay.json

        push-fanout replay --store app.store --messages today.ndjson --hold --json

        push-fanout replay --store app.store --messages today.ndjson --top 20

        push-fanout replay --store app.store --messages today.ndjson \\
          --held held.csv

        push-fanout replay --settings world.ndjson --messages today.ndjson \\
          --speed 60x

        zcat 2016.csv.gz | push-fanout replay --members members.csv \\
          --messages csv:- --from 2016-03-01 --to 2016-04-01

        push-fanout replay --store app.store --messages today.ndjson \\
          --follow-user u1 --json | push-fanout report - >u1.html

      Each file is sorted by time. Members join at their since. With --hold each suppressed \
      decision is evaluated again at later instants. docs/replay.md explains \
      the figures and the result file.
      """)

  @OptionGroup var world: WorldOptions

  @OptionGroup var traffic: TrafficOptions

  @OptionGroup var users: UsersOption

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Settings changes, NDJSON, sorted by time.", valueName: "file"))
  var changes: [InputPath] = []

  @Flag(help: "Compute when suppressed decisions would push.")
  var hold = false

  @Option(
    help: ArgumentHelp(
      "With --hold: a row for each decision that would push later, and when, CSV if its name ends "
        + "so, else NDJSON.", valueName: "file"))
  var held: OutputPath?

  @Option(
    help: ArgumentHelp(
      "max, or how many times faster than it happened, like 1x or 60x, at least 0.000001x.",
      valueName: "speed"))
  var speed = ReplaySpeed.max

  @Flag(
    help: ArgumentHelp(
      "Count pushes of each person and day, and by the hour of the recipient's own clock; two to "
        + "three times as much work.")
  )
  var perPerson = false

  @Option(
    help: ArgumentHelp(
      "Name so many people, rooms and senders with most pushes; counts as --per-person does. "
        + "(default: 10 with --per-person or --people)", valueName: "count"))
  var top: Int?

  @Option(
    help: ArgumentHelp("Zone of the hours of the week. (default: the app's)", valueName: "zone"))
  var timeZone: String?

  @Option(
    help: ArgumentHelp(
      "Show this user alone: what became of the messages to the user, and why.", valueName: "id"))
  var followUser: String?

  @Option(
    help: ArgumentHelp(
      "Show this conversation alone, with --follow-user its messages to the user.",
      valueName: "id"))
  var followConversation: String?

  @OptionGroup var results: ResultOptions

  @OptionGroup var skipping: SkipOption

  func validate() throws {
    if let top, top < 0 { throw ValidationError("--top \(top) is negative.") }
  }

  func run() throws {
    let start = ContinuousClock.now
    let target = try results.output?.open()
    defer { target?.abandon() }
    let heldTarget = try held?.open()
    defer { heldTarget?.abandon() }
    let people = try results.people?.open()
    defer { people?.abandon() }
    let files = [heldTarget, people, target].compactMap { $0 }
    Interruption.beginOutput(
      files.last?.finalName, temporaryNames: files.compactMap(\.temporaryName))
    let (fanout, names, _) = try world.loadFanoutWithContent(threads: results.threads)
    let loaded = ContinuousClock.now
    var result = try replay(fanout, heldTarget, people)
    result.nameConversations { names.name(of: Identifier($0)) }
    result.follow?.explain = explainCommand
    result.top?.follow = followCommand
    result.cost?.loadingSeconds = (loaded - start) / .seconds(1)
    result.cost?.cpuSeconds = Self.processorSeconds
    let text = try ReplayFile.bytes(result)
    if let target { try target.write(text) }
    for file in files { try file.sync() }
    for file in files { try file.finish() }
    Interruption.endOutput()
    Terminal.printResult(
      results.json ? String(decoding: text, as: UTF8.self) : ReplayText(result).text)
    SkipOption.say(result.skippedLines)
    let seconds = result.cost?.seconds ?? 0
    Terminal.note([
      result.messages.counted("message"), result.decisions.counted("decision"),
      "\(result.pushes.grouped) pushed", "\(Number.text(seconds)) s",
      "\(Int(result.cost?.decisionsPerSecond ?? 0).grouped) decisions/s",
    ])
    if result.skippedLines > 0 { throw ExitCode(1) }
  }

  private func replay(
    _ fanout: Fanout, _ heldTarget: OutputFile?, _ people: OutputFile?
  ) throws -> ReplayResult {
    let bar = ProgressBar("replaying")
    defer { bar.finish() }
    let watch = ReplayWatch(bar)
    var options = ReplayOptions()
    options.holds = hold
    options.countsPeople = perPerson || people != nil || (top ?? 0) > 0
    options.userLimit = top ?? options.userLimit
    options.timeZone = timeZone
    options.speed = speed.times
    options.rateLimit = results.rateLimit?.perSecond
    options.followedUser = followUser.map { Identifier($0) }
    options.followedConversation = followConversation.map { Identifier($0) }
    options.nanoseconds = { Self.nanoseconds }
    let heldRows = held.map { held in
      Replayer.HeldRows(HeldText(path: held.path)) { try heldTarget?.write(whole: $0) }
    }
    return try Replayer.replay(
      traffic.files(changes: changes, world.zones, users: users.user), on: fanout, options,
      skipped: skipping.report(bar),
      heldRows: heldRows, people: people.map { file in PeopleRows { try file.write(whole: $0) } }
    ) { done, share, isWaiting in
      watch.show(done, share, isSlow: isWaiting)
    }
  }

  /// The command that explains a message to the user who is followed, up to the message's id; nil if
  /// there is none: explain reads one file of messages again.
  private var explainCommand: String? {
    guard let followUser, traffic.messages.count == 1 else { return nil }
    return command("explain", [("--user", [followUser])], "--message")
  }

  /// The command that lists the messages to a user, up to the user's id; nil if there is none: files
  /// are read again.
  private var followCommand: String? {
    let more: [(String, [String])] = [
      ("--from", [traffic.slice.from].compactMap { $0 }),
      ("--to", [traffic.slice.to].compactMap { $0 }),
      ("--conversation", traffic.slice.conversation),
      ("--time-zone", [timeZone].compactMap { $0 }),
    ]
    return command("replay", more, "--follow-user")
  }

  /// A command on the same files, with further options and a last one without its value; nil where
  /// one of the files is standard input.
  private func command(_ name: String, _ more: [(String, [String])], _ last: String) -> String? {
    let files: [(String, [String])] = [
      ("--store", world.store.map { [$0.path] } ?? []),
      ("--settings", world.files.settings.map(\.path)),
      ("--users", world.files.users.map(\.path)), ("--members", world.files.members.map(\.path)),
      ("--messages", traffic.messages.map(\.name)), ("--presence", traffic.presence.map(\.path)),
      ("--changes", changes.map(\.path)),
      ("--delimiter", [traffic.form.delimiter].compactMap { $0 }),
      ("--columns", [traffic.form.columns].compactMap { $0 }),
      ("--zone", [traffic.form.zone].compactMap { $0 }),
    ]
    let paths = files.flatMap(\.1)
    guard !paths.contains("-"), !paths.contains("csv:-") else { return nil }
    return "push-fanout \(name) "
      + (files + more).filter { !$0.1.isEmpty }.map { option, values in
        ([option] + values.map(TerminalText.shellWord)).joined(separator: " ")
      }.joined(separator: " ") + " \(last)"
  }

  static var nanoseconds: UInt64 {
    var time = timespec()
    guard unsafe clock_gettime(CLOCK_MONOTONIC, &time) == 0 else { return 0 }
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  private static var processorSeconds: Double {
    var time = timespec()
    guard unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return 0 }
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

/// How fast time goes; a speed at which the replay would exceed the clock's range is refused.
struct ReplaySpeed: ExpressibleByArgument {
  /// nil for as fast as possible.
  let times: Double?

  static let max = ReplaySpeed(times: nil)

  private init(times: Double?) { self.times = times }

  init?(argument: String) {
    if argument == "max" {
      self = .max
    } else if argument.hasSuffix("x"), let times = Double(argument.dropLast()),
      times >= ReplayOptions.slowestSpeed, times.isFinite
    {
      self.init(times: times)
    } else {
      return nil
    }
  }

  var defaultValueDescription: String { "max" }
}

/// Says how far a replay has come: in the progress bar, and when it is interrupted.
final class ReplayWatch {
  private let bar: ProgressBar
  private let done: String
  private let start = ContinuousClock.now

  /// - Parameter done: what was done with messages, in a word.
  init(_ bar: ProgressBar, _ done: String = "replayed") {
    self.bar = bar
    self.done = done
  }

  func show(_ progress: ReplayProgress, _ share: Double?, isSlow: Bool = false) {
    let count = [progress.messages.counted("message"), progress.decisions.counted("decision")]
    Interruption.say(
      "\(done) \(count.joined(separator: ", ")), \(progress.pushes.grouped) pushed; "
        + Interruption.plainMessage)
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    let rate = seconds > 0 ? Int(Double(progress.decisions) / seconds) : 0
    let at = isSlow ? ["at \(Instant(milliseconds: progress.at).rfc3339)"] : []
    bar.update(share, at + count + ["\(rate.grouped) decisions/s"])
  }
}
