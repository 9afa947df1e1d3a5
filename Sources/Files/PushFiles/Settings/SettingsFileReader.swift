internal import PushContent
internal import PushFanout
internal import PushModel
internal import PushSupport

/// Reads settings files record by record into settings of some kind.
struct SettingsFileReader<Settings: SettingsSink> {
  typealias Location = SettingsLoader.Location
  typealias Located = SettingsLoader.Located

  var settings: Settings
  let paths: SettingsPaths
  let options: LoadOptions
  var appRules: RuleSet?
  /// The rules that apply when the files have no app record.
  let defaultRules: RuleSet
  /// The engine's settings that the records are to replace some of, if they are.
  private let world: Fanout?
  var problems: [Located] = []
  /// Fields of one rule set that were read before the rules were known.
  private var unchecked: [(location: Location, uses: VendorFieldUse)] = []
  /// All of it together.
  private var allUnchecked = VendorFieldUse()
  private var validator = CrossRecordValidator()
  private var recordCount = 0
  /// What the one who watches has thrown: no more is read.
  private(set) var ended: (any Error)?
  /// Collects display settings, if requested.
  private let content: ContentCollector?
  /// The operations that were read.
  private var operations: [SettingsLoader.Operation] = []
  /// What tells rows of CSV files from earlier records, if that is asked for.
  var csvMerge: CSVMerge?
  /// Whether members have fields that rows do not have and leave as they are.
  private var rowsKeepFields = false
  var fileRecordCount = 0
  /// Whether no more of the file can be read, which is reported.
  private(set) var isUnreadable = false
  /// How many there were when the file was begun.
  private var before = (users: 0, declared: 0)
  /// The file that is read, and the number of its lines before those that are applied next.
  var fileNumber = 0
  var lines = 0
  private let pipeline: OrderedPipeline<PieceParser, PieceParser.Job, RecordBatch>

  init(
    _ settings: Settings, _ paths: SettingsPaths, _ options: LoadOptions, defaultRules: RuleSet,
    over world: Fanout? = nil
  ) {
    self.settings = settings
    self.paths = paths
    self.options = options
    self.defaultRules = defaultRules
    self.world = world
    content = options.readsContent ? ContentCollector() : nil
    pipeline = OrderedPipeline(
      threads: options.threads, takerWorks: true, makeWorker: { PieceParser(paths.unknownZones) },
      work: { job, parser in parser.parse(job) })
  }

  /// Whether no file follows that can have an app or conversations.
  var isBehindSettings: Bool { fileNumber > paths.lastSettingsFile }

  /// Reads all files into the settings.
  mutating func read() -> LoadedFiles {
    readAll()
    if ended == nil {
      settleRules()
      // Unless everything that is wrong is wanted, references between records are checked only when
      // every record was readable.
      if problems.isEmpty || options.keepsAll { settleRelations() }
    }
    return LoadedFiles(
      content: content?.directory ?? ContentDirectory(), saysApp: appRules != nil,
      recordCount: recordCount - operations.count, rows: csvMerge, operations: operations,
      problems: sortedProblems, ended: ended)
  }

  private var sortedProblems: [FileProblem] {
    problems.sorted { $0.location < $1.location }.map {
      FileProblem(
        file: $0.name ?? paths.path($0.location.file), line: $0.hasLine ? $0.location.line : nil,
        problem: $0.problem.under(appRules ?? defaultRules))
    }
  }

  // MARK: Reading

  private mutating func readAll() {
    for file in 0..<paths.count where ended == nil {
      (fileRecordCount, isUnreadable) = (0, false)
      if options.marksRows, file == paths.settings.count {
        csvMerge = settings.values.map { CSVMerge(rowsAfter: $0) }
      }
      rowsKeepFields = !MemberColumns.fieldsBeside.isDisjoint(
        with: (appRules ?? defaultRules).fields)
      before = (settings.userCount, settings.declaredCount)
      (fileNumber, lines) = (file, 0)
      if let stream = paths.stream(file) {
        readStream(stream)
      } else if file < paths.settings.count {
        readNDJSON()
      } else if file < paths.settings.count + paths.users.count {
        readCSV(UserColumns.layout) { .users($0) }
      } else {
        readCSV(MemberColumns.layout) { .members($0) }
      }
    }
  }

  /// Has a piece parsed, on this thread or on another.
  mutating func parse(
    _ piece: TextPiece, _ format: PieceParser.Format, from source: any PieceSource
  ) {
    submit(.text(piece, format), appRules, from: source)
  }

  mutating func submit(
    _ piece: PieceParser.Source, _ rules: RuleSet?, from source: any PieceSource
  ) {
    if pipeline.isFull { applyNext(from: source) }
    pipeline.submit(
      PieceParser.Job(
        source: piece, rules: rules, lookup: settings.lookup, readsContent: content != nil,
        keepsAll: options.keepsAll, takesOperations: options.takesOperations))
  }

  /// Applies the records of all pieces that are being parsed.
  mutating func applyAll(from source: any PieceSource) {
    while pipeline.hasMore { applyNext(from: source) }
  }

  private mutating func applyNext(from source: any PieceSource) {
    guard let (_, batch) = pipeline.take() else { return }
    let isRead = !isUnreadable
    if ended == nil, isRead { apply(batch) }
    lines += batch.lineCount
    source.pass(bytes: batch.byteCount, lines: batch.lineCount)
    if isRead { count(batch.recordCount, from: source) }
    ask()
  }

  /// Asks the one who watches whether the load goes on.
  private mutating func ask() {
    guard ended == nil, let watch = options.watch else { return }
    do { try watch(recordCount) } catch { ended = error }
  }

