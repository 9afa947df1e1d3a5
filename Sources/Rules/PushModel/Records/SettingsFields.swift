// The stored properties of settings as tuples. Code that must handle each of them destructures the
// tuple, so that the compiler names that code when a property is added.

extension UserSettings {
  /// Every stored property, in the order of declaration.
  @inlinable package var fields:
    (
      level: NotificationLevel, quietHours: QuietHours?, timeZone: String?, mutedUntil: Instant,
      levels: KindLevels, pushWhenDesktopOnline: Bool, localInformationMissing: Bool,
      localHandledByApp: Bool, mutedAllow: MessageClasses, allowForce: Bool, keywords: [String],
      importantSenders: [Identifier], blockedSenders: [Identifier], devices: [Device]?
    )
  {
    (
      level, quietHours, timeZone, mutedUntil, levels, pushWhenDesktopOnline,
      localInformationMissing, localHandledByApp, mutedAllow, allowForce, keywords,
      importantSenders, blockedSenders, devices
    )
  }
}

extension MemberSettings {
  /// Every stored property, in the order of declaration.
  @inlinable package var fields:
    (
      level: NotificationLevel, mutedUntil: Instant, isImportant: Bool, isFollowing: Bool?,
      since: Instant, channels: [Identifier: NotificationLevel], roles: [Identifier]
    )
  {
    (level, mutedUntil, isImportant, isFollowing, since, channels, roles)
  }
}
