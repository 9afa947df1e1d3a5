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

  mutating func user(
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

  func checkMember(_ user: Identifier, _ id: Identifier) throws {
    guard let conversation = conversations[id] else { throw StoreError.unknownConversation(id) }
    if conversation.kind == .room { throw StoreError.wrongKind(id, .room) }
    let source = conversation.parent ?? id
    if members[Place(user: user, conversation: source)] == nil {
      throw StoreError.notAMember(user: user, conversation: source)
    }
  }

  mutating func member(
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

  mutating func apply(_ write: RandomWrite, at now: Instant) throws {
    switch write {
    case .operation(let operation): try apply(operation, at: now)
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
    }
  }

  private mutating func apply(_ operation: SettingsOperation, at now: Instant) throws {
    switch operation {
    case .setSilentModeForAll(let id, let level, let minutes, let start, let end):
      let over = try minutes.map { try expiry($0, now) }
      if let level { user(id, .userLevel) { $0.level = level } }
      if let over { user(id, .userMute) { $0.mutedUntil = over } }
      if let start, let end {
        let interval = try QuietInterval(
          startHour: hour(start), startMinute: 0, endHour: hour(end), endMinute: 0)
        user(id, .quietHours) { $0.quietHours = .interval(interval) }
      }
    case .setSilentModeForConversation(let id, let conversation, let level, let minutes):
      let end = try minutes.map { try expiry($0, now) }
      try checkMember(id, conversation)
      if let level { member(id, conversation, .memberLevel) { $0.level = level } }
      if let end { member(id, conversation, .memberMute) { $0.mutedUntil = end } }
    case .clearRemindTypeForConversation(let id, let conversation):
      try checkMember(id, conversation)
      member(id, conversation, .memberLevel) { $0.level = .unset }
    case .updatePushServiceForGroups(let id, let places, let isListed):
      for place in places { try checkMember(id, place) }
      for place in places {
        member(id, place, .memberLevel) { own in
          if isListed { own.level = .blocked } else if own.level == .blocked { own.level = .unset }
        }
      }
    case .setTimeZone(let id, let zone): user(id, .quietHours) { $0.timeZone = zone }
    case .setConversationNotificationLevel(let id, let conversation, let level):
      try checkMember(id, conversation)
      member(id, conversation, .memberLevel) { $0.level = level }
    case .setConversationChannelNotificationLevel(
      let id, let conversation, let channel, let level):
      _ = try isUltraGroup(conversation)
      try checkMember(id, conversation)
      member(id, conversation, .channelLevel, channel: channel) {
        $0.channels[channel] = level == .unset ? nil : level
      }
    case .setConversationTypeNotificationLevel(let id, let level, let kind):
      if kind == .thread { throw StoreError.unavailableKind(kind, .rongcloud) }
      user(id, .typeLevel) { $0.levels[kind] = level }
    case .setNotificationQuietHours(let id, let start, let span, _, let level):
      let span = Int(span)
      if !(0...1439 ~= span) { throw SettingsWriteError.spanOutOfRange(span) }
      let quiet = try? QuietSpan(
        hour: hour(start), minute: 0, second: 0, spanMinutes: span, level: level ?? .blocked)
      user(id, .quietHours) { $0.quietHours = quiet.map { .span($0) } }
    case .setUltraGroupConversationDefaultNotificationLevel(let id, let level):
      try groupDefault(level, id, nil)
    case .setUltraGroupConversationChannelDefaultNotificationLevel(
      let id, let level, let channel):
      try groupDefault(level, id, channel)
    case .setPushReceiveStatus(let id, let isOn):
      user(id, .pushWhenDesktopOnline) { $0.pushWhenDesktopOnline = isOn }
    case .setAppKeyLevel, .setAdvancedPush, .setDevicePolicy, .setMessageNotification,
      .setTemplate, .removeTemplate:
      try applyToApp(operation)
    case .bindToken, .setDeviceState, .logOutDevice, .unbindToken, .removeDevice:
      try applyToDevice(operation, at: now)
    case .addMember, .removeUser, .removeMember, .removeConversation:
      try applyToMembers(operation)
    default: if try !applyOpen(operation) { try applyDisplay(operation) }
    }
  }

  /// The hour that a time of the random operations begins with.
  private func hour(_ time: String) -> Int { Int(time.prefix { $0 != ":" }) ?? -1 }

  private static func dropToken(_ device: inout Device) {
    (device.hasToken, device.notifier, device.address) = (false, nil, DeviceAddress())
  }

  private mutating func applyToDevice(_ operation: SettingsOperation, at now: Instant) throws {
    switch operation {
    case .bindToken(let id, let device, let kind, let notifier, let platform, let token, let fid):
      let address = try DeviceAddress(platform: platform, token: token, fid: fid)
      if address != DeviceAddress(), app.rules == .open { throw StoreError.otherRules(.open) }
      var own = users[id]?.devices ?? (device == "default" ? [Device(id: "default")] : [])
      if !own.contains(where: { $0.id == device }) { own.append(Device(id: device)) }
      for place in own.indices where own[place].id == device {
        (own[place].hasToken, own[place].notifier) = (true, notifier)
        own[place].address = address
        if let kind { own[place].kind = kind }
      }
      let made = own
      user(id, .devices) { $0.devices = made }
    case .setDeviceState(let id, let device, let state):
      let isOpen = app.rules == .open
      try devices(id, device) { devices, place in
        let stays = state == .background && devices[place].state == .background
        let since = stays ? devices[place].backgroundSince ?? now : now
        devices[place].backgroundSince = state == .background ? since : nil
        if isOpen { devices[place].backgroundSince = nil }
        devices[place].state = state
      }
    case .logOutDevice(let id, let device, let keepsToken):
      try devices(id, device) { devices, place in
        (devices[place].state, devices[place].backgroundSince) = (.loggedOut, nil)
        if !keepsToken { Self.dropToken(&devices[place]) }
      }
    case .unbindToken(let id, let device):
      try devices(id, device) { Self.dropToken(&$0[$1]) }
    case .removeDevice(let id, let device): try devices(id, device) { $0.remove(at: $1) }
    default: preconditionFailure("\(operation) is of no device")
    }
  }

  private mutating func applyToMembers(_ operation: SettingsOperation) throws {
    switch operation {
    case .addMember(let id, let conversation):
      guard let settings = conversations[conversation] else {
        throw StoreError.unknownConversation(conversation)
      }
      if settings.kind == .thread { throw StoreError.wrongKind(conversation, .thread) }
      let place = Place(user: id, conversation: conversation)
      if members[place] != nil { return }
      members[place] = MemberSettings()
      known.insert(id)
      feed.append(Entry(change: .member, user: id, conversation: conversation))
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
    default: preconditionFailure("\(operation) is of no member")
    }
  }

  private mutating func applyToApp(_ operation: SettingsOperation) throws {
    let before = app
    switch operation {
    case .setAppKeyLevel(let level): app.level = level
    case .setDevicePolicy(let policy):
      try require(.easemob)
      app.devicePolicy = policy
    case .setMessageNotification(let isOn):
      try require(.rongcloud)
      app.messageNotification = isOn
    case .setAdvancedPush(let isOn):
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
      return feed.append(Entry(change: .advancedPush))
    case .setTemplate(let name, _, let content): return try applyTemplate(name, content)
    case .removeTemplate(let name): return try applyTemplate(name, nil)
    default: preconditionFailure("\(operation) is not of the app")
    }
    if app != before { feed.append(Entry(change: .app)) }
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

/// A part of a random write.
enum RandomWrite: Sendable {
  case operation(SettingsOperation)
  /// A conversation that is no thread, with its threads and these members.
  case restore(Identifier, [Identifier])

  func apply(to write: inout StoreWrite) throws {
    switch self {
    case .operation(let operation): try operation.apply(to: &write)
    case .restore(let id, let users):
      let kind = ConversationKind(rawValue: id.text) ?? .group
      try write.setConversation(id, ConversationSettings(kind: kind))
      if kind == .group, try write.app().rules != .rongcloud {
        try write.setConversation("thread", ConversationSettings(kind: .thread, parent: id))
      }
      for user in users { try write.setMember(user, of: id) }
    }
  }
}
