public import PushModel

/// A window of the day, which is not all of it.
struct QuietWindow: Hashable {
  /// After midnight.
  var startMinute: Int
  var lengthMinutes: Int

  /// Whether a minute of the user's own day is within it.
  func contains(_ minute: Int) -> Bool {
    (minute - startMinute + 1440) % 1440 < lengthMinutes
  }
}

/// What a user of a generated world has set.
struct WorkloadUser {
  /// A number of ``ZonePopulation/zones``.
  var zone: Int
  /// Nil for no window.
  var window: QuietWindow?
  /// The whole day is silent.
  var isSilent = false
  /// RongCloud's and open rules': the window lets mentions through.
  var quietLetsMentions = false
  /// Open rules': the window is that of working days.
  var hasWeekend = false
  var level = NotificationLevel.unset
  var isAndroid = false
  var hasToken = true
}

/// What a member of a room in a generated world has set.
struct WorkloadMember {
  var user: Int
  var level: NotificationLevel
  /// Milliseconds; 0 for a member from the beginning.
  var since: Int64
  /// Open rules': numbers of ``Workload/roles``.
  var roles: [Int] = []
  var isImportant = false
}

extension WorkloadUser {
  /// What a user has set, from draws of the user's own.
  init(_ user: Int, zone: Int, _ options: WorkloadOptions) {
    var draws = Draws(options.seed, .user, UInt64(user))
    self.zone = zone
    // Each fact has its own draws, taken whether they are needed or not: a knob then changes no
    // fact but its own.
    let quiet = draws.share()
    let (step, start, length) = Self.window(options.people, &draws)
    quietLetsMentions = draws.isBelow(options.people.quietMentionShare)
    let level = draws.share()
    isAndroid = draws.isBelow(options.people.androidShare)
    hasToken = draws.isBelow(
      isAndroid ? options.people.androidPushShare : options.people.iosPushShare)
    if quiet < options.people.quietShare {
      window = Self.rounded(step, start, length)
    } else if quiet < options.people.quietShare + options.people.silentShare {
      isSilent = true
    }
    if level < options.people.mentionLevelShare {
      self.level = .mention
    } else if level < options.people.mentionLevelShare + options.people.noneLevelShare {
      self.level = .blocked
    }
    self.level = options.classLevel(
      options.level(self.level), Draws.key(options.seed, .classLevel, UInt64(user)))
    var week = Draws(options.seed, .week, UInt64(user))
    hasWeekend = week.isBelow(options.people.quietWeekdayShare)
  }

  /// A user's window, which comes first.
  static func window(of user: Int, _ options: WorkloadOptions) -> QuietWindow? {
    var draws = Draws(options.seed, .user, UInt64(user))
    guard draws.share() < options.people.quietShare else { return nil }
    return drawnWindow(options.people, &draws)
  }

  private static func window(
    _ people: WorkloadOptions.People, _ draws: inout Draws
  ) -> (step: Double, start: Double, length: Double) {
    let step = draws.next() & 3 == 0 ? 15.0 : 30.0
    let start = draws.normal(
      mean: people.quietStartMinute, deviation: people.quietStartDeviationMinutes)
    let length = draws.normal(
      mean: people.quietLengthMinutes, deviation: people.quietLengthDeviationMinutes)
    return (step, start, length)
  }

  private static func rounded(
    _ step: Double, _ start: Double, _ length: Double
  ) -> QuietWindow {
    let days = 10.0 * 1440
    let rounded = Int((start + days) / step + 0.5) * Int(step) % 1440
    let minutes = Int(max(30, min(1410, length)) / 30 + 0.5) * 30
    return QuietWindow(startMinute: rounded, lengthMinutes: min(1410, minutes))
  }

  /// Another window, as people draw theirs.
  static func drawnWindow(
    _ people: WorkloadOptions.People, _ draws: inout Draws
  ) -> QuietWindow {
    let (step, start, length) = window(people, &draws)
    return rounded(step, start, length)
  }
}

extension WorkloadOptions {
  /// A drawn level as the rules have it: without the level `mention`, mentions are more than two
  /// classes.
  func level(_ drawn: NotificationLevel) -> NotificationLevel {
    drawn == .mention && !rules.fields.contains(.mentionLevel)
      ? NotificationLevel(.mentions) : drawn
  }
}

