public import PushContent
public import PushFanout
public import PushModel
public import QuietTime

/// Settings files, read as one: settings, then users, then members.
public struct SettingsPaths: Sendable {
  /// Paths of settings.ndjson files, in the order in which they are read.
  public var settings: [String]
  /// Paths of users.csv files.
  public var users: [String]
  /// Paths of members.csv files.
  public var members: [String]
  /// Bytes that are read instead of a file of their name, where one is named above.
  public var contents: [String: [UInt8]]
  /// Streams of users or members that are read, once, instead of a file of their name among
  /// ``settings``.
  public var streams: [String: ArrowStream] = [:]
  /// What is done with time zones that the system does not have: by default they are problems of their
  /// lines; otherwise they are read, and the engine that is built refuses or ignores them.
  public var unknownZones = UnknownZones.fail

  /// Names files to read; all may be none.
  public init(
    settings: [String] = [], users: [String] = [], members: [String] = [],
    contents: [String: [UInt8]] = [:]
  ) {
    self.settings = settings
    self.users = users
    self.members = members
    self.contents = contents
  }

  /// The bytes of one settings.ndjson.
  public init(_ settings: [UInt8], name: String = "settings.ndjson") {
    self.init(settings: [name], contents: [name: settings])
  }

  /// How many files there are.
  package var count: Int { settings.count + users.count + members.count }

  func path(_ file: Int) -> String { (settings + users + members)[file] }

  /// The stream that is read instead of a file.
  func stream(_ file: Int) -> ArrowStream? {
    guard file < settings.count, let stream = streams[settings[file]] else { return nil }
    return stream.rows == .messages ? nil : stream
  }

  /// The last file that can have an app or conversations; -1 if there is none.
  var lastSettingsFile: Int { settings.indices.last { stream($0) == nil } ?? -1 }

  func source(_ file: Int) -> FileSource {
    let name = path(file)
    return contents[name].map { .bytes($0, name: name) } ?? .path(name)
  }
}

/// How settings files are read, and what is read of them.
public struct LoadOptions {
  /// Whether ``LoadedFiles/content`` is read.
  public var readsContent: Bool
  /// Whether ``LoadedFiles/rows`` is kept, for an import into a store.
  public var marksRows: Bool
  /// Called now and then with the share of the bytes that has been read, 0...1; not called when it
  /// is not known.
  public var progress: (Double) -> Void
  /// Asked after each piece of a file that is loaded into a builder, on the thread that loads, with
  /// the number of records so far; what it throws ends the load.
  package var watch: ((_ records: Int) throws -> Void)?
  /// Whether lines with the field `op` are operations, and not records.
  package var takesOperations = false
  /// Whether every problem is wanted; otherwise only the earliest is kept.
  package var keepsAll = false
  /// How many threads parse; for an engine those of its builder do.
  package var threads = 1
  /// About how many bytes of a file are parsed together, on one thread.
  package var pieceSize = PieceReader.usualSize

  /// - Parameters:
  ///   - readsContent: whether display settings are read.
  ///   - marksRows: whether records that occur in rows of CSV files only are told from others.
  ///   - progress: called now and then with the share of the bytes that has been read.
  public init(
    readsContent: Bool = false, marksRows: Bool = false,
    progress: @escaping (Double) -> Void = { _ in }
  ) {
    self.readsContent = readsContent
    self.marksRows = marksRows
    self.progress = progress
  }

  package init(readsContent: Bool = false, threads: Int = 1, pieceSize: Int) {
    self.init(readsContent: readsContent)
    self.threads = threads
    self.pieceSize = pieceSize
  }
}

/// What settings files have besides the records that decide.
public struct LoadedFiles {
  /// Display settings, if they were to be read.
  public let content: ContentDirectory
  /// Whether there is a record of the app.
  public let saysApp: Bool
  /// The number of records.
  public let recordCount: Int
  /// Which users and members occur in CSV rows only, if rows were to be marked; nil without CSV
  /// files.
  public let rows: CSVMerge?
  /// The lines that are operations, if lines may be.
  package let operations: [SettingsLoader.Operation]
  /// What is wrong, in the order of files and lines.
  package let problems: [FileProblem]
  /// What the one who watches has thrown.
  let ended: (any Error)?

  func check() throws(FileProblem) { if let first = problems.first { throw first } }
}

/// Reads settings files.
///
/// What concerns one line is checked as it is read; what needs other lines after the whole load,
/// and reported at its own line.
///
/// - Source: formats.md, "Errors" and "settings.ndjson".
public enum SettingsLoader {
  struct Location: Comparable {
    let file: Int
    let line: Int
    static func < (left: Location, right: Location) -> Bool {
      (left.file, left.line) < (right.file, right.line)
    }
  }

  /// A line that is no record: it has the field `op`.
  public typealias Operation = (line: Int, fields: JSONObject)

