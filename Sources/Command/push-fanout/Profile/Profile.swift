import ArgumentParser
import PushFanout
import PushFiles
import PushModel
import PushReplay
import PushSupport
import PushWorkload

/// `push-fanout profile`: what a world is like, in the rates that `generate` takes.
struct Profile: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measure the rates of your own messages, for a generated world like them.",
    discussion: """
      Measures room sizes, activity, bursts, mentions, days and hours from members and messages; \
      quiet hours, levels and zones from users; sessions from presence; changes from changes. Each \
      rate is printed with a 95 % interval, how sure it is (good, fair, or few observations), and \
      from how many observations it comes; docs/profile.md defines each. Nothing that is printed \
      names a user or a room.

      Examples:

        push-fanout profile --members members.csv.gz --messages messages.csv.gz

        push-fanout profile --settings world.ndjson --messages may.ndjson \\
          june.ndjson --presence presence.csv --changes changes.ndjson --json

        push-fanout profile --users users.csv --members members.csv \\
          --messages messages.csv --bots bots.csv --flags

        push-fanout generate --output world $(push-fanout profile --flags \\
          --members members.csv --messages messages.csv)

      Each file is sorted by time. With --flags, rates of few observations are left out and named \
      on standard error; generate has defaults for them.
      """)

  @OptionGroup var world: WorldOptions

  @OptionGroup var traffic: TrafficOptions

  @OptionGroup var users: UsersOption

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Settings changes, NDJSON, sorted by time.", valueName: "file"))
  var changes: [InputPath] = []

  @Option(
    help: ArgumentHelp(
      "Users who are left out, with their messages and mentions of them: CSV with a column user.",
      valueName: "file"))
  var bots: InputPath?

  @Flag(help: "One JSON object.")
  var json = false

  @Flag(help: "The flags of generate for a world like this one, in one line.")
  var flags = false

  @OptionGroup var skipping: SkipOption

  func validate() throws {
    if flags, json { throw ValidationError("--flags goes without --json.") }
  }

  func run() throws {
    let start = ContinuousClock.now
    let leftOut = try bots.map { try UserListReader.read(path: $0.path) } ?? []
    let settings = try records()
    let (profile, skipped) = try measure(settings, leftOut)
    Terminal.printResult(
      json
        ? try ProfileText.json(profile)
        : flags ? profile.flags.joined(separator: " ") : ProfileText(profile).text)
    let names = profile.namesLeftOut.map { "--\($0)" }
    if flags, !names.isEmpty {
      Terminal.say(
        "push-fanout: left out, as few observations or impossible: "
          + names.joined(separator: " "))
    }
    SkipOption.say(skipped)
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    Terminal.note(
      "\(profile.counts.messages.counted("message")), \(profile.counts.rooms.counted("room")), "
        + "\(profile.counts.users.counted("user")), \(Number.text(seconds)) s")
    if skipped > 0 { throw ExitCode(1) }
  }

  /// The world: that of files in the tables of an engine, which take less time and memory.
  private func records() throws -> any SettingsRecords {
    let slice = try traffic.files(world.zones, users: users.user).options.slice
    // What an engine's records are read from does not change with its settings.
    if world.store != nil || !slice.users.isEmpty {
      var settings = try world.load()
      try world.apply(slice, to: &settings)
      return settings
    }
    let records = try world.loadRecords()
    try slice.apply(to: records.fanout)
    return records
  }

  private func measure(
    _ settings: any SettingsRecords, _ leftOut: Set<Identifier>
  ) throws -> (profile: WorkloadProfile, skippedLines: Int) {
    let bar = ProgressBar("measuring")
    defer { bar.finish() }
    return try WorkloadProfile.measure(
      traffic.files(changes: changes, world.zones, users: users.user), of: settings,
      leavingOut: leftOut,
      skipped: skipping.report(bar)
    ) { count, share in
      bar.update(share, ["\(count.grouped) messages and rows"])
    }
  }
}
