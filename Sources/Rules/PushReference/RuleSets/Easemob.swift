internal import PushModel

extension ReferenceEvaluator {
  /// Easemob's procedure, decision-rules.md §4, from line 2 on.
  mutating func easemob(
    _ message: Message, _ conversation: ConversationSettings, _ recipient: Recipient,
    _ trace: inout Trace
  ) -> Decision {
    let app = settings.app
    let options = app.easemob
    let force = message.force ?? message.ext.force
    let silent = message.silent ?? message.ext.ignore

    // 2
    trace.note("E-60", "conversation type", conversation.kind.rawValue, "a chat room never pushes")
    if conversation.kind == .room { return trace.decide(.suppress, .chatRoom) }
    trace.note("E-61", "onlineOnly", yesNo(message.onlineOnly), "deliver-online-only never pushes")
    if message.onlineOnly { return trace.decide(.suppress, .onlineOnly) }
    trace.note(
      "E-62", "body", message.body.rawValue,
      options.pushTransparent ? "commands push too" : "a command never pushes")
    if message.body == .command, !options.pushTransparent {
      return trace.decide(.suppress, .messageType)
    }
    // 3
    let forceBeatsSilent = force && options.flagConflict == .forceWins
    trace.note(
      "E-40, E-44", "silent", yesNo(silent),
      silent ? (forceBeatsSilent ? "beaten by force" : "no push to anyone") : "not silent")
    if silent, !forceBeatsSilent { return trace.decide(.suppress, .silentMessage) }
    var forced = silent  // E-41a: force has changed the outcome, if the message was silent
    // 4
    let age = message.at.milliseconds - (message.sentAt ?? message.at).milliseconds
    trace.note(
      "E-69", "age", "\(age) ms", "older than \(options.expireSeconds) s is not pushed")
    if age > options.expireMilliseconds { return trace.decide(.suppress, .expired) }
    // 5
    let devices = recipient.user.effectiveDevices
    // E-64: in the background is online; E-65: a logged-out device counts as offline.
    let isConnected = devices.contains { $0.state == .foreground || $0.state == .background }
    let isOffline = devices.contains { $0.state == .offline || $0.state == .loggedOut }
    trace.note(
      "E-64, E-65", "devices", describe(devices),
      isConnected ? "connected, under \(app.devicePolicy.rawValue)" : "none is connected")
    if isConnected, app.devicePolicy == .allOffline || !isOffline {
      return trace.decide(.suppress, .online)
    }
    // 6
    if recipient.isMentioned, options.mentionBypassesDND {
      trace.note("E-48", "mentioned", "yes", "a mention beats do-not-disturb")
    } else if let (reason, scope) = doNotDisturb(message, conversation, recipient, &trace) {
      if !force { return trace.decide(.suppress, reason, scope) }
      trace.note("E-41", "force", "yes", "do-not-disturb is not checked")
      forced = true
    }
    // 7
    let (level, scope) = easemobLevel(conversation, recipient, &trace)
    let forceBeatsLevel = force && options.forceScope == .dndAndLevel  // E-42
    let stopped = stop(by: level, conversation, recipient, options)
    if let stopped {
      trace.note(
        "E-20, E-42", "level", level.name, scope: scope,
        forceBeatsLevel ? "overridden by force" : "stops this message")
      if !forceBeatsLevel { return trace.decide(.suppress, stopped, scope) }
      forced = true
    } else {
      trace.note("E-20", "level", level.name, scope: scope, "lets this message through")
    }
    // 8
    let targets = devices.filter {
      ($0.state == .offline || $0.state == .loggedOut) && $0.hasToken  // E-67, E-68
    }
    trace.note("E-66, E-68", "devices to push to", describe(targets), "offline, with a token")
    if targets.isEmpty {
      let allKicked = !devices.isEmpty && devices.allSatisfy { $0.state == .kicked }
      return trace.decide(.suppress, allKicked ? .kicked : .noToken)
    }
    let filter = message.filter ?? message.ext.filter
    let admitted = targets.filter { filter.admits($0) }
    trace.note("E-50", "devices after the filter", describe(admitted), "what the message admits")
    if admitted.isEmpty { return trace.decide(.suppress, .filtered) }
    // 9
    trace.note(
      "E-41a", "force changed the outcome", yesNo(forced),
      "pushed, \(forced ? "forced" : "allowed")")
    return trace.decide(.push, forced ? .forced : .allowed, scope, devices: admitted.map(\.id))
  }

