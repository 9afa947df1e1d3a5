import ArgumentParser
import PushStore
import PushSupport

/// `push-fanout store verify`: restores a backup in memory.
struct StoreVerify: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Restore a backup in memory, and compare it with what it was made of.",
    discussion: """
      Reads every page with its checksum into memory, has SQLite check what was restored, compares \
      the rows of each table with the sums that store backup has stored, and reads every record. A \
      backup that was opened for writing since has no sums. It needs as much memory as the file is \
      large.

      Examples:

        push-fanout store verify monday.store

        push-fanout store backup --store settings.store -o new.store
        push-fanout store verify new.store

      Exit status 0 when nothing is wrong, 1 when something is.
      """)

  @Argument(help: ArgumentHelp("The backup.", valueName: "file"))
  var backup: StorePath

  func run() throws {
    let reader = try StoreReader(backup.path)
    let found = try reader.verifyBackup()
    try reader.close()
    if !found.problems.isEmpty {
      Terminal.printResult(
        TerminalText.lines(found.problems.map { "\(backup.path): \($0.kind.rawValue): \($0)" }))
    }
    let sums = found.hasSums ? "equal to the sums of the backup" : "no sums to compare with"
    Terminal.say(
      found.problems.isEmpty
        ? "\(found.rows) rows up to change \(found.end), \(sums)"
        : "\(found.problems.count) problem\(found.problems.count == 1 ? "" : "s")")
    if !found.problems.isEmpty { throw ExitCode(1) }
  }
}
