internal import PushModel
internal import QuietTime

/// How a RongCloud decision reads (decision-rules.md §4).
extension RuleTrace {
  mutating func noteRongCloudMessage(stoppedBy reason: Reason?) {
    // 1
    note("R-44", "conversation type", conversation.kind.rawValue, "a chat room never pushes")
    if reason == .chatRoom { return }
    note("R-44", "body", message.body.rawValue, "a status message never pushes")
    if reason == .messageType { return }
    // 2
    note(
      "R-42", "disablePush", yesNo(message.silent ?? false), "silent messages never notify")
  }

  mutating func addRongCloud(_ step: StateNote) {
    switch step {
    case .reach(let reach):
      self.reach = reach
      noteConnected()
    case .unfit(let reason): noteFlow(reason)
    case .quiet(_, let isSkipped):
      noteFlow(nil)
      noteQuietHours(isSkipped: isSkipped)
    case .level(let level, let scope):
      noteLevels(level, scope)
      self.level = (level, scope)
    case .levelStops(_, let scope, _):
      note(
        "R-1, R-6, R-12", "level", (level?.level ?? .unset).name, scope: scope,
        "stops this message")
      level = nil
    case .targets:
      if let (level, scope) = level {
        note("R-1, R-3", "level", level.name, scope: scope, "lets this message through")
      }
    case .doNotDisturb: break
    }
  }

  mutating func finishRongCloud(_ outcome: Outcome) {
    switch outcome.reason {
    case .allowed, .noToken, .loggedOut, .localInfoMissing, .localHandledByApp: break
    default: return
    }
    guard isLocal else {
      // R-51, R-52
      return note("R-52", "phones to push to", describe(targets), "offline, with a token")
    }
    note(
      "R-54", "information missing", yesNo(user.localInformationMissing),
      "without it nothing is shown")
    if outcome.reason == .localInfoMissing { return }
    note(
      "R-55", "handled by the app", yesNo(user.localHandledByApp),
      "what the app handled is not shown again")
    if outcome.reason == .localHandledByApp { return }
    note(
      "R-53", "background devices", describe(connected.filter { $0.state == .background }),
      "a local notification")
  }

  /// Whether the user is in the flow of local notifications (R-53).
  private var isLocal: Bool { reach.rawValue >= UserClass.Reach.local.rawValue }

  /// The devices that are in use, or in the background for less than the grace (R-53).
  private var connected: [Device] {
    user.effectiveDevices.filter { device in
      switch device.state {
      case .foreground: return true
      case .background:
        guard let since = device.backgroundSince, since <= message.at else { return true }
        let passed = message.at.milliseconds - since.milliseconds
        return passed < app.rongcloud.backgroundGraceMilliseconds
      case .offline, .loggedOut, .kicked: return false
      }
    }
  }

  private mutating func noteConnected() {
    note(
      "R-50, R-53", "connected devices", describe(connected),
      isLocal ? "one is in the background: local flow" : "none is in the background")
    if !isLocal, !connected.isEmpty {
      note(
        "R-51", "pushWhenDesktopOnline", yesNo(user.pushWhenDesktopOnline),
        reach == .online ? "online, so no push" : "only desktops: push to the last phone")
    }
  }

  /// Whether the message fits the flow, the rest of line 3.
  ///
  /// - Parameter reason: why it does not; nil when it does.
  private mutating func noteFlow(_ reason: Reason?) {
    guard isLocal else {
      let lacksContent = reason == .messageType
      return note(
        "R-44", "custom type without push content", yesNo(lacksContent),
        lacksContent ? "does not push" : "may push")
    }
    let isEligible = reason != .localIneligible
    note(
      "R-54", "eligible for a local notification", yesNo(isEligible),
      "not in an ultra group, unless persisted, or from the backlog")
    guard isEligible else { return }
    note(
      "R-54", "messageNotification", yesNo(app.messageNotification),
      "without it the app shows none")
  }

  private mutating func noteQuietHours(isSkipped: Bool) {
    let level = quiet?.level(at: message.at.seconds)
    let usersZone = user.timeZone ?? app.timeZone
    switch user.quietHours {
    case .span(let span):
      let zone = span.timeZone ?? usersZone  // R-24
      note(
        "R-12, R-20 to R-24", "quiet hours",
        "\(describe(span)), \(describe(localSecond(in: zone))) in \(zone)", scope: .quietHours,
        level == nil ? "outside" : "inside")
    case .windows(let windows):
      note(
        "R-12", "quiet hours",
        "\(describe(windows)), \(describe(localSecond(in: usersZone))) in \(usersZone)",
        scope: .quietHours, level == nil ? "outside" : "inside, level \(level?.name ?? "")")
    case .interval, nil:
      note("R-20", "quiet hours", "not set", scope: .quietHours, "none")
    }
    if level != nil, isSkipped {
      note("R-27", "mentioned", "yes", scope: .quietHours, "a mention skips quiet hours")
    }
  }

  /// Where levels were looked for, up to where one is set (R-10, R-11).
  private mutating func noteLevels(_ level: NotificationLevel, _ scope: Scope) {
    let isUltra = conversation.kind == .ultraGroup
    let scopes: [Scope] =
      isUltra
      ? [.quietHours, .channel, .conversation, .type, .channelDefault, .groupDefault, .appKey]
      : [.quietHours, .conversation, .type, .appKey]
    for candidate in scopes {
      let isFound = candidate == scope
      note(
        isUltra ? "R-11" : "R-10", "\(candidate.name) level",
        (isFound ? level : NotificationLevel.unset).name, scope: candidate,
        isFound ? "set here" : "look further")
      if isFound { return }
    }
  }
}
