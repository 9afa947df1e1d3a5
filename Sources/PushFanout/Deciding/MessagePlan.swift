internal import PushRules

/// What a message comes to before any recipient is looked at.
struct MessagePlan {
  /// The one outcome of all recipients, if something stops the message for everybody.
  var uniform: Outcome?
  /// Otherwise the class of the message for those it does not name, and for those it names.
  var messageClass = 0
  var namedClass = 0
  var mentions: MentionedUsers?
  /// Which devices may get it, if not all (E-50).
  var filter: DeviceFilter?

  init(
    _ message: borrowing Message, _ target: borrowing ConversationStates.Target,
    _ tables: borrowing Tables
  ) {
    switch tables.app.rules {
    case .easemob: plan(easemob: message, target.kind, tables.app)
    case .rongcloud: plan(rongcloud: message, target, tables)
    }
  }

  /// Lines 2 to 4 of Easemob's procedure.
  private mutating func plan(
    easemob message: borrowing Message, _ kind: ConversationKind, _ app: AppSettings
  ) {
    let options = app.easemob
    let force = message.force ?? message.ext.force
    let silent = message.silent ?? message.ext.ignore
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
    if age > options.expireSeconds * 1000 {  // E-69
      return uniform = Outcome(.suppress, .expired)
    }
    let mentions = MentionedUsers(easemob: message, options)
    let messageClass = EasemobMessageClass(
      force: force, beatSilence: silent, mentionsMe: false, mentionsEveryone: mentions.everyone)
    self.messageClass = messageClass.index
    namedClass = messageClass.forNamed.index
    if !mentions.ids.isEmpty { self.mentions = mentions }
    if let filter = message.filter {
      if !filter.isEmpty { self.filter = filter }
    } else if !message.ext.filter.isEmpty {
      filter = message.ext.filter
    }
  }

  /// Lines 1 and 2 of RongCloud's procedure.
  private mutating func plan(
    rongcloud message: borrowing Message, _ target: borrowing ConversationStates.Target,
    _ tables: borrowing Tables
  ) {
    // 1
    if target.kind == .room { return uniform = Outcome(.suppress, .chatRoom) }
    if message.body == .status { return uniform = Outcome(.suppress, .messageType) }
    // 2
    if message.silent ?? false { return uniform = Outcome(.suppress, .silentMessage) }
    let mentions = MentionedUsers(rongcloud: message, target.kind)
    let messageClass = RongCloudMessageClass(
      mentions.everyone ? .everyone : .nobody,
      lacksContent: message.body == .custom && message.pushContent.isEmpty,
      isLocalEligible: message.persisted && !message.backlog,
      Self.fallback(message, target, tables))
    self.messageClass = messageClass.index
    namedClass = messageClass.forNamed.index
    self.mentions = mentions
  }

  /// What holds where the user has set nothing.
  private static func fallback(
    _ message: borrowing Message, _ target: borrowing ConversationStates.Target,
    _ tables: borrowing Tables
  ) -> RongCloudMessageClass.Fallback {
    if target.kind == .ultraGroup {
      let channel = tables.channelSets[target.row.channels][message.channel] ?? .unset
      if channel.isSet { return RongCloudMessageClass.Fallback(channel, .channelDefault) }
      let group = NotificationLevel(rawValue: target.row.level) ?? .unset
      if group.isSet { return RongCloudMessageClass.Fallback(group, .groupDefault) }
    }
    let app = tables.app.level
    return app.isSet
      ? RongCloudMessageClass.Fallback(app, .appKey)
      : RongCloudMessageClass.Fallback(.all, .default)
  }
}

extension DeviceFilter {
  /// Whether the filter says nothing.
  var isEmpty: Bool {
    acceptDeviceIDs.isEmpty && ignoreDeviceIDs.isEmpty && acceptNotifierNames.isEmpty
      && ignoreNotifierNames.isEmpty
  }

  /// Whether a push may go to a device (E-50).
  func lets(_ device: Device) -> Bool {
    if ignoreDeviceIDs.contains(device.id) { return false }
    if !acceptDeviceIDs.isEmpty, !acceptDeviceIDs.contains(device.id) { return false }
    guard let notifier = device.notifier else { return acceptNotifierNames.isEmpty }
    if ignoreNotifierNames.contains(notifier) { return false }
    return acceptNotifierNames.isEmpty || acceptNotifierNames.contains(notifier)
  }
}
