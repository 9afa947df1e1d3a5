import PushContent
import PushModel
import PushStore
import TestSupport

/// What operations do to plain dictionaries, written once more without the store's code.
struct OperationModel {
  struct Place: Hashable {
    var user: Identifier
    var conversation: Identifier
  }

  struct Entry: Hashable {
    var change: Change
    var user: Identifier?
    var conversation: Identifier?
    var channel: Identifier?
  }

  var app: AppSettings
  var users: [Identifier: UserSettings] = [:]
  var conversations: [Identifier: ConversationSettings] = [:]
  var members: [Place: MemberSettings] = [:]
  var displays: [Identifier: RecipientDisplay] = [:]
  var templates: [String: PushTemplate] = [:]
  var feed: [Entry] = []
  /// Ids of users that were named and not removed.
  var known: Set<Identifier> = []
  /// What conversations are when they are made again.
  var kinds: [Identifier: ConversationSettings] = [:]

  var ids: [Identifier] { conversations.keys.sorted { $0.text < $1.text } }

  var settings: FanoutSettings {
    var settings = FanoutSettings(app: app)
    for (id, user) in users { settings.setUser(id, user) }
    for (id, conversation) in conversations { settings.setConversation(id, conversation) }
    for (place, member) in members {
      settings.setMember(place.user, of: place.conversation, member)
    }
    return settings
  }

  // MARK: What operations have in common

  private mutating func user(
    _ id: Identifier, _ change: Change, _ body: (inout UserSettings) -> Void
  ) {
    var own = users[id] ?? UserSettings()
    let before = own
    body(&own)
    if own == before { return }
    users[id] = own
    known.insert(id)
    feed.append(Entry(change: change, user: id))
  }

  private func checkMember(_ user: Identifier, _ id: Identifier) throws {
    guard let conversation = conversations[id] else { throw StoreError.unknownConversation(id) }
    if conversation.kind == .room { throw StoreError.wrongKind(id, .room) }
    let source = conversation.parent ?? id
    if members[Place(user: user, conversation: source)] == nil {
      throw StoreError.notAMember(user: user, conversation: source)
    }
  }

  private mutating func member(
    _ user: Identifier, _ id: Identifier, _ change: Change, channel: Identifier? = nil,
    _ body: (inout MemberSettings) -> Void
  ) {
    let place = Place(user: user, conversation: id)
    var own = members[place] ?? MemberSettings()
    let before = own
    body(&own)
    if own == before { return }
    members[place] = own
    known.insert(user)
    feed.append(Entry(change: change, user: user, conversation: id, channel: channel))
  }

  private func expiry(_ minutes: Int64, _ now: Instant) throws -> Instant {
    guard 0...10_080 ~= minutes else { throw SettingsWriteError.durationMinutesOutOfRange(minutes) }
    return minutes == 0 ? .zero : now.after(minutes: minutes)
  }

  private func isUltraGroup(_ id: Identifier) throws -> Bool {
    guard let conversation = conversations[id] else { throw StoreError.unknownConversation(id) }
    guard conversation.kind == .ultraGroup else {
      throw StoreError.wrongKind(id, conversation.kind)
    }
    return true
  }

  private mutating func devices(
    _ id: Identifier, _ device: Identifier, _ body: (inout [Device], Int) -> Void
  ) throws {
    var devices = users[id]?.devices ?? [Device(id: "default")]
    guard let place = devices.firstIndex(where: { $0.id == device }) else {
      throw StoreError.unknownDevice(user: id, device: device)
    }
    body(&devices, place)
    let made = devices
    user(id, .devices) { $0.devices = made }
  }

  // MARK: Operations