  struct Located {
    let location: Location
    /// Whether the problem has a line, and not only a file.
    let hasLine: Bool
    let problem: FileProblem.Problem
    /// What is wrong, if it is a column of a stream rather than the file.
    var name: String?
  }

  /// Loads records into settings that are values.
  ///
  /// The rules are those of the settings' app, unless the files have a record of the app.
  ///
  /// - Parameters:
  ///   - settings: new ones, of the app that counts when the files have no record of it.
  ///   - world: the engine's settings whose records these are to replace, as a later settings file
  ///     would. References between records are checked against both together, and time zones that
  ///     the system does not have are read where the engine ignores them.
  /// - Throws: the problem of the earliest line that is not understood. The settings then have some
  ///   of the records.
  /// - Complexity: O(bytes); the settings are in memory, the files are not.
  @discardableResult
  public static func load(
    _ paths: SettingsPaths, into settings: inout FanoutSettings, over world: Fanout? = nil,
    _ options: LoadOptions = LoadOptions()
  ) throws(FileProblem) -> LoadedFiles {
    let files = read(paths, into: &settings, over: world, options)
    try files.check()
    return files
  }

  /// Loads records into the builder of an engine.
  ///
  /// Files are parsed in pieces, on the threads of the builder. The engine, the order of its users
  /// and the problem that is thrown do not depend on their number.
  ///
  /// - Throws: the problem of the earliest line that is not understood; a ``FanoutError`` when
  ///   there is more of something than the engine can hold; what ``LoadOptions/watch`` throws. The
  ///   builder then has some of the records, and otherwise takes no more members.
  /// - Complexity: O(bytes). Beside the engine and 5 to 13 bytes a membership, memory holds about
  ///   three pieces of 256 KiB, and what was parsed of them, for each thread.
  @discardableResult
  public static func load(
    _ paths: SettingsPaths, into builder: inout FanoutBuilder,
    _ options: LoadOptions = LoadOptions()
  ) throws -> LoadedFiles {
    var options = options
    options.threads = builder.threads
    var taken = FanoutBuilder()
    swap(&taken, &builder)
    let packed = PackedSettings(taken)
    var reader = SettingsFileReader(packed, paths, options, defaultRules: AppSettings().rules)
    let files = reader.read()
    packed.giveBack(to: &builder)
    if let ended = files.ended { throw ended }
    try files.check()
    if let failure = packed.failure { throw failure }
    return files
  }

  /// Loads settings into an engine from which the records can be read again, on all cores that the
  /// process may use.
  ///
  /// - Throws: as for ``loadFanout(_:threads:_:)``.
  package static func loadRecords(
    _ paths: SettingsPaths, _ options: LoadOptions
  ) throws -> (records: FanoutRecords, files: LoadedFiles) {
    var builder = FanoutBuilder(
      threads: nil, unknownZones: paths.unknownZones == .fail ? .fail : .refuse)
    let files = try load(paths, into: &builder, options)
    return (try builder.buildRecords(), files)
  }

  /// Reads records into settings without throwing: the problems are among what is given.
  package static func read(
    _ paths: SettingsPaths, into settings: inout FanoutSettings, over world: Fanout? = nil,
    _ options: LoadOptions
  ) -> LoadedFiles {
    var paths = paths
    if world?.unknownZones == .ignore { paths.unknownZones = .ignore }
    var reader = SettingsFileReader(
      settings, paths, options, defaultRules: settings.app.rules, over: world)
    let files = reader.read()
    settings = reader.settings
    return files
  }

  /// Loads settings as values.
  ///
  /// - Throws: the problem of the earliest line that is not understood.
  public static func load(
    _ paths: SettingsPaths, _ options: LoadOptions = LoadOptions()
  ) throws(FileProblem) -> FanoutSettings {
    var settings = FanoutSettings()
    try load(paths, into: &settings, options)
    return settings
  }

  /// Loads settings into an engine.
  ///
  /// - Parameter threads: how many threads loading and the engine may use, nil for the cores that
  ///   the process may use.
  /// - Throws: what is wrong with the files, or a ``FanoutError``, as for a builder.
  public static func loadFanout(
    _ paths: SettingsPaths, threads: Int? = nil, _ options: LoadOptions = LoadOptions()
  ) throws -> Fanout {
    var builder = FanoutBuilder(threads: threads, unknownZones: paths.unknownZones)
    try load(paths, into: &builder, options)
    return try builder.build(threads: builder.threads)
  }

  /// Reads settings to find everything that is wrong with them.
  ///
  /// - Returns: the problems in the order of files and lines, and what could be read.
  public static func check(
    _ paths: SettingsPaths, _ options: LoadOptions = LoadOptions()
  ) -> (settings: FanoutSettings, problems: [FileProblem], records: Int) {
    var options = options
    (options.keepsAll, options.readsContent) = (true, true)
    var settings = FanoutSettings()
    let files = read(paths, into: &settings, options)
    return (settings, files.problems, files.recordCount)
  }
}
