internal import PushModel

extension ReferenceEvaluator {
  /// RongCloud's procedure, decision-rules.md §4, from line 1 on.
  mutating func rongcloud(
    _ message: Message, _ conversation: ConversationSettings, _ recipient: Recipient,
    _ trace: inout Trace
  ) -> Decision {
    let devices = recipient.user.effectiveDevices

    // 1
    trace.note("R-44", "conversation type", conversation.kind.rawValue, "a chat room never pushes")
    if conversation.kind == .room { return trace.decide(.suppress, .chatRoom) }
    trace.note("R-44", "body", message.body.rawValue, "a status message never pushes")
    if message.body == .status { return trace.decide(.suppress, .messageType) }
    // 2
    let silent = message.silent ?? false
    trace.note("R-42", "disablePush", yesNo(silent), "silent messages never notify")
    if silent { return trace.decide(.suppress, .silentMessage) }
    // 3
    let connected = devices.filter { isConnected($0, at: message.at) }
    let background = connected.filter { $0.state == .background }
    let isLocal = !background.isEmpty
    var onlyLastPhone = false
    trace.note(
      "R-50, R-53", "connected devices", describe(connected),
      isLocal ? "one is in the background: local flow" : "none is in the background")
    if !isLocal, !connected.isEmpty {
      onlyLastPhone =
        recipient.user.pushWhenDesktopOnline && connected.allSatisfy { $0.kind != .mobile }
      trace.note(
        "R-51", "pushWhenDesktopOnline", yesNo(recipient.user.pushWhenDesktopOnline),
        onlyLastPhone ? "only desktops: push to the last phone" : "online, so no push")
      if !onlyLastPhone { return trace.decide(.suppress, .online) }
    }
    if let reason = unfit(message, conversation, isLocal, &trace) {
      return trace.decide(.suppress, reason)
    }
    // 4
    let (level, scope) = rongcloudLevel(message, conversation, recipient, &trace)
    // 5
    if let reason = stop(by: level, scope, conversation, recipient) {
      trace.note("R-1, R-6, R-12", "level", level.name, scope: scope, "stops this message")
      return trace.decide(.suppress, reason, scope)
    }
    trace.note("R-1, R-3", "level", level.name, scope: scope, "lets this message through")
    // 6
    if isLocal {
      trace.note(
        "R-54", "information missing", yesNo(recipient.user.localInformationMissing),
        "without it nothing is shown")
      if recipient.user.localInformationMissing {
        return trace.decide(.suppress, .localInfoMissing)
      }
      trace.note(
        "R-55", "handled by the app", yesNo(recipient.user.localHandledByApp),
        "what the app handled is not shown again")
      if recipient.user.localHandledByApp { return trace.decide(.suppress, .localHandledByApp) }
      trace.note("R-53", "background devices", describe(background), "a local notification")
      return trace.decide(.local, .allowed, scope, devices: background.map(\.id))
    }
    // 7
    var targets = devices.filter {
      $0.kind == .mobile && $0.hasToken && isOffline($0, at: message.at)
    }
    if onlyLastPhone { targets = targets.suffix(1) }  // R-51
    trace.note("R-52", "phones to push to", describe(targets), "offline, with a token")
    if targets.isEmpty {
      let allLoggedOut = !devices.isEmpty && devices.allSatisfy { $0.state == .loggedOut }
      return trace.decide(.suppress, allLoggedOut ? .loggedOut : .noToken)
    }
    // 8
    return trace.decide(.push, .allowed, scope, devices: targets.map(\.id))
  }

  /// Whether a device is connected: in the background, until its grace is over (R-53).
  private func isConnected(_ device: Device, at now: Instant) -> Bool {
    switch device.state {
    case .foreground: return true
    case .background:
      guard let since = device.backgroundSince else { return true }
      let grace = settings.app.rongcloud.backgroundGraceMilliseconds
      return since > now || now.milliseconds - since.milliseconds < grace
    case .offline, .loggedOut, .kicked: return false
    }
  }

  private func isOffline(_ device: Device, at now: Instant) -> Bool {
    device.state == .offline || (device.state == .background && !isConnected(device, at: now))
  }

