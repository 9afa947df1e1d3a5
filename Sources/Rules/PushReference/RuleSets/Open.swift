public import PushModel

extension ReferenceEvaluator {
  /// The procedure of open rules, open-rules.md §5, from line 1 on.
  mutating func open(
    _ message: Message, _ conversation: ConversationSettings, _ recipient: Recipient,
    _ trace: inout Trace
  ) -> Decision {
    let options = settings.app.open
    let (user, now) = (recipient.user, message.at)

    // 1
    trace.note("O-4", "conversation", stops: conversation.kind == .room, describe(conversation))
    if conversation.kind == .room { return trace.decide(.suppress, .chatRoom) }
    // 2
    let silent = message.silent ?? false
    trace.note("open-rules §5", "silent flag", stops: silent, silent ? "set" : "not set")
    if silent { return trace.decide(.suppress, .silentMessage) }
    let age = now.milliseconds - (message.sentAt ?? now).milliseconds
    let expiry = options.expireMilliseconds
    trace.note(
      "O-22", "age", stops: age > expiry,
      (age == 0 ? "just sent" : "sent \(describe(milliseconds: age)) before")
        + "; pushes end after \(describe(milliseconds: expiry))")
    if age > expiry { return trace.decide(.suppress, .expired) }
    let isBlocked = message.sender.map { user.blockedSenders.contains($0) } ?? false
    trace.note(
      "O-15", "blocked senders", stops: isBlocked,
      message.sender.map { "\($0) is \(isBlocked ? "blocked" : "not blocked")" } ?? "no sender")
    if isBlocked { return trace.decide(.suppress, .senderBlocked) }
    // 3
    let devices = user.effectiveDevices
    let isOnline = devices.contains { isConnected($0, at: now) }
    trace.note(
      "O-30, O-31", "devices", stops: isOnline,
      describeSeen(devices, at: now) + (isOnline ? "; one that is connected is enough" : ""))
    if isOnline { return trace.decide(.suppress, .online) }
    // 4
    let classes = recipient.classes
    noteFacts(of: message, conversation, recipient, &trace)
    trace.note(
      "O-1", "classes", stops: classes.isEmpty,
      classes.isEmpty
        ? "none: the recipient does not follow the thread"
        : classes.names.joined(separator: ", "))
    if classes.isEmpty { return trace.decide(.suppress, .notFollowing) }
    // 5
    let (level, scope) = openLevel(conversation, recipient)
    let isExcluded = classes.isDisjoint(with: level)
    let isOfParent = scope == .conversation || scope == .conversationDefault
    let parent = isOfParent && conversation.kind == .thread ? conversation.parent : nil
    trace.note(
      "O-2, O-3", "level", scope: scope, of: parent, stops: isExcluded,
      describe(classes: level, scope, of: parent))
    if isExcluded {
      return trace.decide(.suppress, level.isEmpty ? .levelNone : .levelExcludes, scope)
    }
    // 6
    var forced = false
    if message.force ?? false {
      trace.note(
        "O-40", "force",
        user.allowForce ? "set" : "set, but \(recipient.id) does not allow it (allowForce)")
    }
    if let (reason, scope) = gate(message, conversation, recipient, level, &trace) {
      guard message.force ?? false, user.allowForce else {
        return trace.decide(.suppress, reason, scope)
      }
      forced = true
    }
    // 7
    let targets = devices.filter {
      $0.state != .kicked && $0.state != .loggedOut && $0.hasToken
    }
    let reason = missing(targets, of: devices)
    trace.note(
      "O-31", "push tokens", stops: reason != nil,
      reason == nil
        ? "of \(names(targets))"
        : devices.isEmpty
          ? "there is no device"
          : reason == .noToken ? "no device has one" : "every device was logged out or kicked")
    if let reason { return trace.decide(.suppress, reason) }
    // 8
    if forced { trace.note("O-40", "force", "the message would have been stopped") }
    return trace.decide(.push, forced ? .forced : .allowed, scope, devices: targets.map(\.id))
  }

  /// What is decided for a message of certain classes, that nobody sent, to a user with one offline
  /// device: whose next change is asked for (O-43).
  ///
  /// - Parameters:
  ///   - classes: nil for the base class of the user in the conversation.
  ///   - mention: whether `me` comes to the base class, and takes `plain` away (O-1).
  /// - Returns: nil when the user is no recipient.
  public mutating func openDecision(
    ofClasses classes: MessageClasses?, mention: Bool = false, for user: Identifier,
    in conversation: Identifier, at instant: Instant
  ) -> Outcome? {
    guard let index = settings.index(of: user), let place = settings.conversation(conversation)
    else { return nil }
    let own = settings.member(index, of: conversation)
    let parent = place.parent.flatMap { settings.member(index, of: $0) }
    guard let membership = place.kind == .thread ? parent : own, membership.since <= instant
    else { return nil }
    var plain = settings.user(index)
    plain.devices = nil
    var recipient = Recipient(
      id: user, user: plain, own: own ?? MemberSettings(), hasOwn: own != nil,
      parent: parent ?? MemberSettings())
    let base = baseClass(place, recipient)
    recipient.classes = classes ?? (mention ? base.subtracting(.plain).union(.mentionsMe) : base)
    var trace = Trace(isRecording: false)
    let message = Message(id: "", conversation: conversation, at: instant)
    return open(message, place, recipient, &trace).outcome
  }

