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
