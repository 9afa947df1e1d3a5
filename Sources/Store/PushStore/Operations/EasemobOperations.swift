public import PushModel

/// What Easemob's clients receive for one silent mode, their `SilentModeResult`.
public struct SilentMode: Hashable, Sendable {
  /// nil for the app level.
  public let conversation: Identifier?
  /// The level of this scope itself; unset inherits (E-3).
  public let level: NotificationLevel
  /// When the duration is over, zero for none: absolute, however it was written (E-6).
  public let mutedUntil: Instant
  /// On the app level only (E-4); nil when not set.
  public let interval: QuietInterval?

  /// A silent mode of the given parts; nothing is set without them.
  public init(
    conversation: Identifier? = nil, level: NotificationLevel = .unset,
    mutedUntil: Instant = .zero, interval: QuietInterval? = nil
  ) {
    self.conversation = conversation
    self.level = level
    self.mutedUntil = mutedUntil
    self.interval = interval
  }
}

/// Easemob's settings operations.
///
/// All throw ``StoreError/otherRules(_:)`` under RongCloud's rules, and of a conversation
/// ``StoreError/unknownConversation(_:)``, ``StoreError/wrongKind(_:_:)`` for a chat room (E-1) or
/// ``StoreError/notAMember(user:conversation:)``; then nothing has changed. Only a real change is
/// written and announced (E-13).
///
/// - Complexity: O(devices) to write a user, O(1) to write a member.
extension StoreWrite {
  /// Writes the app's silent mode: level, duration and interval, of which what is nil stays (E-2).
  ///
  /// Easemob's `setSilentModeForAll`. A duration counts from ``now`` (E-5); DEFAULT is void, which
  /// is unset (E-3). A user never declared is made.
  ///
  /// - Throws: ``SettingsWriteError/levelNotAvailable(_:_:)``.
  public mutating func setSilentMode(_ mode: SilentModeWrite, of user: Identifier) throws {
    try queries.require(.easemob)
    let now = now
    try change(user) { try mode.apply(to: &$0, now: now) }
  }

  /// Writes a conversation's silent mode: level and duration, of which what is nil stays (E-2).
  ///
  /// Easemob's `setSilentModeForConversation`. DEFAULT is unset, so that the app's level decides
  /// (E-3). A thread has settings of its own for the members of its parent (E-63).
  ///
  /// - Returns: what had no effect: quiet hours, which only the app level has (E-4).
  /// - Throws: ``SettingsWriteError/levelNotAvailable(_:_:)``.
  @discardableResult
  public mutating func setSilentMode(
    _ mode: SilentModeWrite, of user: Identifier, in conversation: Identifier
  ) throws -> [SilentModeWrite.Ignored] {
    try queries.require(.easemob)
    let now = now
    return try change(user, in: conversation) { try mode.apply(to: &$0, now: now) }
  }

  /// Clears the level of a conversation; a running duration stays (E-11).
  ///
  /// Easemob's `clearRemindTypeForConversation`.
  public mutating func clearLevel(of user: Identifier, in conversation: Identifier) throws {
    try queries.require(.easemob)
    try change(user, in: conversation) { $0.clearLevel() }
  }

  // MARK: Older clients

  /// Writes the quiet hours of clients before quiet hours had minutes, two whole hours (E-15).
  ///
  /// Easemob's `notification_no_disturbing_start` and `_end`, 0 through 24; 0 and 24 are all day.
  ///
  /// - Throws: ``SettingsWriteError/legacyHourOutOfRange(_:)``.
  public mutating func setLegacyNoDisturbing(
    startHour: Int, endHour: Int, of user: Identifier
  ) throws {
    let interval = try QuietInterval.legacy(noDisturbingStart: startHour, noDisturbingEnd: endHour)
    try setSilentMode(SilentModeWrite(interval: .set(interval)), of: user)
  }

  /// Puts conversations on the old list of groups or users without push, which is level none, or
  /// takes them off it (E-15).
  ///
  /// Easemob's `updatePushServiceForGroups` and `updatePushServiceForUsers`. Taken off, a
  /// conversation of level none inherits again, and one of another level, which was not on the
  /// list, keeps it.
  ///
  /// - Complexity: O(conversations).
  public mutating func setLegacyNoPush(
    _ isListed: Bool, of user: Identifier, in conversations: [Identifier]
  ) throws {
    try queries.require(.easemob)
    // All are looked at before one is changed, in case the caller goes on after an error.
    for conversation in conversations {
      _ = try queries.ownSettings(of: user, in: conversation)
    }
    for conversation in conversations {
      try change(user, in: conversation) { member in
        if isListed {
          member.level = MemberSettings.legacyNoPush.level
        } else if member.level == MemberSettings.legacyNoPush.level {
          member.clearLevel()
        }
      }
    }
  }
}

extension SettingsStore {
  /// The app's silent mode of a user, empty for one who has set nothing.
  ///
  /// Easemob's `getSilentModeForAll`.
  ///
  /// - Throws: ``StoreError/otherRules(_:)``.
  public func silentMode(of user: Identifier) throws -> SilentMode {
    try read { queries in
      try queries.require(.easemob)
      let user = try queries.user(user) ?? UserSettings()
      var interval: QuietInterval?
      if case .interval(let own) = user.quietHours { interval = own }
      return SilentMode(level: user.level, mutedUntil: user.mutedUntil, interval: interval)
    }
  }

  /// The silent mode of a conversation as it is stored, also when its duration is over (E-6).
  ///
  /// Easemob's `getSilentModeForConversation`.
  ///
  /// - Throws: as the write.
  public func silentMode(of user: Identifier, in conversation: Identifier) throws -> SilentMode {
    try read { queries in
      try queries.require(.easemob)
      return SilentMode(conversation, try queries.ownSettings(of: user, in: conversation))
    }
  }

  /// The silent modes of up to twenty conversations, in the order asked for, without those that
  /// inherit or have expired (E-10).
  ///
  /// Easemob's `getSilentModeForConversations`. A conversation that the user can set nothing for, a
  /// chat room or one of others, inherits too and is left out, so that one conversation that has
  /// ended does not fail the rest.
  ///
  /// - Throws: ``SettingsWriteError/tooManyConversations(_:)``, which counts repeated ones, and
  ///   ``StoreError/otherRules(_:)``.
  public func silentModes(
    of user: Identifier, in conversations: [Identifier], at now: Instant
  ) throws -> [SilentMode] {
    try BatchedRead.check(conversationCount: conversations.count)
    return try read { queries in
      try queries.require(.easemob)
      return try conversations.compactMap { conversation in
        do {
          let own = try queries.ownSettings(of: user, in: conversation)
          return own.isLeftOutOfBatchedRead(at: now) ? nil : SilentMode(conversation, own)
        } catch StoreError.unknownConversation, StoreError.wrongKind, StoreError.notAMember {
          return nil
        }
      }
    }
  }
}

extension SilentMode {
  fileprivate init(_ conversation: Identifier, _ own: MemberSettings) {
    self.init(conversation: conversation, level: own.level, mutedUntil: own.mutedUntil)
  }
}
