/// Tells which records of settings are partial, and completes them.
///
/// Some formats do not have all fields of a record. An import leaves the fields that such a record
/// lacks as they are stored.
public protocol PartialRecords: Sendable {
  /// Whether the record of a user is partial.
  func isPartial(_ user: UserIndex, in settings: FanoutSettings) -> Bool

  /// Whether the record of a member is partial.
  func isPartial(
    _ user: UserIndex, of conversation: Identifier, in settings: FanoutSettings
  ) -> Bool

  /// Fills the partial records with what is stored.
  ///
  /// - Throws: what `stored` throws.
  func complete(_ settings: inout FanoutSettings, from stored: some StoredRecords) throws
}

/// Records that are stored, as far as ``PartialRecords`` ask for them.
public protocol StoredRecords {
  /// The record of a user; nil for none.
  func user(_ id: Identifier) throws -> UserSettings?

  /// The record of a member; nil for none.
  func member(_ user: Identifier, of conversation: Identifier) throws -> MemberSettings?

  /// Whether there is any record of a user or a conversation.
  func hasRecords() throws -> Bool

  /// Whether any user has devices of their own, or one of `fields`.
  func hasUsers(withDevicesOr fields: VendorFields) throws -> Bool

  /// Calls `body` with every level that a member has set for a channel.
  func forEachChannelLevel(
    _ body: (
      _ user: Identifier, _ conversation: Identifier, _ channel: Identifier, NotificationLevel
    ) throws -> Void
  ) throws
}
