internal import PushModel

/// Reads settings files record by record into settings of some kind.
struct SettingsFileReader<Settings: SettingsSink> {
  typealias Location = SettingsLoader.Location
  typealias Located = SettingsLoader.Located

  private(set) var settings: Settings
  private let paths: SettingsPaths
  private var checked = ParseCache()
  private var appRules: RuleSet?
  /// The rules that apply when the files have no app record.
  private let defaultRules: RuleSet
  /// Whether every problem is wanted; otherwise only the earliest is kept.
  private let keepsAll: Bool
  private var problems: [Located] = []
  /// Fields of one rule set that were read before the rules were known.
  private var unchecked: [(location: Location, uses: VendorFieldUse)] = []
  /// All of it together.
  private var allUnchecked = VendorFieldUse()
  private var validator = CrossRecordValidator()
  private let progress: (Double) -> Void
  private(set) var recordCount = 0
  /// Collects display settings, if requested.
  private let content: ContentCollector?
  /// Whether rows of CSV files are to be distinguished from records of NDJSON, and by what.
  private let marksRows: Bool
  private(set) var csvMerge: CSVMerge?
  /// Whether a row of members.csv leaves levels by channel as they are: where there are such.
  private var rowsKeepChannels = false
  private var fileRecordCount = 0
  /// How many there were when the file was begun.
  private var before = (users: 0, declared: 0)
  /// How many rows ahead ids are looked up.
  private static var readAhead: Int { 32 }

  init(
    _ settings: Settings, _ paths: SettingsPaths, _ progress: @escaping (Double) -> Void,
    keepsAll: Bool, defaultRules: RuleSet = AppSettings().rules, content: ContentCollector? = nil,
    marksRows: Bool = false
  ) {
    self.settings = settings
    self.defaultRules = defaultRules
    self.content = content
    self.marksRows = marksRows
    self.paths = paths
    self.progress = progress
    self.keepsAll = keepsAll
  }

  /// The settings, if every line is understood.
  mutating func read() throws(FileProblem) -> Settings {
    readAll()
    settleRules()
    // References between records are checked only when every record was readable.
    if problems.isEmpty { settleRelations() }
    if let first = sortedProblems.first { throw first }
    return settings
  }

  /// Whether there was an app's record.
  var saysApp: Bool { appRules != nil }

  /// Everything that is wrong, and the number of records.
  mutating func check() -> (problems: [FileProblem], records: Int) {
    readAll()
    settleRules()
    settleRelations()
    return (sortedProblems, recordCount)
  }

  private var sortedProblems: [FileProblem] {
    problems.sorted { $0.location < $1.location }.map {
      FileProblem(
        file: paths.path($0.location.file), line: $0.hasLine ? $0.location.line : nil,
        problem: $0.problem)
    }
  }

  // MARK: Reading

  private mutating func readAll() {
    for file in 0..<paths.count {
      fileRecordCount = 0
      if marksRows, file == paths.settings.count { csvMerge = settings.csvMerge }
      before = (settings.userCount, settings.declaredCount)
      if file < paths.settings.count {
        readNDJSON(file)
      } else if file < paths.settings.count + paths.users.count {
        readCSV(file, UserColumns.names, ["id"], idColumn: 0) {
          (row, uses, checked) throws(FileProblem.Problem) in
          try UserColumns.record(row, &uses, &checked)
        }
      } else {
        readCSV(file, MemberColumns.names, ["conversation", "user"], idColumn: 1) {
          (row, uses, _) throws(FileProblem.Problem) in try MemberColumns.record(row, &uses)
        }
      }
    }
  }

  private mutating func readNDJSON(_ file: Int) {
    let lines: JSONLines
    do { lines = try JSONLines(paths.source(file)) } catch {
      return report(error, file, line: error.lineAtOpening)
    }
    var isEmpty = true
    while true {
      do throws(FileProblem.Problem) {
        guard let line = try lines.next() else { break }
        isEmpty = false
        var uses = VendorFieldUse()
        let record = try SettingsRecord.read(line, &uses, &checked)
        if let content { try content.add(line, record, &uses) }
        let location = Location(file: file, line: lines.lineNumber)
        try apply(record, uses, location, isCSV: false)
      } catch {
        isEmpty = false
        report(error, file, line: lines.lineNumber)
        if !error.isOfOneLine { return }
      }
      advance(file) { lines.progress }
    }
    if isEmpty { report(.isEmpty, file, line: 1) }
  }

