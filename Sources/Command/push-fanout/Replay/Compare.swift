import ArgumentParser
import PushContent
import PushFanout
import PushFiles
import PushReplay
import PushModel
import PushSupport

/// `push-fanout compare`: the same messages in two worlds.
struct Compare: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Replay the same messages with two sets of settings, and show what differs.",
    discussion: """
      Both sides start from --settings, --users and --members or --store; the changes of --a or \
      --b are applied in order. A change is

        everyone.level=mention            a field of all users: level (easemob,
                                          open), levels.group and the like
                                          (rongcloud), quietHours
        everyone.level=me,reply           a level by open rules: all, mentions,
                                          direct, none, default, or classes
        unset.quietHours=23:00-07:00      the same of users who have not set it
        everyone.quietHours=none          no quiet hours; under open rules also
                                          not the app's
        rooms>500.unset.level=mention     the level of members for rooms, or the
                                          field of users, that meet conditions:
                                          rooms, type, room, share, zone
        rooms.over=500.unset.level=none   the same as rooms>500, which a shell
                                          needs in quotes
        app.devicePolicy=anyOffline       a field of the app: timeZone, level
                                          (rongcloud, open), others
        option.mentionBypassesDnd=true    an option of docs/decision-rules.md or
                                          docs/open-rules.md
        other.ndjson                      records that replace those of the same
                                          key

      Examples:

        push-fanout compare --users users.csv --members members.csv \\
          --messages messages.csv.gz --b unset.level=mention

        push-fanout compare --settings world.ndjson --messages may.ndjson \\
          --b 'rooms>500.unset.level=mention' \\
          'zone=Asia/*.share=10%.unset.quietHours=23:00-07:00'

        push-fanout compare --settings world.ndjson --messages may.ndjson \\
          --a app.devicePolicy=allOffline --b app.devicePolicy=anyOffline \\
          --name-a "all offline" --name-b "any offline" --json

        push-fanout compare --members members.csv --messages may.ndjson \\
          --a easemob.ndjson --b rongcloud.ndjson --output rules.compare.json

        push-fanout compare --members members.csv --messages may.ndjson \\
          --b rooms.over=500.unset.level=mention --from 2024-05-06

      docs/compare.md explains what is counted, and the result file.
      """)

  @OptionGroup var world: WorldOptions

  @OptionGroup var traffic: TrafficOptions

  @OptionGroup var users: UsersOption

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp(
      "Changes of the one world. (default: none, the world as it is)", valueName: "change"))
  var a: [ChangeArgument] = []

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Changes of the other world.", valueName: "change"))
  var b: [ChangeArgument]

  @Option(
    help: ArgumentHelp(
      "What A is called in text and pages. (default: as it is, or the changes in words)",
      valueName: "text"))
  var nameA: String?

  @Option(
    help: ArgumentHelp(
      "What B is called in text and pages. (default: the changes in words)", valueName: "text"))
  var nameB: String?

  @Option(
    help: ArgumentHelp(
      "So many users who gain, lose and lose mentions most are named.", valueName: "count"))
  var top = 20

  @Option(
    help: ArgumentHelp("Zone of the hours of the week. (default: that of A)", valueName: "zone"))
  var timeZone: String?

  @OptionGroup var results: ResultOptions

  @OptionGroup var skipping: SkipOption

  func validate() throws {
    if top < 0 { throw ValidationError("--top \(top) is negative.") }
    for (option, changes) in [("--a", a), ("--b", b)] {
      for argument in changes {
        guard let problem = argument.change.mistake else { continue }
        throw ValidationError("\(option) \(argument.text) is \(problem)")
      }
    }
  }

  func run() throws {
    let (a, b) = (self.a.map(\.change), self.b.map(\.change))
    try Comparer.checkCanBeRead(
      world.files.paths, traffic.files(world.zones, users: users.user), a + b)
    let target = try results.output?.open()
    defer { target?.abandon() }
    let people = try results.people?.open()
    defer { people?.abandon() }
    let files = [people, target].compactMap { $0 }
    Interruption.beginOutput(
      files.last?.finalName, temporaryNames: files.compactMap(\.temporaryName))
    let (result, skipped) = try compare(a, b, people)
    let text = target == nil && !results.json ? [] : try ReplayFile.bytes(result)
    if let target { try target.write(text) }
    for file in files { try file.sync() }
    for file in files { try file.finish() }
    Interruption.endOutput()
    Terminal.printResult(
      results.json ? String(decoding: text, as: UTF8.self) : CompareText(result).text)
    SkipOption.say(skipped)
    Terminal.note([
      result.messages.counted("message"),
      (result.a.decisions + result.b.decisions).counted("decision"),
      "\(result.changed.grouped) different", "\(Number.text(result.cost?.seconds ?? 0)) s",
      "\(Int(result.cost?.decisionsPerSecond ?? 0).grouped) decisions/s",
    ])
    if skipped > 0 { throw ExitCode(1) }
  }

  private func compare(
    _ a: [WhatIf], _ b: [WhatIf], _ people: OutputFile?
  ) throws -> (result: CompareResult, skippedLines: Int) {
    var options = CompareOptions()
    options.timeZone = timeZone
    options.userLimit = top
    options.names = (nameA, nameB)
    options.rateLimit = results.rateLimit?.perSecond
    options.nanoseconds = { Replay.nanoseconds }
    // Its time begins when the world is loaded.
    lazy var bar = ProgressBar("comparing")
    lazy var watch = ReplayWatch(bar, "compared")
    defer { bar.finish() }
    var names = ContentDirectory()
    var skipped = 0
    let report = skipping.report(bar).map { report in
      { (problem: FileProblem) in
        skipped += 1
        report(problem)
      }
    }
    var result = try Comparer.compare(
      traffic.files(world.zones, users: users.user), a: a, b: b, options,
      skipped: report, people: people.map { file in PeopleRows { try file.write(whole: $0) } }
    ) { done, share in
      watch.show(done, share)
    } world: {
      let (fanout, content, _) = try world.loadFanoutWithContent(threads: results.threads)
      names = content
      return fanout
    }
    result.nameConversations { names.name(of: Identifier($0)) }
    return (result, skipped)
  }
}
