import ArgumentParser
import PushModel
import PushStore
import PushSupport

/// `push-fanout store erase`: leaves no trace of an id in a store.
struct StoreErase: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "erase",
    abstract: "Remove a user or a conversation, and every trace of the id in the store's files.",
    discussion: """
      Removes the record with all that belongs to it, all entries of the change feed, and the \
      snapshot, rewrites the database, and empties the log. The feed has one entry afterwards, \
      erased, that names no user and has followers read everything again. Then it searches the files \
      for the bytes of the id and prints how often they occur; bytes of a short id may be part of \
      others, whose columns are printed. --search only searches.

      Out of reach, and to be dealt with: backups (make new ones, delete the old ones), exports and \
      other copies, followers, and processes that have the store open (restart them).

      Examples:

        push-fanout store erase --store settings.store --user u1

        push-fanout store erase --store settings.store --user u1 --search

        push-fanout store erase --store settings.store --conversation g1

        push-fanout store erase --store settings.store --finish

      Exit status 0 when it is erased, 1 when it is not, or when --search finds the id as a value.
      """)

  @OptionGroup var target: StoreOption
  @Option(help: ArgumentHelp("The id of a user.", valueName: "id"))
  var user: String?
  @Option(help: ArgumentHelp("The id of a conversation.", valueName: "id"))
  var conversation: String?
  @Flag(help: "Only search for the bytes of the id.")
  var search = false
  @Flag(help: "Finish an erasure during which a process kept the log.")
  var finish = false
  @Flag(help: "One JSON object.")
  var json = false
  @OptionGroup var time: TimeOption
  @OptionGroup var waiting: WaitOption

  private var erased: ErasedID? {
    user.map { .user(Identifier($0)) } ?? conversation.map { .conversation(Identifier($0)) }
  }

  func validate() throws {
    let count = [user != nil, conversation != nil, finish].count { $0 }
    if count != 1 { throw ValidationError("Say what to erase: --user or --conversation.") }
    if search, finish { throw ValidationError("--search goes with --user or --conversation.") }
  }

  func run() throws {
    guard let erased else { return try finishErasure() }
    if search {
      let reader = try StoreReader(target.path)
      let report = try ProgressBar.watch("searching", target.path, passes: 1) {
        try reader.traces(of: erased.id)
      }
      try reader.close()
      try show(report, erased.id)
      if report.columns.contains(where: { $0.equal > 0 }) { throw ExitCode(1) }
      return
    }
    let store = try open()
    let now = try time.now
    let report = try ProgressBar.watch("erasing", target.path, passes: 4) {
      try store.erase(erased, at: now)
    }
    try store.close()
    try show(report, erased.id)
  }

  private func open() throws -> SettingsStore {
    Interruption.say("nothing was erased")
    KnownIDs.use(store: target.path)
    let store = try SettingsStore(
      target.path, .write, waiting: waiting.duration, withEngine: false)
    Interruption.say("the erasure may not be complete; repeat it, or end it with --finish")
    return store
  }

  private func finishErasure() throws {
    let store = try open()
    try ProgressBar.watch("erasing", target.path, passes: 3) { try store.finishErasures() }
    try store.close()
  }

  private struct Result: Encodable {
    struct Place: Encodable { let name: String, containing: Int, equal: Int? }
    let id: String, files: [Place], columns: [Place]
  }

  private func show(_ report: ErasureReport, _ id: Identifier) throws {
    if json {
      let files = report.files.map { Result.Place(name: $0.path, containing: $0.count, equal: nil) }
      let columns = report.columns.map {
        Result.Place(name: $0.name, containing: $0.containing, equal: $0.equal)
      }
      return Terminal.printResult(
        try Result(id: id.text, files: files, columns: columns).encoded())
    }
    let equal = report.columns.filter { $0.equal > 0 }
    var lines = equal.map { "\($0.name): \($0.equal.counted("value")) equal to \"\(id)\"" }
    if equal.isEmpty { lines.append("no record holds \"\(id)\"") }
    // Without a record that has them, they are parts of others, or of names like the schema's.
    let place = report.columns.allSatisfy { $0.equal == 0 } ? ", inside other words" : ""
    for file in report.files where file.count > 0 {
      lines.append("\(file.path): its letters occur \(file.count.counted("time"))\(place)")
    }
    for column in report.columns where column.containing > column.equal {
      lines.append(
        "\(column.name): part of \((column.containing - column.equal).counted("other value"))")
    }
    Terminal.printResult(TerminalText.lines(lines))
  }
}
