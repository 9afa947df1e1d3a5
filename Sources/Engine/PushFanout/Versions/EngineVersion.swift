/// An immutable version of all that decisions depend on, for any thread.
///
/// SAFETY: ``PageReclaimer`` frees pages once no version reads them.
final class EngineVersion: @unchecked Sendable {
  let tables: Tables
  /// The changes up to this version.
  let log: SettingsLog
  /// The update's number.
  let number: UInt64
  /// The number of the last update that was not of heartbeats.
  let settingsVersion: UInt64
  let epoch: UInt64
  /// The newest generation of pages that it reads.
  let generation: UInt64
  /// See ``MemoryReport/unused``.
  let unusedBytes: Int
  let memberships: Memberships
  let deviceReader: DeviceReader
  private let reclaimer: PageReclaimer
  /// Nil except in timelines that replay presence.
  let online: OnlineUsers?
  /// The version that owns the pages; nil for this one.
  private let base: EngineVersion?

  init(
    _ writer: TableWriter, number: UInt64, settingsVersion: UInt64, epoch: UInt64,
    generation: UInt64,
    _ memberships: Memberships, _ reclaimer: PageReclaimer
  ) {
    tables = Tables(copying: writer.tables)
    deviceReader = tables.deviceReader
    log = writer.log
    unusedBytes = writer.replaced.unusedBytes
    self.number = number
    self.settingsVersion = settingsVersion
    self.epoch = epoch
    self.generation = generation
    self.memberships = memberships
    self.reclaimer = reclaimer
    online = nil
    base = nil
  }

  init(_ base: EngineVersion, online: OnlineUsers) {
    tables = base.tables
    deviceReader = base.deviceReader
    log = base.log
    number = base.number
    settingsVersion = base.settingsVersion
    epoch = base.epoch
    generation = base.generation
    unusedBytes = base.unusedBytes
    memberships = base.memberships
    reclaimer = base.reclaimer
    self.online = online
    self.base = base
  }

  deinit { if base == nil { reclaimer.end(generation) } }

  /// The device that a user has by presence.
  func presence(of user: UInt32) -> UserPresence { online?.presence(of: user) ?? .none }
}