  // MARK: Classes and levels

  /// The classes of a message for a recipient (O-1).
  func openClasses(
    _ message: Message, _ conversation: ConversationSettings, _ mentions: Mentions,
    _ recipient: Recipient
  ) -> MessageClasses {
    let user = recipient.user
    var classes = mentions.classes(for: recipient.id).subtracting(.plain)
    let roles = recipient.membership(conversation).roles
    if !mentions.roles.isDisjoint(with: roles) { classes.insert(.role) }
    var base = baseClass(conversation, recipient)
    if !classes.isEmpty { base.remove(.plain) }
    classes.formUnion(base)
    if message.replyToUser == recipient.id { classes.insert(.reply) }
    if let sender = message.sender, user.importantSenders.contains(sender) {
      classes.insert(.sender)
    }
    if let tokens = mentions.tokens, !user.keywords.isEmpty,
      user.keywords.contains(where: { tokens.contains(TextTokens($0)) })
    {
      classes.insert(.keyword)
    }
    return classes
  }

  /// What makes the classes of a message, where it or the user has such a thing.
  private func noteFacts(
    of message: Message, _ conversation: ConversationSettings, _ recipient: Recipient,
    _ trace: inout Trace
  ) {
    let user = recipient.user
    let (named, roles) = (message.mentions ?? [], message.mentionsRoles ?? [])
    let own = recipient.membership(conversation).roles
    func listed(_ roles: [Identifier]) -> String { roles.map(\.text).joined(separator: ", ") }
    let mentions = [
      message.mentionsAll == true ? "everyone" : nil,
      named.isEmpty ? nil : describe(named, recipient.id, false),
      roles.isEmpty
        ? nil
        : "the role\(roles.count == 1 ? "" : "s") \(listed(roles)); \(recipient.id)'s roles here: "
          + (own.isEmpty ? "none" : listed(own)),
    ].compactMap { $0 }
    trace.note("O-1", "mentions", mentions.isEmpty ? "nobody" : mentions.joined(separator: "; "))
    if let author = message.replyToUser {
      trace.note(
        "O-1", "reply",
        author == recipient.id ? "to \(author)" : "to \(author), not \(recipient.id)")
    }
    if !user.keywords.isEmpty {
      let tokens = message.text.map { TextTokens(ofMessage: $0) }
      let found = user.keywords.first { tokens?.contains(TextTokens($0)) ?? false }
      trace.note(
        "O-14", "keywords",
        found.map { "\"\($0)\" is in the text" }
          ?? (message.text == nil
            ? "the message has no text" : "none of \(user.keywords.count) is in the text"))
    }
  }

  /// The base class, at most one (O-1).
  private func baseClass(
    _ conversation: ConversationSettings, _ recipient: Recipient
  ) -> MessageClasses {
    if kind(conversation) == .private { return .private }
    guard conversation.kind == .thread else { return .plain }
    if recipient.hasOwn, recipient.own.isFollowing ?? true { return .thread }
    return settings.app.open.threadPlain == .everyone ? .plain : []
  }

  /// A conversation's kind, that of its parent for a thread (O-3).
  private func kind(_ conversation: ConversationSettings) -> ConversationKind {
    guard conversation.kind == .thread, let parent = conversation.parent else {
      return conversation.kind
    }
    return settings.conversation(parent)?.kind ?? .group
  }

  /// The level that holds: of the first scope that has one (O-3).
  private func openLevel(
    _ conversation: ConversationSettings, _ recipient: Recipient
  ) -> (MessageClasses, Scope) {
    let isThread = conversation.kind == .thread
    var scopes: [(Scope, NotificationLevel)] = []
    if isThread { scopes.append((.thread, recipient.own.level)) }
    scopes.append((.conversation, recipient.membership(conversation).level))
    scopes.append((.user, recipient.user.level))
    let place = isThread ? conversation.parent.flatMap { settings.conversation($0) } : conversation
    scopes.append((.conversationDefault, place?.level ?? .unset))
    scopes.append((.appDefault, settings.app.level))
    for (scope, level) in scopes where level.isSet { return (level.mask, scope) }
    return (.all, .default)
  }

  // MARK: Gates

