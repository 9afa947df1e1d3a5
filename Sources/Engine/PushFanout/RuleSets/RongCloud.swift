internal import PushModel

/// What a message not stopped for all, its conversation and channel contribute to outcomes.
struct RongCloudMessageClass {
  /// How the message mentions a recipient.
  enum Mention: Int {
    case plain = 0
    case me, everyone
  }

  /// The level where the user has set none: that of the ultra group, the App Key or the default
  ///
  struct Fallback: Hashable {
    var level: NotificationLevel
    var scope: Scope

    static let scopes: [Scope] = [.channelDefault, .groupDefault, .appKey, .default]
    static let count = scopes.count * NotificationLevel.ofVendors.count

    var index: Int {
      (Self.scopes.firstIndex(of: scope) ?? 0) * NotificationLevel.ofVendors.count
        + Int(level.vendorCode)
    }

    init(_ level: NotificationLevel, _ scope: Scope) {
      self.level = level
      self.scope = scope
    }

    init(index: Int) {
      scope = Self.scopes[index / NotificationLevel.ofVendors.count]
      level =
        NotificationLevel(vendorCode: UInt8(index % NotificationLevel.ofVendors.count)) ?? .unset
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

  /// The class for users mentioned by name. A mention of everyone comes first.
  var forNamed: RongCloudMessageClass {
    mention == .plain ? RongCloudMessageClass(index: index + 4) : self
  }
}

/// RongCloud's procedure from line 3 on (decision-rules.md §4), for a state.
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

  /// Why the flow does not apply (line 3).
  private func unfit(_ message: RongCloudMessageClass, isLocal: Bool) -> Reason? {
    guard isLocal else { return message.lacksContent ? .messageType : nil }
    if kind == .ultraGroup || !message.isLocalEligible { return .localIneligible }
    return app.messageNotification ? nil : .localDisabled
  }

  /// the first scope with a level.
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

extension StateRules {
  static func rongcloud(_ app: AppSettings, _ kind: ConversationKind) -> StateRules {
    let rules = RongCloudStates(app: app, kind: kind)
    typealias Class = RongCloudMessageClass
    // One fallback per level, as scopes do not distinguish states.
    let levels = NotificationLevel.ofVendors.filter(\.isSet)
    let telling = levels.flatMap { level in
      (0..<Class.perFallback).map {
        Class.Fallback(level, .groupDefault).index * Class.perFallback + $0
      }
    }
    return StateRules(
      .rongcloud, tableCount: Class.count, telling: telling,
      lastPhase: UserClass.Quiet.blocked.rawValue,
      isPossible: { user, member in
        user.isRongCloud && member.isRongCloud && (kind == .ultraGroup || !member.hasChannelLevel)
          && (user.quiet != .all || app.rongcloud.quietZero == .all)
      }
    ) {
      rules.outcome($0, $1, Class(index: $2))
    }
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
  func quiet(_ level: NotificationLevel) -> UserClass.Quiet {
    switch level {
    case .blocked: .blocked
    case .mention: .mention
    default: quietZero == .all ? .all : .outside
    }
  }
}
