internal import Foundation
internal import GRDB
internal import PushFanout
public import PushModel
internal import PushSupport
internal import QuietTime

/// Rebuilds a store from the snapshot beside it when the store itself is lost: its file is gone or
/// empty, and there is no backup.
///
/// A snapshot has what decides: the app's settings, users with their devices, conversations and
/// members, as of one change. How pushes look (``StoreWrite`` calls it display), names of
/// conversations and nicknames, tokens of devices, and the change feed are not in it.
public struct StoreRebuild: Sendable {
  /// The path of the store that is lost.
  public let path: String
  private let file: String
  private let info: SnapshotInfo

  /// The number of the last change that the snapshot has.
  public var sequence: UInt64 { info.sequence }

  /// - Throws: ``StoreError/exists(_:)`` where there is a file that is not empty: move it away
  ///   first; ``StoreError/otherFormat(_:_:)`` where that is a store of another format;
  ///   ``StoreError/strayLog(_:)`` for a log that is left; `SnapshotError` without a snapshot.
  public init(fromSnapshotOf path: String) throws {
    self.path = path
    file = try StoreName.file(path)
    try Self.checkNothingIsLost(path, file)
    info = try SnapshotInfo(path: SnapshotKeeper.path(file))
  }

  /// What is to be removed when the process ends before ``run(at:)`` does.
  public var temporaryNames: [String] { TemporaryStore.names(for: file) }

  /// Makes the store; it appears when it is complete and on the disk. Its feed starts over, with
  /// one entry, ``Change/imported``.
  ///
  /// - Parameter progress: called now and then with the share of the records that is written, 0...1.
  /// - Returns: the settings that it has.
  /// - Throws: `SnapshotError` for one that is damaged, ``StoreError``; then nothing was changed.
  /// - Complexity: O(settings).
  public func run(
    at now: Instant, progress: @escaping (Double) -> Void = { _ in }
  ) throws -> FanoutSettings {
    let settings = try self.settings()
    let temporary = try TemporaryStore(for: file, path: path, FileAccess(.owner))
    defer {
      temporary.remove()
      temporary.right.release()
    }
    try StoreFile.errors(path) {
      try NewStore.fill(temporary.name) { db in
        var write = StoreWrite(SettingsQueries(db: db, path: path), at: now, from: nil)
        write.unknownZones = .refuse
        try write.add(settings, replacingApp: true, progress: progress)
      }
    }
    if try Self.checkNothingIsLost(path, file) {
      // Nothing is replaced but the name of no bytes.
      try temporary.replace(file)
    } else if try !temporary.rename(to: file) {
      throw StoreError.madeMeanwhile(path)
    }
    return settings
  }

  /// - Returns: whether there is a file, which is empty then.
  @discardableResult private static func checkNothingIsLost(
    _ path: String, _ file: String
  ) throws -> Bool {
    let status = StoreInode.status(file)
    if let status, status.st_size > 0 {
      // A store of another format is not lost, and has a way of its own.
      do { try OpenStore(reading: path).close() } catch let error as StoreError {
        if case .otherFormat = error { throw error }
      }
      throw StoreError.exists(path)
    }
    try StoreFile.checkNoLog(beside: file)
    return status != nil
  }

  private func settings() throws -> FanoutSettings {
    let fanout = try Fanout(
      snapshot: SnapshotKeeper.path(file), identity: info.identity, threads: nil,
      acceptsOtherTimeZoneData: true, unknownZones: .refuse)
    let version = fanout.currentVersion
    var settings = FanoutSettings(app: fanout.app)
    version.forEachUser { if !AnonymousID.contains($0) { settings.setUser($0, $1) } }
    version.forEachConversation { id, conversation in
      if AnonymousID.contains(id) { return }
      settings.setConversation(id, conversation)
      version.forEachMember(of: id) { settings.setMember($0, of: id, $1) }
    }
    return settings
  }
}

/// What an erased id is called from then on: drawn, and in no relation to it.
enum AnonymousID {
  private static let prefix = "\0erased-"

  static func random() -> Identifier {
    let hex = (0..<2).map { _ in
      let digits = String(UInt64.random(in: .min ... .max), radix: 16)
      return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
    return Identifier(prefix + hex.joined())
  }

  static func contains(_ id: Identifier) -> Bool { id.text.utf8.starts(with: prefix.utf8) }
}
