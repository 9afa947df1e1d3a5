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
    trace.note("E-60", "conversation", stops: conversation.kind == .room, describe(conversation))
    if conversation.kind == .room { return trace.decide(.suppress, .chatRoom) }
    trace.note(
      "E-61", "delivery", stops: message.onlineOnly,
      message.onlineOnly
        ? "only to people who are online" : "also to people who are offline")
    if message.onlineOnly { return trace.decide(.suppress, .onlineOnly) }
    let isCommand = message.body == .command
    trace.note(
      "E-62", "body", stops: isCommand && !options.pushTransparent,
      isCommand
        ? "a command\(options.pushTransparent ? ", which pushes too (pushTransparent)" : "")"
        : message.body.rawValue)
    if isCommand, !options.pushTransparent { return trace.decide(.suppress, .messageType) }
    // 3
    let forceBeatsSilent = force && options.flagConflict == .forceWins
    trace.note(
      "E-40, E-44", "silent flag", stops: silent && !forceBeatsSilent,
      silent ? (forceBeatsSilent ? "set, but the message is forced" : "set") : "not set")
    if silent, !forceBeatsSilent { return trace.decide(.suppress, .silentMessage) }
    var forced = silent  // E-41a: force has changed the outcome, if the message was silent
    // 4
    let age = message.at.milliseconds - (message.sentAt ?? message.at).milliseconds
    trace.note(
      "E-69", "age", stops: age > options.expireMilliseconds,
      (age == 0 ? "just sent" : "sent \(describe(milliseconds: age)) before")
        + "; pushes end after \(describe(milliseconds: options.expireMilliseconds))")
    if age > options.expireMilliseconds { return trace.decide(.suppress, .expired) }
    // 5
    let devices = recipient.user.effectiveDevices
    // E-64: in the background is online; E-65: a logged-out device counts as offline.
    let isConnected = devices.contains { $0.state == .foreground || $0.state == .background }
    let isOffline = devices.contains { $0.state == .offline || $0.state == .loggedOut }
    let isOnline = isConnected && (app.devicePolicy == .allOffline || !isOffline)
    trace.note(
      "E-64, E-65", "devices", stops: isOnline,
      describe(devices)
        + (isConnected
          ? app.devicePolicy == .allOffline
            ? "; one that is connected is enough (allOffline)"
            : "; one that is offline is enough (\(app.devicePolicy.rawValue))" : ""))
    if isOnline { return trace.decide(.suppress, .online) }
    // 6
    trace.note("E-46 to E-48", "mentions", finding(easemob: message, for: recipient.id))
    if recipient.isMentioned, options.mentionBypassesDND {
      trace.note("E-48", "do not disturb", "passed over for who is mentioned (mentionBypassesDnd)")
    } else if let (reason, scope) = doNotDisturb(message, conversation, recipient, force, &trace) {
      if !force { return trace.decide(.suppress, reason, scope) }
      forced = true
    }
    // 7
    let (level, scope, parent) = easemobLevel(conversation, recipient, &trace)
    let forceBeatsLevel = force && options.forceScope == .dndAndLevel  // E-42
    let stopped = stop(by: level, conversation, recipient, options)
    let isStopped = stopped != nil && !forceBeatsLevel
    trace.note(
      "E-20, E-42", "level", scope: scope, of: parent, stops: isStopped,
      describe(level, scope, of: parent)
        + (stopped != nil && forceBeatsLevel ? "; the message is forced (forceScope)" : ""))
    if let stopped, isStopped { return trace.decide(.suppress, stopped, scope) }
    if stopped != nil { forced = true }
    // 8
    let targets = devices.filter {
      ($0.state == .offline || $0.state == .loggedOut) && $0.hasToken  // E-67, E-68
    }
    let allKicked = !devices.isEmpty && devices.allSatisfy { $0.state == .kicked }
    trace.note(
      "E-66, E-68", "push tokens", stops: targets.isEmpty,
      targets.isEmpty
        ? devices.isEmpty
          ? "there is no device"
          : allKicked ? "every device was kicked" : "no device that is offline has one"
        : "of \(names(targets))")
    if targets.isEmpty {
      return trace.decide(.suppress, allKicked ? .kicked : .noToken)
    }
    let filter = message.filter ?? message.ext.filter
    let admitted = targets.filter { filter.admits($0) }
    if admitted.count < targets.count || filter != DeviceFilter() {
      trace.note(
        "E-50", "device filter", stops: admitted.isEmpty,
        admitted.isEmpty
          ? "the message excludes \(names(targets))" : "the message admits \(names(admitted))")
    }
    if admitted.isEmpty { return trace.decide(.suppress, .filtered) }
    // 9
    if forced { trace.note("E-41a", "force", "the message would have been stopped") }
    return trace.decide(.push, forced ? .forced : .allowed, scope, devices: admitted.map(\.id))
  }

  /// Do-not-disturb now, and by what: the window, then the app's duration, then the conversation's
  /// (E-23).
  private mutating func doNotDisturb(
    _ message: Message, _ conversation: ConversationSettings, _ recipient: Recipient,
    _ force: Bool, _ trace: inout Trace
  ) -> (Reason, Scope)? {
    guard settings.app.advancedPush else {
      trace.note("E-9", "quiet hours", "none, as the app has no advanced push")
      return nil
    }
    let butForced = force ? "; the message is forced (E-41)" : ""
    if case .interval(let interval) = recipient.user.quietHours {
      let zone = recipient.user.timeZone ?? settings.app.timeZone  // E-36
      let second = clock.secondOfDay(at: message.at, in: zone)
      let inside = interval.contains(secondOfDay: second, options: settings.app.easemob)
      trace.note(
        "E-21, E-30 to E-36", "quiet hours", scope: .app, stops: inside && !force,
        "\(describe(interval)); it was \(describe(second)) in \(zone)"
          + (inside ? butForced : ", outside"))
      if inside { return (.quietHours, .app) }
    } else {
      trace.note("E-21", "quiet hours", scope: .app, "not set")
    }
    let now = message.at
    let appMute = recipient.user.mutedUntil
    trace.note(
      "E-23, E-35", "mute", scope: .app, stops: now < appMute && !force,
      describe(mutedUntil: appMute, at: now, "all conversations")
        + (now < appMute ? butForced : ""))
    if now < appMute { return (.muted, .app) }
    for (record, parent) in chain(conversation, recipient) {  // E-22, E-63
      let until = record.mutedUntil
      trace.note(
        "E-22, E-35, E-63", "mute", scope: .conversation, of: parent,
        stops: now < until && !force,
        describe(mutedUntil: until, at: now, parent.map(parentName) ?? "this conversation")
          + (now < until ? butForced : ""))
      if now < until { return (.muted, .conversation) }
    }
    return nil
  }

  /// The level that holds, where it was found (E-20, E-63), and the parent if it was found there.
  private func easemobLevel(
    _ conversation: ConversationSettings, _ recipient: Recipient, _ trace: inout Trace
  ) -> (NotificationLevel, Scope, Identifier?) {
    guard settings.app.advancedPush else {
      trace.note("E-9", "levels", "none, as the app has no advanced push")
      return (.all, .default, nil)
    }
    for (record, parent) in chain(conversation, recipient) where record.level.isSet {
      return (record.level, .conversation, parent)
    }
    let level = recipient.user.level
    if level.isSet { return (level, .app, nil) }
    return (.all, .default, nil)
  }

  /// Whose conversation settings count, the nearest first (E-63); with the parent of a thread where
  /// they are the parent's.
  private func chain(
    _ conversation: ConversationSettings, _ recipient: Recipient
  ) -> [(record: MemberSettings, parent: Identifier?)] {
    guard conversation.kind == .thread else { return [(recipient.own, nil)] }
    switch settings.app.easemob.threadScope {
    case .inheritParent: return [(recipient.own, nil), (recipient.parent, conversation.parent)]
    case .parentOnly: return [(recipient.parent, conversation.parent)]
    case .ownOnly: return [(recipient.own, nil)]
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

extension ReferenceEvaluator {
  /// Who is mentioned, by which field, and what does not count (E-46 to E-48).
  private func finding(easemob message: Message, for user: Identifier) -> String {
    let options = settings.app.easemob
    let ignoresCase = options.atListIDCase == .insensitive
    let ext = message.ext
    if message.mentions != nil || message.mentionsAll != nil {
      let found =
        message.mentionsAll == true
        ? "everyone" : describe(message.mentions ?? [], user, ignoresCase)
      return found + (ext.atList == .absent ? "" : "; mentions and mentionsAll hide ext.em_at_list")
    }
    var list = ext.atList
    if list == .absent, options.atListLegacyAPNsExt { list = ext.legacyAtList }
    switch list {
    case .absent:
      return ext.legacyAtList == .absent
        ? "nobody"
        : "nobody: em_at_list inside em_apns_ext does not count (E-48, option atListLegacyApnsExt)"
    case .unreadable: return "nobody: em_at_list is neither a text nor a list"
    case .text(let text) where text.lowercased() == "all": return "everyone"
    case .text(let text):
      return options.atListStringAsID
        ? describe([text], user, ignoresCase)
        : "nobody: em_at_list is the text \"\(text)\" (E-46, option atListStringAsId)"
    case .ids(let ids):
      let hasAll = ids.contains { $0.lowercased() == "all" }
      if hasAll, options.atListAllInArray { return "everyone" }
      return describe(ids, user, ignoresCase)
        + (hasAll ? "; \"all\" inside a list is a user's id (E-46, option atListAllInArray)" : "")
    }
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
