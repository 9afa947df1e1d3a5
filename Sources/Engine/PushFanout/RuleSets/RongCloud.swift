internal import PushModel

/// What the outcome of a RongCloud message for a recipient depends on, of the message, its
/// conversation and channel, once nothing stops it for all.
struct RongCloudMessageClass {
  /// How the message mentions a recipient.
  enum Mention: Int { case plain = 0, me, everyone }

  /// The level and scope where the user has set nothing: an ultra group's defaults, the App Key's
  /// level, or the default.
  struct Fallback: Hashable {
    var level: NotificationLevel
    var scope: Scope

    static let scopes: [Scope] = [.channelDefault, .groupDefault, .appKey, .default]
    static let count = scopes.count * NotificationLevel.allCases.count

    var index: Int {
      (Self.scopes.firstIndex(of: scope) ?? 0) * NotificationLevel.allCases.count
        + Int(level.rawValue)
    }

    init(_ level: NotificationLevel, _ scope: Scope) {
      self.level = level
      self.scope = scope
    }

    init(index: Int) {
      scope = Self.scopes[index / NotificationLevel.allCases.count]
      level =
        NotificationLevel(rawValue: UInt8(index % NotificationLevel.allCases.count)) ?? .unset
    }
  }

  /// 0 ..< ``count``.
  var index: Int
  static let perFallback = 12
  static let count = perFallback * Fallback.count

  init(index: Int) { self.index = index }

  init(_ mention: Mention, lacksContent: Bool, isLocalEligible: Bool, _ fallback: Fallback) {
    index =
      fallback.index * Self.perFallback + mention.rawValue * 4 + (lacksContent ? 2 : 0)
      + (isLocalEligible ? 1 : 0)
  }

  var fallback: Fallback { Fallback(index: index / Self.perFallback) }
  var mention: Mention { Mention(rawValue: index % Self.perFallback / 4) ?? .plain }
  /// A custom type without push content.
  var lacksContent: Bool { index & 2 != 0 }
  /// Persisted and not from the backlog.
  var isLocalEligible: Bool { index & 1 != 0 }

  var classes: MessageClasses {
    switch mention {
    case .plain: .plain
    case .me: .mentionsMe
    case .everyone: .mentionsEveryone
    }
  }

  /// The class of the same message for a user that it mentions by name. One that mentions everyone
  /// mentions no single user.
  var forNamed: RongCloudMessageClass {
    mention == .plain ? RongCloudMessageClass(index: index + 4) : self
  }
}

/// RongCloud's procedure from line 3 on (decision-rules.md §4), evaluated for a state.
struct RongCloudStates {
  let app: AppSettings
  let kind: ConversationKind

  func outcome(
    _ user: UserClass, _ member: MemberClass, _ message: RongCloudMessageClass
  ) -> Outcome {
    // 3
    if user.reach == .online { return Outcome(.suppress, .online) }
    let isLocal = user.reach.rawValue >= UserClass.Reach.local.rawValue
    if let reason = unfit(message, isLocal: isLocal) { return Outcome(.suppress, reason) }
    // 4
    let (level, scope) = level(user, member, message)
    // 5
    if let reason = stop(by: level, scope, message.classes) {
      return Outcome(.suppress, reason, scope)
    }
    switch user.reach {
    // 6
    case .localInfoMissing: return Outcome(.suppress, .localInfoMissing)
    case .localHandledByApp: return Outcome(.suppress, .localHandledByApp)
    case .local: return Outcome(.local, .allowed, scope)
    // 7
    case .gone: return Outcome(.suppress, .loggedOut)
    case .noToken: return Outcome(.suppress, .noToken)
    // 8
    case .device, .online: return Outcome(.push, .allowed, scope)
    }
  }

  /// Why the message is ineligible for the flow, the rest of line 3.
  private func unfit(_ message: RongCloudMessageClass, isLocal: Bool) -> Reason? {
    guard isLocal else { return message.lacksContent ? .messageType : nil }
    if kind == .ultraGroup || !message.isLocalEligible { return .localIneligible }
    return app.messageNotification ? nil : .localDisabled
  }

