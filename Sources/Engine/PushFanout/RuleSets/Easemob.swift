internal import PushModel

/// What a message not stopped for all contributes to outcomes.
struct EasemobMessageClass {
  /// 0 ..< 16.
  var index: Int

  static let count = 16

  init(index: Int) { self.index = index }

  init(force: Bool, beatSilence: Bool, mentionsMe: Bool, mentionsEveryone: Bool) {
    index =
      (force ? 1 : 0) | (beatSilence ? 2 : 0) | (mentionsMe ? 4 : 0) | (mentionsEveryone ? 8 : 0)
  }

  var force: Bool { index & 1 != 0 }
  /// Whether force has already overridden silence (E-41a, E-44).
  var beatSilence: Bool { index & 2 != 0 }

  var classes: MessageClasses {
    var classes: MessageClasses = []
    if index & 4 != 0 { classes.insert(.mentionsMe) }
    if index & 8 != 0 { classes.insert(.mentionsEveryone) }
    return classes.isEmpty ? .plain : classes
  }

  /// The class for users mentioned by name.
  var forNamed: EasemobMessageClass { EasemobMessageClass(index: index | 4) }
}

/// Easemob's procedure from line 5 on (decision-rules.md §4), for a state.
struct EasemobStates {
  let app: AppSettings
  let isPrivate: Bool

  func outcome(
    _ user: UserClass, _ member: MemberClass, _ message: EasemobMessageClass
  ) -> Outcome {
    let options = app.easemob
    var forced = message.beatSilence
    // 5
    if user.reach == .online { return Outcome(.suppress, .online) }
    // 6
    let isExempt = message.classes.isMention && options.mentionBypassesDND  // E-48
    let stop = app.advancedPush ? doNotDisturb(user, member) : nil  // E-9
    if let stop, !isExempt {
      if !message.force { return stop }
      forced = true  // E-41
    }
    // 7
    let (level, scope) = level(user, member)
    if let reason = self.stop(by: level, message.classes) {
      let isOverridden = message.force && options.forceScope == .dndAndLevel  // E-42
      if !isOverridden { return Outcome(.suppress, reason, scope) }
      forced = true
    }
    // 8
    if user.reach == .gone { return Outcome(.suppress, .kicked) }
    if user.reach == .noToken { return Outcome(.suppress, .noToken) }
    // 9
    return Outcome(.push, forced ? .forced : .allowed, scope)
  }

  /// E-23, in the order of §4.
  private func doNotDisturb(_ user: UserClass, _ member: MemberClass) -> Outcome? {
    if user.isInWindow { return Outcome(.suppress, .quietHours, .app) }
    if user.isMuted { return Outcome(.suppress, .muted, .app) }
    return member.isMuted ? Outcome(.suppress, .muted, .conversation) : nil  // E-22
  }

  /// E-20.
  private func level(_ user: UserClass, _ member: MemberClass) -> (NotificationLevel, Scope) {
    guard app.advancedPush else { return (.all, .default) }  // E-9
    if member.level.isSet { return (member.level, .conversation) }
    return user.level.isSet ? (user.level, .app) : (.all, .default)
  }

  private func stop(by level: NotificationLevel, _ classes: MessageClasses) -> Reason? {
    if level == .blocked { return .levelNone }
    if level == .mention, isPrivate, options.singleChatMentionOnly == .treatAsAll { return nil }
    return level.allows(classes) ? nil : .notMentioned
  }

  private var options: EasemobOptions { app.easemob }
}

extension StateRules {
  static func easemob(_ app: AppSettings, _ kind: ConversationKind) -> StateRules {
    let rules = EasemobStates(app: app, isPrivate: kind == .private)
    let count = EasemobMessageClass.count
    return StateRules(
      .easemob, tableCount: count, telling: Array(0..<count), lastPhase: UserClass.windowPhase,
      isPossible: { $0.isEasemob && $1.isEasemob }
    ) {
      rules.outcome($0, $1, EasemobMessageClass(index: $2))
    }
  }
}

extension MentionedUsers {
  /// E-46 to E-48.
  init(easemob message: borrowing Message, _ options: EasemobOptions) {
    folds = options.atListIDCase == .insensitive
    if message.mentions != nil || message.mentionsAll != nil {
      everyone = message.mentionsAll ?? false
      ids = message.mentions ?? []
      return
    }
    if case .absent = message.ext.atList {
      if options.atListLegacyAPNsExt { add(message.ext.legacyAtList, options) }
    } else {
      add(message.ext.atList, options)
    }
  }

  private mutating func add(_ list: EasemobExtension.AtList, _ options: EasemobOptions) {
    switch list {
    case .absent, .unreadable: break
    case .text(let text):
      if text.lowercased() == "all" {
        everyone = true
      } else if options.atListStringAsID {
        ids = [text]
      }
    case .ids(let list):
      ids = list
      if options.atListAllInArray { everyone = list.contains { $0.lowercased() == "all" } }
    }
  }
}
