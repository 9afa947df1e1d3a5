internal import Foundation
internal import GRDB
internal import Glibc
public import PushContent
public import PushRules
internal import QuietTime

extension StoreWrite {
  /// Adds many records at once; one that is there with the same key is replaced whole, as in files.
  ///
  /// The change feed gets one entry, ``Change/imported``, which concerns everybody.
  ///
  /// - Parameters:
  ///   - settings: the records. Its app's rules must be those of the store.
  ///   - content: how pushes look by these records, which is replaced with them; nil leaves it.
  ///   - replacingApp: whether the app's settings are replaced too.
  ///   - progress: called now and then with the share that is written, 0...1.
  /// - Throws: ``StoreError/rulesDiffer(store:settings:)``, ``StoreError/idLength(_:)``,
  ///   ``StoreError/unknownTimeZone(_:)`` or ``SettingsWriteError/badgeOutOfRange(_:)``.
  /// - Complexity: O(records).
  public mutating func add(
    _ settings: FanoutSettings, content: ContentDirectory? = nil, replacingApp: Bool,
    progress: @escaping (Double) -> Void = { _ in }
  ) throws {
    let stored = try rows.app().rules
    if stored != settings.app.rules {
      let isEmpty = try !rows.hasRecords()
      guard replacingApp, isEmpty else {
        throw StoreError.rulesDiffer(store: stored, settings: settings.app.rules)
      }
    }
    try check(settings)
    if replacingApp { try rows.write(settings.app) }
    var bulk = BulkImport(rows, settings, progress)
    try bulk.run()
    if let content { try rows.write(content, for: settings) }
    steps.append(.imported(settings, replacingApp: replacingApp))
    try record(.imported)
  }

  private func check(_ settings: FanoutSettings) throws {
    var zones: Set<String> = []
    func checkOnce(zone: String?) throws {
      if let zone, zones.insert(zone).inserted { try check(zone: zone) }
    }
    try checkOnce(zone: settings.app.timeZone)
    for place in 0..<UInt32(settings.userCount) {
      try check(settings.id(of: UserIndex(place)))
      guard settings.isDeclared(UserIndex(place)) else { continue }
      let user = settings.user(UserIndex(place))
      try checkOnce(zone: user.timeZone)
      if case .span(let span) = user.quietHours { try checkOnce(zone: span.timeZone) }
      try check(devices: user.devices)
    }
    for id in settings.conversationIDs {
      try check(id)
      guard let record = settings.conversation(id) else { continue }
      if let parent = record.parent { try check(parent) }
      for channel in record.channels.keys { try check(channel, canBeEmpty: true) }
      guard record.kind == .ultraGroup else { continue }
      for user in settings.members(of: id) {
        for channel in settings.member(user, of: id)?.channels.keys ?? [:].keys {
          try check(channel, canBeEmpty: true)
        }
      }
    }
  }
}

extension Rows {
  /// Whether there is a user or a conversation.
  func hasRecords() throws -> Bool {
    try Bool.fetchOne(
      db, sql: "SELECT EXISTS (SELECT 1 FROM users) OR EXISTS (SELECT 1 FROM conversations)")
      ?? false
  }
}

extension SettingsStore {
  /// Adds many records at once: all of them become durable and visible together, or none does.
  ///
  /// A record that is there with the same key is replaced whole, as in files; the others stay. The
  /// change feed gets one entry, ``Change/imported``, which concerns everybody.
  ///
  /// - Parameters:
  ///   - settings: the records. Its app's rules must be those of the store.
  ///   - content: how pushes look by these records, which is replaced with them; nil leaves it.
  ///   - now: when the import is made.
  ///   - replacingApp: whether the app's settings are replaced too.
  /// - Throws: ``StoreError``; then nothing was imported.
  /// - Complexity: O(records). Other writes wait for it, decisions do not. A new snapshot is written
  ///   afterwards, beside other work.
  public func importSettings(
    _ settings: FanoutSettings, content: ContentDirectory? = nil, at now: Instant,
    replacingApp: Bool = true
  ) throws {
    try write(at: now) { try $0.add(settings, content: content, replacingApp: replacingApp) }
  }
}

/// An import into a store that nobody has open for writing, without an engine that follows.
///
/// A store that is not there is made, and appears under its name when it is complete. A snapshot that
/// is there is of no use afterwards; ``SettingsStore/writeSnapshot()`` writes another.
public struct StoreImport: Sendable {
  public let path: String
  private let exists: Bool
  private let temporary: String

  public init(_ path: String) {
    self.path = path
    exists = FileManager.default.fileExists(atPath: path)
    temporary = "\(path).\(getpid()).part"
  }

  /// What is to be removed when the process ends before ``run(_:at:replacingApp:progress:)`` does.
  public var temporaryNames: [String] { exists ? [] : TemporaryStore.names(temporary) }

  /// - Parameters: as for ``SettingsStore/importSettings(_:content:at:replacingApp:)``.
  /// - Throws: ``StoreError``; then nothing was imported.
  public func run(
    _ settings: FanoutSettings, content: ContentDirectory? = nil, at now: Instant,
    replacingApp: Bool, progress: @escaping (Double) -> Void = { _ in }
  ) throws {
    guard !exists else {
      return try add(settings, content, now, replacingApp, progress, to: path, .write)
    }
    let lock = try WriterLock(store: path)
    defer {
      TemporaryStore.remove(temporary)
      lock.release()
    }
    TemporaryStore.remove(temporary)
    try add(settings, content, now, replacingApp, progress, to: temporary, .create)
    try TemporaryStore.rename(temporary, to: path)
  }

  private func add(
    _ settings: FanoutSettings, _ content: ContentDirectory?, _ now: Instant, _ replacingApp: Bool,
    _ progress: @escaping (Double) -> Void, to path: String, _ access: SettingsStore.Access
  ) throws {
    let opened = try StoreFile.open(path, access)
    defer { opened.lock?.release() }
    // Refusals are of the store that was named.
    try StoreFile.errors(self.path) {
      try opened.pool.write { db in
        // Room for what an import touches again and again, given back with the connection.
        try db.execute(sql: "PRAGMA cache_size = -262144")
        var write = StoreWrite(Rows(db: db, path: self.path), at: now, from: nil)
        try write.add(
          settings, content: content, replacingApp: replacingApp, progress: progress)
      }
      try StoreFile.close(opened.pool)
    }
  }
}

/// A store that is not complete, beside the name it is to get.
enum TemporaryStore {
  /// The files that SQLite and the lock make for a store.
  static func names(_ path: String) -> [String] {
    ["", "-wal", "-shm", "-journal", ".lock"].map { path + $0 }
  }

  static func remove(_ path: String) {
    for name in names(path) { _ = unsafe unlink(name) }
  }

  /// Gives a complete store its name, so that it has it after a crash too.
  static func rename(_ temporary: String, to path: String) throws {
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    try sync(temporary)
    guard unsafe Glibc.rename(temporary, path) == 0 else { throw failure(path) }
    try sync(folder)
  }

  private static func sync(_ path: String) throws {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(path) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw failure(path) }
  }

  private static func failure(_ path: String) -> StoreError {
    .database(path, reason: unsafe String(cString: strerror(errno)))
  }
}
