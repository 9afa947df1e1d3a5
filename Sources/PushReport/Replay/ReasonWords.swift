internal import PushModel

/// A kind of outcome that has a colour in the charts; reasons that mean much the same share one.
enum OutcomeFamily: Int, CaseIterable {
  // In the order in which they lie on each other.
  case pushed, local, notMentioned, levelNone, muted, quietHours, online, noDevice, other

  init(action: String, reason: String) {
    switch action {
    case Action.push.name: self = .pushed
    case Action.local.name: self = .local
    default:
      switch Reason.allCases.first(where: { $0.name == reason }) {
      case .notMentioned?, .directChatLevel?: self = .notMentioned
      case .levelNone?: self = .levelNone
      case .muted?: self = .muted
      case .quietHours?: self = .quietHours
      case .online?: self = .online
      case .noToken?, .kicked?, .loggedOut?, .filtered?: self = .noDevice
      case .allowed?, .forced?, .chatRoom?, .onlineOnly?, .messageType?, .silentMessage?, .expired?,
        .localIneligible?, .localDisabled?, .localInfoMissing?, .localHandledByApp?, nil:
        self = .other
      }
    }
  }

  var name: String {
    switch self {
    case .pushed: "pushed"
    case .local: "local notification"
    case .notMentioned: "not mentioned"
    case .levelNone: "level none"
    case .muted: "muted"
    case .quietHours: "quiet hours"
    case .online: "online"
    case .noDevice: "no device to push to"
    case .other: "other reasons"
    }
  }

  /// The class of its colour.
  var color: String { "family-\(rawValue)" }
}

/// Outcomes in a sentence.
enum ReasonWords {
  /// What an outcome means; for a reason that is not known its own name.
  ///
  /// - Source: decision-rules.md, sections 4 and 5.
  static func sentence(action: String, reason: String) -> String {
    guard let known = Reason.allCases.first(where: { $0.name == reason }) else { return reason }
    if action == Action.local.name {
      return "The app, in the background and still connected, showed a notification by itself."
    }
    return sentence(known)
  }

  /// Where the setting lives that decided.
  static func scope(_ name: String) -> String {
    switch Scope.allCases.first(where: { $0.name == name }) {
    case .quietHours?: "quiet hours"
    case .channel?: "set for the channel"
    case .conversation?: "set for the conversation"
    case .type?: "set for the type of conversation"
    case .channelDefault?: "the channel\u{2019}s default"
    case .groupDefault?: "the group\u{2019}s default"
    case .appKey?: "the App Key\u{2019}s level"
    case .app?: "set for the whole app by the user"
    case .default?: "nothing set anywhere"
    case nil: name
    }
  }

  private static func sentence(_ reason: Reason) -> String {
    switch reason {
    case .allowed: "Nothing stood in the way."
    case .forced: "The sender\u{2019}s force flag overrode what would have stopped it."
    case .chatRoom: "Chat rooms are never pushed."
    case .onlineOnly: "The message was for those only who were online."
    case .messageType: "A message of this kind is not pushed."
    case .silentMessage: "The sender asked for no push."
    case .expired: "The message was too old to be pushed."
    case .online: "The recipient was connected and got the message itself."
    case .quietHours: "It came within the recipient\u{2019}s quiet hours."
    case .muted: "The recipient had muted for a time, which had not passed."
    case .levelNone: "The recipient\u{2019}s level says: never notify."
    case .notMentioned: "The recipient\u{2019}s level admits mentions only, and this was none."
    case .directChatLevel: "A mention level, which in a direct chat never notifies."
    case .kicked: "All devices of the recipient had been kicked."
    case .loggedOut: "All devices of the recipient were logged out."
    case .noToken: "No device of the recipient that was offline had a push token."
    case .filtered: "The message\u{2019}s device filter left no device."
    case .localIneligible:
      "The app was in the background, where such a message gives no notification."
    case .localDisabled: "The app was in the background with message notifications switched off."
    case .localInfoMissing:
      "The app was in the background and lacked the names that a notification shows."
    case .localHandledByApp: "The app was in the background, and its own callback took the message."
    }
  }
}
