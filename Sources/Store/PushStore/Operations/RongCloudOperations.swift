public import PushModel

/// RongCloud's settings operations.
///
/// All throw ``StoreError/otherRules(_:)`` under Easemob's rules, and then, or when they throw
/// anything else, nothing has changed. Removing a level is writing unset, RongCloud's 0, so that
/// the next scope decides; RongCloud's numbers become levels by
/// ``PushModel/NotificationLevel/init(rongCloudNumber:)``, which refuses unknown ones. Only a
/// real change is written and announced.
///
/// - Complexity: O(devices) to write a user, O(channels that the member has set) to write a member.
extension StoreWrite {
  /// Writes a user's level of a conversation; of an ultra group, for all its channels.
  ///
  /// RongCloud's `setConversationNotificationLevel`.
  ///
  /// - Throws: ``StoreError/unknownConversation(_:)``, ``StoreError/wrongKind(_:_:)`` for a chat
  ///   room or ``StoreError/notAMember(user:conversation:)``.
  public mutating func setNotificationLevel(
    _ level: NotificationLevel, of user: Identifier, in conversation: Identifier
  ) throws {
    try queries.require(.rongcloud)
    try change(user, in: conversation) { $0.level = level }
  }

  /// Writes a user's level of an ultra group's channel, `""` being one of them.
  ///
  /// RongCloud's `setConversationChannelNotificationLevel`.
  ///
  /// - Throws: as for a conversation; ``StoreError/wrongKind(_:_:)`` for any other than an ultra
  ///   group; ``StoreError/idLength(_:)``.
  public mutating func setNotificationLevel(
    _ level: NotificationLevel, of user: Identifier, in conversation: Identifier,
    channel: Identifier
  ) throws {
    try queries.require(.rongcloud)
    try queries.requireUltraGroup(conversation)
    try check(channel, canBeEmpty: true)
    try change(user, in: conversation, channel: channel) {
      $0.channels[channel] = level.isSet ? level : nil
    }
  }

  /// Writes a user's level of all conversations of a type. A user never declared is
  /// made.
  ///
  /// RongCloud's `setConversationTypeNotificationLevel`. A level of chat rooms is kept, but nothing
  /// asks for it.
  ///
  /// - Throws: ``StoreError/unavailableKind(_:_:)`` for a thread, which RongCloud does not have
  ///
  public mutating func setNotificationLevel(
    _ level: NotificationLevel, of user: Identifier, forType kind: ConversationKind
  ) throws {
    try queries.require(.rongcloud)
    try queries.require(kind)
    try change(user) { $0.levels[kind] = level }
  }

  // MARK: Quiet hours

  /// Writes a user's quiet hours, which replace the ones there were.
  ///
  /// RongCloud's `setNotificationQuietHours` and `setNotificationQuietHoursLevel`. A user never
  /// declared is made.
  ///
  /// - Parameters:
  ///   - start: `HH:MM:SS` in the window's time zone.
  ///   - spanMinutes: 1...1,439; 0 removes them.
  ///   - level: none, mention or unset.
  ///   - timeZone: an IANA name; nil for the user's.
  /// - Throws: ``SettingsWriteError`` or ``StoreError/unknownTimeZone(_:)``.
  public mutating func setQuietHours(
    start: String, spanMinutes: Int, level: NotificationLevel, timeZone: String? = nil,
    of user: Identifier
  ) throws {
    try queries.require(.rongcloud)
    try check(zone: timeZone)
    try change(user) {
      try $0.setQuietHours(
        start: start, spanMinutes: spanMinutes, level: level, timeZone: timeZone)
    }
  }

  /// Removes a user's quiet hours.
  ///
  /// RongCloud's `removeNotificationQuietHours`.
  public mutating func removeQuietHours(of user: Identifier) throws {
    try queries.require(.rongcloud)
    try change(user) { $0.removeQuietHours() }
  }

  // MARK: Defaults

  /// Writes the default of an ultra group, for members who have set nothing.
  ///
  /// RongCloud's `setUltraGroupConversationDefaultNotificationLevel`.
  ///
  /// - Throws: ``StoreError/unknownConversation(_:)``, or ``StoreError/wrongKind(_:_:)`` for any
  ///   other than an ultra group.
  /// - Complexity: O(channels that have a default).
  public mutating func setDefaultLevel(
    _ level: NotificationLevel, ofUltraGroup group: Identifier
  ) throws {
    try queries.require(.rongcloud)
    var settings = try queries.ultraGroup(group)
    guard settings.level != level else { return }
    settings.level = level
    try setConversation(group, settings, change: .groupDefault)
  }

  /// Writes the default of an ultra group's channel.
  ///
  /// RongCloud's `setUltraGroupConversationChannelDefaultNotificationLevel`.
  ///
  /// - Throws: as for the group; ``StoreError/idLength(_:)``.
  /// - Complexity: O(channels that have a default).
  public mutating func setDefaultLevel(
    _ level: NotificationLevel, ofUltraGroup group: Identifier, channel: Identifier
  ) throws {
    try queries.require(.rongcloud)
    try check(channel, canBeEmpty: true)
    var settings = try queries.ultraGroup(group)
    guard settings.channels[channel] ?? .unset != level else { return }
    settings.channels[channel] = level.isSet ? level : nil
    try setConversation(group, settings, change: .channelDefault, channel: channel)
  }

