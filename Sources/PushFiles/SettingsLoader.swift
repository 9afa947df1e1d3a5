public import PushRules

/// The files of a world: settings, then users, then members, read as one.
public struct SettingsPaths: Sendable {
  public var settings: [String]
  public var users: [String]
  public var members: [String]

  public init(settings: [String] = [], users: [String] = [], members: [String] = []) {
    self.settings = settings
    self.users = users
    self.members = members
  }

  var count: Int { settings.count + users.count + members.count }

  func path(_ file: Int) -> String { (settings + users + members)[file] }
}

/// Reads the files of a world into ``FanoutSettings``.
///
/// What is said of one line is checked as it is read; what needs other lines after the whole load,
/// and reported at its own line.
///
/// - Complexity: O(bytes); the settings are in memory, the files are not.
/// - Source: formats.md, "Errors" and "settings.ndjson".
public struct SettingsLoader {
  private var settings = FanoutSettings()
  private let paths: SettingsPaths
  private var zones = ZoneNames()
  private var appRules: RuleSet?
  private var problems: [Located] = []
  /// What belongs to one rule set, said before the rules were known.
  private var undecided: [(place: Place, uses: RuleUse)] = []
  private var relations = Relations()
  private let progress: (Double) -> Void
  private var recordCount = 0

  struct Place: Comparable {
    let file: Int
    let line: Int
    static func < (left: Place, right: Place) -> Bool {
      (left.file, left.line) < (right.file, right.line)
    }
  }

  struct Located {
    let place: Place
    /// Whether the problem has a line, and not only a file.
    let hasLine: Bool
    let problem: FileProblem.Problem
  }

  /// Loads a world.
  ///
  /// - Parameter progress: called now and then with the share of the bytes that has been read,
  ///   0...1; not called when it is not known.
  /// - Throws: the problem of the earliest line that is not understood.
  public static func load(
    _ paths: SettingsPaths, progress: @escaping (Double) -> Void = { _ in }
  ) throws(FileProblem) -> FanoutSettings {
    var loader = SettingsLoader(paths, progress)
    loader.readAll()
    loader.settleRules()
    // Relations between records are judged only when every record was understood.
    if loader.problems.isEmpty { loader.settleRelations() }
    if let first = loader.sortedProblems.first { throw first }
    return loader.settings
  }

  /// Reads a world to find everything that is wrong with it.
  ///
  /// - Returns: the problems in the order of files and lines, and what could be read.
  public static func check(
    _ paths: SettingsPaths
  ) -> (settings: FanoutSettings, problems: [FileProblem], records: Int) {
    var loader = SettingsLoader(paths, { _ in })
    loader.readAll()
    loader.settleRules()
    loader.settleRelations()
    return (loader.settings, loader.sortedProblems, loader.recordCount)
  }

  private init(_ paths: SettingsPaths, _ progress: @escaping (Double) -> Void) {
    self.paths = paths
    self.progress = progress
  }

  private var sortedProblems: [FileProblem] {
    problems.sorted { $0.place < $1.place }.map {
      FileProblem(
        file: paths.path($0.place.file), line: $0.hasLine ? $0.place.line : nil,
        problem: $0.problem)
    }
  }

  // MARK: Reading

  private mutating func readAll() {
    for file in 0..<paths.count {
      if file < paths.settings.count {
        readNDJSON(file)
      } else if file < paths.settings.count + paths.users.count {
        readCSV(file, UserColumns.names, ["id"]) {
          (row, zones) throws(FileProblem.Problem) in try UserColumns.record(row, &zones)
        }
      } else {
        readCSV(file, MemberColumns.names, ["conversation", "user"]) {
          (row, _) throws(FileProblem.Problem) in try MemberColumns.record(row)
        }
      }
    }
  }

  private mutating func readNDJSON(_ file: Int) {
    let lines: JSONLines
    do { lines = try JSONLines(path: paths.path(file)) } catch {
      return report(error, file, line: nil)
    }
    var isEmpty = true
    while true {
      do throws(FileProblem.Problem) {
        guard let line = try lines.next() else { break }
        isEmpty = false
        let record = try SettingsRecord(line, &zones)
        try apply(record, Place(file: file, line: lines.lineNumber), isCSV: false)
      } catch {
        isEmpty = false
        report(error, file, line: lines.lineNumber)
        if !isOfOneLine(error) { return }
      }
      advance(lines.bytes, file)
    }
    if isEmpty { report(.isEmpty, file, line: 1) }
  }

