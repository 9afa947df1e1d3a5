internal import PushModel

/// How an Easemob decision reads (decision-rules.md §4).
extension RuleTrace {
  private var force: Bool { message.force ?? message.ext.force }

  mutating func noteEasemobMessage(stoppedBy reason: Reason?) {
    let options = app.easemob
    // 2
    note("E-60", "conversation type", conversation.kind.rawValue, "a chat room never pushes")
    if reason == .chatRoom { return }
    note("E-61", "onlineOnly", yesNo(message.onlineOnly), "deliver-online-only never pushes")
    if reason == .onlineOnly { return }
    note(
      "E-62", "body", message.body.rawValue,
      options.pushTransparent ? "commands push too" : "a command never pushes")
    if reason == .messageType { return }
    // 3
    let silent = message.silent ?? message.ext.ignore
    let verdict = reason == .silentMessage ? "no push to anyone" : "beaten by force"
    note("E-40, E-44", "silent", yesNo(silent), silent ? verdict : "not silent")
    if reason == .silentMessage { return }
    // 4
    let age = message.at.milliseconds - (message.sentAt ?? message.at).milliseconds
    note("E-69", "age", "\(age) ms", "older than \(options.expireSeconds) s is not pushed")
  }

  mutating func addEasemob(_ step: StateNote) {
    switch step {
    case .reach(let reach):
      self.reach = reach
      let devices = user.effectiveDevices
      let isConnected = devices.contains { $0.state == .foreground || $0.state == .background }
      note(
        "E-64, E-65", "devices", describe(devices),
        isConnected ? "connected, under \(app.devicePolicy.rawValue)" : "none is connected")
    case .doNotDisturb(_, isExempt: true, force: _):
      note("E-48", "mentioned", "yes", "a mention beats do-not-disturb")
    case .doNotDisturb(let stop, isExempt: false, force: let force):
      noteDoNotDisturb(stop)
      if stop != nil, force { note("E-41", "force", "yes", "do-not-disturb is not checked") }
    case .level(let level, let scope):
      noteLevel(level, scope)
      self.level = (level, scope)
    case .levelStops(_, let scope, let isOverridden):
      note(
        "E-20, E-42", "level", (level?.level ?? .unset).name, scope: scope,
        isOverridden ? "overridden by force" : "stops this message")
      level = nil
    case .targets:
      if let (level, scope) = level {
        note("E-20", "level", level.name, scope: scope, "lets this message through")
      }
    case .quiet, .unfit: break
    }
  }

  mutating func finishEasemob(_ outcome: Outcome) {
    switch outcome.reason {
    case .allowed, .forced, .filtered, .noToken, .kicked: break
    default: return
    }
    note("E-66, E-68", "devices to push to", describe(targets), "offline, with a token")
    if outcome.reason == .noToken || outcome.reason == .kicked { return }
    note(
      "E-50", "devices after the filter", describe(admitted ?? targets), "what the message admits")
    if outcome.reason == .filtered { return }
    let isForced = outcome.reason == .forced
    note(
      "E-41a", "force changed the outcome", yesNo(isForced),
      "pushed, \(isForced ? "forced" : "allowed")")
  }

  /// The window, the app's duration and the conversation's, up to the one that holds (E-23).
  private mutating func noteDoNotDisturb(_ stop: Outcome?) {
    guard app.advancedPush else {
      return note("E-9", "advancedPush", "no", "quiet hours and durations do not exist")
    }
    if case .interval(let interval) = user.quietHours {
      let zone = user.timeZone ?? app.timeZone  // E-36
      let isInside = stop?.reason == .quietHours
      note(
        "E-21, E-30 to E-36", "quiet hours",
        "\(describe(interval)), \(describe(localSecond(in: zone))) in \(zone)", scope: .app,
        isInside ? "inside: do not disturb" : "outside")
      if isInside { return }
    } else if case .windows(let windows) = user.quietHours {
      let zone = user.timeZone ?? app.timeZone  // E-36
      let isInside = stop?.reason == .quietHours
      note(
        "E-21", "quiet hours",
        "\(describe(windows)), \(describe(localSecond(in: zone))) in \(zone)",
        scope: .app, isInside ? "inside: do not disturb" : "outside")
      if isInside { return }
    } else {
      note("E-21", "quiet hours", "not set", scope: .app, "none")
    }
    let isMuted = stop?.reason == .muted && stop?.scope == .app
    note(
      "E-23, E-35", "app mutedUntil", describe(user.mutedUntil), scope: .app,
      isMuted ? "muted until then" : "not muted")
    if isMuted { return }
    for record in chain {  // E-22, E-63
      let isMuted = stop != nil && message.at < record.mutedUntil
      note(
        "E-22, E-35, E-63", "conversation mutedUntil", describe(record.mutedUntil),
        scope: .conversation, isMuted ? "muted until then" : "not muted")
      if isMuted { return }
    }
  }

  /// Where levels were looked for, up to where one is set (E-20).
  private mutating func noteLevel(_ level: NotificationLevel, _ scope: Scope) {
    guard app.advancedPush else {
      return note("E-9", "advancedPush", "no", "levels do not exist")
    }
    for record in chain {
      note(
        "E-20, E-63", "conversation level", record.level.name, scope: .conversation,
        record.level.isSet ? "set here" : "look further")
      if scope == .conversation, record.level.isSet { return }
    }
    note(
      "E-20, E-3", "app level", user.level.name, scope: .app,
      scope == .app ? "set here" : "look further")
  }

  /// Whose conversation settings count, the nearest first (E-63).
  private var chain: [MemberSettings] {
    guard conversation.kind == .thread else { return [own] }
    let parent = membership ?? MemberSettings()
    switch app.easemob.threadScope {
    case .inheritParent: return [own, parent]
    case .parentOnly: return [parent]
    case .ownOnly: return [own]
    }
  }
}
