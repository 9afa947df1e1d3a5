import ArgumentParser
import BenchSupport
import Foundation
import PushFanout
import PushWorkload

/// Measures deciding side by side: every contestant gives the same answers, checked before anything
/// is timed, and they take turns, so that a machine that slows down slows down all of them. Further
/// subcommands measure what has a world of its own.
@main
struct FanoutBench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fanout-bench",
    abstract: "How fast messages are decided, against the reference and a plain loop.",
    subcommands: [
      Run.self, StoreSpeeds.self, SoakCommand.self, ChurnCommand.self, Calls.self, Export.self,
      Kernels.self,
    ], defaultSubcommand: Run.self)
}

struct Run: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measure; this is what happens when no subcommand is named.",
    discussion: """
      Examples:

        fanout-bench --quick
        fanout-bench --json > fanout.ndjson
        fanout-bench --suite day --suite service
        fanout-bench --suite curve
        fanout-bench --suite service --filter '^(still|along|late|answers|sizes|changes|eviction)$'
        fanout-bench --suite decide --filter '^1000000$'
        fanout-bench --suite load --filter csv
        fanout-bench --suite update --memberships 100000000

      Contestants: reference, the rules line by line; scalar, a plain loop over the same rows; \
      packed-cold, the engine at the first message after windows have turned, a reason for every \
      member; packed-warm, at the next message; packed-warm-counts, how many get a push, and \
      the first who does; packed-cold-2-threads; limit, a copy of the bytes that deciding must read. \
      The suite load reads files of a million records on one thread, the best of the rounds. The \
      spread is the distance between the fastest and the slowest round, as a share of the median. \
      Machine and memory are said on standard error.
      """)

  @Option(help: ArgumentHelp("How many users there are.", valueName: "count"))
  var users: Int?

  @Option(help: ArgumentHelp("How often each contestant has its turn.", valueName: "count"))
  var rounds: Int?

  @Flag(help: "A million users and fewer rounds, unless said otherwise: up to 20 seconds.")
  var quick = false

  @Flag(help: "One JSON object a row.")
  var json = false

  @Option(
    help: "day, service, curve, load, decide, kinds, update or open. (default: all but curve)")
  var suite: [Suite] = []

  @Option(help: ArgumentHelp("Only cases whose name matches.", valueName: "regex"))
  var filter: String?

  @Option(help: ArgumentHelp("Memberships to load besides, in groups of 100.", valueName: "count"))
  var memberships = 0

  @Option(help: ArgumentHelp("Rates of the generated day, 1 or 2.", valueName: "version"))
  var rates = 1

  @Option(help: ArgumentHelp("Write machine, memory and rows to a file too.", valueName: "file"))
  var report: String?

  func validate() throws {
    if let users, !(10...100_000_000).contains(users) {
      throw ValidationError("--users \(users) is not 10...100000000.")
    }
    if let rounds, !(1...1000).contains(rounds) {
      throw ValidationError("--rounds \(rounds) is not 1...1000.")
    }
    if WorkloadRates(rawValue: rates) == nil {
      throw ValidationError("--rates \(rates) is not 1 or 2.")
    }
    if !(0...1_000_000_000).contains(memberships) {
      throw ValidationError("--memberships \(memberships) is not 0...1000000000.")
    }
    if let filter, (try? Regex(filter)) == nil {
      throw ValidationError("--filter \(filter) is no regular expression.")
    }
  }

  func run() throws {
    let regex = try filter.map { try Regex($0) }
    let plan = Plan(
      users: users ?? (quick ? 1_000_000 : 10_000_000), rounds: rounds ?? (quick ? 5 : 9),
      memberships: memberships, suites: suite.isEmpty ? Suite.usual : suite
    ) { name in regex.map { name.firstMatch(of: $0) != nil } ?? true }
    guard !plan.suites.isEmpty else {
      throw ValidationError("No case matches; with \(plan.users) users, groups have at most that.")
    }
    let machine = Machine.current()
    say(machine.lines)
    let lines = runDay(plan) + runLoad(plan) + runOpen(plan)
    if plan.suites.contains(.curve) {
      CurveSuite(cores: Fanout.coreCount).run {
        print($0)
        fflush(nil)
      }
    }
    let (memory, rows) = runContest(plan)
    guard let report else { return }
    try Report(
      machine: machine, command: CommandLine.arguments,
      date: Date().formatted(.iso8601), users: plan.users, rounds: plan.rounds, memory: memory,
      lines: lines, rows: rows
    ).write(to: report)
  }

  /// Messages to one conversation of each size, and updates.
  private func runContest(_ plan: Plan) -> (memory: Memory?, rows: [Row]) {
    if plan.suites.allSatisfy(\.printsLines) { return (nil, []) }
    let contest = Contest(plan)
    let memory = Memory(contest.one.memoryReport())
    say([memory.line])
    if !json { print(Row.header) }
    var rows: [Row] = []
    func add(_ more: [Row]) {
      for row in more { print(json ? row.json : row.text) }
      fflush(nil)
      rows += more
    }
    for each in plan.cases {
      add(contest.decide(each.suite.rawValue, each.name, size: each.size, each.kind))
    }
    if plan.suites.contains(.update) { add(contest.updates()) }
    return (memory, rows)
  }

  /// The day of a million users and ten million memberships, or a tenth of it with `--quick`, unless
  /// the number of users is given.
  private func runDay(_ plan: Plan) -> [DaySuite.Line] {
    let suites = plan.suites
    guard suites.contains(.day) || suites.contains(.service) else { return [] }
    var options = WorkloadOptions()
    options.seed = 5
    guard let rates = WorkloadRates(rawValue: rates) else { return [] }
    options.rates = rates
    options.sizes.users = size
    options.sizes.memberships = options.sizes.users * 10
    let cores = Fanout.coreCount
    let world = DayWorld(options, threads: cores)
    let suite = DaySuite(
      world: world, floor: world.floor(), threads: [1, 2, 4].filter { $0 <= cores })
    var lines: [DaySuite.Line] = []
    func add(_ more: [DaySuite.Line]) { lines += printed(more) }
    if suites.contains(.day) { add(suite.day()) }
    if suites.contains(.service) {
      if plan.parts.contains("still") { add(suite.standingStill()) }
      if plan.parts.contains("along") { add(suite.alongTheDay()) }
      if plan.parts.contains("late") { add(suite.late()) }
      if plan.parts.contains("answers") { add(suite.answers()) }
      if plan.parts.contains("sizes") { add(suite.bySize()) }
      if plan.parts.contains("changes") { add(suite.changes()) }
      if plan.parts.contains("eviction") { add(suite.eviction()) }
    }
    let missed = lines.count { !$0.holds }
    if missed > 0 { say(["\(missed) of \(lines.count) figures miss what they must reach."]) }
    return lines
  }

  /// Open rules, in worlds of their own.
  private func runOpen(_ plan: Plan) -> [DaySuite.Line] {
    guard plan.suites.contains(.open) else { return [] }
    let suite = OpenSuite(users: size)
    var lines: [DaySuite.Line] = []
    if plan.openParts.contains("keywords") { lines += printed(suite.keywords()) }
    if plan.openParts.contains("hostile") { lines += printed(suite.hostile()) }
    if plan.openParts.contains("heartbeats") { lines += printed(suite.heartbeats()) }
    if plan.openParts.contains("open-day") { lines += printed(suite.day()) }
    return lines
  }

  /// How fast settings are read into the engine.
  private func runLoad(_ plan: Plan) -> [DaySuite.Line] {
    Loading.rates(of: plan.forms, records: size, rounds: plan.rounds) { name, rate in
      printed([DaySuite.Line(name: "read \(name)", value: rate, unit: "M records/s")])
    }.flatMap(\.self)
  }

  /// Users of the day, and records of a file.
  private var size: Int { users ?? (quick ? 100_000 : 1_000_000) }

  private func printed(_ lines: [DaySuite.Line]) -> [DaySuite.Line] {
    for line in lines { print(json ? line.json : line.text) }
    fflush(nil)
    return lines
  }

  private func say(_ lines: [String]) {
    FileHandle.standardError.write(Data((lines.joined(separator: "\n") + "\n").utf8))
  }
}

extension Suite: ExpressibleByArgument {}