extension Workload {
  func drawnUser(_ user: Int) -> WorkloadUser {
    WorkloadUser(user, zone: zones.zone(of: user), options)
  }

  /// When a membership begins: 0 for before there were joins. The first member was always there.
  func since(room: Int, rank: Int) -> Int64 {
    var draws = Draws(options.seed, .member, UInt64(room), UInt64(rank) << 1)
    guard rank > 0, draws.isBelow(options.sizes.joinShare) else { return 0 }
    if options.rates == .first {
      return time.lowerBound + Int64(draws.below(UInt64(options.traffic.durationMilliseconds)))
    }
    return joinInstant(room: room, &draws)
  }

  /// Over the last days, half steadily and half after something that made many come.
  private func joinInstant(room: Int, _ draws: inout Draws) -> Int64 {
    let length = max(
      options.traffic.durationMilliseconds,
      Int64(options.sizes.joinDays * Double(DayCurve.dayMilliseconds)))
    let begin = time.upperBound - length
    let isBurst = draws.isBelow(options.sizes.joinBurstShare)
    let offset = Int64(draws.below(UInt64(length)))
    guard isBurst else { return begin + offset }
    // One in a month.
    let bursts = 1 + UInt64(length / (30 * DayCurve.dayMilliseconds))
    var burst = Draws(options.seed, .join, UInt64(room), draws.below(bursts))
    let delay = -PortableMath.log2(draws.share()) * 0.6931471805599453 * Self.joinDelay
    return begin + (Int64(burst.below(UInt64(length))) + Int64(delay)) % length
  }

  /// The mean time from the beginning of a burst of joins to a join, in milliseconds.
  private static let joinDelay = 6 * 3_600_000.0

  func drawnMember(_ rank: Int, room: Int, size: Int, of members: RoomMembers) -> WorkloadMember {
    let user = members.user(atRank: rank)
    let sizeClass = size < 20 ? 0 : size < 200 ? 1 : size < 3000 ? 2 : 3
    var draws = Draws(options.seed, .member, UInt64(room), UInt64(rank) << 1 | 1)
    var level = NotificationLevel.unset
    let mute = draws.share() * options.people.muters
    let kind = draws.next()
    let isMuter = Self.share(Draws.key(options.seed, .muter, UInt64(user))) < options.people.muters
    if isMuter, mute < options.people.muteShares[sizeClass] {
      level = Self.share(kind) < options.people.muteMentionShare ? .mention : .blocked
    } else if Self.share(kind) < options.people.allLevelShare {
      level = .all
    }
    level = options.classLevel(
      options.level(level), Draws.key(options.seed, .classLevel, UInt64(room), UInt64(rank) + 1))
    var member = WorkloadMember(user: user, level: level, since: since(room: room, rank: rank))
    if options.hasOpenFacts { addOpenFacts(to: &member, room: room, rank: rank) }
    return member
  }

  static func share(_ number: UInt64) -> Double { (Double(number >> 11) + 0.5) * 0x1p-53 }

  // MARK: As values

  /// What a user has set, 0 ..< ``userCount``.
  ///
  /// - Complexity: O(1).
  public func user(_ user: Int) -> UserSettings {
    let drawn = drawnUser(user)
    var settings = UserSettings()
    settings.timeZone = ZonePopulation.zones[drawn.zone].name
    settings.quietHours = quietHours(drawn)
    if options.rules.fields.contains(.userLevel) {
      settings.level = drawn.level
    } else {
      for kind in [ConversationKind.group, .ultraGroup] { settings.levels[kind] = drawn.level }
    }
    if options.people.listsDevices {
      settings.devices = [
        Device(
          id: "p1", hasToken: drawn.hasToken,
          notifier: drawn.isAndroid ? Self.androidNotifier : Self.iosNotifier)
      ]
    }
    guard options.hasOpenFacts else { return settings }
    let open = openUser(user, zone: drawn.zone)
    settings.keywords = open.keywords.map { String(decoding: $0, as: UTF8.self) }
    settings.importantSenders = open.importantSenders.map(Self.userID)
    settings.blockedSenders = open.blockedSenders.map(Self.userID)
    settings.mutedUntil = Instant(milliseconds: open.mutedUntil)
    settings.mutedAllow = open.mutedAllow
    return settings
  }

