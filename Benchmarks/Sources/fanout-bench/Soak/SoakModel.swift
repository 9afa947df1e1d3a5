import BenchSupport
import PushFanout
import PushModel

/// The settings of a soak's world as plain records, which change together with those of the engine.
///
/// Ids, quiet hours, zones and members come from fixed pools, so that what the engine must store
/// stays the same however long the soak lasts.
struct SoakModel {
  struct Room {
    let id: Identifier
    let settings: ConversationSettings
    /// The place of a thread's parent.
    let parent: Int?
    /// Who may join; about half of them are members at any time.
    let candidates: [Int]
    var members: [Int: MemberSettings] = [:]
  }

  let app: AppSettings
  let ids: [Identifier]
  var users: [UserSettings]
  var rooms: [Room] = []
  /// Each room once for each of its candidates.
  private var roomByCandidate: [Int] = []
  /// The version of the engine that has these settings.
  var version: UInt64 = 1
  private var random: Seeded

  static let userCount = 40_000
  static let roomCount = 6_000
  private static let largest = 32_000
  private static let zones = [
    "UTC", "Asia/Shanghai", "Europe/Berlin", "America/New_York", "Asia/Kathmandu",
    "Australia/Lord_Howe",
  ]
  static let channel: Identifier = "a"

  init(_ rules: RuleSet, seed: UInt64, now: Int64) {
    app = AppSettings(rules: rules)
    random = Seeded(seed)
    ids = (0..<Self.userCount).map { Identifier("u\($0)") }
    users = [UserSettings](repeating: UserSettings(), count: Self.userCount)
    for user in users.indices { users[user] = userSettings(now) }
    for number in 0..<Self.roomCount {
      let isThread = rules == .easemob && number % 10 == 9
      let kinds: [ConversationKind] = rules == .easemob ? [.group] : [.group, .ultraGroup]
      let parent = isThread ? number - 1 : nil
      var settings = ConversationSettings(kind: isThread ? .thread : kinds[number % kinds.count])
      settings.parent = parent.map { rooms[$0].id }
      if settings.kind == .ultraGroup { settings.channels = [Self.channel: level()] }
      // A room of twice as many candidates as members; sizes as of Zipf's law.
      let count = max(8, Self.largest / (number + 1))
      let first = random.below(Self.userCount)
      rooms.append(
        Room(
          id: Identifier("c\(number)"), settings: settings, parent: parent,
          candidates: parent.map { rooms[$0].candidates }
            ?? (0..<count).map { (first + $0 * 7) % Self.userCount }))
      // A dictionary that grows when more are members than ever would look like an engine that does.
      rooms[number].members.reserveCapacity(rooms[number].candidates.count)
      for user in rooms[number].candidates where random.below(2) == 0 {
        rooms[number].members[user] = member(number, now)
      }
      roomByCandidate += repeatElement(number, count: rooms[number].candidates.count)
    }
  }

  // MARK: Records for engine and reference

  /// All records.
  var settings: FanoutSettings {
    var settings = FanoutSettings(app: app)
    for (id, user) in zip(ids, users) { settings.setUser(id, user) }
    for room in rooms.indices { add(room, to: &settings) }
    return settings
  }

  /// What decides messages to one room.
  func settings(ofRoom place: Int) -> FanoutSettings {
    var settings = FanoutSettings(app: app)
    for room in [place] + (rooms[place].parent.map { [$0] } ?? []) {
      for user in rooms[room].members.keys { settings.setUser(ids[user], users[user]) }
      add(room, to: &settings)
    }
    return settings
  }

  private func add(_ place: Int, to settings: inout FanoutSettings) {
    let room = rooms[place]
    settings.setConversation(room.id, room.settings)
    for (user, member) in room.members { settings.setMember(ids[user], of: room.id, member) }
  }

  // MARK: Changes

  /// Draws a change, and makes it here and in the engine.
  mutating func change(_ update: inout FanoutUpdate, now: Int64) throws(FanoutError) {
    let user = random.below(users.count)
    // Each membership changes as often as any other: otherwise those of large rooms would leave what
    // they were built with for days, and memory would grow as slowly.
    let place = roomByCandidate[random.below(roomByCandidate.count)]
    switch random.below(10) {
    case 0, 1:
      users[user] = userSettings(now)
      try update.setUser(ids[user], users[user])
    case 2..<6:
      users[user].devices = devices(now)
      let devices = users[user].devices
      try update.updateUser(ids[user]) { $0.devices = devices }
    case 6, 7:
      let user = candidate(of: place)
      guard rooms[place].members[user] != nil else { return }
      let changed = member(place, now)
      rooms[place].members[user] = changed
      try update.updateMember(ids[user], of: rooms[place].id) { $0 = changed }
    default:
      let user = candidate(of: place)
      if rooms[place].members[user] != nil {
        rooms[place].members[user] = nil
        try update.removeMember(ids[user], of: rooms[place].id)
      } else {
        let joined = member(place, now)
        rooms[place].members[user] = joined
        try update.setMember(ids[user], of: rooms[place].id, joined)
      }
    }
  }

  private mutating func candidate(of place: Int) -> Int {
    rooms[place].candidates[random.below(rooms[place].candidates.count)]
  }

  private mutating func chance(_ percent: Int) -> Bool { random.below(100) < percent }

  private mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[random.below(elements.count)]
  }

  private mutating func level() -> NotificationLevel { pick(app.rules.levels) }

  /// An instant from an hour before to three hours after now, to the second.
  private mutating func soon(_ now: Int64) -> Instant {
    Instant(milliseconds: (now / 1000 + Int64(random.below(14_400)) - 3_600) * 1000)
  }

  private mutating func userSettings(_ now: Int64) -> UserSettings {
    var user = UserSettings()
    if chance(50) { user.quietHours = quietHours() }
    if chance(50) { user.timeZone = pick(Self.zones) }
    if chance(50) { user.devices = devices(now) }
    switch app.rules {
    case .easemob:
      user.level = level()
      if chance(20) { user.mutedUntil = soon(now) }
    case .rongcloud, .open:
      user.levels[.group] = level()
      user.pushWhenDesktopOnline = chance(30)
    }
    return user
  }

  private mutating func quietHours() -> QuietHours? {
    let hour = random.below(24)
    switch app.rules {
    case .easemob:
      let interval = try? QuietInterval(
        startHour: hour, startMinute: pick([0, 30]), endHour: (hour + pick([1, 8])) % 24,
        endMinute: 0)
      return interval.map { .interval($0) }
    case .rongcloud, .open:
      let span = try? QuietSpan(
        hour: hour, minute: pick([0, 30]), second: 0, spanMinutes: pick([60, 480]),
        level: pick([.blocked, .mention, .unset]))
      return span.map { .span($0) }
    }
  }

  private mutating func devices(_ now: Int64) -> [Device] {
    (0...random.below(3)).map { number in
      Device(
        id: Identifier("d\(number)"), kind: pick(Device.Kind.allCases),
        state: pick(Device.State.allCases + [.offline, .offline]), hasToken: chance(80),
        backgroundSince: chance(30) ? soon(now) : nil)
    }
  }

  private mutating func member(_ place: Int, _ now: Int64) -> MemberSettings {
    var member = MemberSettings(level: level())
    if app.rules == .easemob, chance(20) { member.mutedUntil = soon(now) }
    if rooms[place].parent == nil, chance(20) { member.since = soon(now) }
    if rooms[place].settings.kind == .ultraGroup, chance(50) {
      member.channels = [Self.channel: level()]
    }
    return member
  }
}
