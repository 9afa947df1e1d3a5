/// Who is in a room: a user for each rank, all of them different.
///
/// Low ranks post most. The top 10 % of the users, who are in many rooms, are those of the lowest
/// numbers; their part of the room is spread over all ranks. Under ``WorkloadRates/people`` so is
/// the part of both that lives in the room's own zone.
struct RoomMembers {
  private let size: Int
  private let coreSize: Int
  /// Where the spreading of the core over the ranks begins, 0 ..< size.
  private let phase: Int
  private let core: RoomPart
  private let others: RoomPart

  /// How many users are in many rooms.
  static func coreUsers(_ users: Int) -> Int { max(1, users / 10) }

  init(room: Int, size: Int, _ workload: Workload) {
    self.size = size
    let users = workload.userCount
    let coreUsers = Self.coreUsers(users)
    let seed = workload.options.seed
    let key = Draws.key(seed, .core, UInt64(room))
    // Rounded up or down by chance, so that small rooms have their share, too.
    var draws = Draws(seed, .core, UInt64(room), 1)
    let wanted = Int(Double(size) * workload.options.sizes.topJoinersShare + draws.share())
    coreSize = max(min(wanted, coreUsers, size), size - (users - coreUsers))
    let othersKey = Draws.key(seed, .others, UInt64(room))
    guard workload.options.rates != .first else {
      phase = 0
      core = RoomPart(firstUser: 0, Permutation(count: coreUsers, key: key))
      others = RoomPart(
        firstUser: coreUsers, Permutation(count: max(1, users - coreUsers), key: othersKey))
      return
    }
    // Without it the first rank would always be of the others, and of another zone.
    phase = Int(draws.below(UInt64(size)))
    let home = workload.home(ofRoom: room, size: size)
    core = RoomPart(
      size: coreSize, workload.zones.groups[0], home, key: key, &draws)
    others = RoomPart(
      size: size - coreSize, workload.zones.groups[1], home, key: othersKey, &draws)
  }

  /// The user of a rank, 0 ..< the room's size.
  func user(atRank rank: Int) -> Int {
    let (before, isCore) = part(ofRank: rank)
    return isCore ? core.user(at: before) : others.user(at: rank - before)
  }

  /// The user of a rank, and the zone.
  func member(atRank rank: Int, _ zones: ZoneShares) -> (user: Int, zone: Int) {
    let (before, isCore) = part(ofRank: rank)
    let (user, zone) = isCore ? core.member(at: before) : others.member(at: rank - before)
    return (user, zone ?? zones.zone(of: user))
  }

  /// How many of the core are before a rank, and whether it is of the core.
  private func part(ofRank rank: Int) -> (before: Int, isCore: Bool) {
    let (before, rest) = (rank * coreSize + phase).quotientAndRemainder(dividingBy: size)
    return (before, rest + coreSize >= size)
  }
}

/// The members of a room who are of one group of users, in the order of their ranks.
private struct RoomPart {
  private let firstUser: Int
  /// Users, or indices of the group without those of the zone.
  private let away: Permutation
  private let zoned: Zoned?

  private struct Zoned {
    let size: Int
    let homeSize: Int
    let phase: Int
    let zone: Int
    /// The indices of the group that are of the zone.
    let range: Range<Int>
    let home: Permutation
    let order: Permutation
  }

  init(firstUser: Int, _ users: Permutation) {
    self.firstUser = firstUser
    away = users
    zoned = nil
  }

  init(
    size: Int, _ group: ZoneShares.Group, _ home: RoomHome, key: UInt64, _ draws: inout Draws
  ) {
    firstUser = group.firstUser
    let range = group.range(ofZone: home.zone)
    let others = group.count - range.count
    away = Permutation(count: max(1, others), key: key)
    let share = group.count == 0 ? 0 : Double(range.count) / Double(group.count)
    let homeShare = home.share + (1 - home.share) * share
    let wanted = Self.count(of: size, homeShare, &draws)
    zoned = Zoned(
      size: size, homeSize: max(min(wanted, range.count, size), size - others),
      phase: Int(draws.below(UInt64(max(1, size)))), zone: home.zone, range: range,
      home: Permutation(count: max(1, range.count), key: Draws.mix(key)), order: group.order)
  }

  /// How many of some members are from the room's zone.
  private static func count(of size: Int, _ share: Double, _ draws: inout Draws) -> Int {
    if size > drawnSize { return Int(Double(size) * share + draws.share()) }
    // Each by chance: of two members, both are as often as the share says.
    var count = 0
    for _ in 0..<size where draws.isBelow(share) { count += 1 }
    return count
  }

  /// Up to so many members are drawn one by one; of more, the share is close.
  private static let drawnSize = 24

  func user(at index: Int) -> Int { member(at: index).user }

  /// A member, and the zone, if it is the room's.
  func member(at index: Int) -> (user: Int, zone: Int?) {
    guard let zoned else { return (firstUser + away[index], nil) }
    let (before, rest) = (index * zoned.homeSize + zoned.phase)
      .quotientAndRemainder(dividingBy: zoned.size)
    if rest + zoned.homeSize >= zoned.size {
      let position = zoned.range.lowerBound + zoned.home[before]
      return (firstUser + zoned.order[position], zoned.zone)
    }
    let position = away[index - before]
    let isBehind = position >= zoned.range.lowerBound
    return (firstUser + zoned.order[isBehind ? position + zoned.range.count : position], nil)
  }
}

/// Where a room is at home.
struct RoomHome {
  /// A number of ``ZonePopulation/zones``.
  let zone: Int
  /// The share of the members who are from that zone because of the room.
  let share: Double
}

extension Workload {
  private static let homeAttempts = 8
  /// A zone has so many times the people of a room that is there, if one is found: rooms have more
  /// of those who are in many rooms than zones have.
  private static let homePeople = 4

  /// A room's own zone: that of anybody, but with enough people for the room, if one is found.
  func home(ofRoom room: Int, size: Int) -> RoomHome {
    var draws = Draws(options.seed, .home, UInt64(room))
    var zone = 0
    for _ in 0..<Self.homeAttempts {
      let index = Int(draws.below(UInt64(zones.people)))
      zone = zones.zone(at: index)
      if zones.count(inZone: zone) >= size * Self.homePeople { break }
    }
    return RoomHome(zone: zone, share: sharedZone(size: size))
  }

  func sharedZone(size: Int) -> Double {
    let last = options.sizes.sharedZone.count - 1
    return options.sizes.sharedZone[min(last, Self.sharedZoneClass(size))]
  }

  /// The number of a size's number in ``WorkloadOptions/Sizes/sharedZone``.
  static func sharedZoneClass(_ size: Int) -> Int {
    size < 20 ? 0 : size < 200 ? 1 : size < 3000 ? 2 : 3
  }
}
