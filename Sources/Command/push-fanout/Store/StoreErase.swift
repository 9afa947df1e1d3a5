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
      let report = try reader.traces(of: erased.id)
      try reader.close()
      show(report)
      if report.columns.contains(where: { $0.equal > 0 }) { throw ExitCode(1) }
      return
    }
    let store = try open()
    let report = try store.erase(erased, at: try time.now)
    try store.close()
    show(report)
  }

  private func open() throws -> SettingsStore {
    try SettingsStore(target.path, .write, waiting: waiting.duration, withEngine: false)
  }

  private func finishErasure() throws {
    let store = try open()
    try store.finishErasures()
    try store.close()
  }

  private func show(_ report: ErasureReport) {
    var lines = report.files.map { "\($0.path): \($0.count)" }
    lines += report.columns.map { column in
      "\(column.name): part of \(column.containing) values, \(column.equal) of them equal"
    }
    Terminal.printResult(TerminalText.lines(lines))
  }
}
