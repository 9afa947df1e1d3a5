internal import PushModel
internal import PushSupport

// The changes of records of settings.

extension FactEdits {
  mutating func addMember(of place: Identifier) {
    let (id, message) = (id, facts.message)
    let own = facts.member(id, of: place)
    let isThread = facts.settings.conversation(place)?.kind == .thread
    // A thread's record can be made; a membership is no setting.
    guard own != nil || isThread else { return }
    func get(_ settings: FanoutSettings) -> MemberSettings? {
      settings.index(of: id).flatMap { settings.member($0, of: place) }
    }
    func member(
      _ field: String, _ text: String, isCommon: Bool = false,
      _ change: @escaping (inout MemberSettings) -> Void
    ) {
      record(
        .member(place), field, text, isCommon: isCommon, get: { get($0) ?? MemberSettings() },
        set: { $0.setMember(id, of: place, $1) }, change)
    }
    if isThread, fields.contains(.follow) {
      // A record that there is not is made, and with a record one follows.
      record(
        .member(place), "follow", "\(id) following \(place)", get: { get($0) },
        set: { $0.setMember(id, of: place, $1 ?? MemberSettings()) }
      ) { record in
        var changed = record ?? MemberSettings()
        changed.isFollowing = true
        record = changed
      }
      member("follow", "no answer of \(id) whether to follow \(place)") { $0.isFollowing = nil }
    }
    let isOwn = place == message.conversation
    if facts.settings.conversation(place)?.kind == .ultraGroup, !message.channel.isEmpty {
      let channel = message.channel
      let name = "set by \(id) for the channel \(channel) of \(place)"
      member("channels", "the level all, \(name)", isCommon: true) { $0.channels[channel] = .all }
      member("channels", "no level \(name)") { $0.channels[channel] = nil }
      member("level", "the level all, set by \(id) for \(place)") { $0.level = .all }
    } else {
      member("level", "the level all, set by \(id) for \(place)", isCommon: isOwn) {
        $0.level = .all
      }
    }
    member("level", "no level set by \(id) for \(place)") { $0.level = .unset }
    member("mutedUntil", "without \(id)'s mute of \(place)") { $0.mutedUntil = .zero }
    if fields.contains(.important) {
      member("important", "\(place) important to \(id)") { $0.isImportant = true }
    }
    for role in message.mentionsRoles ?? [] where !isThread {
      member("roles", "the role \(role) for \(id) in \(place)") {
        if !$0.roles.contains(role), $0.roles.count < OpenLimits.roles { $0.roles.append(role) }
      }
    }
    member("since", "\(id) a member from the beginning") { $0.since = .zero }
  }

  mutating func addDevices() {
    let devices = user.effectiveDevices
    /// Of one device, or of all.
    func device(
      _ place: Int?, _ part: String, _ text: String, isCommon: Bool = false,
      _ change: @escaping (inout Device) -> Void
    ) {
      let name = place.map { "\($0) \(part)" } ?? "all \(part)"
      user("devices", part: name, text, isCommon: isCommon) { user in
        var devices = user.effectiveDevices
        for index in devices.indices where place.map({ $0 == index }) ?? true {
          change(&devices[index])
        }
        if devices != user.effectiveDevices { user.devices = devices }
      }
    }
    let isGone = devices.allSatisfy { $0.state == .kicked || $0.state == .loggedOut }
    if devices.count > 1 {
      device(
        nil, "state", isGone ? "a new login on each device" : "all devices offline", isCommon: true
      ) {
        $0.state = .offline
      }
      device(nil, "token", "a push token for each device", isCommon: true) { $0.hasToken = true }
    }
    for (place, own) in devices.enumerated() {
      let (name, isOnly) = (own.id, devices.count == 1)
      device(
        place, "state", isGone ? "a new login on \(name)" : "\(name) offline", isCommon: isOnly
      ) {
        $0.state = .offline
      }
      device(place, "token", "a push token for \(name)", isCommon: isOnly) { $0.hasToken = true }
      device(place, "type", "\(name) a phone (mobile)") { $0.kind = .mobile }
      device(place, "notifier", "\(name) without a notifier") { $0.notifier = nil }
      device(place, "since", "\(name) without a time since when it is in the background") {
        $0.backgroundSince = nil
      }
    }
    user("devices", part: "list", "one offline phone with a token") { user in
      if user.devices != nil { user.devices = nil }
    }
  }

