internal import Foundation
internal import GRDB
internal import Glibc
public import PushContent
public import PushRules

/// An import into a store that nobody has open for writing, without an engine that follows.
///
/// A store that is not there is made, and appears under its name when it is complete. A snapshot that
/// is there is of no use afterwards; ``SettingsStore/writeSnapshot()`` writes another.
public struct StoreImport: Sendable {
  public let path: String
  /// Whether there is no store yet. It is looked at once: when there is one by the time of the
  /// import, what was read without it is refused.
  public let isNew: Bool
  private let temporary: String

  /// - Throws: ``StoreError/strayLog(_:)`` where only the log of a store is left.
  public init(_ path: String) throws {
    self.path = path
    isNew = !FileManager.default.fileExists(atPath: path)
    temporary = "\(path).\(getpid()).part"
    if isNew { try StoreFile.checkNoLog(beside: path) }
  }

  /// What is to be removed when the process ends before
  /// ``run(_:content:at:replacingApp:progress:)`` does.
  public var temporaryNames: [String] { isNew ? TemporaryStore.names(temporary) : [] }

  /// - Parameters: as for ``SettingsStore/importSettings(_:content:at:replacingApp:)``.
  /// - Throws: ``StoreError``, ``StoreError/madeMeanwhile(_:)`` among them; then nothing was imported.
  public func run(
    _ settings: FanoutSettings, content: ContentDirectory? = nil, at now: Instant,
    replacingApp: Bool, progress: @escaping (Double) -> Void = { _ in }
  ) throws {
    guard isNew else {
      return try addToStore(settings, content, now, replacingApp, progress)
    }
    let lock = try WriterLock(store: path)
    defer {
      TemporaryStore.remove(temporary)
      lock.release()
    }
    if FileManager.default.fileExists(atPath: path) { throw StoreError.madeMeanwhile(path) }
    try StoreFile.checkNoLog(beside: path)
    TemporaryStore.remove(temporary)
    try StoreFile.errors(path) {
      try NewStore.fill(temporary) { db in
        try add(settings, content, now, replacingApp, progress, db)
      }
    }
    guard try TemporaryStore.rename(temporary, to: path) else {
      throw StoreError.madeMeanwhile(path)
    }
  }

  private func addToStore(
    _ settings: FanoutSettings, _ content: ContentDirectory?, _ now: Instant, _ replacingApp: Bool,
    _ progress: @escaping (Double) -> Void
  ) throws {
    let opened = try StoreFile.open(path, .write)
    defer { opened.lock?.release() }
    try StoreFile.errors(path) {
      try opened.pool.write { db in
        // Given back with the connection.
        try NewStore.makeRoom(db)
        try add(settings, content, now, replacingApp, progress, db)
      }
      try StoreFile.close(opened.pool)
    }
  }

  private func add(
    _ settings: FanoutSettings, _ content: ContentDirectory?, _ now: Instant, _ replacingApp: Bool,
    _ progress: @escaping (Double) -> Void, _ db: Database
  ) throws {
    var write = StoreWrite(Rows(db: db, path: path), at: now, from: nil)
    try write.add(settings, content: content, replacingApp: replacingApp, progress: progress)
  }
}
