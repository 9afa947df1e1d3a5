/// An immutable version of everything that a decision depends on. Any thread may read it.
///
/// SAFETY: ``PageReclaimer`` frees its pages once no version that reads them exists.
final class EngineVersion: @unchecked Sendable {
  let tables: Tables
  /// The changes of members' settings up to this version.
  let log: SettingsLog
  /// The number of the update that made the settings.
  let number: UInt64
  /// The engine's ``Fanout/epoch``.
  let epoch: UInt64
  /// The newest generation of pages that it reads.
  let generation: UInt64
  /// The conversations of each user.
  let memberships: Memberships
  /// The devices of users.
  let deviceReader: DeviceReader
  private let reclaimer: PageReclaimer
  /// The presence of users; nil except in a timeline that replays presence.
  let online: OnlineUsers?
  /// The version whose pages it reads; nil for one of its own.
  private let base: EngineVersion?

  /// The version that a writer has made.
  init(
    _ writer: TableWriter, number: UInt64, epoch: UInt64, generation: UInt64,
    _ memberships: Memberships, _ reclaimer: PageReclaimer
  ) {
    tables = Tables(copying: writer.tables)
    deviceReader = tables.deviceReader
    log = writer.log
    self.number = number
    self.epoch = epoch
    self.generation = generation
    self.memberships = memberships
    self.reclaimer = reclaimer
    online = nil
    base = nil
  }

  /// A version with the presence of users.
  init(_ base: EngineVersion, online: OnlineUsers) {
    tables = base.tables
    deviceReader = base.deviceReader
    log = base.log
    number = base.number
    epoch = base.epoch
    generation = base.generation
    memberships = base.memberships
    reclaimer = base.reclaimer
    self.online = online
    self.base = base
  }

  deinit { if base == nil { reclaimer.end(generation) } }

  /// What device a user has beside those of the settings.
  func presence(of user: UInt32) -> UserPresence { online?.presence(of: user) ?? .none }
}
