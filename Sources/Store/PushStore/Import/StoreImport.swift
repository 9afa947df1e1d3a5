internal import Foundation
internal import GRDB
public import PushContent
package import PushFanout
public import PushModel
internal import PushSupport
public import QuietTime
internal import Synchronization

/// An import into a store that is not open for writing, without an engine that follows.
///
/// A store that is not there is made, and appears under its name when it is complete. One that is
/// there cannot be written by anybody else from the beginning until the import ends, its snapshot
/// included.
public final class StoreImport: Sendable {
  /// The path of the store, as it was given.
  public let path: String
  /// Whether there is no store yet. It is looked at once: when there is one by the time of the
  /// import, what was read without it is refused.
  public let isNew: Bool
  private let file: String
  private let permissions: StorePermissions
  private let store: Lock<OpenStore?>

  /// - Parameters:
  ///   - waiting: how long to wait while another process has the store open for writing.
  ///   - permissions: of a store that is made, and of what is made beside it later.
  /// - Throws: ``StoreError``; ``StoreError/strayLog(_:)`` where only the log of a store is left.
  public init(
    _ path: String, waiting: Duration = .zero, permissions: StorePermissions = .owner
  ) throws {
    self.path = path
    self.permissions = permissions
    file = try StoreName.file(path)
    isNew = !FileManager.default.fileExists(atPath: file)
    if isNew { try StoreFile.checkNoLog(beside: file) }
    store = Lock(isNew ? nil : try OpenStore.open(path, .write, waiting: waiting))
  }

  /// What is to be removed when the process ends before
  /// ``run(_:content:partial:at:replacingApp:progress:)`` does.
  public var temporaryNames: [String] { isNew ? TemporaryStore.names(for: file) : [] }

  /// What is to be removed when the process ends while the snapshot is being written.
  public var temporarySnapshotNames: [String] {
    [Fanout.temporaryName(ofSnapshot: SnapshotKeeper.path(file))]
  }

  /// The app's settings of an existing store; nil for a new one.
  public func app() throws -> AppSettings? {
    try store.withLock { $0 }.map { try StoreReader($0).app() }
  }

  /// Imports, and lets others write afterwards. An existing snapshot is out of date then.
  ///
  /// - Parameters: as for ``SettingsStore/importSettings(_:content:partial:at:replacingApp:)``;
  ///   `unknownZones` says whether time zones that the system does not have are errors, or kept.
  /// - Throws: ``StoreError``, ``StoreError/madeMeanwhile(_:)`` among them; then nothing was
  ///   imported.
  public func run(
    _ settings: FanoutSettings, content: ContentDirectory? = nil,
    partial: (any PartialRecords)? = nil, at now: Instant, replacingApp: Bool,
    unknownZones: UnknownZones = .fail, progress: @escaping (Double) -> Void = { _ in }
  ) throws {
    try add(settings, content, partial, now, replacingApp, false, unknownZones, progress).close()
  }

  /// Imports all records into a store that is not there yet, then writes the snapshot, of the engine
  /// of these records.
  ///
  /// - Parameters:
  ///   - records: those of files, whose rules between records were checked.
  ///   - imported: called when the import is complete and the snapshot is next.
  /// - Returns: why there is no snapshot, nil when there is one.
  /// - Precondition: ``isNew``.
  package func runWithSnapshot(
    _ records: FanoutRecords, content: ContentDirectory, at now: Instant,
    unknownZones: UnknownZones, progress: @escaping (Double) -> Void, imported: () -> Void
  ) throws -> (any Error)? {
    let store = try make { db in
      var write = StoreWrite(SettingsQueries(db: db, path: path), at: now, from: nil)
      write.unknownZones = unknownZones
      try write.fill(records, content, progress: progress)
    }
    imported()
    do {
      let (identity, last) = try StoreReader(store).read { queries in
        (try queries.identity(), try queries.lastEntry())
      }
      let keeper = SnapshotKeeper(
        store, identity,
        StoreOpener.Opened(
          fanout: records.fanout, opening: .rebuilt("it was imported"), last: last.sequence,
          token: last.token))
      try keeper.write()
      try store.close()
      return nil
    } catch { return error }
  }

  /// The same; then writes the snapshot, before anybody else can write.
  ///
  /// - Parameters:
  ///   - replacing: whether what the settings do not have is removed, as by
  ///     ``StoreWrite/replace(with:content:replacingApp:progress:)``; no record is partial then.
  ///   - imported: called when the import is complete and the snapshot is next.
  /// - Returns: why there is no snapshot, nil when there is one: the import is complete either way.
  public func runWithSnapshot(
    _ settings: FanoutSettings, content: ContentDirectory? = nil,
    partial: (any PartialRecords)? = nil, at now: Instant, replacingApp: Bool,
    replacing: Bool = false, unknownZones: UnknownZones = .fail,
    progress: @escaping (Double) -> Void = { _ in }, imported: () -> Void
  ) throws -> (any Error)? {
    let store = try add(
      settings, content, partial, now, replacingApp, replacing, unknownZones, progress)
    imported()
    do {
      let settings = try SettingsStore(store, threads: nil, withEngine: true)
      try settings.writeSnapshot()
      try settings.close()
      return nil
    } catch { return error }
  }

  private func add(
    _ settings: FanoutSettings, _ content: ContentDirectory?, _ partial: (any PartialRecords)?,
    _ now: Instant, _ replacingApp: Bool, _ replacing: Bool, _ unknownZones: UnknownZones,
    _ progress: @escaping (Double) -> Void
  ) throws -> OpenStore {
    func fill(_ db: Database) throws {
      var write = StoreWrite(SettingsQueries(db: db, path: path), at: now, from: nil)
      write.unknownZones = unknownZones
      if replacing {
        return try write.replace(
          with: settings, content: content ?? ContentDirectory(), replacingApp: replacingApp,
          progress: progress)
      }
      try write.add(
        settings, content: content, partial: partial, replacingApp: replacingApp,
        progress: progress)
    }
    if let store = store.withLock({ $0.take() }) {
      try StoreFile.errors(path) {
        try store.pool.write { db in
          try NewStore.makeRoom(db)
          try fill(db)
          try store.right?.check()
        }
        try store.pool.writeWithoutTransaction { try NewStore.giveBackRoom($0) }
      }
      return store
    }
    return try make(fill)
  }

  private func make(_ fill: (Database) throws -> Void) throws -> OpenStore {
    // An import is run once, and a store that was not there is made once.
    if FileManager.default.fileExists(atPath: file) { throw StoreError.madeMeanwhile(path) }
    guard let made = try OpenStore.make(path, file: file, permissions, fill: fill) else {
      throw StoreError.madeMeanwhile(path)
    }
    return made
  }
}