  /// The first gate after which nothing of the message remains, line 6; nil for none.
  private func gate(
    _ message: Message, _ conversation: ConversationSettings, _ recipient: Recipient,
    _ level: MessageClasses, _ trace: inout Trace
  ) -> (Reason, Scope)? {
    let (user, now, classes) = (recipient.user, message.at, recipient.classes)
    let membership = recipient.membership(conversation)
    let isThread = conversation.kind == .thread
    let isForced = message.force ?? false && user.allowForce
    var left = level

    /// Takes away what does not pass, and says whether nothing of the message is left.
    func stops(_ allowed: MessageClasses) -> Bool {
      left.formIntersection(allowed)
      return classes.isDisjoint(with: left)
    }
    func words(_ stops: Bool, _ allowed: MessageClasses) -> String {
      let passing = allowed.isEmpty ? "" : "; passes: \(allowed.names.joined(separator: ", "))"
      return passing + (stops && isForced ? "; the message is forced (O-40)" : "")
    }

    let isLifted = isThread && (recipient.own.level.isSet || recipient.own.isFollowing == true)
    let threadMuted = isThread && now < recipient.own.mutedUntil
    let conversationMuted = now < membership.mutedUntil && !isLifted
    let muted = threadMuted || conversationMuted
    let byMute = muted && stops(user.mutedAllow)
    let muteScope: Scope = threadMuted ? .thread : .conversation
    let parent = isThread ? conversation.parent : nil
    trace.note(
      "O-10, O-41", "mute", scope: muteScope, of: threadMuted ? nil : parent,
      stops: byMute && !isForced,
      describe(
        mutedUntil: threadMuted ? recipient.own.mutedUntil : membership.mutedUntil, at: now,
        threadMuted ? "this thread" : parent.map(parentName) ?? "this conversation")
        + (isLifted && now < membership.mutedUntil ? ", lifted in this thread" : "")
        + (muted ? words(byMute, user.mutedAllow) : ""))
    if byMute { return (.muted, muteScope) }

    let isImportant = membership.isImportant || recipient.own.isImportant
    if isImportant {
      trace.note("O-41", "important", "the user's mute and quiet hours are passed over")
      return nil
    }
    let userMuted = now < user.mutedUntil
    let byUser = userMuted && stops(user.mutedAllow)
    trace.note(
      "O-10", "mute", scope: .user, stops: byUser && !isForced,
      describe(mutedUntil: user.mutedUntil, at: now, "all conversations")
        + (userMuted ? words(byUser, user.mutedAllow) : ""))
    if byUser { return (.muted, .user) }

    let scope: Scope = user.quietHours == nil ? .appDefault : .user
    guard case .windows(let windows) = user.quietHours ?? settings.app.quietHours else {
      trace.note("O-11", "quiet hours", scope: .user, "not set")
      return nil
    }
    let zone = user.timeZone ?? settings.app.timeZone
    let (weekday, second) = clock.time(at: now, in: zone)
    let inside = windows.inside(weekday: weekday, secondOfDay: second)
    let allowed = inside.reduce(MessageClasses.all) { $0.intersection($1.allow) }
    let byWindow = !inside.isEmpty && stops(allowed)
    trace.note(
      "O-11 to O-13", "quiet hours", scope: scope, stops: byWindow && !isForced,
      "\(describe(windows)); it was \(QuietWindows.Window.dayNames[weekday]) "
        + "\(describe(second)) in \(zone)"
        + (inside.isEmpty ? ", outside" : words(byWindow, allowed)))
    return byWindow ? (.quietHours, scope) : nil
  }

  // MARK: Devices

  /// Whether a device is connected (O-30).
  private func isConnected(_ device: Device, at now: Instant) -> Bool {
    let span = settings.app.open.presenceMilliseconds
    guard device.state == .foreground, let seen = device.seenAt, span > 0 else {
      return device.state == .foreground
    }
    return seen > now || now.milliseconds - seen.milliseconds <= span
  }

  private func describeSeen(_ devices: [Device], at now: Instant) -> String {
    let span = settings.app.open.presenceMilliseconds
    let texts = devices.map { device in
      guard device.state == .foreground, let seen = device.seenAt, !isConnected(device, at: now)
      else { return describe([device.state == .background ? offline(device) : device]) }
      let age = describe(milliseconds: now.milliseconds - seen.milliseconds)
      return "\(device.id) (\(device.kind.rawValue)) was last seen \(age) before, more than "
        + "\(describe(milliseconds: span)): it counts as offline"
    }
    return texts.isEmpty ? "none" : texts.joined(separator: ", ")
  }

  private func offline(_ device: Device) -> Device {
    var device = device
    (device.state, device.seenAt) = (.offline, nil)
    return device
  }

  /// The devices as a decision at an instant takes them, for one that is made later with the same
  /// presence (O-43): connected or offline, whenever they were seen.
  package func presence(of devices: [Device], at now: Instant) -> [Device] {
    devices.map { device in
      guard device.state == .foreground || device.state == .background else { return device }
      var found = offline(device)
      if isConnected(device, at: now) { found.state = .foreground }
      return found
    }
  }

  /// Why there is nothing to push to; nil when there is.
  private func missing(_ targets: [Device], of devices: [Device]) -> Reason? {
    if !targets.isEmpty { return nil }
    if devices.isEmpty { return .noToken }
    if devices.allSatisfy({ $0.state == .kicked }) { return .kicked }
    return devices.allSatisfy { $0.state == .kicked || $0.state == .loggedOut }
      ? .loggedOut : .noToken
  }
}

extension Mentions {
  /// O-1, O-20.
  init(open message: Message) {
    everyone = message.mentionsAll ?? false
    setIDs(message.mentions ?? [])
    roles = Set(message.mentionsRoles ?? [])
    tokens = message.text.map { TextTokens(ofMessage: $0) }
  }
}