  mutating func apply(_ operation: Operation, at now: Instant) throws {
    switch operation {
    case .silent(let id, let level, let minutes, let interval):
      let end = try minutes.map { try expiry($0, now) }
      if let level { user(id, .userLevel) { $0.level = level } }
      if let end { user(id, .userMute) { $0.mutedUntil = end } }
      if let interval { user(id, .quietHours) { $0.quietHours = .interval(interval) } }
    case .silentIn(let id, let conversation, let level, let minutes):
      let end = try minutes.map { try expiry($0, now) }
      try checkMember(id, conversation)
      if let level { member(id, conversation, .memberLevel) { $0.level = level } }
      if let end { member(id, conversation, .memberMute) { $0.mutedUntil = end } }
    case .clear(let id, let conversation):
      try checkMember(id, conversation)
      member(id, conversation, .memberLevel) { $0.level = .unset }
    case .noPush(let isListed, let id, let places):
      for place in places { try checkMember(id, place) }
      for place in places {
        member(id, place, .memberLevel) { own in
          if isListed { own.level = .blocked } else if own.level == .blocked { own.level = .unset }
        }
      }
    case .zone(let id, let zone): user(id, .quietHours) { $0.timeZone = zone }
    case .level(let level, let id, let conversation):
      try checkMember(id, conversation)
      member(id, conversation, .memberLevel) { $0.level = level }
    case .channelLevel(let level, let id, let conversation, let channel):
      _ = try isUltraGroup(conversation)
      try checkMember(id, conversation)
      member(id, conversation, .channelLevel, channel: channel) {
        $0.channels[channel] = level == .unset ? nil : level
      }
    case .typeLevel(let level, let id, let kind):
      if kind == .thread { throw StoreError.unavailableKind(kind, .rongcloud) }
      user(id, .typeLevel) { $0.levels[kind] = level }
    case .quiet(let id, let hour, let span, let level):
      if !(0...1439 ~= span) { throw SettingsWriteError.spanOutOfRange(span) }
      let quiet = try? QuietSpan(
        hour: hour, minute: 0, second: 0, spanMinutes: span, level: level)
      user(id, .quietHours) { $0.quietHours = quiet.map { .span($0) } }
    case .groupDefault(let level, let id, let channel): try groupDefault(level, id, channel)
    case .appKey(let level):
      if app.level == level { return }
      app.level = level
      feed.append(Entry(change: .app))
    case .bind(let id, let device, let notifier):
      var own = users[id]?.devices ?? (device == "default" ? [Device(id: "default")] : [])
      if !own.contains(where: { $0.id == device }) { own.append(Device(id: device)) }
      for place in own.indices where own[place].id == device {
        (own[place].hasToken, own[place].notifier) = (true, notifier)
      }
      let made = own
      user(id, .devices) { $0.devices = made }
    case .state(let id, let device, let state):
      try devices(id, device) { devices, place in
        let stays = state == .background && devices[place].state == .background
        let since = stays ? devices[place].backgroundSince ?? now : now
        devices[place].backgroundSince = state == .background ? since : nil
        devices[place].state = state
      }
    case .logOut(let id, let device, let keepsToken):
      try devices(id, device) { devices, place in
        (devices[place].state, devices[place].backgroundSince) = (.loggedOut, nil)
        if !keepsToken { (devices[place].hasToken, devices[place].notifier) = (false, nil) }
      }
    case .unbind(let id, let device):
      try devices(id, device) { devices, place in
        (devices[place].hasToken, devices[place].notifier) = (false, nil)
      }
    case .forget(let id, let device): try devices(id, device) { $0.remove(at: $1) }
    default: try applyRemoval(operation)
    }
  }

