internal import Algorithms
public import PushModel

/// A world made from a seed: people with their settings, rooms, messages, and who is connected when,
/// by measured rates.
///
/// Nothing of it is kept but sums over rooms: each fact is a function of the seed and of what it is
/// about, so that a world of any size can be made, in any part, on any thread.
///
/// - Memory: half a byte a room.
public struct Workload: Sendable {
  /// What the world was made from.
  public let options: WorkloadOptions
  let rooms: RoomTable
  let zones: ZoneShares
  /// People's day by their own clocks.
  let localDay: DayCurve
  /// The day of all of them in UTC.
  let worldDay: DayCurve
  /// How often users begin sessions; nil when nobody is ever connected.
  let presenceCycle: PresenceCycle?

  /// Works out the rooms.
  ///
  /// - Parameter threads: how many; the world is the same with any number.
  /// - Throws: what is wrong with the options.
  /// - Complexity: O(rooms).
  public init(_ options: WorkloadOptions, threads: Int = 1) throws(WorkloadError) {
    try options.validate()
    self.options = options
    rooms = try RoomTable(options, threads: Workload.usefulThreads(threads))
    zones = ZoneShares(seed: options.seed, users: options.sizes.users)
    localDay = DayCurve.local(ratio: options.traffic.hourRatio)
    presenceCycle = try Self.presenceCycle(options.presence, localDay)
    worldDay = localDay.combined(
      ZonePopulation.zones.map { (people: $0.weight, offsetMinutes: $0.offsetMinutes) })
  }

  private static func presenceCycle(
    _ presence: WorkloadOptions.Presence, _ day: DayCurve
  ) throws(WorkloadError) -> PresenceCycle? {
    guard presence.onlineShare > 0 else { return nil }
    let cycle = PresenceCycle(
      onlineShare: presence.onlineShare,
      lengths: SessionLengths(quantiles: presence.sessionMinutes), day: day)
    guard let cycle else { throw .sessionsTooShort(onlineShare: presence.onlineShare) }
    return cycle
  }

  /// How many users there are.
  public var userCount: Int { options.sizes.users }
  /// How many rooms there are, the giants included.
  public var roomCount: Int { rooms.count }
  /// How many memberships all rooms have together.
  public var membershipCount: Int { rooms.membershipCount }
  /// None when there are no rooms.
  public var messageCount: Int {
    roomCount == 0 ? 0 : options.traffic.messages ?? options.sizes.users
  }

  /// When the world's time begins and ends, in milliseconds.
  var time: Range<Int64> {
    let start = options.traffic.start.milliseconds
    return start..<start + options.traffic.durationMilliseconds
  }

  /// How many members a room has, 0 ..< ``roomCount``; the giants are first.
  public func size(ofRoom room: Int) -> Int { rooms.size(of: room) }
  /// What a room is: under RongCloud an ultra group, when it is too large for a group.
  public func kind(ofRoom room: Int) -> ConversationKind {
    kind(size: rooms.size(of: room))
  }

  func kind(size: Int) -> ConversationKind {
    ConversationKind.ultraGroup.exists(under: options.rules) && size > Self.rongCloudGroupLimit
      ? .ultraGroup : .group
  }

  /// The largest group of RongCloud, in members.
  static let rongCloudGroupLimit = 3000

  /// The id of a user in files: `u` and the number.
  public static func userID(_ user: Int) -> Identifier { Identifier("u\(user)") }
  /// The id of a room in files: `c` and the number.
  public static func roomID(_ room: Int) -> Identifier { Identifier("c\(room)") }
}

/// Which users live in which zone: so many as its share of the world's population, to the person.
struct ZoneShares: Sendable {
  /// The first index of each zone in ``order``, and the number of users.
  private let starts: [Int]
  private let order: Permutation

  init(seed: UInt64, users: Int) {
    let total = ZonePopulation.zones.reduce(0) { $0 + $1.weight }
    var sum: UInt64 = 0
    starts =
      [0]
      + ZonePopulation.zones.map { zone in
        sum += zone.weight
        return Int(sum * UInt64(users) / total)
      }
    order = Permutation(count: users, key: Draws.key(seed, .zone))
  }

  /// The number of a user's zone.
  func zone(of user: Int) -> Int {
    let index = order[user]
    return starts.partitioningIndex { $0 > index } - 1
  }

  func count(inZone zone: Int) -> Int { starts[zone + 1] - starts[zone] }

  /// The user at an index of a zone, 0 ..< its count.
  func user(_ index: Int, inZone zone: Int) -> Int { order.index(of: starts[zone] + index) }
}

extension Workload {
  /// A number of threads that pays: each thread has pieces of work in memory.
  static func usefulThreads(_ threads: Int) -> Int { max(1, min(64, threads)) }
}
