internal import GRDB
internal import PushModel

// What the operations of all rule sets have in common.

extension SettingsQueries {
  /// The rule set of the store.
  func rules() throws -> RuleSet {
    var find = try RepeatedStatement(cached: "SELECT rules FROM app", db)
    return try find.first { row in
      try known(row.text(0).flatMap { RuleSet(rawValue: $0) }, "app.rules")
    } ?? AppSettings().rules
  }

  /// - Throws: ``StoreError/otherRules(_:)`` when the store's rules are not these.
  func require(_ rules: RuleSet) throws {
    let own = try self.rules()
    guard own == rules else { throw StoreError.otherRules(own) }
  }

  /// - Throws: ``StoreError/unavailableKind(_:_:)`` when the store's rules have no such kind.
  func require(_ kind: ConversationKind) throws {
    let rules = try self.rules()
    guard kind.exists(under: rules) else { throw StoreError.unavailableKind(kind, rules) }
  }

  /// A conversation's kind and parent, without its channels; nil for one that was never named, or
  /// was removed.
  func kind(
    of conversation: Identifier
  ) throws -> (kind: ConversationKind, parent: Identifier?)? {
    var find = try RepeatedStatement(
      cached: "SELECT kind, parent FROM conversations WHERE id = ? AND is_declared <> 2", db)
    try find.bind(conversation)
    return try find.first { (try kind($0, 0), try parent($0, 1)) }
  }

  /// What a user has set for a conversation that can be set something for: not a chat room (E-1),
  /// and the user is a member. A thread's members are its parent's, so there a record of the user's
  /// own may be missing, which is the same as an empty one.
  ///
  /// - Throws: ``StoreError/unknownConversation(_:)``, ``StoreError/wrongKind(_:_:)`` or
  ///   ``StoreError/notAMember(user:conversation:)``, which names the parent for a thread.
  /// - Complexity: O(channels that the user has set).
  func ownSettings(of user: Identifier, in conversation: Identifier) throws -> MemberSettings {
    try ownMember(user, of: conversation)?.settings ?? MemberSettings()
  }

  /// The same with what is stored; nil for a member of a thread's parent who has set nothing there.
  func ownMember(_ user: Identifier, of conversation: Identifier) throws -> StoredMember? {
    let member = try storedMember(user, of: conversation)
    guard let (kind, parent) = try member.map({ ($0.kind, $0.parent) }) ?? kind(of: conversation)
    else { throw StoreError.unknownConversation(conversation) }
    if kind == .room { throw StoreError.wrongKind(conversation, kind) }
    if kind == .thread, let parent {
      guard try storedMember(user, of: parent) != nil else {
        throw StoreError.notAMember(user: user, conversation: parent)
      }
    } else if member == nil {
      throw StoreError.notAMember(user: user, conversation: conversation)
    }
    return member
  }
}

extension StoreWrite {
  /// Changes what a user has set, and records what really changed; a user never declared is made by
  /// the first real change. When nothing changes, nothing is written.
  mutating func change(_ id: Identifier, _ body: (inout UserSettings) throws -> Void) throws {
    try check(id)
    let stored = try queries.user(id)
    let before = stored ?? UserSettings()
    var after = before
    try body(&after)
    var changes: [Change] = []
    if after.level != before.level { changes.append(.userLevel) }
    if after.mutedUntil != before.mutedUntil { changes.append(.userMute) }
    if after.quietHours != before.quietHours || after.timeZone != before.timeZone {
      changes.append(.quietHours)
    }
    if after.levels != before.levels { changes.append(.typeLevel) }
    if after.pushWhenDesktopOnline != before.pushWhenDesktopOnline {
      changes.append(.pushWhenDesktopOnline)
    }
    if after.devices != before.devices { changes.append(.devices) }
    if after.mutedAllow != before.mutedAllow { changes.append(.mutedAllow) }
    if after.allowForce != before.allowForce { changes.append(.allowForce) }
    if after.keywords != before.keywords { changes.append(.keywords) }
    if after.importantSenders != before.importantSenders { changes.append(.importantSenders) }
    if after.blockedSenders != before.blockedSenders { changes.append(.blockedSenders) }
    if !changes.isEmpty { try set(id, after, changes, replacing: stored) }
  }

  /// Changes what a user has set for a conversation, and records what really changed. When nothing
  /// changes, nothing is written; a thread's record is made by the first real change.
  ///
  /// - Throws: as ``SettingsQueries/ownSettings(of:in:)``.
  mutating func change<Value>(
    _ user: Identifier, in conversation: Identifier, channel: Identifier? = nil,
    _ body: (inout MemberSettings) throws -> Value
  ) throws -> Value {
    let stored = try queries.ownMember(user, of: conversation)
    let before = stored?.settings ?? MemberSettings()
    var after = before
    let value = try body(&after)
    var changes: [Change] = []
    if after.level != before.level { changes.append(.memberLevel) }
    if after.mutedUntil != before.mutedUntil { changes.append(.memberMute) }
    if after.channels != before.channels { changes.append(.channelLevel) }
    if after.isImportant != before.isImportant { changes.append(.important) }
    if after.isFollowing != before.isFollowing { changes.append(.follow) }
    if after.roles != before.roles { changes.append(.roles) }
    if !changes.isEmpty {
      try set(user, conversation, after, changes, channel: channel, replacing: stored)
    }
    return value
  }
}

extension SettingsOperation {
  /// The names of all operations.
  public static let names = CodingKeys.allCases.map(\.rawValue)
  /// The names of those that the server takes in requests.
  public static let served = CodingKeys.allCases.filter(\.isServed).map(\.rawValue)
}

extension SettingsOperation.CodingKeys {
  /// Whether requests may have it: a new operation has to choose.
  fileprivate var isServed: Bool {
    switch self {
    case .setSilentModeForAll, .setSilentModeForConversation, .clearRemindTypeForConversation,
      .updatePushServiceForGroups, .updatePushServiceForUsers,
      .setPreferredNotificationLanguage, .updatePushDisplayName, .setPushTemplate,
      .setConversationNotificationLevel, .setConversationChannelNotificationLevel,
      .setConversationTypeNotificationLevel, .setNotificationQuietHours,
      .removeNotificationQuietHours, .setUltraGroupConversationDefaultNotificationLevel,
      .setUltraGroupConversationChannelDefaultNotificationLevel, .setPushReceiveStatus,
      .setLevel, .setDefaultLevel, .muteUntil, .setMutedAllow, .setAllowForce, .addQuietWindow,
      .removeQuietWindow, .clearQuietWindows, .addKeyword, .removeKeyword, .addSender,
      .removeSender, .setImportant, .setFollow, .setRoles, .setTimeZone, .addMember,
      .removeMember, .removeUser, .removeConversation, .bindToken, .unbindToken,
      .setDeviceState:
      true
    // Of the app, of older clients, or of the command alone.
    case .setNoDisturbing, .setConversationNotificationStatus, .setAdvancedPush,
      .setDevicePolicy, .setTemplate, .removeTemplate, .setAppKeyLevel, .setAppLevel,
      .setMessageNotification, .updatePushDisplayStyle, .setRemark, .setOfflineMessages,
      .kickDevice, .logOutDevice, .removeDevice:
      false
    }
  }
}