  /// Counts records of a file and, now and then, reports progress.
  mutating func count(_ records: Int, from source: any PieceSource) {
    let before = fileRecordCount
    recordCount += records
    fileRecordCount += records
    guard before >> 14 != fileRecordCount >> 14, let share = source.progress else { return }
    // Records of users may be few of an NDJSON file, though it begins with them.
    if before < 0x4000, fileNumber >= paths.settings.count { makeRoom(share) }
    options.progress((Double(fileNumber) + share) / Double(paths.count))
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

  mutating func report(_ problem: FileProblem.Problem, line: Int?) {
    report(
      Located(
        location: Location(file: fileNumber, line: line ?? 0), hasLine: line != nil,
        problem: problem))
  }

  mutating func report(_ located: Located) {
    if options.keepsAll || problems.isEmpty {
      problems.append(located)
    } else if located.location < problems[0].location {
      problems[0] = located
    }
  }

  // MARK: Records

  /// Applies the records of a piece, in the order of its lines.
  mutating func apply(_ batch: RecordBatch) {
    let isCSV = fileNumber >= paths.settings.count
    for step in batch.steps {
      switch step {
      case .members(let stretches):
        add(batch.columns, stretches, isCSV: isCSV)
      case .users(let rows): add(batch.users, rows, isCSV: isCSV)
      case .record(let record, let uses, let note, let line):
        if let note { content?.add(note) }
        do throws(FileProblem.Problem) {
          let location = Location(file: fileNumber, line: lines + line)
          try apply(record, uses, location, isCSV: isCSV)
        } catch {
          report(error, line: lines + line)
        }
      case .operation(let operation, let line): operations.append((lines + line, operation))
      case .problem(let problem, let line):
        report(problem, line: lines + line)
        if !problem.isOfOneLine {
          isUnreadable = true
          return
        }
      }
    }
  }

  private mutating func add(_ columns: MembershipColumns, _ stretches: Range<Int>, isCSV: Bool) {
    if isCSV, rowsKeepFields, settings.hasFieldsBesideRows {
      addKeepingFields(columns, stretches)
    } else {
      settings.add(columns, stretches: stretches)
    }
    let location = Location(file: fileNumber, line: lines)
    validator.noteMembers(columns, stretches, location, kindsAreFinal: isBehindSettings)
    if !isCSV { content?.add(columns, stretches: stretches) }
  }

  private mutating func add(_ users: UserRecords, _ rows: Range<Int>, isCSV: Bool) {
    // A user that occurs in CSV files only has no earlier record to merge with.
    guard isCSV, before.declared > 0 else { return settings.add(users, rows: rows) }
    for row in rows {
      settings.updateUser(users.id(at: row)) {
        $0.replace(UserColumns.allFields, with: users.user(at: row))
      }
    }
  }

  private mutating func addKeepingFields(_ columns: MembershipColumns, _ stretches: Range<Int>) {
    for stretch in stretches {
      let conversation = columns.conversation(of: stretch)
      for row in columns.rows(of: stretch) {
        let user = columns.user(at: row)
        let member = columns.member(at: row).member
        setRow(member, of: user, in: conversation)
      }
    }
  }

  /// Sets a row's member, with the fields that rows do not have as they are set so far.
  private mutating func setRow(
    _ row: MemberSettings, of user: Identifier, in conversation: Identifier
  ) {
    var member = settings.fieldsBesideRows(of: user, in: conversation) ?? row
    member.replace(MemberColumns.allFields, with: row)
    settings.set(.member(user, of: conversation, member))
  }

  private mutating func apply(
    _ record: SettingsRecord, _ uses: VendorFieldUse, _ location: Location, isCSV: Bool
  ) throws(FileProblem.Problem) {
    if case .app(let app) = record {
      if appRules != nil { throw .secondApp }
      if let foreign = uses.foreign(to: app.rules) {
        appRules = app.rules  // the rules are known, even though the record is not understood
        throw foreign
      }
      appRules = app.rules
      settings.set(record)
      return
    }
    if !uses.isEmpty {
      if let appRules {
        if let foreign = uses.foreign(to: appRules) { throw foreign }
      } else {
        noteUnchecked(uses, location)
      }
    }
    switch record {
    case .app: break
    // A user that occurs in CSV files only has no earlier record to merge with.
    case .user(let id, let user) where isCSV && before.declared > 0:
      settings.updateUser(id) { $0.replace(UserColumns.allFields, with: user) }
    case .user: settings.set(record)
    case .conversation(let id, let conversation):
      settings.set(record)
      validator.noteConversation(id, conversation, location)
    case .member(let user, let conversation, let member, let present):
      if isCSV, rowsKeepFields {
        setRow(member, of: user, in: conversation)
      } else {
        settings.set(record)
      }
      validator.noteMember(conversation, user, present, location, kindsAreFinal: isBehindSettings)
    }
  }

  /// Notes what belongs to one rule set while the rules are not known. The first for each rule set
  /// is enough, unless every problem is wanted.
  private mutating func noteUnchecked(_ uses: VendorFieldUse, _ location: Location) {
    let isNew = allUnchecked.add(uses)
    if options.keepsAll || isNew { unchecked.append((location: location, uses: uses)) }
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
    let overlay = world.flatMap { world in
      settings.values.map { SettingsOverlay($0, over: world) }
    }
    let found =
      overlay.map { validator.problems(in: $0, over: $0) } ?? validator.problems(in: settings)
    for problem in found { report(problem) }
  }
}
