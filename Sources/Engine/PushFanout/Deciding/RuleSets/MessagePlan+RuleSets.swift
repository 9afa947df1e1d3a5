internal import PushModel

// The class of a message, or what stops it for all.

extension MessagePlan {
  mutating func plan(
    _ message: borrowing Message, _ target: borrowing ConversationTarget,
    _ tables: Tables
  ) {
    switch tables.app.rules {
    case .easemob: plan(easemob: message, target.kind, tables.app.easemob)
    case .rongcloud: plan(rongcloud: message, target, tables)
    case .open: planOpen(message, target, tables)
    }
  }
}

extension MentionedUsers {
  /// Whom a message mentions, by the rules of the app, whatever stops it.
  init(_ message: borrowing Message, _ kind: ConversationKind, _ app: AppSettings) {
    switch app.rules {
    case .easemob: self.init(easemob: message, app.easemob)
    case .rongcloud: self.init(rongcloud: message, kind)
    case .open: self.init(everyone: message.mentionsAll ?? false, ids: message.mentions ?? [])
    }
  }
}

extension MessagePlan {
  /// Lines 2 to 4 of Easemob's procedure.
  mutating func plan(
    easemob message: borrowing Message, _ kind: ConversationKind, _ options: EasemobOptions
  ) {
    let hasFields = message.hasRareFields
    let force = message.force ?? (hasFields && message.ext.force)
    let silent = message.silent ?? (hasFields && message.ext.ignore)
    // 2
    if kind == .room { return uniform = Outcome(.suppress, .chatRoom) }  // E-60
    if message.onlineOnly { return uniform = Outcome(.suppress, .onlineOnly) }  // E-61
    if message.body == .command, !options.pushTransparent {  // E-62
      return uniform = Outcome(.suppress, .messageType)
    }
    // 3
    if silent, !(force && options.flagConflict == .forceWins) {  // E-40, E-44
      return uniform = Outcome(.suppress, .silentMessage)
    }
    // 4
    let age = message.at.milliseconds - (message.sentAt ?? message.at).milliseconds
    if age > options.expireMilliseconds {  // E-69
      return uniform = Outcome(.suppress, .expired)
    }
    if hasFields || message.mentions != nil || message.mentionsAll != nil {
      let found = MentionedUsers(easemob: message, options)
      if found.everyone || !found.ids.isEmpty { mentions = found }
    }
    let messageClass = EasemobMessageClass(
      force: force, beatSilence: silent, mentionsMe: false,
      mentionsEveryone: mentions?.everyone ?? false)
    self.messageClass = messageClass.index
    namedClass = messageClass.forNamed.index
    if hasFields {
      let filter = message.filter ?? message.ext.filter
      if !filter.isEmpty { self.filter = filter }
    }
  }
}

extension MessagePlan {
  /// Lines 1 and 2 of RongCloud's procedure.
  mutating func plan(
    rongcloud message: borrowing Message, _ target: borrowing ConversationTarget,
    _ tables: Tables
  ) {
    // 1
    if target.kind == .room { return uniform = Outcome(.suppress, .chatRoom) }
    if message.body == .status { return uniform = Outcome(.suppress, .messageType) }
    // 2
    if message.silent ?? false { return uniform = Outcome(.suppress, .silentMessage) }
    let mentions = MentionedUsers(rongcloud: message, target.kind)
    let messageClass = RongCloudMessageClass(
      mentions.everyone ? .everyone : .plain,
      lacksContent: message.body == .custom && message.pushContent.isEmpty,
      isLocalEligible: message.persisted && !message.backlog,
      Self.fallback(message, target, tables))
    self.messageClass = messageClass.index
    namedClass = messageClass.forNamed.index
    self.mentions = mentions
  }

  /// The level and scope where the user has set nothing.
  private static func fallback(
    _ message: borrowing Message, _ target: borrowing ConversationTarget,
    _ tables: Tables
  ) -> RongCloudMessageClass.Fallback {
    if target.kind == .ultraGroup {
      let channel = tables.policies.channels(target.row.channels)[message.channel] ?? .unset
      if channel.isSet { return RongCloudMessageClass.Fallback(channel, .channelDefault) }
      let group = target.row.notificationLevel
      if group.isSet { return RongCloudMessageClass.Fallback(group, .groupDefault) }
    }
    let app = tables.app.level
    return app.isSet
      ? RongCloudMessageClass.Fallback(app, .appKey)
      : RongCloudMessageClass.Fallback(.all, .default)
  }
}
