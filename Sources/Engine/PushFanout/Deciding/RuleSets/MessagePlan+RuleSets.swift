internal import PushModel

// The class of a message, or what stops it for all; and the outcome for one user.

extension MessagePlan {
  mutating func plan(
    _ message: borrowing Message, _ target: borrowing ConversationTarget,
    _ tables: Tables
  ) {
    switch target.rules.ruleSet {
    case .easemob: plan(easemob: message, target.kind, tables.app.easemob)
    case .rongcloud: plan(rongcloud: message, target, tables)
    case .open: planOpen(message, target, tables)
    }
  }

  /// What a message that is not stopped for all says of single users by open rules, in place of
  /// ``mentions``; nil for others.
  func openMessage(
    _ message: borrowing Message, _ target: borrowing ConversationTarget,
    _ tables: borrowing Tables
  ) -> OpenMessage? {
    switch target.rules.ruleSet {
    case .easemob, .rongcloud: return nil
    case .open:
      return uniform == nil
        ? OpenMessage(message, messageClass, inThread: target.thread, tables) : nil
    }
  }
}

extension Decider {
  /// Finds the sender, and adds the ranks of whom the message names.
  @inline(__always)
  func findNamed(
    _ message: borrowing Message, _ plan: borrowing MessagePlan,
    _ target: borrowing ConversationTarget, from sender: UInt32, _ result: inout FanoutResult
  ) {
    if plan.uniform != nil { return result.sender = rank(of: sender, target) }
    switch target.rules.ruleSet {
    case .easemob, .rongcloud: findMentioned(plan, target, from: sender, &result)
    case .open: findNamedOpen(message, plan, target, from: sender, &result)
    }
  }

  @inline(__always)
  private func findMentioned(
    _ plan: borrowing MessagePlan, _ target: borrowing ConversationTarget, from sender: UInt32,
    _ result: inout FanoutResult
  ) {
    result.sender = rank(of: sender, target)
    guard plan.namedClass != plan.messageClass, let mentions = plan.mentions,
      !mentions.ids.isEmpty
    else { return }
    let storage = result.storage
    let (row, from) = (target.memberRow, result.sender)
    mentions.forEachUser(in: version.tables) { user in
      if let rank = version.tables.rank(of: user, in: row), rank != from { storage.add(rank) }
    }
    storage.sortRanks()
  }

  /// Corrects what the first ranks of the storage, of those named, get by their states.
  @inline(__always)
  func correct(
    named count: Int, _ plan: borrowing MessagePlan, _ target: borrowing ConversationTarget,
    _ result: inout FanoutResult
  ) {
    if plan.uniform != nil { return }
    switch target.rules.ruleSet {
    case .easemob, .rongcloud:
      if count > 0 { correctNamed(count, target.rules, plan.namedClass, &result) }
    case .open(let states):
      unsafe states._withUnsafeGuaranteedRef {
        correct(count, plan.messageClass, $0, target, &result)
      }
    }
  }

  private func correctNamed(
    _ count: Int, _ rules: StateTables, _ namedClass: Int, _ result: inout FanoutResult
  ) {
    let named = unsafe rules.codes(namedClass)
    let storage = result.storage
    for index in 0..<count {
      let state = unsafe storage.states[index]
      storage.add(
        AnswerStorage.Correction(
          rank: unsafe storage.ranks[index], code: unsafe named[Int(state)], state: state))
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

extension MemberResolver {
  /// The outcome of a message that is not stopped for all, before its filter.
  ///
  /// - Parameter seenAt: as for ``Decider/decide(_:for:_:presenceAt:)``.
  func outcome(
    ofRank rank: Int, _ user: UInt32, _ member: MemberClass, _ message: Message,
    _ plan: MessagePlan, _ target: ConversationTarget, presenceAt seenAt: Instant?
  ) -> Outcome? {
    let (now, packed) = (message.at.milliseconds, tables.packedUsers[Int(user)])
    var isNamed = false
    plan.mentions?.forEachUser(in: tables) { if $0 == user { isNamed = true } }
    let index = isNamed ? plan.namedClass : plan.messageClass
    func phase() -> UInt8 { tables.quietPhase(tables.schedules[Int(user)], at: now) }
    switch target.rules.ruleSet {
    case .easemob:
      let value = tables.easemobClass(of: user, packed, at: now, .none).inPhase(phase())
      return EasemobStates(app: tables.app, isPrivate: target.kind == .private)
        .outcome(value, member, EasemobMessageClass(index: index))
    case .rongcloud:
      let kind = target.kind
      let value = tables.rongcloudClass(of: user, packed, kind: kind.ordinal, at: now, .none)
        .inPhase(phase())
      return RongCloudStates(app: tables.app, kind: kind)
        .outcome(value, member, RongCloudMessageClass(index: index))
    case .open:
      let message = OpenMessage(message, index, inThread: target.thread, tables)
      let reach = seenAt.map {
        tables.openReach(of: user, at: $0.milliseconds, version.presence(of: user))
      }
      return Outcome(code: openCode(ofRank: rank, message, target, at: now, reach: reach))
    }
  }
}

extension EngineVersion {
  /// The decision for a plain message from another user (``FanoutVersion/plainAnswer``).
  func plainDecision(
    for user: UInt32, in conversation: Identifier, channel: Identifier, mention: Identifier?,
    _ classes: MessageClasses?, at: Instant
  ) -> Decision? {
    switch tables.app.rules {
    case .easemob, .rongcloud:
      var message = Message(id: "plain", conversation: conversation, at: at)
      message.channel = channel
      message.mentions = mention.map { [$0] }
      return decision(message, for: user)
    case .open:
      return openDecision(
        ofClasses: classes, mention: mention != nil, for: user, in: conversation, at: at)
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