  /// the first scope at which a level is set.
  private func level(
    _ user: UserClass, _ member: MemberClass, _ message: RongCloudMessageClass
  ) -> (NotificationLevel, Scope) {
    let isSkipped = message.classes.isMention && app.rongcloud.mentionBypassesQuiet
    if !isSkipped {
      switch user.quiet {
      case .outside: break
      case .all: return (.all, .quietHours)
      case .mention: return (.mention, .quietHours)
      case .blocked: return (.blocked, .quietHours)
      }
    }
    if member.channelLevel.isSet { return (member.channelLevel, .channel) }
    if member.conversationLevel.isSet { return (member.conversationLevel, .conversation) }
    if user.level.isSet { return (user.level, .type) }
    let fallback = message.fallback
    return fallback.level.isSet ? (fallback.level, fallback.scope) : (.all, .default)
  }

  private func stop(
    by level: NotificationLevel, _ scope: Scope, _ classes: MessageClasses
  ) -> Reason? {
    if level == .blocked { return scope == .quietHours ? .quietHours : .levelNone }
    if level.isMentionLevel, kind.isDirect {
      return app.rongcloud.singleMentionLevels == .all ? nil : .directChatLevel
    }
    return level.allows(classes) ? nil : .notMentioned
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

extension Tables {
  /// How a RongCloud user can be reached at an instant.
  func rongcloudReach(
    of user: UInt32, _ packed: PackedUser, at now: Int64, _ presence: UserPresence
  ) -> UserClass.Reach {
    var hasBackground = false
    var hasConnected = false
    var hasConnectedMobile = false
    var hasTarget = false
    var isEmpty = true
    var areAllLoggedOut = true
    forEachDevice(of: user, presence) { device in
      isEmpty = false
      let state = Device.State.byOrdinal[Int(device.state)]
      let kind = Device.Kind.byOrdinal[Int(device.kind)]
      if state != .loggedOut { areAllLoggedOut = false }
      let isConnected =
        state == .foreground || (state == .background && !isPastGrace(device, at: now))
      if isConnected {
        hasConnected = true
        if state == .background { hasBackground = true }
        if kind == .mobile { hasConnectedMobile = true }
      } else if state == .offline || state == .background, kind == .mobile, device.hasToken {
        hasTarget = true
      }
    }
    if hasBackground {
      if packed.localInformationMissing { return .localInfoMissing }
      return packed.localHandledByApp ? .localHandledByApp : .local
    }
    //
    if hasConnected, !packed.pushWhenDesktopOnline || hasConnectedMobile { return .online }
    if hasTarget { return .device }
    return !isEmpty && areAllLoggedOut ? .gone : .noToken
  }

  /// Whether a background device counts as offline.
  func isPastGrace(_ device: DeviceRecord, at now: Int64) -> Bool {
    let since = device.backgroundSince
    guard since >= 0, since <= now else { return false }
    return now - since >= app.rongcloud.backgroundGraceMilliseconds
  }
}

extension StateRules {
  /// The states of RongCloud's rules.
  static func rongcloud(_ app: AppSettings, _ kind: ConversationKind) -> StateRules {
    let rules = RongCloudStates(app: app, kind: kind)
    typealias Class = RongCloudMessageClass
    // One fallback per level; the scope does not distinguish states.
    let levels = NotificationLevel.allCases.filter(\.isSet)
    let telling = levels.flatMap { level in
      (0..<Class.perFallback).map {
        Class.Fallback(level, .groupDefault).index * Class.perFallback + $0
      }
    }
    return StateRules(
      tableCount: Class.count, telling: telling, lastPhase: app.rules.lastQuietPhase,
      isPossible: { user, member in
        user.isRongCloud && member.isRongCloud && (kind == .ultraGroup || !member.hasChannelLevel)
          && (user.quiet != .all || app.rongcloud.quietZero == .all)
      }
    ) {
      rules.outcome($0, $1, Class(index: $2))
    }
  }
}

extension Tables {
  /// Level and reach in the class of a RongCloud user.
  @inline(__always)
  func rongcloudClass(
    of user: UInt32, _ packed: PackedUser, kind: Int, at now: Int64, _ presence: UserPresence
  ) -> UserClass {
    UserClass(
      level: packed.level(kind: kind), reach: reach(of: user, packed, at: now, presence))
  }

  /// Calls `body` with the instants at which a background grace begins and ends.
  func forEachGrace(of user: UInt32, _ body: (Int64) -> Void) {
    guard hasOwnDevices(user) else { return }
    forEachDevice(of: user) { device in
      guard device.state == Device.State.background.ordinal, device.backgroundSince >= 0 else {
        return
      }
      body(device.backgroundSince + app.rongcloud.backgroundGraceMilliseconds)
      body(device.backgroundSince)
    }
  }
}

extension DeviceReader {
  /// The listed devices that a RongCloud push or local notification goes to.
  @inline(__always)
  func forEachRongCloudTarget<Failure: Error>(
    of user: UInt32, isLocal: Bool, at now: Int64,
    _ body: (DeviceRecord) throws(Failure) -> Void
  ) throws(Failure) {
    if isLocal {
      try forEachDevice(of: user) { (record) throws(Failure) -> Void in
        if isInGrace(record, at: now) { try body(record) }
      }
      return
    }
    // with a desktop connected, only the last phone.
    var hasConnected = false
    var last: DeviceRecord?
    forEachDevice(of: user) { record in
      if record.state == Device.State.foreground.ordinal || isInGrace(record, at: now) {
        hasConnected = true
      }
      if isPushedTo(record, at: now) { last = record }
    }
    if hasConnected {
      if let last { try body(last) }
      return
    }
    try forEachDevice(of: user) { (record) throws(Failure) -> Void in
      if isPushedTo(record, at: now) { try body(record) }
    }
  }

  /// Whether a device is in the background, and its grace has not passed.
  private func isInGrace(_ record: DeviceRecord, at now: Int64) -> Bool {
    guard record.state == Device.State.background.ordinal else { return false }
    let since = record.backgroundSince
    return since < 0 || since > now || now - since < grace
  }

  /// Whether a device is a phone with a token and offline, or in the background for long.
  private func isPushedTo(_ record: DeviceRecord, at now: Int64) -> Bool {
    guard record.kind == Device.Kind.mobile.ordinal, record.hasToken else { return false }
    return record.state == Device.State.offline.ordinal
      || (record.state == Device.State.background.ordinal && !isInGrace(record, at: now))
  }
}

extension MemberResolver {
  /// The bits of a packed member that apply: an ultra group's level may not apply in its channels
  ///
  func rongcloudLevelMask(_ target: ConversationTarget) -> UInt8 {
    switch target.kind {
    case .thread: 0
    case .ultraGroup: coversChannel(target) ? PackedMember.levelMask : 0
    default: PackedMember.levelMask
    }
  }

  private func coversChannel(_ target: ConversationTarget) -> Bool {
    target.channel.isEmpty || tables.app.rongcloud.ultraConversationLevel == .wholeGroup
  }

  /// The class of a RongCloud member.
  func rongcloudClass(
    _ record: MemberRecord, of user: UInt32, _ target: ConversationTarget
  ) -> MemberClass {
    if target.kind == .thread {
      return MemberClass(level: ownRecord(of: user, inThread: target)?.packed.level ?? 0)
    }
    let level = record.packed.level
    guard target.kind == .ultraGroup else { return MemberClass(level: level) }
    let channel = tables.channelSets[record.channels][target.channel] ?? .unset
    if channel.isSet { return MemberClass(channelLevel: channel) }
    return MemberClass(level: coversChannel(target) ? level : 0)
  }
}

extension MentionedUsers {
  ///
  init(rongcloud message: borrowing Message, _ kind: ConversationKind) {
    guard kind == .group || kind == .ultraGroup else { return }
    let all = message.mentionsAll ?? false
    let named = message.mentions ?? []
    guard message.isMentioned ?? (all || !named.isEmpty) else { return }
    everyone = all
    ids = all ? [] : named
  }
}

extension RongCloudOptions {
  /// The phase while quiet hours let a level through.
  func quiet(_ level: NotificationLevel) -> UserClass.Quiet {
    switch level {
    case .blocked: .blocked
    case .mention: .mention
    default: quietZero == .all ? .all : .outside
    }
  }
}
