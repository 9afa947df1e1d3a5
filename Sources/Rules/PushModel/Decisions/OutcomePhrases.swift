/// Every outcome in words.
///
/// - Source: decision-rules.md, sections 4 and 5; docs/outcome-codes.csv has the outcomes.
public enum OutcomePhrases {
  /// What an outcome means; of one that is not known its key, as a later version may have more.
  public static func phrase(_ action: String, _ reason: String, _ scope: String?) -> String {
    phrase(key: [action, reason, scope].compactMap { $0 }.joined(separator: "/"))
  }

  /// The same of a key like `push/allowed/default`.
  public static func phrase(key: String) -> String { phrases[key] ?? key }

  package static let phrases = Dictionary(
    uniqueKeysWithValues: Outcome.coded.map { ($0.outcome.key, words(of: $0.outcome)) })

  private static func words(of outcome: Outcome) -> String {
    let scope = outcome.scope ?? .default
    let isSet = scope != .default
    let passes = isSet ? "\(level(of: scope)) lets it pass" : "no level set anywhere"
    // Of open rules, where force replaces no level.
    let isOpen = [.thread, .user, .conversationDefault, .appDefault].contains(scope)
    return switch outcome.reason {
    case .allowed where outcome.action == .local: "Shown by the app itself: \(passes)"
    case .allowed: "Pushed: \(passes)"
    case .forced where isSet && !isOpen: "Pushed by force, over \(level(of: scope))"
    case .forced: "Pushed by force; \(passes)"
    case .levelNone where isSet: "Stopped: \(level(of: scope)) is none"
    case .levelNone: "Stopped: the level is none by default"
    case .notMentioned: "Stopped, no mention: \(level(of: scope)) admits mentions only"
    case .directChatLevel: "Stopped in a direct chat: \(level(of: scope)) admits mentions only"
    case .levelExcludes: "Stopped: \(level(of: scope)) does not take such messages"
    case .quietHours where scope == .quietHours: "Stopped by quiet hours: their level is none"
    case .quietHours where scope == .app: "Stopped by the user's quiet hours"
    case .quietHours where scope == .user: "Stopped by the user's own quiet hours"
    case .quietHours: "Stopped by the app's quiet hours"
    case .muted where scope == .app: "Stopped by the user's mute"
    case .muted where scope == .user: "Stopped by the user's own mute"
    case .muted: "Stopped by the \(scope.name)'s mute"
    case .chatRoom: "Never pushed: a chat room"
    case .onlineOnly: "Never pushed: a message for those who are online only"
    case .messageType: "Never pushed: a message of this type"
    case .silentMessage: "Never pushed: the sender asked for silence"
    case .expired: "Too old to be pushed"
    case .online: "Not needed: the recipient was connected"
    case .kicked: "No device: all had been kicked"
    case .loggedOut: "No device: all were logged out"
    case .noToken: "No device: none that was offline had a push token"
    case .filtered: "No device: the message's filter left none"
    case .localIneligible: "In the background: such a message is not shown"
    case .localDisabled: "In the background: message notifications are switched off"
    case .localInfoMissing: "In the background: names that a notification shows are missing"
    case .localHandledByApp: "In the background: the app's own callback took it"
    case .senderBlocked: "Never pushed: the recipient blocks the sender"
    case .notFollowing: "Not concerned: the recipient does not follow the thread"
    }
  }

  private static func level(of scope: Scope) -> String {
    switch scope {
    case .quietHours: "the level inside quiet hours"
    case .channel, .conversation, .thread: "the level set for the \(scope.name)"
    case .type: "the level of this type of conversation"
    case .channelDefault: "the channel's default level"
    case .groupDefault: "the group's default level"
    case .conversationDefault: "the conversation's default level"
    case .appDefault: "the app's default level"
    case .appKey: "the App Key's level"
    case .app: "the user's own level"
    case .user: "the user's level for everything"
    case .default: "the default level"
    }
  }
}

extension Outcome {
  /// What the outcome means, in words.
  public var phrase: String { OutcomePhrases.phrase(key: key) }
}
