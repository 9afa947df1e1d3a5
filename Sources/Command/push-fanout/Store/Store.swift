import ArgumentParser
import Foundation
import PushFiles
import PushModel
import PushStore
import PushStoreService
import PushSupport
import QuietTime

/// `push-fanout store`: settings that are kept in a store, as a whole.
struct Store: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Import, export, check and copy a store of settings.",
    discussion: """
      A store is one file (and, while it is in use, FILE-wal and FILE-shm beside it). One process \
      writes it at a time; all but import, snapshot, rebuild, compact and erase only read, also while \
      another process writes. FILE.snapshot beside it holds the engine's tables, from which the store is opened at \
      once; without it the same is read from FILE, and nothing is lost.

      Examples:

        push-fanout store import --store settings.store --settings world.ndjson

        push-fanout store check --store settings.store
      """,
    subcommands: [
      StoreImportCommand.self, StoreExport.self, StoreCheckCommand.self, StoreBackup.self,
      StoreSnapshot.self, StoreRebuildCommand.self, StoreStats.self, StoreCompact.self,
      StoreErase.self, StoreVerify.self,
    ])
}

struct StoreImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Add the records of settings files to a store, all of them or none.",
    discussion: """
      Reads the files that evaluate reads. A record replaces the whole record of the same key that \
      is in the store; a row of --users or --members only what such a row can say, so devices, \
      display settings and nicknames stay. Other records stay. The app's settings stay if the files have none, and the \
      files are then read by the store's rules. A missing store is created.

      Examples:

        push-fanout store import --store settings.store --settings world.ndjson

        push-fanout store import --store settings.store --users users.csv \\
          --members members.csv

        push-fanout store import --store shared.store --settings world.ndjson \\
          --mode 640

        push-fanout store import --store settings.store --settings tonight.ndjson --replace

      A record of a settings.ndjson replaces the whole record of the same key. A row of users.csv \
      or members.csv changes what its file has columns of: an absent column changes nothing, an \
      empty cell removes the setting.

      With --replace the store's settings become those of the files: what they do not have is \
      removed, users, conversations and memberships among them, and what a row cannot say is unset. \
      Templates stay. The change feed gets an entry for each thing that changed.

      Afterwards it writes the snapshot, by which the next command opens the store at once.

      Interrupted, or when a line is bad, it leaves the store as it was.
      """)

  @OptionGroup var target: StoreOption
  @OptionGroup var world: FileOptions
  @OptionGroup var zones: UnknownZoneOption
  @OptionGroup var waiting: WaitOption
  @OptionGroup var access: ModeOption

  @Flag(help: "Remove what the files do not have, and leave what is equal.")
  var replace = false

  func validate() throws {
    if world.paths.settings.isEmpty, world.paths.users.isEmpty, world.paths.members.isEmpty {
      throw ValidationError("Name what to import: --settings, --users or --members.")
    }
  }

  /// The message of an interruption when only the snapshot is missing.
  private static let complete = "the import is complete; no snapshot was written"

  func run() throws {
    Interruption.say("nothing was imported")
    let start = ContinuousClock.now
    let now = try Clock.now
    let path = target.path
    let storeImport = try StoreImport(
      path, waiting: waiting.duration, permissions: try access.permissions(of: path))
    let isNew = storeImport.isNew
    let reading = ProgressBar("reading")
    // Its time begins when all is read.
    lazy var writing = ProgressBar("importing")
    defer { writing.finish() }
    var paths = world.paths
    paths.unknownZones = zones.ofFiles
    let done = try storeImport.run(paths, at: now, replacing: replace) { step in
      switch step {
      case .reading(let share): reading.update(share)
      case .read:
        reading.finish()
        Interruption.beginOutput(
          isNew ? path : nil, temporaryNames: storeImport.temporaryNames,
          message: isNew ? "no store was made" : "the store has all of the import or nothing of it")
      case .importing(let share): writing.update(share)
      case .imported:
        Interruption.beginOutput(
          nil, temporaryNames: storeImport.temporarySnapshotNames, message: Self.complete)
        writing.finish()
      }
    }
    Interruption.endOutput()
    if done.unknownZones.count > 0 {
      Terminal.say(
        "push-fanout: imported with a time zone that is unknown here: \(done.unknownZones.names)")
    }
    // It only makes the next opening faster.
    if let problem = done.snapshotProblem {
      Terminal.say("push-fanout: \(Self.complete): \(problem)")
    }
    // Of the whole command, from reading the files to the snapshot.
    let elapsed = (ContinuousClock.now - start) / .seconds(1)
    Terminal.note(
      "\(done.recordCount.counted("record")), \(done.userCount.counted("user")), "
        + "\(Number.text(elapsed)) s, "
        + "\(Int(Double(done.recordCount) / max(elapsed, 0.001)).grouped) records/s")
  }
}

