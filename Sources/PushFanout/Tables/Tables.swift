internal import PushRules
internal import QuietTime

/// All settings, packed: one version of them.
///
/// A copy is a version of its own and shares everything with the first; ``TableWriter`` changes it.
struct Tables {
  var app: AppSettings
  var rules: RuleTables
  /// Counts the changes of the app's settings.
  var appRevision: UInt32 = 0

  var userIDs = IDTable(folds: true)
  var words = PagedTable<UserWord>()
  /// Which schedule each user has; 0 is the empty one.
  var schedules = PagedTable<UInt32>()
  var scheduleTable: ScheduleTable
  /// The ends of app durations, in milliseconds, by user.
  var userMutes = PagedMap()
  /// For each user 0: the default device, 1: none, otherwise the place of the first record plus 2.
  /// Empty as long as nobody has said anything.
  var deviceLists = PagedTable<UInt32>()
  var devices = PagedTable<DeviceRecord>()
  var deviceNames = IDTable(folds: false)

  var conversationIDs = IDTable(folds: false)
  var conversations = PagedTable<ConversationRow>()
  var memberUsers = PagedTable<UInt32>()
  var memberBytes = PagedTable<UInt8>()
  /// By conversation and user: the ends of durations, since when one is a member, which set of
  /// channel levels.
  var memberMutes = PagedMap()
  var memberSinces = PagedMap()
  var memberChannels = PagedMap()
  var channelSets = ChannelSets()

  init(app: AppSettings) {
    self.app = app
    rules = RuleTables(app)
    scheduleTable = ScheduleTable(app: app)
  }

  static func key(_ conversation: UInt32, _ user: UInt32) -> UInt64 {
    UInt64(conversation) << 32 | UInt64(user)
  }

  /// Frees the memory of the last version.
  func free() {
    let mapped = userIDs.mapped
    userIDs.free(except: mapped)
    words.free(except: mapped)
    schedules.free(except: mapped)
    userMutes.free(except: mapped)
    deviceLists.free(except: mapped)
    devices.free(except: mapped)
    deviceNames.free(except: mapped)
    conversationIDs.free(except: mapped)
    conversations.free(except: mapped)
    memberUsers.free(except: mapped)
    memberBytes.free(except: mapped)
    memberMutes.free(except: mapped)
    memberSinces.free(except: mapped)
    memberChannels.free(except: mapped)
  }

  // MARK: Users

  var userCount: Int { words.count }

  /// What a user has set, as it was written but for what the app's rules do not know.
  func user(_ user: UInt32) -> UserSettings {
    let word = words[Int(user)]
    let quiet = scheduleTable[schedules[Int(user)]]
    var settings = UserSettings()
    settings.level = NotificationLevel(rawValue: word.level) ?? .unset
    for kind in ConversationKind.allCases {
      settings.levels[kind] = NotificationLevel(rawValue: word.level(kind: kind.place)) ?? .unset
    }
    settings.quietHours = quiet.quietHours
    settings.timeZone = quiet.timeZone
    settings.mutedUntil = Instant(milliseconds: mute(of: user, word))
    settings.pushWhenDesktopOnline = word.pushWhenDesktopOnline
    settings.localInformationMissing = word.localInformationMissing
    settings.localHandledByApp = word.localHandledByApp
    if hasOwnDevices(user) {
      var devices: [Device] = []
      forEachDevice(of: user) { devices.append(device($0)) }
      settings.devices = devices
    }
    return settings
  }

  /// When the app duration of a user ends, 0 for none.
  @inline(__always)
  func mute(of user: UInt32, _ word: UserWord) -> Int64 {
    word.hasMute ? userMutes[UInt64(user)] ?? 0 : 0
  }

  /// Whether anything was said of the user's devices; otherwise there is `Device.default`.
  @inline(__always)
  func hasOwnDevices(_ user: UInt32) -> Bool {
    deviceLists.count > 0 && deviceLists[Int(user)] != 0
  }

  /// Calls `body` with each device that was listed, in that order.
  func forEachDevice(of user: UInt32, _ body: (DeviceRecord) -> Void) {
    guard hasOwnDevices(user) else { return }
    let first = deviceLists[Int(user)]
    guard first >= 2 else { return }
    var place = Int(first) - 2
    while true {
      let record = devices[place]
      body(record)
      if record.isLast { return }
      place += 1
    }
  }

