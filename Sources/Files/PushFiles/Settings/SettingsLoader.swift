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

  var count: Int { settings.count + users.count + members.count }

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

  /// Loads settings as values.
  ///
  /// - Parameter progress: called now and then with the share of the bytes that has been read,
  ///   0...1; not called when it is not known.
  /// - Throws: the problem of the earliest line that is not understood.
  /// - Complexity: O(bytes); the settings are in memory, the files are not.
  public static func load(
    _ paths: SettingsPaths, progress: @escaping (Double) -> Void = { _ in }
  ) throws(FileProblem) -> FanoutSettings {
    var reader = SettingsFileReader(FanoutSettings(), paths, progress, keepsAll: false)
    return try reader.read()
  }

  /// Loads records to be added to existing settings.
  ///
  /// An import of the settings into a store, with `rows`, leaves there what a row of a CSV file
  /// cannot say.
  ///
  /// - Parameters:
  ///   - app: the app of that world, which counts when the files have no record of it.
  ///   - progress: as for ``load(_:progress:)``.
  /// - Returns: the settings, the display settings, whether the files have an app record, the
  ///   number of records, and which users and members occur in CSV rows only; nil without CSV
  ///   files.
  /// - Throws: the problem of the earliest line that is not understood.
  public static func load(
    _ paths: SettingsPaths, addedTo app: AppSettings,
    progress: @escaping (Double) -> Void = { _ in }
  ) throws(FileProblem) -> (
    settings: FanoutSettings, content: ContentDirectory, saysApp: Bool, records: Int,
    rows: CSVMerge?
  ) {
    let content = ContentCollector()
    var reader = SettingsFileReader(
      FanoutSettings(app: app), paths, progress, keepsAll: false, defaultRules: app.rules,
      content: content, marksRows: true)
    let settings = try reader.read()
    return (settings, content.directory, reader.saysApp, reader.recordCount, reader.csvMerge)
  }

  /// Loads records that replace existing ones, as a later settings file would.
  ///
  /// References between records are checked against the files and the existing settings together.
  /// Time zones that the system does not have are read where the existing settings ignore them.
  ///
  /// - Parameter operations: becomes the lines that are operations, also if others are not
  ///   understood; nil if no line may be one.
  /// - Returns: the settings, the display settings, whether the files have an app record, and the
  ///   number of records.
  /// - Throws: the problem of the earliest line that is not understood.
  package static func load(
    _ paths: SettingsPaths, over world: Fanout, operations: inout [Operation]?
  ) throws(FileProblem) -> (
    settings: FanoutSettings, content: ContentDirectory, saysApp: Bool, records: Int
  ) {
    let content = ContentCollector()
    var paths = paths
    if world.unknownZones == .ignore { paths.unknownZones = .ignore }
    var reader = SettingsFileReader(
      SettingsOverlay(to: world), paths, { _ in }, keepsAll: false, defaultRules: world.app.rules,
      content: content, takesOperations: operations != nil)
    defer { if operations != nil { operations = reader.operations } }
    let settings = try reader.read().added
    let records = reader.recordCount - reader.operations.count
    return (settings, content.directory, reader.saysApp, records)
  }

  /// The same for files of which no line may be an operation.
  package static func load(
    _ paths: SettingsPaths, over world: Fanout
  ) throws(FileProblem) -> (
    settings: FanoutSettings, content: ContentDirectory, saysApp: Bool, records: Int
  ) {
    var none: [Operation]?
    return try load(paths, over: world, operations: &none)
  }

  /// Loads settings into the engine only.
  ///
  /// Files are parsed in pieces, on several threads. The engine, the order of its users and the
  /// problem that is thrown do not depend on their number.
  ///
  /// - Parameters:
  ///   - threads: how many threads loading and the engine may use, nil for the cores that the process
  ///     may use.
  ///   - progress: as for ``load(_:progress:)``.
  /// - Throws: the problem of the earliest line that is not understood; a ``FanoutError`` when
  ///   there is more of something than the engine can hold.
  /// - Complexity: O(bytes). Beside the engine and 5 to 13 bytes a membership, memory holds about
  ///   three pieces of 256 KiB, and what was parsed of them, for each thread.
  public static func loadFanout(
    _ paths: SettingsPaths, threads: Int? = nil, progress: @escaping (Double) -> Void = { _ in }
  ) throws -> Fanout {
    try loadFanout(paths, threads: threads, pieceSize: PieceReader.usualSize, progress: progress)
  }

  /// The same, with pieces of another size.
  ///
  /// - Parameter pieceSize: about how many bytes of a file are parsed together, on one thread.
  package static func loadFanout(
    _ paths: SettingsPaths, threads: Int?, pieceSize: Int,
    progress: @escaping (Double) -> Void = { _ in }
  ) throws -> Fanout {
    let threads = max(1, threads ?? Fanout.coreCount)
    var reader = SettingsFileReader(
      PackedSettings(threads: threads, paths.unknownZones), paths, progress, keepsAll: false,
      threads: threads,
      pieceSize: pieceSize)
    return try reader.read().build()
  }

  /// Loads settings and display settings as values.
  ///
  /// - Parameter progress: as for ``load(_:progress:)``.
  /// - Throws: the problem of the earliest line that is not understood.
  public static func loadWithContent(
    _ paths: SettingsPaths, progress: @escaping (Double) -> Void = { _ in }
  ) throws(FileProblem) -> (settings: FanoutSettings, content: ContentDirectory) {
    let content = ContentCollector()
    var reader = SettingsFileReader(
      FanoutSettings(), paths, progress, keepsAll: false, content: content)
    return (try reader.read(), content.directory)
  }

  /// Loads settings into the engine, and display settings, reading each file once.
  ///
  /// - Parameters and errors: as for ``loadFanout(_:threads:progress:)``.
  public static func loadFanoutWithContent(
    _ paths: SettingsPaths, threads: Int? = nil, progress: @escaping (Double) -> Void = { _ in }
  ) throws -> (fanout: Fanout, content: ContentDirectory) {
    try loadFanoutWithContent(
      paths, threads: threads, pieceSize: PieceReader.usualSize, progress: progress)
  }

  /// The same, with pieces of another size.
  package static func loadFanoutWithContent(
    _ paths: SettingsPaths, threads: Int?, pieceSize: Int,
    progress: @escaping (Double) -> Void = { _ in }
  ) throws -> (fanout: Fanout, content: ContentDirectory) {
    let content = ContentCollector()
    let threads = max(1, threads ?? Fanout.coreCount)
    var reader = SettingsFileReader(
      PackedSettings(threads: threads, paths.unknownZones), paths, progress, keepsAll: false,
      content: content,
      threads: threads, pieceSize: pieceSize)
    return (try reader.read().build(), content.directory)
  }

  /// Reads a world to find everything that is wrong with it.
  ///
  /// - Parameters:
  ///   - threads: the number of threads that parse.
  ///   - pieceSize: about how many bytes of a file are parsed together, on one thread.
  /// - Returns: as for ``check(_:progress:)``.
  package static func check(
    _ paths: SettingsPaths, threads: Int, pieceSize: Int
  ) -> (settings: FanoutSettings, problems: [FileProblem], records: Int) {
    var reader = SettingsFileReader(
      FanoutSettings(), paths, { _ in }, keepsAll: true, content: ContentCollector(),
      threads: threads, pieceSize: pieceSize)
    let (problems, records) = reader.check()
    return (reader.settings, problems, records)
  }

  /// Reads settings to find everything that is wrong with them.
  ///
  /// - Parameter progress: as for ``load(_:progress:)``.
  /// - Returns: the problems in the order of files and lines, and what could be read.
  public static func check(
    _ paths: SettingsPaths, progress: @escaping (Double) -> Void = { _ in }
  ) -> (settings: FanoutSettings, problems: [FileProblem], records: Int) {
    var reader = SettingsFileReader(
      FanoutSettings(), paths, progress, keepsAll: true, content: ContentCollector())
    let (problems, records) = reader.check()
    return (reader.settings, problems, records)
  }
}