struct StoreSnapshot: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "snapshot",
    abstract: "Write the snapshot from which a store is opened at once.",
    discussion: """
      The snapshot is kept up to date by writers and by import. This command is for \
      stores that were made in another way, as by backup.

      Examples:

        push-fanout store snapshot --store settings.store

        push-fanout store snapshot --store backup/settings.store
      """)

  @OptionGroup var target: StoreOption
  @OptionGroup var waiting: WaitOption

  func run() throws {
    try Self.write(
      target.path, waiting: waiting, message: "no snapshot was written; nothing is lost")
  }

  /// - Parameter message: what is printed when the program is interrupted while it writes.
  static func write(_ path: String, waiting: WaitOption, message: String) throws {
    try ProgressBar.watch("writing the snapshot", path, passes: 0.6) {
      let store = try SettingsStore(path, .write, waiting: waiting.duration)
      Interruption.beginOutput(
        nil, temporaryNames: store.temporarySnapshotNames, message: message)
      try store.writeSnapshot()
      try store.close()
      Interruption.endOutput()
    }
  }
}

struct StoreExport: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write a store as a settings.ndjson.",
    discussion: """
      The same settings always give the same bytes, and importing them into a new store gives an \
      equal one. The change feed is not exported: use backup to keep it. A device's token that is a \
      string is written as true, unless --with-tokens is given.

      Examples:

        push-fanout store export --store settings.store | gzip >world.ndjson.gz

        push-fanout store export --store settings.store --output world.ndjson
      """)

  @OptionGroup var target: StoreOption

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Write to a file, which appears when it is complete.", valueName: "file"))
  var output: OutputPath?

  @Flag(help: "Write devices' tokens and installation ids too.")
  var withTokens = false

  func run() throws {
    let reader = try StoreReader(target.path)
    let file = try output?.open()
    let output = file ?? OutputFile()
    defer { output.abandon() }
    Interruption.beginOutput(output)
    let records = try ProgressBar.watch("exporting", target.path, passes: 0.6) {
      let records = try reader.export(to: output, withTokens: withTokens)
      try output.finish()
      return records
    }
    Interruption.endOutput()
    try reader.close()
    Terminal.note(records.counted("record"))
  }
}

struct StoreCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Check a store for damage and inconsistencies.",
    discussion: """
      Checks the database's own structures, that every reference resolves, that the change feed has \
      no gaps, that every record can be read and is one that the store's rules allow, and that the \
      snapshot has the same settings. --fast only compares all pages with their checksums, the ends \
      of the change feed, and the snapshot's checksums: seconds for ten million records.

      Examples:

        push-fanout store check --store settings.store

        push-fanout store check --store settings.store --fast

        push-fanout store check --store backup.store && mv backup.store kept/

      Exit status 0 when nothing is wrong, 1 when something is.
      """)

  @OptionGroup var target: StoreOption

  @Flag(help: "Do not read every record.")
  var fast = false

  @Flag(help: "One JSON object a problem.")
  var json = false

  func run() throws {
    let problems: [StoreProblem]
    do {
      let reader = try StoreReader(target.path)
      problems = try ProgressBar.watch("checking", target.path, passes: fast ? 1 : 2) {
        fast ? try reader.checkFast() : try reader.check()
      }
      try reader.close()
    }
    try Terminal.printProblems(problems, of: target.path, json: json)
    Terminal.note(problems.count.counted("problem"))
    if !problems.isEmpty { throw ExitCode(1) }
  }
}

struct StoreBackup: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copy a store, also while it is written.",
    discussion: """
      The copy is the store as of one commit, with its change feed. It appears under its name when \
      it is complete, and never replaces a file.

      Examples:

        push-fanout store backup --store settings.store --output monday.store

        push-fanout store backup --store settings.store -o /backup/settings.store
      """)

  @OptionGroup var target: StoreOption

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("The copy, a name that is not in use.", valueName: "file"))
  var output: OutputPath

  func run() throws {
    let reader = try StoreReader(target.path)
    let path = output.path
    Interruption.beginOutput(path, temporaryNames: StoreReader.temporaryNames(ofBackupTo: path))
    // The file is read, its copy is written, and read for its sums.
    try ProgressBar.watch("copying", target.path, passes: 3) { try reader.backup(to: path) }
    Interruption.endOutput()
    try reader.close()
  }
}
