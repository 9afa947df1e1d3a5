import PushModel
import PushStore

// The operations of each rule set behind `settings get`, `set` and `clear`.

extension SettingsStore {
  /// Prints what a user has set in one scope.
  ///
  /// - Parameter ignored: what was written but has no effect there.
  func show(
    _ user: Identifier, _ scope: SettingScope, _ options: StoreOptions, ignored: [String]? = nil
  ) throws {
    switch (try reader.app().rules, scope) {
    case (.open, .user): try options.show([OpenSetting(user, try openSettings(of: user))])
    case (.open, .conversation(let id)):
      let own = try openSettings(of: user, in: id)
      try options.show([OpenSetting(user, in: id, own, follows: try follows(user, id))])
    case (.easemob, _), (.rongcloud, _), (.open, .kind), (.open, .channel):
      var setting = try setting(of: user, scope)
      setting.ignored = ignored
      try options.show([setting])
    }
  }

  /// Whether a user follows a thread (O-1); nil for a conversation that is none.
  ///
  /// - Precondition: the user is a member, of the thread's parent for a thread.
  private func follows(_ user: Identifier, _ id: Identifier) throws -> Bool? {
    do {
      let found = try reader.record(of: user, in: id)
      guard found.conversation?.kind == .thread, case .member(_, _, let own, _) = found.record
      else { return nil }
      return own.isFollowing ?? true
    } catch StoreError.notAMember {
      return false
    }
  }