  /// Removals, and settings of the app.
  private mutating func applyRemoval(_ operation: Operation) throws {
    switch operation {
    case .removeUser(let id):
      guard known.contains(id) else { throw StoreError.unknownUser(id) }
      removeUser(id)
      feed.append(Entry(change: .userRemoved, user: id))
    case .removeMember(let id, let conversation):
      guard members[Place(user: id, conversation: conversation)] != nil else {
        throw StoreError.notAMember(user: id, conversation: conversation)
      }
      let threads = ids.filter { conversations[$0]?.parent == conversation }
      for place in [conversation] + threads
      where members.removeValue(forKey: Place(user: id, conversation: place)) != nil {
        feed.append(Entry(change: .memberRemoved, user: id, conversation: place))
      }
    case .removeConversation(let id):
      guard conversations[id] != nil else { throw StoreError.unknownConversation(id) }
      for gone in removeConversation(id) {
        feed.append(Entry(change: .conversationRemoved, conversation: gone))
      }
    case .restore(let id, let users):
      for made in [id] + kinds.keys.filter({ kinds[$0]?.parent == id }) {
        conversations[made] = kinds[made]
        feed.append(Entry(change: .conversation, conversation: made))
      }
      for user in users {
        members[Place(user: user, conversation: id)] = MemberSettings()
        known.insert(user)
        feed.append(Entry(change: .member, user: user, conversation: id))
      }
    case .advancedPush(let isOn):
      try require(.easemob)
      if app.advancedPush == isOn { return }
      app.advancedPush = isOn
      for id in users.keys {
        users[id]?.level = .unset
        users[id]?.mutedUntil = .zero
        users[id]?.quietHours = nil
      }
      for place in members.keys {
        members[place]?.level = .unset
        members[place]?.mutedUntil = .zero
      }
      feed.append(Entry(change: .advancedPush))
    case .policy(let policy):
      try require(.easemob)
      if app.devicePolicy == policy { return }
      app.devicePolicy = policy
      feed.append(Entry(change: .app))
    case .notification(let isOn):
      try require(.rongcloud)
      if app.messageNotification == isOn { return }
      app.messageNotification = isOn
      feed.append(Entry(change: .app))
    case .desktop(let id, let isOn):
      user(id, .pushWhenDesktopOnline) { $0.pushWhenDesktopOnline = isOn }
    case .display(let id, let change): try applyDisplay(change, of: id)
    case .template(let name, let content): try applyTemplate(name, content)
    default: preconditionFailure("\(operation) is applied above")
    }
  }

  func require(_ rules: RuleSet) throws {
    if app.rules != rules { throw StoreError.otherRules(app.rules) }
  }

  /// - Returns: the conversation and its threads.
  @discardableResult
  mutating func removeConversation(_ id: Identifier) -> [Identifier] {
    let gone = [id] + ids.filter { conversations[$0]?.parent == id }
    for id in gone {
      conversations[id] = nil
      members = members.filter { $0.key.conversation != id }
    }
    return gone
  }

  mutating func removeUser(_ id: Identifier) {
    users[id] = nil
    displays[id] = nil
    known.remove(id)
    members = members.filter { $0.key.user != id }
  }

  private mutating func groupDefault(
    _ level: NotificationLevel, _ id: Identifier, _ channel: Identifier?
  ) throws {
    _ = try isUltraGroup(id)
    guard var group = conversations[id] else { return }
    let before = group
    if let channel {
      group.channels[channel] = level == .unset ? nil : level
    } else {
      group.level = level
    }
    if group == before { return }
    conversations[id] = group
    feed.append(
      Entry(
        change: channel == nil ? .groupDefault : .channelDefault, conversation: id,
        channel: channel))
  }
}

/// One operation of a random write.
enum Operation: Sendable {
  case silent(Identifier, NotificationLevel?, Int64?, QuietInterval?)
  case silentIn(Identifier, Identifier, NotificationLevel?, Int64?)
  case clear(Identifier, Identifier)
  case noPush(Bool, Identifier, [Identifier])
  case zone(Identifier, String?)
  case level(NotificationLevel, Identifier, Identifier)
  case channelLevel(NotificationLevel, Identifier, Identifier, Identifier)
  case typeLevel(NotificationLevel, Identifier, ConversationKind)
  case quiet(Identifier, hour: Int, span: Int, NotificationLevel)
  case groupDefault(NotificationLevel, Identifier, Identifier?)
  case appKey(NotificationLevel)
  case bind(Identifier, Identifier, notifier: Identifier?)
  case state(Identifier, Identifier, Device.State)
  case logOut(Identifier, Identifier, keepsToken: Bool)
  case unbind(Identifier, Identifier)
  case forget(Identifier, Identifier)
  case removeUser(Identifier)
  case removeMember(Identifier, Identifier)
  case removeConversation(Identifier)
  /// A conversation that is no thread, with its threads and these members.
  case restore(Identifier, [Identifier])
  case advancedPush(Bool)
  case policy(AppSettings.DevicePolicy)
  case notification(Bool)
  case desktop(Identifier, Bool)
  case display(Identifier, DisplayChange)
  /// Its content; nil removes it.
  case template(String, String?)

