import PushFanout
import PushRules

/// Random numbers that are the same on every machine (SplitMix64).
struct Seeded: RandomNumberGenerator {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed }
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}

/// One world, given to the engine and, where wanted, to the reference.
///
/// Half of the users have quiet hours, of a few thousand distinct kinds in 24 zones; a third has an
/// app level, 5 % a running mute; 60 % of members have a level of their own.
struct BenchWorld {
  static let zones = [
    "UTC", "Asia/Shanghai", "Asia/Kolkata", "Europe/Berlin", "Europe/London", "America/New_York",
    "America/Chicago", "America/Los_Angeles", "America/Sao_Paulo", "Asia/Tokyo", "Asia/Jakarta",
    "Asia/Karachi", "Asia/Dhaka", "Africa/Lagos", "Europe/Moscow", "America/Mexico_City",
    "Asia/Manila", "Africa/Cairo", "Asia/Ho_Chi_Minh", "Asia/Tehran", "Europe/Istanbul",
    "Asia/Bangkok", "Africa/Johannesburg", "Asia/Kathmandu",
  ]
  /// 2026-03-02T20:00:00Z.
  static let start: Int64 = 1_772_481_600_000

  let userCount: Int
  private(set) var groups: [(id: Identifier, members: [UInt32])] = []

  init(userCount: Int) { self.userCount = userCount }

  static func userID(_ user: Int) -> Identifier { Identifier("u\(user)") }

  /// What a user has set; the same for the same number, in every contestant.
  static func settings(_ user: Int) -> UserSettings {
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

  static func level(_ member: Int) -> NotificationLevel {
    var random = Seeded(UInt64(member) &* 104_729 &+ 7)
    return [.unset, .unset, .mention, .mention, .blocked][random.below(5)]
  }

  /// Adds a group of random members, in the order of users.
  mutating func addGroup(_ id: Identifier, size: Int, seed: UInt64) {
    var random = Seeded(seed)
    var members: Set<UInt32> = []
    if size * 2 > userCount {
      members = Set(0..<UInt32(size))
    } else {
      members.reserveCapacity(size)
      while members.count < size { members.insert(UInt32(random.below(userCount))) }
    }
    groups.append((id, members.sorted()))
  }

  func fanout(threads: Int) -> Fanout? {
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
      return nil
    }
  }

  /// The same group for the reference, with its members alone.
  func settings(ofGroup place: Int) -> FanoutSettings {
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
