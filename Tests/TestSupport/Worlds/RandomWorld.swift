package import PushModel

extension RuleSet {
  /// The rule sets that the engine decides by.
  package static let vendors: [RuleSet] = [.easemob, .rongcloud]
}

/// A world and messages drawn from a seed, with every option, kind, level and device state.
///
/// The world is a list of steps, so that tests can change their order.
package struct RandomWorld {
  /// What is drawn beyond what every world has.
  package struct Style {
    /// How many in a hundred users are in each conversation.
    package var density = 70
    /// Whether ids differ by their case alone, messages come with an `ext` and lists of notifiers,
    /// and instants fall on the edges of windows and mutes.
    package var isVaried = false

    package init(density: Int = 70, isVaried: Bool = false) {
      self.density = density
      self.isVaried = isVaried
    }
  }

  package var app: AppSettings
  package var steps: [SettingsRecord] = []
  package var messages: [Message] = []
  package private(set) var users: [Identifier] = []
  package var random: SeededGenerator
  package let rules: RuleSet
  private let style: Style

  /// The middle of the instants: an hour before clocks change in Europe in March 2024.
  package static let noon: Int64 = 1_711_843_200_000
  package static let zones = [
    "UTC", "Asia/Shanghai", "Europe/Berlin", "America/New_York", "Asia/Kathmandu",
    "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca",
  ]

  package init(
    _ rules: RuleSet, seed: UInt64, userCount: Int = 20, messageCount: Int = 40,
    style: Style = Style()
  ) {
    self.rules = rules
    self.style = style
    random = SeededGenerator(seed: seed)
    app = Self.app(rules, &random)
    if style.isVaried { varyApp() }
    users = (0..<userCount).map { style.isVaried ? Self.variedID($0) : Identifier("u\($0)") }
    for user in users where random.chance(85) { steps.append(.user(user, userSettings())) }
    addConversations()
    for number in 0..<messageCount {
      var message = message(number)
      if style.isVaried { vary(&message) }
      messages.append(message)
    }
  }

  /// The world, built step by step.
  package func settings(_ order: [SettingsRecord]? = nil) -> FanoutSettings {
    var settings = FanoutSettings(app: app)
    for step in order ?? steps { settings.set(step) }
    return settings
  }

  /// Who a message goes to, counted here without the evaluator.
  package func recipients(of message: Message) -> Set<Identifier> {
    var source = message.conversation
    for case .conversation(let id, let conversation) in steps where id == source {
      if conversation.kind == .thread, let parent = conversation.parent { source = parent }
      break
    }
    var recipients: Set<Identifier> = []
    for case .member(let user, let conversation, let member, _) in steps
    where conversation == source && member.since <= message.at && user != message.sender {
      recipients.insert(user)
    }
    return recipients
  }

  // MARK: Settings

  package static func app(_ rules: RuleSet, _ random: inout SeededGenerator) -> AppSettings {
    var app = AppSettings(rules: rules, timeZone: random.pick(zones))
    if rules == .open {
      openApp(&app, &random)
      return app
    }
    app.devicePolicy = random.pick(AppSettings.DevicePolicy.allCases)
    app.advancedPush = random.chance(90)
    app.level = rules == .rongcloud ? random.pick(NotificationLevel.ofVendors) : .unset
    app.messageNotification = random.chance(85)
    app.easemob.zeroZeroMeans = random.pick(EasemobOptions.ZeroZeroMeans.allCases)
    app.easemob.intervalEnd = random.pick(EasemobOptions.IntervalEnd.allCases)
    app.easemob.forceScope = random.pick(EasemobOptions.ForceScope.allCases)
    app.easemob.flagConflict = random.pick(EasemobOptions.FlagConflict.allCases)
    app.easemob.atListIDCase = random.pick(EasemobOptions.IDCase.allCases)
    app.easemob.mentionBypassesDND = random.chance(30)
    app.easemob.singleChatMentionOnly = random.pick(EasemobOptions.SingleChatMention.allCases)
    app.easemob.pushTransparent = random.chance(30)
    app.easemob.threadScope = random.pick(EasemobOptions.ThreadScope.allCases)
    app.easemob.expireSeconds = random.pick([0, 60, 86_400])
    app.rongcloud.singleMentionLevels = random.pick(RongCloudOptions.SingleMentionLevels.allCases)
    app.rongcloud.quietZero = random.pick(RongCloudOptions.QuietZero.allCases)
    app.rongcloud.ultraConversationLevel = random.pick(
      RongCloudOptions.UltraConversationLevel.allCases)
    app.rongcloud.boundary = random.pick(RongCloudOptions.Boundary.allCases)
    app.rongcloud.span1439 = random.pick(RongCloudOptions.Span1439.allCases)
    app.rongcloud.mentionBypassesQuiet = random.chance(30)
    app.rongcloud.backgroundGraceSeconds = random.pick([0, 120, 600])
    return app
  }

  package mutating func level() -> NotificationLevel {
    if rules == .open { return Self.openLevel(&random) }
    return random.pick(NotificationLevel.ofVendors.filter { $0.exists(under: rules) })
  }

  package mutating func instant(within hours: Int64 = 30) -> Instant {
    let seconds = Int64.random(in: -hours * 3600...hours * 3600, using: &random)
    return Instant(milliseconds: Self.noon + seconds * 1000 + random.pick([0, 0, 1, 999]))
  }

  private mutating func quietHours() -> QuietHours? {
    guard random.chance(50) else { return nil }
    let hour = Int.random(in: 0..<24, using: &random)
    switch rules {
    case .easemob:
      let end = random.pick([hour, (hour + 8) % 24, 0])
      let interval = try? QuietInterval(
        startHour: hour, startMinute: random.pick([0, 30]), endHour: end, endMinute: 0)
      return interval.map { .interval($0) }
    case .rongcloud:
      let span = try? QuietSpan(
        hour: hour, minute: 0, second: random.pick([0, 30]),
        spanMinutes: random.pick([1, 60, 480, 1439]),
        level: random.pick([.blocked, .mention, .unset]),
        timeZone: random.chance(30) ? random.pick(Self.zones) : nil)
      return span.map { .span($0) }
    case .open: return Self.openWindows(&random)
    }
  }

  package mutating func userSettings() -> UserSettings {
    var user = UserSettings()
    user.quietHours = quietHours()
    if random.chance(50) { user.timeZone = random.pick(Self.zones) }
    if random.chance(50) { user.devices = devices() }
    switch rules {
    case .easemob:
      user.level = level()
      if random.chance(20) { user.mutedUntil = instant() }
    case .rongcloud:
      for kind in ConversationKind.allCases where random.chance(30) { user.levels[kind] = level() }
      user.pushWhenDesktopOnline = random.chance(30)
      user.localInformationMissing = random.chance(15)
      user.localHandledByApp = random.chance(40)
    case .open:
      user.level = level()
      if random.chance(20) { user.mutedUntil = instant() }
      addOpenSettings(to: &user)
    }
    return user
  }

  private mutating func devices() -> [Device] {
    (0..<Int.random(in: 0...3, using: &random)).map { number in
      Device(
        id: Identifier("d\(number)"), kind: random.pick(Device.Kind.allCases),
        state: random.pick(Device.State.allCases + [.offline, .offline]),
        hasToken: random.chance(80), notifier: random.chance(50) ? "apns" : nil,
        backgroundSince: rules.fields.contains(.backgroundSince) && random.chance(70)
          ? instant(within: 1) : nil,
        seenAt: rules == .open && random.chance(70) ? instant(within: 30) : nil)
    }
  }

  // MARK: Conversations and messages

  private mutating func addConversations() {
    for kind in ConversationKind.allCases where kind.exists(under: rules) {
      let id = Identifier("c-\(kind.rawValue)")
      var conversation = ConversationSettings(kind: kind)
      if kind == .thread { conversation.parent = "c-group" }
      if kind == .ultraGroup {
        conversation.level = level()
        conversation.channels = ["a": level()]
      }
      if rules == .open, kind == .group || kind == .private { conversation.level = level() }
      steps.append(.conversation(id, conversation))
      // Members of a thread are members of its group, which came before.
      let possible = kind == .thread ? recipientsOfGroup : []
      for user in users where random.chance(style.density) {
        if kind == .thread, !possible.contains(user) { continue }
        var member = MemberSettings(level: level())
        if rules.fields.contains(.memberMute), random.chance(20) { member.mutedUntil = instant() }
        if rules == .open { addOpenSettings(to: &member, kind) }
        if kind != .thread, random.chance(10) { member.since = instant() }
        if kind == .ultraGroup, random.chance(50) { member.channels = ["a": level()] }
        steps.append(.member(user, of: id, member))
      }
    }
  }

  private var recipientsOfGroup: Set<Identifier> {
    Set(
      steps.compactMap { step in
        guard case .member(let user, of: "c-group", _, _) = step else { return nil }
        return user
      })
  }

  package mutating func message(_ number: Int) -> Message {
    let kinds = ConversationKind.allCases.filter { $0.exists(under: rules) }
    var message = Message(
      id: Identifier("m\(number)"),
      conversation: Identifier("c-\(random.pick(kinds + [.group, .group]).rawValue)"),
      at: instant(), sender: random.chance(80) ? random.pick(users) : nil)
    if random.chance(40) { message.mentions = [random.pick(users), "nobody"] }
    if random.chance(15) { message.mentionsAll = random.chance(80) }
    if random.chance(15) { message.silent = random.chance(60) }
    message.body = random.pick([.text, .text, .text] + MessageBody.allCases)
    switch rules {
    case .easemob:
      if random.chance(30) { message.force = random.chance(80) }
      message.onlineOnly = random.chance(3)
      if random.chance(20) { message.sentAt = instant() }
      if random.chance(20) {
        var filter = DeviceFilter()
        filter.ignoreDeviceIDs = ["d0"]
        message.filter = filter
      }
    case .rongcloud:
      if random.chance(50) { message.channel = "a" }
      if random.chance(20) { message.isMentioned = random.chance(50) }
      if random.chance(50) { message.pushContent = "text" }
      message.persisted = random.chance(90)
      message.backlog = random.chance(10)
    case .open:
      if random.chance(30) { message.force = random.chance(80) }
      if random.chance(20) { message.sentAt = instant() }
      addOpenFields(to: &message)
    }
    return message
  }
}