  static let androidNotifier: Identifier = "fcm"
  static let iosNotifier: Identifier = "apns"
  /// Where a window of the whole day begins. Under RongCloud a minute before stays open.
  static let silentStartMinute = 8 * 60

  private func quietHours(_ drawn: WorkloadUser) -> QuietHours? {
    guard drawn.isSilent || drawn.window != nil else { return nil }
    let start = drawn.window?.startMinute ?? Self.silentStartMinute
    let hour = start / 60
    switch options.rules.quietForm {
    case nil: return nil
    case .windows: return (try? QuietWindows(Self.windows(drawn))).map { .windows($0) }
    case .interval:
      let end = (start + (drawn.window?.lengthMinutes ?? 0)) % 1440
      let interval = try? QuietInterval(
        startHour: hour, startMinute: start % 60, endHour: end / 60, endMinute: end % 60)
      return interval.map { .interval($0) }
    case .span:
      let span = try? QuietSpan(
        hour: hour, minute: start % 60, second: 0,
        spanMinutes: drawn.window?.lengthMinutes ?? QuietSpan.spanMinutesRange.upperBound,
        level: drawn.quietLetsMentions && !drawn.isSilent ? .mention : .blocked)
      return span.map { .span($0) }
    }
  }

  /// Weekends end three hours later.
  private static let weekendMinutes = 180

  /// A user's windows by open rules.
  static func windows(_ drawn: WorkloadUser) -> [QuietWindows.Window] {
    guard drawn.isSilent || drawn.window != nil else { return [] }
    let start = drawn.window?.startMinute ?? silentStartMinute
    let length = drawn.window?.lengthMinutes ?? 1440
    let allow: MessageClasses = drawn.quietLetsMentions && !drawn.isSilent ? .mentionsMe : []
    func window(_ days: UInt8, _ length: Int) -> QuietWindows.Window? {
      let end = (start + min(length, 1440)) % 1440
      return try? QuietWindows.Window(
        days: days, start: "\(start / 60):\(start % 60)", end: "\(end / 60):\(end % 60)",
        allow: allow)
    }
    let everyDay = QuietWindows.Window.everyDay
    guard drawn.hasWeekend, !drawn.isSilent else {
      return [window(everyDay, length)].compactMap(\.self)
    }
    // The nights before Saturday and Sunday.
    let weekend: UInt8 = 0b011_0000
    return [window(everyDay & ~weekend, length), window(weekend, length + weekendMinutes)]
      .compactMap(\.self)
  }

  /// Calls for each member of a room, in the order of the files.
  public func forEachMember(
    ofRoom room: Int, _ body: (_ user: Int, _ settings: MemberSettings) -> Void
  ) {
    let size = rooms.size(of: room)
    let members = RoomMembers(room: room, size: size, self)
    for rank in 0..<size {
      let drawn = drawnMember(rank, room: room, size: size, of: members)
      var settings = MemberSettings(
        level: drawn.level, since: Instant(milliseconds: drawn.since))
      if drawn.isImportant { settings.isImportant = true }
      if !drawn.roles.isEmpty { settings.roles = drawn.roles.map { Identifier(Self.roles[$0]) } }
      body(drawn.user, settings)
    }
  }

  /// Whether presence is a change of users. By open rules it is heartbeats of devices, of which there
  /// are none.
  public var hasPresence: Bool { !options.rules.fields.contains(.seenAt) }

  /// The app.
  public var app: AppSettings { AppSettings(rules: options.rules) }

  /// The whole world's settings as values.
  ///
  /// - Complexity: O(users + memberships), in memory.
  public func settings() -> FanoutSettings {
    var settings = FanoutSettings(app: app)
    for user in 0..<userCount { settings.setUser(Self.userID(user), self.user(user)) }
    for room in 0..<roomCount {
      let id = Self.roomID(room)
      let kind = kind(ofRoom: room)
      if kind != .group { settings.setConversation(id, ConversationSettings(kind: kind)) }
      forEachMember(ofRoom: room) { settings.setMember(Self.userID($0), of: id, $1) }
      for thread in 0..<threadCount(ofRoom: room) {
        let id = Self.threadID(thread, ofRoom: room)
        settings.setConversation(
          id, ConversationSettings(kind: .thread, parent: Self.roomID(room)))
        forEachFollower(ofThread: thread, room: room) {
          settings.setMember(Self.userID($0), of: id, $1)
        }
      }
    }
    return settings
  }
}