  private mutating func readCSV(
    _ file: Int, _ columns: [String], _ required: [String], idColumn: Int,
    read: (
      CSVRow, inout VendorFieldUse, inout ParseCache
    ) throws(FileProblem.Problem) -> SettingsRecord
  ) {
    rowsKeepChannels = (appRules ?? defaultRules).fields.contains(.channels)
    let table: CSVTable
    do { table = try CSVTable(paths.source(file), columns: columns, required: required) } catch {
      return report(error, file, line: error.lineAtOpening)
    }
    while true {
      do throws(FileProblem.Problem) {
        if fileRecordCount % Self.readAhead == 0 {
          unsafe table.upcoming(Self.readAhead, column: idColumn) {
            unsafe settings.readAhead(userUTF8: RawSpan(_unsafeBytes: $0))
          }
        }
        guard let row = try table.next() else { break }
        var uses = VendorFieldUse()
        let record = try read(row, &uses, &checked)
        let location = Location(file: file, line: table.lineNumber)
        try apply(record, uses, location, isCSV: true)
      } catch {
        report(error, file, line: table.lineNumber)
        if !error.isOfOneLine { return }
      }
      advance(file) { table.progress }
    }
  }

  /// Counts a record of a file and, now and then, reports progress.
  private mutating func advance(_ file: Int, share: () -> Double?) {
    recordCount += 1
    fileRecordCount += 1
    guard fileRecordCount & 0x3FFF == 0, let share = share() else { return }
    if fileRecordCount == 0x4000 { makeRoom(share) }
    progress((Double(file) + share) / Double(paths.count))
  }

  /// Makes room for what the rest of a file will bring, if it goes on like this: growing step by
  /// step would copy it several times.
  private mutating func makeRoom(_ share: Double) {
    let more = { (count: Int, before: Int) in
      before + Int(Double(count - before) / max(share, 0.001) * 1.1)
    }
    settings.reserveCapacity(
      users: more(settings.userCount, before.users),
      declared: more(settings.declaredCount, before.declared))
  }

  private mutating func report(_ problem: FileProblem.Problem, _ file: Int, line: Int?) {
    report(
      Located(
        location: Location(file: file, line: line ?? 0), hasLine: line != nil, problem: problem))
  }

  private mutating func report(_ located: Located) {
    if keepsAll || problems.isEmpty {
      problems.append(located)
    } else if located.location < problems[0].location {
      problems[0] = located
    }
  }

  // MARK: Records

  private mutating func apply(
    _ record: consuming SettingsRecord, _ uses: VendorFieldUse, _ location: Location, isCSV: Bool
  ) throws(FileProblem.Problem) {
    if case .app(let app) = record {
      if appRules != nil { throw .secondApp }
      if let foreign = uses.foreign(to: app.rules) {
        appRules = app.rules  // the rules are known, even though the record is not understood
        throw foreign
      }
      settings.setApp(app)
      appRules = app.rules
      return
    }
    if !uses.isEmpty {
      if let appRules {
        if let foreign = uses.foreign(to: appRules) { throw foreign }
      } else {
        noteUnchecked(uses, location)
      }
    }
    switch consume record {
    case .app: break
    case .user(let id, let user):
      // A user that occurs in CSV files only has no earlier record to merge with.
      if isCSV, before.declared > 0 {
        settings.updateUser(id) { $0.replaceWhatRowsSay(with: user) }
      } else {
        settings.setUser(id, user)
      }
    case .conversation(let id, let conversation):
      settings.setConversation(id, conversation)
      validator.noteConversation(id, conversation, location)
    case .member(let user, let conversation, var member, let present):
      if isCSV, rowsKeepChannels {
        member.channels = settings.channels(of: user, in: conversation)
      }
      settings.setMember(user, of: conversation, member)
      validator.noteMember(conversation, user, present, location, kindsAreFinal: isCSV)
    }
  }

  /// Notes what belongs to one rule set while the rules are not known. The first for each rule set
  /// is enough, unless every problem is wanted.
  private mutating func noteUnchecked(_ uses: VendorFieldUse, _ location: Location) {
    let isNew = allUnchecked.add(uses)
    if keepsAll || isNew { unchecked.append((location: location, uses: uses)) }
  }

  /// Checks the fields that were read before the rules were known. Without an app they are the
  /// default ones; but the line that was not understood may have been the app's, so then nothing is
  /// judged by them.
  private mutating func settleRules() {
    if appRules == nil, !problems.isEmpty { return }
    let rules = appRules ?? defaultRules
    for (location, uses) in unchecked {
      if let foreign = uses.foreign(to: rules) {
        report(Located(location: location, hasLine: true, problem: foreign))
      }
    }
  }

  private mutating func settleRelations() {
    settings.settle()
    for problem in validator.problems(in: settings) { report(problem) }
  }
}
