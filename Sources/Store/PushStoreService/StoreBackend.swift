public import PushContent
public import PushFanout
public import PushModel
public import PushService
public import PushStore

/// A store behind a service: changes are on the disk when they are acknowledged, and the feed is
/// that of the store.
///
///     let store = try SettingsStore("app.store", .create)
///     let service = try FanoutService(StoreBackend(store))
public struct StoreBackend: SettingsBackend {
  /// The store that keeps the settings.
  public let store: SettingsStore

  /// - Precondition: the store was opened with its engine, as the public initializers do.
  public init(_ store: SettingsStore) { self.store = store }

  /// The store's engine, which follows its writes.
  public var engine: Fanout { store.fanout }

  /// How pushes look, as stored; O(records), as all of them are read.
  public func content() throws -> ContentDirectory { try store.reader.contentDirectory() }

  /// The store's renderer, which follows its writes; nil for a store that was opened for reading.
  public func liveRenderer() throws -> LiveRenderer? {
    do { return try store.liveRenderer() } catch StoreError.readOnly { return nil }
  }

  /// Applies a batch in one transaction, on the calling thread.
  public func apply(_ batch: SettingsBatch, at now: Instant, from device: Identifier?) throws {
    try store.write(at: now, from: device) { write in try Self.apply(batch, to: &write) }
  }

  /// The same, without blocking a thread.
  public func apply(
    _ batch: SettingsBatch, at now: Instant, from device: Identifier?
  ) async throws {
    try await store.write(at: now, from: device) { write in try Self.apply(batch, to: &write) }
  }

  /// What the feed knows of changes after an instant.
  public func changes(
    after sent: Instant, of user: Identifier, in conversations: [Identifier]
  ) throws -> String? {
    try store.reader.changes(after: sent, of: user, in: conversations).text(after: sent)
  }

  /// Entries of the store's change feed after a cursor, the oldest first.
  ///
  /// - Parameters:
  ///   - cursor: ``ServiceEvent/cursor`` of the last entry that was dealt with; "0" for the beginning.
  ///   - limit: how many entries at most.
  /// - Throws: ``ServiceError/unknownCursor(_:)`` for a text that is no cursor, and a `StoreError` when
  ///   the feed does not have that entry, so that nothing is missed unknowingly.
  public func events(after cursor: String = "0", limit: Int = 1000) throws -> [ServiceEvent] {
    guard let cursor = FeedCursor(cursor) else { throw ServiceError.unknownCursor(cursor) }
    return try store.changes(after: cursor, limit: max(0, limit)).map { ServiceEvent($0) }
  }

  /// Records are imported, which checks references between them and with the stored settings.
  private static func apply(_ batch: SettingsBatch, to write: inout StoreWrite) throws {
    let settings = batch.settings
    if batch.replacesApp || settings.userCount > 0 || !settings.conversationIDs.isEmpty {
      try write.add(settings, content: batch.content, replacingApp: batch.replacesApp)
    }
    for member in batch.removedMembers {
      try write.removeMember(member.user, of: member.conversation)
    }
  }
}

extension ServiceEvent {
  /// An entry of a store's feed.
  public init(_ event: ChangeEvent) {
    self.init(
      sequence: event.sequence, cursor: event.cursor.description, at: event.at,
      change: event.change.rawValue, user: event.user, conversation: event.conversation,
      channel: event.channel, device: event.device, old: event.old, new: event.new)
  }
}