  /// What a user has set in one scope, under the rules of the store's vendor.
  private func setting(of user: Identifier, _ scope: SettingScope) throws -> OwnSetting {
    switch (try reader.app().rules, scope) {
    case (.easemob, .user): OwnSetting(user, try silentMode(of: user), try timeZone(of: user))
    case (.easemob, .conversation(let id)): OwnSetting(user, try silentMode(of: user, in: id))
    case (.rongcloud, .user):
      OwnSetting(
        user, try quietHours(of: user), try ownKindLevels(of: user), try timeZone(of: user),
        pushWhenDesktopOnline: try pushWhenDesktopOnline(of: user))
    case (.rongcloud, .conversation(let id)):
      OwnSetting(user, try notificationLevel(of: user, in: id), conversation: id)
    case (.open, .user), (.open, .conversation): throw StoreError.otherRules(.open)
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
  /// The operations of the flags.
  func operations(_ user: Identifier, _ rules: RuleSet) throws -> [SettingsOperation] {
    if rules != .open, !open.isEmpty { throw StoreError.otherRules(rules) }
    var operations =
      switch rules {
      case .easemob: try ofEasemob(user)
      case .rongcloud: try ofRongCloud(user)
      case .open: try ofOpenRules(user)
      }
    if timeZone != nil || removeTimeZone {
      operations.append(.setTimeZone(user: user, timeZone: timeZone))
    }
    return operations
  }

  private func ofEasemob(_ user: Identifier) throws -> [SettingsOperation] {
    guard scopeOptions.channel == nil, scopeOptions.type == nil, quietLevel == nil,
      quietZone == nil, pushWhenDesktopOnline == nil
    else {
      throw StoreError.otherRules(.easemob)
    }
    let level = try level?.level(.easemob)
    // Before what is wrong with the window.
    if let minutes { _ = try MuteDuration(minutes: minutes) }
    var window = try quiet.flatMap { QuietText($0) }?.interval()
    if removeQuiet { window = ("", "") }
    if let conversation = scopeOptions.conversation {
      return [
        .setSilentModeForConversation(
          user: user, conversation: Identifier(conversation), level: level, minutes: minutes)
      ]
    }
    return [
      .setSilentModeForAll(
        user: user, level: level, minutes: minutes, start: window?.start, end: window?.end)
    ]
  }

  private func ofOpenRules(_ user: Identifier) throws -> [SettingsOperation] {
    if let quiet {
      let window = quiet.contains("+") || quiet.isEmpty ? "22:00-7:00" : quiet
      throw Failure(text: "open rules have quiet windows: use settings quiet add \(window)")
    }
    if removeQuiet {
      throw Failure(text: "open rules have quiet windows: use settings quiet clear")
    }
    if minutes != nil { throw Failure(text: "open rules have mutes: use --muted-until") }
    guard scopeOptions.channel == nil, scopeOptions.type == nil, quietLevel == nil,
      quietZone == nil, pushWhenDesktopOnline == nil
    else { throw StoreError.otherRules(.open) }
    let id = scopeOptions.conversation.map { Identifier($0) }
    var operations = try open.operations(user, in: id)
    if let level = try level?.level(.open) {
      operations.append(
        .setLevel(user: user, conversation: id, level: level.isSet ? level.mask : nil))
    }
    return operations
  }

  private func ofRongCloud(_ user: Identifier) throws -> [SettingsOperation] {
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
    var operations: [SettingsOperation] = []
    if let pushWhenDesktopOnline {
      operations.append(.setPushReceiveStatus(user: user, receive: pushWhenDesktopOnline == .on))
    }
    if let level = try level?.level(.rongcloud), let operation = scope.setting(level, of: user) {
      operations.append(operation)
    }
    let span = try quiet.flatMap { QuietText($0) }?.span()
    let quietLevel = try quietLevel?.level(.rongcloud) ?? .unset
    if let span {
      operations.append(
        .setNotificationQuietHours(
          user: user, start: span.start, spanMinutes: Int64(span.minutes), timeZone: quietZone,
          level: quietLevel))
    }
    if removeQuiet { operations.append(.removeNotificationQuietHours(user: user)) }
    return operations
  }
}

extension SettingScope {
  /// Writes a RongCloud level; nil for the user, who has none of all.
  fileprivate func setting(
    _ level: NotificationLevel, of user: Identifier
  ) -> SettingsOperation? {
    switch self {
    case .user: nil
    case .kind(let kind):
      .setConversationTypeNotificationLevel(user: user, level: level, type: kind)
    case .conversation(let id):
      .setConversationNotificationLevel(user: user, conversation: id, level: level)
    case .channel(let id, let channel):
      .setConversationChannelNotificationLevel(
        user: user, conversation: id, channel: channel, level: level)
    }
  }

  /// Takes a setting back; of the user, the quiet hours.
  func clearing(of user: Identifier, _ rules: RuleSet) -> SettingsOperation {
    switch (rules, self) {
    case (.easemob, .conversation(let id)):
      .clearRemindTypeForConversation(user: user, conversation: id)
    case (.easemob, .user): .setSilentModeForAll(user: user, start: "", end: "")
    case (.open, .conversation(let id)): .setLevel(user: user, conversation: id)
    case (.open, .user): .clearQuietWindows(user: user)
    case (.rongcloud, _), (.easemob, .kind), (.easemob, .channel), (.open, .kind),
      (.open, .channel):
      setting(.removed, of: user) ?? .removeNotificationQuietHours(user: user)
    }
  }
}

extension SettingsStore {
  /// Applies operations, all or none.
  ///
  /// - Returns: the settings that they have deleted as a whole.
  @discardableResult
  func apply(
    _ operations: [SettingsOperation], _ writing: WriteOptions
  ) throws -> AdvancedSettings? {
    let deleted = try write(at: try writing.now, from: writing.device) { write in
      // Until it returns, nobody knows.
      Interruption.say("the store has all of the change or nothing of it")
      var deleted: AdvancedSettings?
      for operation in operations { deleted = try operation.apply(to: &write) ?? deleted }
      return deleted
    }
    Interruption.say("the change was made")
    return deleted
  }
}

extension SettingsDefaults {
  private var conversationID: Identifier? { conversation.map { Identifier($0) } }
  private var channelID: Identifier? { channel.map { Identifier($0) } }

  func operation(
    _ text: LevelText, _ store: borrowing SettingsStore
  ) throws -> SettingsOperation {
    switch try store.reader.app().rules {
    case .open:
      if channel != nil { throw StoreError.otherRules(.open) }
      let level = try text.level(.open)
      let classes = level.isSet ? level.mask : nil
      return conversationID.map { .setDefaultLevel(conversation: $0, level: classes) }
        ?? .setAppLevel(level: classes)
    case .rongcloud:
      let level = try text.level(.rongcloud)
      return switch (conversationID, channelID) {
      case (let group?, let channel?):
        .setUltraGroupConversationChannelDefaultNotificationLevel(
          conversation: group, level: level, channel: channel)
      case (let group?, nil):
        .setUltraGroupConversationDefaultNotificationLevel(conversation: group, level: level)
      case (nil, _): .setAppKeyLevel(level: level)
      }
    case .easemob: throw StoreError.otherRules(.easemob)
    }
  }

  func show(_ store: borrowing SettingsStore) throws {
    switch try store.reader.app().rules {
    case .open:
      if channel != nil { throw StoreError.otherRules(.open) }
      let level = try store.openDefaultLevel(of: conversationID)
      try options.show([OpenDefault(conversation: conversation, level: level)])
    // Easemob's store refuses it.
    case .easemob, .rongcloud:
      let level =
        switch (conversationID, channelID) {
        case (let group?, let channel?):
          try store.defaultLevel(ofUltraGroup: group, channel: channel)
        case (let group?, nil): try store.defaultLevel(ofUltraGroup: group)
        case (nil, _): try store.appKeyLevel()
        }
      try options.show([
        DefaultResult(conversation: conversation, channel: channel, level: level.name)
      ])
    }
  }
}