  /// Do-not-disturb now, and by what: the window, then the app's duration, then the conversation's
  /// (E-23).
  private mutating func doNotDisturb(
    _ message: Message, _ conversation: ConversationSettings, _ recipient: Recipient,
    _ trace: inout Trace
  ) -> (Reason, Scope)? {
    guard settings.app.advancedPush else {
      trace.note("E-9", "advancedPush", "no", "quiet hours and durations do not exist")
      return nil
    }
    if case .interval(let interval) = recipient.user.quietHours {
      let zone = recipient.user.timeZone ?? settings.app.timeZone  // E-36
      let second = clock.secondOfDay(at: message.at, in: zone)
      let inside = interval.contains(secondOfDay: second, options: settings.app.easemob)
      trace.note(
        "E-21, E-30 to E-36", "quiet hours",
        "\(describe(interval)), \(describe(second)) in \(zone)",
        scope: .app, inside ? "inside: do not disturb" : "outside")
      if inside { return (.quietHours, .app) }
    } else if case .windows(let windows) = recipient.user.quietHours {
      let zone = recipient.user.timeZone ?? settings.app.timeZone  // E-36
      let (weekday, second) = clock.time(at: message.at, in: zone)
      let inside = windows.level(weekday: weekday, secondOfDay: second) != nil
      trace.note(
        "E-21", "quiet hours", "\(describe(windows)), \(describe(second)) in \(zone)", scope: .app,
        inside ? "inside: do not disturb" : "outside")
      if inside { return (.quietHours, .app) }
    } else {
      trace.note("E-21", "quiet hours", "not set", scope: .app, "none")
    }
    let now = message.at
    let appMute = recipient.user.mutedUntil
    trace.note(
      "E-23, E-35", "app mutedUntil", describe(appMute), scope: .app,
      now < appMute ? "muted until then" : "not muted")
    if now < appMute { return (.muted, .app) }
    for record in chain(conversation, recipient) {  // E-22, E-63
      let until = record.mutedUntil
      trace.note(
        "E-22, E-35, E-63", "conversation mutedUntil", describe(until),
        scope: .conversation, now < until ? "muted until then" : "not muted")
      if now < until { return (.muted, .conversation) }
    }
    return nil
  }

  /// The level that holds, and where it was found (E-20, E-63).
  private func easemobLevel(
    _ conversation: ConversationSettings, _ recipient: Recipient, _ trace: inout Trace
  ) -> (NotificationLevel, Scope) {
    guard settings.app.advancedPush else {
      trace.note("E-9", "advancedPush", "no", "levels do not exist")
      return (.all, .default)
    }
    for record in chain(conversation, recipient) {
      trace.note(
        "E-20, E-63", "conversation level", record.level.name, scope: .conversation,
        record.level.isSet ? "set here" : "look further")
      if record.level.isSet { return (record.level, .conversation) }
    }
    let level = recipient.user.level
    trace.note(
      "E-20, E-3", "app level", level.name, scope: .app, level.isSet ? "set here" : "look further")
    if level.isSet { return (level, .app) }
    return (.all, .default)
  }

  /// Whose conversation settings count, the nearest first (E-63).
  private func chain(
    _ conversation: ConversationSettings, _ recipient: Recipient
  ) -> [MemberSettings] {
    guard conversation.kind == .thread else { return [recipient.own] }
    switch settings.app.easemob.threadScope {
    case .inheritParent: return [recipient.own, recipient.parent]
    case .parentOnly: return [recipient.parent]
    case .ownOnly: return [recipient.own]
    }
  }

  /// Why a level stops the message; nil when it lets it through.
  private func stop(
    by level: NotificationLevel, _ conversation: ConversationSettings, _ recipient: Recipient,
    _ options: EasemobOptions
  ) -> Reason? {
    if level == .blocked { return .levelNone }
    if level == .mention, conversation.kind == .private,
      options.singleChatMentionOnly == .treatAsAll
    {
      return nil  // E-49
    }
    return level.allows(recipient.classes) ? nil : .notMentioned
  }
}

extension DeviceFilter {
  /// Whether the filter lets a push go to a device (E-50).
  func admits(_ device: Device) -> Bool {
    let notifier = device.notifier
    let named = { (names: [Identifier]) in notifier.map(names.contains) ?? false }
    if !acceptDeviceIDs.isEmpty, !acceptDeviceIDs.contains(device.id) { return false }
    if !acceptNotifierNames.isEmpty, !named(acceptNotifierNames) { return false }
    return !ignoreDeviceIDs.contains(device.id) && !named(ignoreNotifierNames)
  }
}

extension Mentions {
  /// E-46 to E-48.
  init(easemob message: Message, options: EasemobOptions) {
    ignoresCase = options.atListIDCase == .insensitive  // E-47
    if message.mentions != nil || message.mentionsAll != nil {
      // A typed field hides em_at_list, also when it is false or empty.
      everyone = message.mentionsAll ?? false
      setIDs(message.mentions ?? [])
      return
    }
    var list = message.ext.atList
    if list == .absent, options.atListLegacyAPNsExt { list = message.ext.legacyAtList }  // E-48
    switch list {
    case .absent, .unreadable: break
    case .text(let text):  // E-46
      if text.lowercased() == "all" {
        everyone = true
      } else if options.atListStringAsID {
        setIDs([text])
      }
    case .ids(let ids):  // E-46
      setIDs(ids)
      if options.atListAllInArray { everyone = ids.contains { $0.lowercased() == "all" } }
    }
  }
}
