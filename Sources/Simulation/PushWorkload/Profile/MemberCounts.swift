internal import PushModel

/// What the memberships of a room come to.
struct MeasuredRoom: Sendable {
  var size = 0
  /// When the first member joined, in milliseconds; 0 for always.
  var begin: Int64 = 0
  /// The share of pairs of members with the same zone; nil for fewer than two with a zone.
  var zoneShare: Double?
}

/// What is counted of memberships, room by room: on one of several threads, which are added up.
struct MemberCounts: Sendable {
  private(set) var count = 0
  /// When memberships begin, those left out that have always been.
  private(set) var sinces: [Int64] = []
  /// By class of room.
  private(set) var mutes = [(muted: Int, all: Int)](repeating: (0, 0), count: 4)
  private(set) var mutesForMentions = 0
  private(set) var muteCount = 0
  private(set) var setToAll = 0
  private(set) var hasLevels = false
  /// For each user, memberships by class of room, and whether one is muted.
  private(set) var classesOfUser: [SIMD4<Int32>]
  private(set) var isMuting: [Bool]
  /// The users up to the last one who is a member.
  private(set) var userCount = 0

  // Of the room at hand.
  private var members: [(user: Int, level: NotificationLevel)] = []
  /// How many have which zone, and the zones that somebody has.
  private var zoneCounts: [Int] = []
  private var zones: [Int] = []
  private var earliest = Int64.max

  private static let classLimits = [20, 200, 3000]

  /// - Parameter users: how many users there are.
  init(users: Int) {
    classesOfUser = Array(repeating: .zero, count: users)
    isMuting = Array(repeating: false, count: users)
  }

  /// The class of rooms of a size.
  static func sizeClass(_ size: Int) -> Int { classLimits.firstIndex { size < $0 } ?? 3 }

  /// Adds a member of the room at hand.
  mutating func add(_ member: borrowing MemberSettings, user: Int) {
    var level = member.level
    if level == .unset, member.mutedUntil > .zero { level = .blocked }
    members.append((user, level))
    let since = member.since.milliseconds
    if since != 0 { sinces.append(since) }
    earliest = min(earliest, since)
  }

  /// Ends the room at hand; the next one begins.
  ///
  /// - Parameter zonesOfUsers: the number of each user's zone.
  mutating func endRoom(_ zonesOfUsers: PeopleRates.Zones) -> MeasuredRoom {
    guard !members.isEmpty else { return MeasuredRoom() }
    let sizeClass = Self.sizeClass(members.count)
    // What is read of users is anywhere: here the processor waits for many at once.
    for (user, _) in members {
      let zone = Int(zonesOfUsers[user])
      if zone < 0 { continue }
      while zoneCounts.count <= zone { zoneCounts.append(0) }
      if zoneCounts[zone] == 0 { zones.append(zone) }
      zoneCounts[zone] += 1
    }
    for (user, level) in members {
      userCount = max(userCount, user + 1)
      classesOfUser[user][sizeClass] += 1
      guard level.isSet else { continue }
      hasLevels = true
      if level == .all {
        setToAll += 1
      } else {
        mutes[sizeClass].muted += 1
        muteCount += 1
        if level != .blocked { mutesForMentions += 1 }
        isMuting[user] = true
      }
    }
    mutes[sizeClass].all += members.count
    count += members.count
    let room = MeasuredRoom(
      size: members.count, begin: earliest,
      zoneShare: PeopleRates.pairShare(zones.map { zoneCounts[$0] }))
    members.removeAll(keepingCapacity: true)
    for zone in zones { zoneCounts[zone] = 0 }
    zones.removeAll(keepingCapacity: true)
    earliest = .max
    return room
  }

  /// Adds what another thread counted of the same users.
  mutating func add(_ other: MemberCounts) {
    if count == 0 {
      self = other
      return
    }
    count += other.count
    sinces += other.sinces
    for index in mutes.indices {
      mutes[index].muted += other.mutes[index].muted
      mutes[index].all += other.mutes[index].all
    }
    mutesForMentions += other.mutesForMentions
    muteCount += other.muteCount
    setToAll += other.setToAll
    hasLevels = hasLevels || other.hasLevels
    for user in classesOfUser.indices {
      classesOfUser[user] &+= other.classesOfUser[user]
      isMuting[user] = isMuting[user] || other.isMuting[user]
    }
    userCount = max(userCount, other.userCount)
  }
}
