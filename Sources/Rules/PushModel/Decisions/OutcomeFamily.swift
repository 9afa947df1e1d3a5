/// A kind of outcome that has a colour in charts; reasons that mean much the same share one.
public enum OutcomeFamily: Int, CaseIterable {
  // In the order in which they lie on each other.
  /// A push was sent.
  case pushed
  /// The recipient's app shows a notification itself.
  case local
  /// The level admits other messages only, such as mentions.
  case notMentioned
  /// A level admits nothing.
  case levelNone
  /// A mute is running.
  case muted
  /// Quiet hours.
  case quietHours
  /// The recipient is connected.
  case online
  /// No device can get the push.
  case noDevice
  /// All others, also those that are not known.
  case other

  /// The family of an outcome by its names in files.
  public init(action: String, reason: String) {
    switch action {
    case Action.push.name: self = .pushed
    case Action.local.name: self = .local
    default:
      switch Reason.allCases.first(where: { $0.name == reason }) {
      case .notMentioned?, .directChatLevel?, .levelExcludes?, .notFollowing?: self = .notMentioned
      case .levelNone?: self = .levelNone
      case .muted?: self = .muted
      case .quietHours?: self = .quietHours
      case .online?: self = .online
      case .noToken?, .kicked?, .loggedOut?, .filtered?: self = .noDevice
      case .allowed?, .forced?, .chatRoom?, .onlineOnly?, .messageType?, .silentMessage?, .expired?,
        .localIneligible?, .localDisabled?, .localInfoMissing?, .localHandledByApp?,
        .senderBlocked?, nil:
        self = .other
      }
    }
  }

  /// The name in words.
  public var name: String {
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
}

extension Outcome {
  /// The kind of the outcome, which has a colour in charts.
  public var family: OutcomeFamily { OutcomeFamily(action: action.name, reason: reason.name) }
}
