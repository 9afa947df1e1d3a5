public import PushFanout
public import PushModel

/// One world, given to the engine and, where wanted, to the reference.
///
/// Half of the users have quiet hours, of a few thousand distinct kinds in 24 zones; a third has an
/// app level, 5 % a running mute; 60 % of members have a level of their own.
public struct BenchWorld: Sendable {
  public static let zones = [
    "UTC", "Asia/Shanghai", "Asia/Kolkata", "Europe/Berlin", "Europe/London", "America/New_York",
    "America/Chicago", "America/Los_Angeles", "America/Sao_Paulo", "Asia/Tokyo", "Asia/Jakarta",
    "Asia/Karachi", "Asia/Dhaka", "Africa/Lagos", "Europe/Moscow", "America/Mexico_City",
    "Asia/Manila", "Africa/Cairo", "Asia/Ho_Chi_Minh", "Asia/Tehran", "Europe/Istanbul",
    "Asia/Bangkok", "Africa/Johannesburg", "Asia/Kathmandu",
  ]
  /// 2026-03-02T20:00:00Z.
  public static let start: Int64 = 1_772_481_600_000
  /// Who writes all messages.
  public static let sender = 17

  /// A conversation and its members, by user number, ascending.
  public struct Group: Sendable {
    public let id: Identifier
    public let members: [UInt32]

    /// Whom a message of kind `user` names: three members, or one of few.
    public var mentioned: [Int] {
      let places =
        members.count < 50 ? [members.count / 2] : [1, 2, 3].map { members.count * $0 / 4 }
      return places.map { Int(members[$0]) }
    }
  }

  public let userCount: Int
  public private(set) var groups: [Group] = []

  public init(userCount: Int) { self.userCount = userCount }

  public static func userID(_ user: Int) -> Identifier { Identifier("u\(user)") }

  /// What a user has set; the same for the same number, in every contestant.
  public static func settings(_ user: Int) -> UserSettings {
    var random = Seeded(UInt64(user) &* 7919 &+ 1)
    var settings = UserSettings()
    settings.timeZone = zones[random.below(zones.count)]
    if random.below(2) == 0 {
      let start = (22 * 60 + random.below(9) * 15) % 1440
      let end = (6 * 60 + random.below(12) * 15) % 1440
      let interval = try? QuietInterval(
        startHour: start / 60, startMinute: start % 60, endHour: end / 60, endMinute: end % 60)
      settings.quietHours = interval.map { .interval($0) }
    }
    settings.level = [.unset, .unset, .unset, .unset, .mention, .all][random.below(6)]
    if random.below(20) == 0 {
      let end = Self.start + Int64(random.below(7 * 86_400)) * 1000
      settings.mutedUntil = Instant(milliseconds: end)
    }
    return settings
  }

  /// A member's level in all of its groups.
  public static func level(_ member: Int) -> NotificationLevel {
    var random = Seeded(UInt64(member) &* 104_729 &+ 7)
    return [.unset, .unset, .mention, .mention, .blocked][random.below(5)]
  }

  /// Adds groups of a size until they have about so many members together, but at least one.
  ///
  /// - Returns: the places of the new groups.
  @discardableResult
  public mutating func addGroups(size: Int, memberships: Int) -> Range<Int> {
    let first = groups.count
    for number in 0..<max(1, memberships / max(size, 1)) {
      addGroup(
        Identifier("g\(size)-\(number)"), size: size, seed: UInt64(size * 1_000_003 + number))
    }
    return first..<groups.count
  }

  /// Adds a group of random members.
  public mutating func addGroup(_ id: Identifier, size: Int, seed: UInt64) {
    var random = Seeded(seed)
    var members: [UInt32] = []
    members.reserveCapacity(size)
    if size * 2 > userCount {
      members += 0..<UInt32(size)
    } else if size * 100 > userCount {
      // Each user with the probability that makes the rest come out: in order, and none twice.
      var wanted = size
      for user in 0..<userCount where random.below(userCount - user) < wanted {
        members.append(UInt32(user))
        wanted -= 1
      }
    } else {
      var chosen: Set<UInt32> = []
      while chosen.count < size { chosen.insert(UInt32(random.below(userCount))) }
      members = chosen.sorted()
    }
    addGroup(id, members: members)
  }

  /// Adds a group of members, which ascend.
  public mutating func addGroup(_ id: Identifier, members: [UInt32]) {
    groups.append(Group(id: id, members: members))
  }

  /// The engine of this world.
  public func fanout(threads: Int) -> Fanout {
    var builder = FanoutBuilder()
    do {
      try builder.setApp(AppSettings(timeZone: "UTC"))
      for user in 0..<userCount { try builder.setUser(Self.userID(user), Self.settings(user)) }
      for group in groups {
        for user in group.members {
          let member = MemberSettings(level: Self.level(Int(user)))
          try builder.setMember(Self.userID(Int(user)), of: group.id, member)
        }
      }
      return try builder.build(threads: threads)
    } catch {
      fatalError("the benchmark's own world is not accepted: \(error)")
    }
  }

  /// A group for the reference, with its members alone.
  public func settings(ofGroup place: Int) -> FanoutSettings {
    var settings = FanoutSettings(app: AppSettings(timeZone: "UTC"))
    let group = groups[place]
    for user in group.members {
      settings.setUser(Self.userID(Int(user)), Self.settings(Int(user)))
      settings.setMember(
        Self.userID(Int(user)), of: group.id, MemberSettings(level: Self.level(Int(user))))
    }
    return settings
  }
}

/// What a message asks of its recipients.
public enum MessageKind: String, CaseIterable, Sendable {
  /// Nothing.
  case plain
  /// It names a few members.
  case user
  /// It mentions all.
  case all
  /// It passes quiet hours and mutes.
  case forced

  /// A message of this kind to a group.
  public func message(to group: BenchWorld.Group, at milliseconds: Int64) -> Message {
    var message = Message(
      id: "m", conversation: group.id, at: Instant(milliseconds: milliseconds),
      sender: BenchWorld.userID(BenchWorld.sender))
    switch self {
    case .plain: break
    case .user: message.mentions = group.mentioned.map(BenchWorld.userID)
    case .all: message.mentionsAll = true
    case .forced: message.force = true
    }
    return message
  }
}