  /// Why the message does not fit its flow, the rest of line 3; nil when it does.
  private func unfit(
    _ message: Message, _ conversation: ConversationSettings, _ isLocal: Bool,
    _ trace: inout Trace
  ) -> Reason? {
    guard isLocal else {
      let lacksContent = message.body == .custom && message.pushContent.isEmpty
      trace.note(
        "R-44", "custom type without push content", yesNo(lacksContent),
        lacksContent ? "does not push" : "may push")
      return lacksContent ? .messageType : nil
    }
    let isEligible =
      conversation.kind != .ultraGroup && message.persisted && !message.backlog  // R-54
    trace.note(
      "R-54", "eligible for a local notification", yesNo(isEligible),
      "not in an ultra group, unless persisted, or from the backlog")
    guard isEligible else { return .localIneligible }
    trace.note(
      "R-54", "messageNotification", yesNo(settings.app.messageNotification),
      "without it the app shows none")
    return settings.app.messageNotification ? nil : .localDisabled
  }

  /// The level that holds: the first scope at which one is set (R-10, R-11).
  private mutating func rongcloudLevel(
    _ message: Message, _ conversation: ConversationSettings, _ recipient: Recipient,
    _ trace: inout Trace
  ) -> (NotificationLevel, Scope) {
    let isUltra = conversation.kind == .ultraGroup
    var scopes: [(Scope, NotificationLevel)] = []
    scopes.append((.quietHours, quietLevel(message, recipient, &trace)))
    if isUltra {
      scopes.append((.channel, recipient.own.channels[message.channel] ?? .unset))
    }
    let covered =  // R-13
      !isUltra || message.channel.isEmpty
      || settings.app.rongcloud.ultraConversationLevel == .wholeGroup
    scopes.append((.conversation, covered ? recipient.own.level : .unset))
    scopes.append((.type, recipient.user.levels[conversation.kind]))
    if isUltra {  // R-14
      scopes.append((.channelDefault, conversation.channels[message.channel] ?? .unset))
      scopes.append((.groupDefault, conversation.level))
    }
    scopes.append((.appKey, settings.app.level))
    for (scope, level) in scopes {
      trace.note(
        isUltra ? "R-11" : "R-10", "\(scope.name) level", level.name, scope: scope,
        level.isSet ? "set here" : "look further")  // R-2
      if level.isSet { return (level, scope) }
    }
    return (.all, .default)  // R-3
  }

  /// The level of quiet hours now; unset outside their window (R-5, R-12, R-27).
  private mutating func quietLevel(
    _ message: Message, _ recipient: Recipient, _ trace: inout Trace
  ) -> NotificationLevel {
    let options = settings.app.rongcloud
    let level: NotificationLevel?
    let usersZone = recipient.user.timeZone ?? settings.app.timeZone
    switch recipient.user.quietHours {
    case .span(let span):
      let zone = span.timeZone ?? usersZone  // R-24
      let second = clock.secondOfDay(at: message.at, in: zone)
      level = span.contains(secondOfDay: second, options: options) ? span.level : nil
      trace.note(
        "R-12, R-20 to R-24", "quiet hours", "\(describe(span)), \(describe(second)) in \(zone)",
        scope: .quietHours, level == nil ? "outside" : "inside")
    case .windows(let windows):
      let (weekday, second) = clock.time(at: message.at, in: usersZone)
      level = windows.level(weekday: weekday, secondOfDay: second)
      trace.note(
        "R-12", "quiet hours", "\(describe(windows)), \(describe(second)) in \(usersZone)",
        scope: .quietHours, level == nil ? "outside" : "inside, level \(level?.name ?? "")")
    case .interval, nil:
      trace.note("R-20", "quiet hours", "not set", scope: .quietHours, "none")
      level = nil
    }
    guard let level else { return .unset }
    if recipient.isMentioned, options.mentionBypassesQuiet {
      trace.note("R-27", "mentioned", "yes", scope: .quietHours, "a mention skips quiet hours")
      return .unset
    }
    if !level.isSet, options.quietZero == .all { return .all }  // R-5
    return level
  }

  /// Why a level stops the message, line 5; nil when it lets it through.
  private func stop(
    by level: NotificationLevel, _ scope: Scope, _ conversation: ConversationSettings,
    _ recipient: Recipient
  ) -> Reason? {
    if level == .blocked { return scope == .quietHours ? .quietHours : .levelNone }
    if level.isMentionLevel, conversation.kind.isDirect {  // R-6
      return settings.app.rongcloud.singleMentionLevels == .all ? nil : .directChatLevel
    }
    return level.allows(recipient.classes) ? nil : .notMentioned
  }
}

extension Mentions {
  /// R-40, R-41.
  init(rongcloud message: Message, kind: ConversationKind) {
    guard kind == .group || kind == .ultraGroup else { return }  // R-40
    let ids = message.mentions ?? []
    let all = message.mentionsAll ?? false
    guard message.isMentioned ?? (all || !ids.isEmpty) else { return }  // R-40
    everyone = all
    if !all { setIDs(ids) }  // R-41: type 1 ignores its user list
  }
}
