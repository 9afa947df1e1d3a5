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

        push-fanout store verify --store monday.store

        push-fanout store backup --store settings.store -o new.store
        push-fanout store verify --store new.store

      Exit status 0 when nothing is wrong, 1 when something is.
      """)

  @OptionGroup var target: StoreOption

  @Flag(help: "One JSON object a problem.")
  var json = false

  func run() throws {
    let reader = try StoreReader(target.path)
    let found = try ProgressBar.watch("verifying", target.path, passes: 2) {
      try reader.verifyBackup()
    }
    try reader.close()
    try Terminal.printProblems(found.problems, of: target.path, json: json)
    let sums = found.hasSums ? "equal to the sums of the backup" : "no sums to compare with"
    Terminal.note(
      found.problems.isEmpty
        ? "\(found.rows.counted("row")) up to change \(found.end), \(sums)"
        : found.problems.count.counted("problem"))
    if !found.problems.isEmpty { throw ExitCode(1) }
  }
}

extension Terminal {
  /// Prints what is wrong with a store, if there is anything.
  static func printProblems(_ problems: [StoreProblem], of store: String, json: Bool) throws {
    guard !problems.isEmpty else { return }
    let lines = try problems.map { problem in
      try json
        ? ["file": store, "kind": problem.kind.rawValue, "text": "\(problem)"].encoded()
        : "\(store): \(problem.kind.rawValue): \(problem)"
    }
    printResult(json ? lines.joined(separator: "\n") : TerminalText.lines(lines))
  }
}