  func device(_ record: DeviceRecord) -> Device {
    Device(
      id: deviceNames[record.id], kind: Device.Kind.byPlace[Int(record.kind)],
      state: Device.State.byPlace[Int(record.state)], hasToken: record.hasToken,
      notifier: record.notifier == 0 ? nil : deviceNames[record.notifier - 1],
      backgroundSince: record.backgroundSince < 0
        ? nil : Instant(milliseconds: record.backgroundSince))
  }

  /// The devices that rules look at.
  func effectiveDevices(of user: UInt32) -> [Device] {
    guard hasOwnDevices(user) else { return [.default] }
    var list: [Device] = []
    forEachDevice(of: user) { list.append(device($0)) }
    return list
  }

  // MARK: Conversations and members

  func conversation(_ place: UInt32) -> ConversationSettings {
    let row = conversations[Int(place)]
    return ConversationSettings(
      kind: ConversationKind(place: Int(row.kind)),
      parent: row.parent == 0 ? nil : conversationIDs[row.parent - 1],
      level: NotificationLevel(rawValue: row.level) ?? .unset, channels: channelSets[row.channels])
  }

  /// Which table of the moment a conversation needs, and how many members its messages go to.
  @inline(__always)
  func size(_ place: UInt32) -> (kind: Int, members: Int) {
    let row = conversations[Int(place)]
    let kind = ConversationKind(place: Int(row.kind))
    let members =
      kind == .thread && row.parent != 0 ? conversations[Int(row.parent - 1)].count : row.count
    return (Moment.place(of: kind, app.rules), Int(members))
  }

  /// Where a user stands among the members of a conversation; nil for nobody.
  ///
  /// - Complexity: O(log members).
  @inline(__always)
  func rank(of user: UInt32, in row: ConversationRow) -> Int? {
    let rank = insertionRank(of: user, in: row)
    guard rank < Int(row.count), memberUsers[Int(row.start) + rank] == user else { return nil }
    return rank
  }

  /// How many members stand before a user.
  @inline(__always)
  func insertionRank(of user: UInt32, in row: ConversationRow) -> Int {
    var low = 0
    var high = Int(row.count)
    while low < high {
      let middle = (low + high) / 2
      if memberUsers[Int(row.start) + middle] < user { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The record of a user in a conversation; nil for none.
  func member(_ user: UInt32, of conversation: UInt32) -> MemberSettings? {
    let row = conversations[Int(conversation)]
    guard let rank = rank(of: user, in: row) else { return nil }
    let byte = MemberByte(bits: memberBytes[Int(row.start) + rank])
    return member(byte, Self.key(conversation, user))
  }

  func member(_ byte: MemberByte, _ key: UInt64) -> MemberSettings {
    MemberSettings(
      level: NotificationLevel(rawValue: byte.level) ?? .unset,
      mutedUntil: Instant(milliseconds: mute(byte, key)),
      since: Instant(milliseconds: since(byte, key)), channels: channels(byte, key))
  }

  /// When a member's duration ends, 0 for none.
  func mute(_ byte: MemberByte, _ key: UInt64) -> Int64 {
    byte.hasMute ? memberMutes[key] ?? 0 : 0
  }

  /// Since when one is a member, 0 for always.
  func since(_ byte: MemberByte, _ key: UInt64) -> Int64 {
    byte.hasSince ? memberSinces[key] ?? 0 : 0
  }

  func channels(_ byte: MemberByte, _ key: UInt64) -> [Identifier: NotificationLevel] {
    byte.hasChannels ? channelSets[UInt32(truncatingIfNeeded: memberChannels[key] ?? 0)] : [:]
  }
}

/// The distinct sets of levels by channel; few, because people choose alike.
struct ChannelSets {
  private var sets: [[Identifier: NotificationLevel]] = [[:]]
  private var places: [[Identifier: NotificationLevel]: UInt32] = [[:]: 0]

  var count: Int { sets.count }

  subscript(place: UInt32) -> [Identifier: NotificationLevel] { sets[Int(place)] }

  mutating func insert(_ set: [Identifier: NotificationLevel]) -> UInt32 {
    if let place = places[set] { return place }
    let place = UInt32(sets.count)
    sets.append(set)
    places[set] = place
    return place
  }
}