  private mutating func readCSV(
    _ file: Int, _ columns: [String], _ required: [String],
    read: (CSVRow, inout ZoneNames) throws(FileProblem.Problem) -> SettingsRecord
  ) {
    let table: CSVTable
    do { table = try CSVTable(path: paths.path(file), columns: columns, required: required) } catch {
      return report(error, file, line: hasLine(error) ? 1 : nil)
    }
    while true {
      do throws(FileProblem.Problem) {
        guard let row = try table.next() else { break }
        let record = try read(row, &zones)
        try apply(record, Place(file: file, line: table.lineNumber), isCSV: true)
      } catch {
        report(error, file, line: table.lineNumber)
        if !isOfOneLine(error) { return }
      }
      advance(table.bytes, file)
    }
  }

  private mutating func advance(_ bytes: ByteReader, _ file: Int) {
    recordCount += 1
    if recordCount & 0xFFFF == 0, let size = bytes.byteCount, size > 0 {
      progress((Double(file) + Double(bytes.bytesRead) / Double(size)) / Double(paths.count))
    }
  }

  private mutating func report(_ problem: FileProblem.Problem, _ file: Int, line: Int?) {
    problems.append(
      Located(
        place: Place(file: file, line: line ?? 0), hasLine: line != nil, problem: problem))
  }

  private func isOfOneLine(_ problem: FileProblem.Problem) -> Bool {
    FileProblem(file: "", line: nil, problem: problem).isOfOneLine
  }

  private func hasLine(_ problem: FileProblem.Problem) -> Bool {
    switch problem {
    case .cannotOpen, .isDirectory: false
    default: true
    }
  }

  // MARK: Records

  private mutating func apply(
    _ record: SettingsRecord, _ place: Place, isCSV: Bool
  ) throws(FileProblem.Problem) {
    if case .app(let app) = record.value {
      if appRules != nil { throw .secondApp }
      if let foreign = record.uses.foreign(to: app.rules) {
        appRules = app.rules  // the rules are known, even though the record is not understood
        throw foreign
      }
      settings.app = app
      appRules = app.rules
      return
    }
    if !record.uses.isEmpty {
      if let appRules {
        if let foreign = record.uses.foreign(to: appRules) { throw foreign }
      } else {
        undecided.append((place: place, uses: record.uses))
      }
    }
    switch record.value {
    case .app: break
    case .user(let id, var user):
      if isCSV { user.keepWhatCSVCannotSay(of: settings.user(id)) }
      settings.setUser(id, user)
    case .conversation(let id, let conversation):
      settings.setConversation(id, conversation)
      relations.noteConversation(id, conversation, place)
    case .member(let conversation, let user, var member, let saidSince):
      if isCSV, appRules == .rongcloud, let index = settings.index(of: user) {
        member.channels = settings.member(index, of: conversation)?.channels ?? [:]
      }
      settings.setMember(user, of: conversation, member)
      relations.noteMember(conversation, user, member, saidSince: saidSince, place)
    }
  }

  /// Judges what was said before the rules were known. Without an app they are Easemob's.
  private mutating func settleRules() {
    let rules = appRules ?? .easemob
    for (place, uses) in undecided {
      if let foreign = uses.foreign(to: rules) {
        problems.append(Located(place: place, hasLine: true, problem: foreign))
      }
    }
  }

  private mutating func settleRelations() {
    problems += relations.problems(in: settings)
  }
}

extension UserSettings {
  /// A row of users.csv replaces a user's record in what a row can say; the rest comes from the
  /// settings.ndjson beside it.
  fileprivate mutating func keepWhatCSVCannotSay(of earlier: UserSettings) {
    devices = earlier.devices
    levels = earlier.levels
    pushWhenDesktopOnline = earlier.pushWhenDesktopOnline
    localInformationMissing = earlier.localInformationMissing
    localHandledByApp = earlier.localHandledByApp
  }
}
