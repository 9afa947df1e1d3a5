import ArgumentParser
import PushFiles
import PushModel
import PushReplay
import PushWorkload
import QuietTime

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

        push-fanout profile --settings world.ndjson --messages may.ndjson june.ndjson \\
          --presence presence.csv --changes changes.ndjson --format json

        push-fanout profile --users users.csv --members members.csv --messages messages.csv \\
          --bots bots.csv --flags

        push-fanout generate --output world $(push-fanout profile --flags \\
          --members members.csv --messages messages.csv)

      Each file is sorted by time. With --flags, rates of few observations are left out and named \
      on standard error; generate has defaults for them.
      """)

  @OptionGroup var world: WorldOptions

  @OptionGroup var traffic: TrafficOptions

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Settings changes, NDJSON, sorted by time.", valueName: "file"))
  var changes: [InputPath] = []

  @Option(
    help: ArgumentHelp(
      "Users who are left out, with their messages and mentions of them: CSV with a column user.",
      valueName: "file"))
  var bots: InputPath?

  @Option(help: "text or json.")
  var format = Format.text

  @Flag(help: "The flags of generate for a world like this one, in one line.")
  var flags = false

  @Flag(help: "Report bad lines of messages and presence and go on; the exit status is 1.")
  var skipInvalid = false

  enum Format: String, CaseIterable, ExpressibleByArgument {
    case text, json
  }

  func validate() throws {
    if flags, format != .text { throw ValidationError("--flags goes without --format.") }
  }

  func run() throws {
    let start = ContinuousClock.now
    let leftOut = try bots.map { try UserListReader.read(path: $0.path) } ?? []
    let settings = try world.load()
    var profiler = WorkloadProfiler(settings, leavingOut: leftOut)
    let skipped = try readEvents(settings, &profiler)
    let profile = profiler.profile()
    switch format {
    case .text:
      Terminal.printResult(
        flags ? profile.flags.joined(separator: " ") : ProfileText(profile).text)
    case .json: Terminal.printResult(try ProfileText.json(profile))
    }
    let names = profile.namesLeftOut.map { "--\($0)" }
    if flags, !names.isEmpty {
      Terminal.say(
        "push-fanout: left out, as few observations or impossible: "
          + names.joined(separator: " "))
    }
    if skipped > 0 { Terminal.say("push-fanout: bad lines left out: \(skipped)") }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    Terminal.say(
      "\(profile.counts.messages) messages, \(profile.counts.rooms) rooms, "
        + "\(profile.counts.users) users, \(Number.text(seconds)) s")
    if skipped > 0 { throw ExitCode(1) }
  }

  /// - Returns: how many bad lines were left out.
  private func readEvents(
    _ settings: FanoutSettings, _ profiler: inout WorkloadProfiler
  ) throws -> Int {
    let bar = ProgressBar("measuring")
    defer { bar.finish() }
    let report = { (problem: FileProblem) in
      bar.finish()
      Terminal.say("\(problem)")
    }
    let events = try ReplayEvents(
      traffic.files(changes: changes), rules: settings.app.rules,
      skipped: skipInvalid ? report : nil)
    var clocks = SenderClocks(settings)
    var count = 0
    while let event = try events.next() {
      switch event {
      case .message(let message):
        let clock = try clocks.clock(of: message.sender, at: message.at.seconds)
        profiler.add(message, isReply: events.isReply, clock: clock)
      case .presence(let change):
        profiler.addPresence(
          at: change.at, user: change.user, conversation: change.conversation,
          isOnline: change.isOnline)
      case .change(let change):
        switch change.record {
        case .user(let id, _), .member(let id, _, _, _): profiler.addChange(of: id)
        case .app, .conversation: break
        }
      }
      count += 1
      if count & 0x3FFF == 0 { bar.update(events.progress, "\(count) messages and rows") }
    }
    return events.skippedCount
  }
}

/// The senders' clocks, by their settings before any change.
private struct SenderClocks {
  private struct Entry {
    let zone: ZoneTable
    /// nil for a sender who has no quiet hours, or has them all day.
    let schedule: QuietSchedule?
  }

  private let settings: FanoutSettings
  private var zones: [String: ZoneTable] = [:]
  /// nil for a sender whose clock is not known.
  private var entries: [Identifier: Entry?] = [:]

  init(_ settings: FanoutSettings) { self.settings = settings }

  /// A sender's clock; nil for one who has neither a time zone nor quiet hours.
  ///
  /// - Throws: ``ZoneDataError``.
  mutating func clock(of sender: Identifier?, at seconds: Int64) throws -> SenderClock? {
    guard let sender else { return nil }
    let entry: Entry?
    if let known = entries[sender] {
      entry = known
    } else {
      entry = try makeEntry(settings.user(sender))
      entries[sender] = entry
    }
    return entry.map {
      SenderClock(
        offsetSeconds: $0.zone.offsetSeconds(at: seconds),
        isInQuietHours: $0.schedule?.isQuiet(at: seconds))
    }
  }

  private mutating func makeEntry(_ user: UserSettings) throws(ZoneDataError) -> Entry? {
    guard user.timeZone != nil || user.quietHours != nil else { return nil }
    let zone = try zone(user.timeZone ?? settings.app.timeZone)
    var schedule: QuietSchedule?
    if !user.isSilentAllDay {
      if let name = user.quietHours?.timeZone { _ = try self.zone(name) }
      let zones = zones
      schedule = try QuietSchedule(QuietSettings(user), app: settings.app) {
        (name) throws(ZoneDataError) in
        if let known = zones[name] { return known }
        return try ZoneTable(named: name)
      }
    }
    return Entry(zone: zone, schedule: schedule)
  }

  private mutating func zone(_ name: String) throws(ZoneDataError) -> ZoneTable {
    if let known = zones[name] { return known }
    let zone = try ZoneTable(named: name)
    zones[name] = zone
    return zone
  }
}
