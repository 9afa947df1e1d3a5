internal import PushFanout
public import PushFiles
public import PushModel
public import PushStore
public import QuietTime

extension StoreImport {
  /// How far an import of files has come.
  public enum FileStep: Sendable {
    /// The share of the files' bytes that has been read, 0...1.
    case reading(Double)
    /// All is read, and the import into the store is next.
    case read
    /// The share of the records that is in the store, 0...1.
    case importing(Double)
    /// The import is complete, and the snapshot is next.
    case imported
  }

  /// What an import of files came to.
  public struct FileResult: Sendable {
    /// The number of records in the files.
    public let recordCount: Int
    /// The number of users that the files name.
    public let userCount: Int
    /// Why there is no snapshot; nil when there is one. The import is complete either way.
    public let snapshotProblem: (any Error)?
    /// The users of the files whose time zone this machine does not have: none, unless the paths say
    /// that such zones are taken.
    public let unknownZones: UnknownZoneUsers
  }

  /// Imports settings files, all or nothing, and writes the snapshot.
  ///
  /// A record replaces that of the same key in the store; a row of users.csv or members.csv only
  /// what such a row can say. The app's settings stay if the files have none and the store is
  /// there.
  ///
  /// - Parameters:
  ///   - paths: the files, read as one, by the store's rules if they do not say any.
  ///   - now: when the import is made.
  ///   - replacing: whether what the files do not have is removed. What a row cannot say is unset
  ///     then, as where the files are read without a store.
  ///   - progress: called with each step.
  /// - Throws: `FileProblem` for the first line that is not understood, or `StoreError`; then
  ///   nothing was imported.
  /// - Complexity: O(bytes).
  public func run(
    _ paths: SettingsPaths, at now: Instant, replacing: Bool = false,
    progress: @escaping (FileStep) -> Void = { _ in }
  ) throws -> FileResult {
    if isNew { return try make(paths, at: now, progress: progress) }
    var settings = FanoutSettings(app: try app() ?? AppSettings())
    let options = LoadOptions(readsContent: true, marksRows: !replacing) { progress(.reading($0)) }
    let files = try SettingsLoader.load(paths, into: &settings, options)
    progress(.read)
    let problem = try runWithSnapshot(
      settings, content: files.content, partial: files.rows, at: now,
      replacingApp: files.saysApp, replacing: replacing,
      unknownZones: paths.unknownZones,
      progress: { progress(.importing($0)) }, imported: { progress(.imported) })
    return FileResult(
      recordCount: files.recordCount, userCount: settings.userCount, snapshotProblem: problem,
      unknownZones: paths.unknownZones == .fail
        ? UnknownZoneUsers() : try Self.unknownZones(of: settings))
  }

  /// The same for a store that is not there yet. The files are read once, into the tables of an
  /// engine: the rows are made of these, and the snapshot.
  private func make(
    _ paths: SettingsPaths, at now: Instant, progress: @escaping (FileStep) -> Void
  ) throws -> FileResult {
    let options = LoadOptions(readsContent: true) { progress(.reading($0)) }
    let (records, files) = try SettingsLoader.loadRecords(paths, options)
    progress(.read)
    let problem = try runWithSnapshot(
      records, content: files.content, at: now, unknownZones: paths.unknownZones,
      progress: { progress(.importing($0)) }, imported: { progress(.imported) })
    return FileResult(
      recordCount: files.recordCount, userCount: records.userCount, snapshotProblem: problem,
      unknownZones: paths.unknownZones == .fail
        ? UnknownZoneUsers() : records.fanout.currentVersion.unknownZoneUsers)
  }

  private static func unknownZones(
    of settings: FanoutSettings
  ) throws(ZoneDataError) -> UnknownZoneUsers {
    let zones = try SettingsZones(settings, unknownZones: .refuse)
    var users = UnknownZoneUsers()
    for number in 0..<UInt32(settings.userCount) {
      let user = UserIndex(number)
      guard let zone = zones.unknownZone(of: settings.user(user)) else { continue }
      users.add(.init(settings.id(of: user), timeZone: zone))
    }
    return users
  }
}
