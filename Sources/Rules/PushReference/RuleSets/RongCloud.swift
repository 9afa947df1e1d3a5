internal import PushModel

extension ReferenceEvaluator {
  /// RongCloud's procedure, decision-rules.md §4, from line 1 on.
  mutating func rongcloud(
    _ message: Message, _ conversation: ConversationSettings, _ recipient: Recipient,
    _ trace: inout Trace
  ) -> Decision {
    let devices = recipient.user.effectiveDevices

    // 1
    trace.note("R-44", "conversation", stops: conversation.kind == .room, describe(conversation))
    if conversation.kind == .room { return trace.decide(.suppress, .chatRoom) }
    trace.note(
      "R-44", "body", stops: message.body == .status,
      message.body == .status ? "a status message" : message.body.rawValue)
    if message.body == .status { return trace.decide(.suppress, .messageType) }
    // 2
    let silent = message.silent ?? false
    trace.note("R-42", "silent flag", stops: silent, silent ? "set" : "not set")
    if silent { return trace.decide(.suppress, .silentMessage) }
    // 3
    let connected = devices.filter { isConnected($0, at: message.at) }
    let background = connected.filter { $0.state == .background }
    let isLocal = !background.isEmpty
    var onlyLastPhone = false
    let isOnline = !isLocal && !connected.isEmpty
    if isOnline {
      onlyLastPhone =
        recipient.user.pushWhenDesktopOnline && connected.allSatisfy { $0.kind != .mobile }
    }
    trace.note(
      isOnline ? "R-50, R-51" : "R-50, R-53", "devices", stops: isOnline && !onlyLastPhone,
      describe(devices)
        + (isLocal
          ? "; the app in the background shows a notification itself"
          : onlyLastPhone ? "; only desktops, and the last phone gets pushes then" : ""))
    if isOnline, !onlyLastPhone { return trace.decide(.suppress, .online) }
    if let reason = unfit(message, conversation, isLocal, &trace) {
      return trace.decide(.suppress, reason)
    }
    // 4
    trace.note("R-40, R-41", "mentions", finding(rongcloud: message, conversation, recipient.id))
    let (level, scope) = rongcloudLevel(message, conversation, recipient, &trace)
    // 5
    let stopped = stop(by: level, scope, conversation, recipient)
    trace.note(
      stopped == nil ? "R-1, R-3" : "R-1, R-6, R-12", "level", scope: scope, stops: stopped != nil,
      describe(level, scope))
    if let stopped { return trace.decide(.suppress, stopped, scope) }
    // 6
    if isLocal {
      let lacksNames = recipient.user.localInformationMissing
      trace.note(
        "R-54", "names for the notification", stops: lacksNames,
        lacksNames ? "missing" : "there")
      if lacksNames { return trace.decide(.suppress, .localInfoMissing) }
      let isHandled = recipient.user.localHandledByApp
      trace.note(
        "R-55", "the app's callback", stops: isHandled,
        isHandled ? "handled the message itself" : "did not handle it")
      if isHandled { return trace.decide(.suppress, .localHandledByApp) }
      return trace.decide(.local, .allowed, scope, devices: background.map(\.id))
    }
    // 7
    var targets = devices.filter {
      $0.kind == .mobile && $0.hasToken && isOffline($0, at: message.at)
    }
    if onlyLastPhone { targets = targets.suffix(1) }  // R-51
    let allLoggedOut = !devices.isEmpty && devices.allSatisfy { $0.state == .loggedOut }
    trace.note(
      "R-52", "push tokens", stops: targets.isEmpty,
      targets.isEmpty
        ? devices.isEmpty
          ? "there is no device"
          : allLoggedOut ? "every device is logged out" : "no phone that is offline has one"
        : "of \(names(targets))")
    if targets.isEmpty {
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
        "R-44", "push content", stops: lacksContent,
        lacksContent
          ? "a custom message has none"
          : message.body == .custom ? "there" : "not needed for \(message.body.rawValue)")
      return lacksContent ? .messageType : nil
    }
    let isEligible =
      conversation.kind != .ultraGroup && message.persisted && !message.backlog  // R-54
    trace.note(
      "R-54", "local notification", stops: !isEligible,
      isEligible
        ? "possible"
        : conversation.kind == .ultraGroup
          ? "none in an ultra group"
          : message.persisted ? "none for the backlog" : "none for what is not persisted")
    guard isEligible else { return .localIneligible }
    trace.note(
      "R-54", "the app's notifications", stops: !settings.app.messageNotification,
      settings.app.messageNotification ? "on" : "off (messageNotification)")
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
    for (scope, level) in scopes where level.isSet { return (level, scope) }  // R-2
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
        "R-12, R-20 to R-24", "quiet hours", scope: .quietHours,
        "\(describe(span)); it was \(describe(second)) in \(zone)\(level == nil ? ", outside" : "")"
      )
    case .interval, .windows, nil:
      trace.note("R-20", "quiet hours", scope: .quietHours, "not set")
      level = nil
    }
    guard let level else { return .unset }
    if recipient.isMentioned, options.mentionBypassesQuiet {
      trace.note(
        "R-27", "quiet hours", scope: .quietHours,
        "passed over for who is mentioned (mentionBypassesQuiet)")
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

extension ReferenceEvaluator {
  /// Who is mentioned, and what does not count (R-40, R-41).
  private func finding(
    rongcloud message: Message, _ conversation: ConversationSettings, _ user: Identifier
  ) -> String {
    let (ids, all) = (message.mentions ?? [], message.mentionsAll ?? false)
    let named = all ? "everyone" : describe(ids, user, false)
    if ids.isEmpty, !all { return "nobody" }
    guard conversation.kind == .group || conversation.kind == .ultraGroup else {
      return "nobody: mentions count in groups only (R-40); named: \(named)"
    }
    if message.isMentioned == false {
      return "nobody, as isMentioned is false (R-40); named: \(named)"
    }
    return named + (all && !ids.isEmpty ? "; the list does not count then (R-41)" : "")
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