  mutating func addUser() {
    let (id, message) = (id, facts.message)
    user("mutedUntil", "without \(id)'s mute of all conversations") { $0.mutedUntil = .zero }
    user("quietHours", "without \(id)'s own quiet hours") { $0.quietHours = nil }
    if fields.contains(.quietWindows) {
      user("quiet", "no quiet hours for \(id), nor the app's") { $0.quietHours = .windows(.none) }
      if case .windows(let windows) = user.quietHours {
        for place in windows.windows.indices {
          guard let open = windows.allowingAll(at: place) else { continue }
          user("quiet", "allow: all in \(id)'s window \(windows.windows[place].clock)") {
            $0.quietHours = .windows(open)
          }
        }
      }
    }
    if case .span(let span) = user.quietHours {
      user("quietHours", "quiet hours without a level of their own") {
        $0.quietHours = .span(span.with(levelOf: nil, timeZone: span.timeZone))
      }
      user("quietHours", "quiet hours in \(id)'s time zone") {
        $0.quietHours = .span(span.with(timeZone: nil))
      }
    }
    if let sender = message.sender {
      user("blockedSenders", "\(sender) not blocked by \(id)") {
        $0.blockedSenders.removeAll { $0 == sender }
      }
      let room = user.importantSenders.count < OpenLimits.senders
      if fields.contains(.importantSenders), room, !user.blockedSenders.contains(sender) {
        user("importantSenders", "\(sender) important to \(id)") {
          if !$0.importantSenders.contains(sender) { $0.importantSenders.append(sender) }
        }
      }
    }
    if fields.contains(.mutedAllow) {
      user("mutedAllow", "mutes of \(id) that let everything pass (mutedAllow)") {
        $0.mutedAllow = .all
      }
    }
    if fields.contains(.allowForce) {
      user("allowForce", "force allowed by \(id) (allowForce)") { $0.allowForce = true }
    }
    if fields.contains(.keywords), user.keywords.count < OpenLimits.keywords,
      let word = message.text.flatMap(Self.word(in:))
    {
      user("keywords", "the keyword \(word) for \(id)") {
        if !$0.keywords.contains(word) { $0.keywords.append(word) }
      }
    }
    if fields.contains(.userLevel) {
      user("level", "the level all, set by \(id) for all conversations") { $0.level = .all }
      user("level", "no level set by \(id) for all conversations") { $0.level = .unset }
    }
    if fields.contains(.kindLevels),
      let kind = facts.settings.conversation(message.conversation)?.kind
    {
      let name = "set by \(id) for conversations of the type \(kind.rawValue)"
      user("levels", "the level all, \(name)") { $0.levels[kind] = .all }
      user("levels", "no level \(name)") { $0.levels[kind] = .unset }
    }
    user("timeZone", "\(id) in the app's time zone") { $0.timeZone = nil }
    if fields.contains(.pushWhenDesktopOnline) {
      user("pushWhenDesktopOnline", "pushes also while a desktop is online") {
        $0.pushWhenDesktopOnline = true
      }
    }
    user("localInformationMissing", "names for the notification at hand") {
      $0.localInformationMissing = false
    }
    user("localHandledByApp", "a callback of the app that leaves it to be shown") {
      $0.localHandledByApp = false
    }
  }

  /// A word of a text that may be a keyword; nil for none.
  private static func word(in text: String) -> String? {
    text.split(separator: " ").lazy.map { String($0) }.first {
      $0.utf8.count <= OpenLimits.keywordBytes && !TextTokens($0).tokens.isEmpty
    }
  }

  // MARK: What the owner of the conversation and of the app can change

  mutating func addConversation(_ id: Identifier) {
    guard let own = facts.settings.conversation(id) else { return }
    func conversation(
      _ field: String, _ text: String, _ change: @escaping (inout ConversationSettings) -> Void
    ) {
      record(
        .conversation(id), field, text, get: { $0.conversation(id) ?? own },
        set: { $0.setConversation(id, $1) }, change)
    }
    let channel = facts.message.channel
    if own.kind == .ultraGroup, !channel.isEmpty {
      let name = "the channel \(channel) of \(id)"
      conversation("channels", "the default level all for \(name)") { $0.channels[channel] = .all }
      conversation("channels", "no default level for \(name)") { $0.channels[channel] = nil }
    }
    let hasLevel = own.kind == .ultraGroup || fields.contains(.groupLevel) && own.kind != .thread
    if hasLevel, own.kind != .room {
      conversation("level", "the default level all for \(id)") { $0.level = .all }
      conversation("level", "no default level for \(id)") { $0.level = .unset }
    }
  }

  mutating func addApp() {
    let (app, rules) = (facts.settings.app, facts.rules)
    func set(_ field: String, _ text: String, _ change: @escaping (inout AppSettings) -> Void) {
      record(.app, field, text, get: { $0.app }, set: { $0.app = $1 }, change)
    }
    if fields.contains(.appLevel) {
      set("level", "the app's default level all") { $0.level = .all }
      set("level", "no default level of the app") { $0.level = .unset }
    }
    set("quiet", "without the app's quiet hours") { $0.quietHours = nil }
    if case .windows(let windows) = app.quietHours {
      for place in windows.windows.indices {
        guard let open = windows.allowingAll(at: place) else { continue }
        set("quiet", "allow: all in the app's window \(windows.windows[place].clock)") {
          $0.quietHours = .windows(open)
        }
      }
    }
    set("timeZone", "the app in UTC") { $0.timeZone = "UTC" }
    if fields.contains(.devicePolicy) {
      for policy in AppSettings.DevicePolicy.allCases {
        set("devicePolicy", "the app's devicePolicy \(policy.rawValue)") {
          $0.devicePolicy = policy
        }
      }
    }
    if fields.contains(.advancedPush) {
      set("advancedPush", "the app with advanced push") { $0.advancedPush = true }
      set("advancedPush", "the app without advanced push") { $0.advancedPush = false }
    }
    set("messageNotification", "the app's notifications switched on (messageNotification)") {
      $0.messageNotification = true
    }
    for option in rules.options {
      for value in option.others(in: app) {
        set(option.name, "the app's option \(option.name) \(value)") {
          _ = option.set(value, in: &$0)
        }
      }
    }
  }
}

extension QuietWindows {
  /// The same windows, one of which lets everything through.
  fileprivate func allowingAll(at place: Int) -> QuietWindows? {
    var windows = windows
    let old = windows[place]
    guard
      let new = try? Window(
        days: old.days, start: ClockTime.text(minuteOfDay: old.startMinute),
        end: ClockTime.text(minuteOfDay: old.endMinute), allow: .all)
    else { return nil }
    windows[place] = new
    return try? QuietWindows(windows)
  }
}

extension QuietWindows.Window {
  fileprivate var clock: String {
    ClockTime.text(minuteOfDay: startMinute) + "-" + ClockTime.text(minuteOfDay: endMinute)
  }
}