  /// Writes the level of the App Key, the last that is looked at.
  ///
  /// RongCloud sets it in its console.
  public mutating func setAppKeyLevel(_ level: NotificationLevel) throws {
    try queries.require(.rongcloud)
    var app = try queries.app()
    guard app.level != level else { return }
    app.level = level
    try setApp(app)
  }

  // MARK: Older clients

  /// Writes what a client of two states writes: do not disturb is none, notify is all.
  ///
  /// RongCloud's `setConversationNotificationStatus`.
  ///
  /// - Throws: as ``setNotificationLevel(_:of:in:)``.
  public mutating func setLegacyState(
    _ state: LegacyNotificationState, of user: Identifier, in conversation: Identifier
  ) throws {
    try setNotificationLevel(state.level, of: user, in: conversation)
  }
}

extension SettingsStore {
  /// A user's own level of a conversation, not the effective one.
  ///
  /// RongCloud's `getConversationNotificationLevel`.
  ///
  /// - Throws: as the write.
  public func notificationLevel(
    of user: Identifier, in conversation: Identifier
  ) throws -> NotificationLevel {
    try read { queries in
      try queries.require(.rongcloud)
      return try queries.ownSettings(of: user, in: conversation).level
    }
  }

  /// A user's own level of an ultra group's channel, not the effective one.
  ///
  /// RongCloud's `getConversationChannelNotificationLevel`.
  ///
  /// - Throws: as the write.
  public func notificationLevel(
    of user: Identifier, in conversation: Identifier, channel: Identifier
  ) throws -> NotificationLevel {
    try read { queries in
      try queries.require(.rongcloud)
      try queries.requireUltraGroup(conversation)
      return try queries.ownSettings(of: user, in: conversation).channels[channel] ?? .unset
    }
  }

  /// A user's level of a type of conversation.
  ///
  /// RongCloud's `getConversationTypeNotificationLevel`.
  ///
  /// - Throws: as the write.
  public func notificationLevel(
    of user: Identifier, forType kind: ConversationKind
  ) throws -> NotificationLevel {
    try read { queries in
      try queries.require(.rongcloud)
      try queries.require(kind)
      return try queries.user(user)?.levels[kind] ?? .unset
    }
  }

  /// A user's quiet hours; nil for none.
  ///
  /// RongCloud's `getNotificationQuietHours` and `getNotificationQuietHoursLevel`.
  ///
  /// - Throws: ``StoreError/otherRules(_:)``.
  public func quietHours(of user: Identifier) throws -> QuietSpan? {
    try read { queries in
      try queries.require(.rongcloud)
      guard case .span(let span) = try queries.user(user)?.quietHours else { return nil }
      return span
    }
  }

  /// The default of an ultra group.
  ///
  /// RongCloud's `getUltraGroupConversationDefaultNotificationLevel`.
  ///
  /// - Throws: as the write.
  public func defaultLevel(ofUltraGroup group: Identifier) throws -> NotificationLevel {
    try read { queries in
      try queries.require(.rongcloud)
      return try queries.ultraGroup(group).level
    }
  }

  /// The default of an ultra group's channel.
  ///
  /// RongCloud's `getUltraGroupConversationChannelDefaultNotificationLevel`.
  ///
  /// - Throws: as the write.
  /// - Complexity: O(channels that have a default).
  public func defaultLevel(
    ofUltraGroup group: Identifier, channel: Identifier
  ) throws -> NotificationLevel {
    try read { queries in
      try queries.require(.rongcloud)
      return try queries.ultraGroup(group).channels[channel] ?? .unset
    }
  }

  /// The level of the App Key.
  ///
  /// - Throws: ``StoreError/otherRules(_:)``.
  public func appKeyLevel() throws -> NotificationLevel {
    try read { queries in
      try queries.require(.rongcloud)
      return try queries.app().level
    }
  }

  /// What a two-state client reads: all and unset notify, every other level does not.
  ///
  /// RongCloud's `getConversationNotificationStatus`.
  ///
  /// - Throws: as ``notificationLevel(of:in:)``.
  public func legacyState(
    of user: Identifier, in conversation: Identifier
  ) throws -> LegacyNotificationState {
    LegacyNotificationState(reading: try notificationLevel(of: user, in: conversation))
  }
}

extension SettingsQueries {
  /// - Throws: ``StoreError/unknownConversation(_:)`` or ``StoreError/wrongKind(_:_:)``.
  fileprivate func requireUltraGroup(_ id: Identifier) throws {
    guard let (kind, _) = try self.kind(of: id) else { throw StoreError.unknownConversation(id) }
    guard kind == .ultraGroup else { throw StoreError.wrongKind(id, kind) }
  }

  fileprivate func ultraGroup(_ id: Identifier) throws -> ConversationSettings {
    try requireUltraGroup(id)
    guard let settings = try conversation(id) else { throw StoreError.unknownConversation(id) }
    return settings
  }
}
