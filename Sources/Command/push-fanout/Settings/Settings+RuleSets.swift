import PushModel
import PushStore

// The operations of each vendor behind `settings get`, `set` and `clear`.

extension SettingsStore {
  /// What a user has set in one scope, under the store's rules.
  func setting(of user: Identifier, _ scope: SettingScope) throws -> OwnSetting {
    switch (try reader.app().rules, scope) {
    case (.easemob, .user): OwnSetting(user, try silentMode(of: user), try timeZone(of: user))
    case (.easemob, .conversation(let id)): OwnSetting(user, try silentMode(of: user, in: id))
    case (.rongcloud, .user):
      OwnSetting(
        user, try quietHours(of: user), try ownKindLevels(of: user), try timeZone(of: user),
        pushWhenDesktopOnline: try pushWhenDesktopOnline(of: user))
    case (.rongcloud, .conversation(let id)):
      OwnSetting(user, try notificationLevel(of: user, in: id), conversation: id)
    // With the other vendor's rules, these throw.
    case (_, .channel(let id, let channel)):
      OwnSetting(
        user, try notificationLevel(of: user, in: id, channel: channel), conversation: id,
        channel: channel)
    case (_, .kind(let kind)):
      OwnSetting(user, try notificationLevel(of: user, forType: kind), kind: kind)
    }
  }

  private func timeZone(of user: Identifier) throws -> String? {
    try reader.user(user)?.timeZone
  }

  private func ownKindLevels(
    of user: Identifier
  ) throws -> [ConversationKind: NotificationLevel] {
    var levels: [ConversationKind: NotificationLevel] = [:]
    for kind in ConversationKind.allCases where kind.exists(under: .rongcloud) {
      levels[kind] = try notificationLevel(of: user, forType: kind)
    }
    return levels
  }
}

extension SettingsSet {
  /// Writes the settings of the flags.
  ///
  /// - Returns: whether quiet hours were ignored.
  func write(_ store: SettingsStore, _ user: Identifier, _ rules: RuleSet) throws -> Bool {
    switch rules {
    case .easemob: return try writeEasemob(store, user)
    case .rongcloud:
      try writeRongCloud(store, user)
      return false
    }
  }

  private func writeEasemob(_ store: SettingsStore, _ user: Identifier) throws -> Bool {
    guard scopeOptions.channel == nil, scopeOptions.type == nil, quietLevel == nil,
      quietZone == nil, pushWhenDesktopOnline == nil
    else {
      throw StoreError.otherRules(.easemob)
    }
    var mode = SilentModeWrite(
      level: try level?.level(.easemob), duration: try minutes.map { try MuteDuration(minutes: $0) }
    )
    if let quiet { mode.interval = try QuietText(quiet)?.interval() }
    if removeQuiet { mode.interval = .remove }
    let (made, conversation) = (mode, scopeOptions.conversation.map { Identifier($0) })
    let (zone, setsZone) = (timeZone, setsZone)
    return try store.write(at: try writing.now, from: writing.device) { write in
      var ignored: [SilentModeWrite.Ignored] = []
      if let conversation {
        ignored = try write.setSilentMode(made, of: user, in: conversation)
      } else {
        try write.setSilentMode(made, of: user)
      }
      if setsZone { try write.setTimeZone(zone, of: user) }
      return !ignored.isEmpty
    }
  }

  private func writeRongCloud(_ store: SettingsStore, _ user: Identifier) throws {
    if minutes != nil { throw StoreError.otherRules(.rongcloud) }
    let scope = scopeOptions.scope
    if quiet != nil || removeQuiet, scopeOptions.conversation != nil || scopeOptions.type != nil {
      throw Failure(
        text: "quiet hours are the user's under rongcloud; leave out --conversation, --channel "
          + "and --type")
    }
    if level != nil, case .user = scope {
      throw Failure(
        text: "a user has no level of all under rongcloud; name --conversation or --type")
    }
    let level = try self.level?.level(.rongcloud)
    let span = try quiet.flatMap { QuietText($0) }?.span()
    let quietLevel = try self.quietLevel?.level(.rongcloud) ?? .unset
    let (quietZone, removesQuiet) = (quietZone, removeQuiet)
    let (zone, setsZone) = (timeZone, setsZone)
    let pushWhenDesktopOnline = pushWhenDesktopOnline.map { $0 == .on }
    try store.write(at: try writing.now, from: writing.device) { write in
      if let pushWhenDesktopOnline {
        try write.setPushWhenDesktopOnline(pushWhenDesktopOnline, of: user)
      }
      if let level { try write.setLevel(level, of: user, scope) }
      if let span {
        try write.setQuietHours(
          start: span.start, spanMinutes: span.minutes, level: quietLevel, timeZone: quietZone,
          of: user)
      }
      if removesQuiet { try write.removeQuietHours(of: user) }
      if setsZone { try write.setTimeZone(zone, of: user) }
    }
  }
}

extension StoreWrite {
  /// Takes a setting back.
  mutating func clear(
    _ scope: SettingScope, of user: Identifier, clearsQuiet: Bool, _ rules: RuleSet
  ) throws {
    switch (rules, scope) {
    case (.easemob, .conversation(let id)): try clearLevel(of: user, in: id)
    case (.easemob, .user) where clearsQuiet:
      try setSilentMode(SilentModeWrite(interval: .remove), of: user)
    case (.rongcloud, .user) where clearsQuiet: try removeQuietHours(of: user)
    default: try setLevel(.removed, of: user, scope)
    }
  }
}
