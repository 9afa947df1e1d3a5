package import PushFiles
internal import PushFanout
internal import PushModel

/// A system whose exports are read, with what is said to it beside the export.
///
/// A new one is a case here, and a folder.
package enum ImportSystem: Sendable {
  case mattermost(MattermostOptions)
  case zulip

  /// The name in the report.
  package var name: String {
    switch self {
    case .mattermost: "mattermost"
    case .zulip: "zulip"
    }
  }

  /// What in the ids is personal, for the summary.
  package var personalIDs: String {
    switch self {
    case .mattermost: "ids of people are their user names"
    case .zulip: "ids of threads hold the names of topics"
    }
  }
}

/// Makes a world of open rules of what a system exports: settings.ndjson, messages.ndjson, report.json.
package struct Importer {
  /// How many threads parse; nil for the cores that the process may use.
  package var threads: Int?
  /// Whether texts hold keywords alone (I-7).
  package var isWithoutTexts = false
  /// Told the share of the input that was read.
  package var progress: (Double?) -> Void = { _ in }
  private var hash: IDHash?
  /// How many bytes of messages are sorted at once.
  var runSize = 64 << 20

  package init() {}

  /// The names of the files that an import makes.
  package static var fileNames: [String] { ImportedWorld.fileNames }

  /// Has ids be replaced by hashes with a key.
  ///
  /// - Parameter text: 32 hexadecimal digits.
  /// - Returns: false for another text.
  package mutating func hashIDs(key text: [UInt8]) -> Bool {
    hash = IDHash(text)
    return hash != nil
  }

  /// Reads an export and writes the files into a folder, which is not given its name yet.
  ///
  /// - Throws: ``ImportProblem`` with what is wrong with the export, `OutputProblem` with what is wrong
  ///   with the output.
  /// - Complexity: O(bytes); memory by people, memberships and threads (I-10).
  package func run(
    _ system: ImportSystem, _ path: String, into folder: OutputFolder
  ) throws -> ImportReport {
    let run = ImportRun(threads: max(1, threads ?? Fanout.coreCount), progress: progress)
    let sorter = { RunSorter(folder: folder.temporaryNames.last ?? ".", runSize: runSize) }
    let world = { (app: AppSettings) in
      ImportedWorld(
        system: system.name, app: app, hash: hash, isWithoutTexts: isWithoutTexts,
        messages: sorter())
    }
    switch system {
    case .mattermost(let options):
      let mattermost = MattermostImport(options: options)
      let target = world(mattermost.app)
      try mattermost.read(path, into: target, run)
      return try target.write(into: folder)
    case .zulip:
      let target = world(ZulipImport.app)
      try ZulipImport().read(path, into: target, run, sorter())
      return try target.write(into: folder)
    }
  }
}