  func apply(to write: inout StoreWrite) throws {
    switch self {
    case .silent(let user, let level, let minutes, let interval):
      let mode = SilentModeWrite(
        level: level, duration: try minutes.map { try MuteDuration(minutes: $0) },
        interval: interval.map { .set($0) })
      try write.setSilentMode(mode, of: user)
    case .silentIn(let user, let id, let level, let minutes):
      let mode = SilentModeWrite(
        level: level, duration: try minutes.map { try MuteDuration(minutes: $0) })
      try write.setSilentMode(mode, of: user, in: id)
    case .clear(let user, let id): try write.clearLevel(of: user, in: id)
    case .noPush(let isListed, let user, let ids):
      try write.setLegacyNoPush(isListed, of: user, in: ids)
    case .zone(let user, let zone): try write.setTimeZone(zone, of: user)
    case .level(let level, let user, let id):
      try write.setNotificationLevel(level, of: user, in: id)
    case .channelLevel(let level, let user, let id, let channel):
      try write.setNotificationLevel(level, of: user, in: id, channel: channel)
    case .typeLevel(let level, let user, let kind):
      try write.setNotificationLevel(level, of: user, forType: kind)
    case .quiet(let user, let hour, let span, let level):
      let start = (hour < 10 ? "0" : "") + "\(hour):00:00"
      try write.setQuietHours(start: start, spanMinutes: span, level: level, of: user)
    case .groupDefault(let level, let id, nil): try write.setDefaultLevel(level, ofUltraGroup: id)
    case .groupDefault(let level, let id, let channel?):
      try write.setDefaultLevel(level, ofUltraGroup: id, channel: channel)
    case .appKey(let level): try write.setAppKeyLevel(level)
    case .bind(let user, let id, let notifier):
      try write.bindToken(ofDevice: id, notifier: notifier, of: user)
    case .state(let user, let id, let state): try write.setState(state, ofDevice: id, of: user)
    case .logOut(let user, let id, let keeps):
      try write.logOut(device: id, of: user, keepingToken: keeps)
    case .unbind(let user, let id): try write.unbindToken(ofDevice: id, of: user)
    case .forget(let user, let id): try write.remove(device: id, of: user)
    case .removeUser(let user): try write.removeUser(user)
    case .removeMember(let user, let id): try write.removeMember(user, of: id)
    case .removeConversation(let id): try write.removeConversation(id)
    case .restore(let id, let users):
      let kind = ConversationKind(rawValue: id.text) ?? .group
      try write.setConversation(id, ConversationSettings(kind: kind))
      if kind == .group, try write.app().rules == .easemob {
        try write.setConversation("thread", ConversationSettings(kind: .thread, parent: id))
      }
      for user in users { try write.setMember(user, of: id) }
    case .advancedPush(let isOn): try write.setAdvancedPush(isOn)
    case .policy(let policy): try write.setDevicePolicy(policy)
    case .notification(let isOn): try write.setMessageNotification(isOn)
    case .desktop(let user, let isOn): try write.setPushWhenDesktopOnline(isOn, of: user)
    case .display(let user, let change): try change.apply(to: &write, of: user)
    case .template(let name, nil): try write.removeTemplate(name)
    case .template(let name, let content?):
      try write.setTemplate(PushTemplate(name: name, title: "", content: content))
    }
  }
}
