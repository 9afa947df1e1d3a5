internal import Algorithms

/// Which users live in which zone: so many as its share of the world's population, to the person.
///
/// Under ``WorkloadRates/people`` so many of those who are in many rooms, too, who are the first
/// users: each of the two groups has its users by zone, in an order of its own.
struct ZoneShares: Sendable {
  /// A group of users with following numbers, by zone.
  struct Group: Sendable {
    let firstUser: Int
    /// The first index of each zone, and the number of users.
    let starts: [Int]
    let order: Permutation

    var count: Int { starts[starts.count - 1] }

    func zone(at index: Int) -> Int { Self.zone(at: index, starts) }

    static func zone(at index: Int, _ starts: [Int]) -> Int {
      starts.partitioningIndex { $0 > index } - 1
    }

    func range(ofZone zone: Int) -> Range<Int> { starts[zone]..<starts[zone + 1] }
  }

  /// The first index of each zone among all users by zone, and their number.
  private let starts: [Int]
  /// One, or those in many rooms and the others.
  let groups: [Group]
  private let isFirst: Bool

  init(_ options: WorkloadOptions) {
    let users = options.sizes.users
    let total = ZonePopulation.zones.reduce(0) { $0 + $1.weight }
    var sum: UInt64 = 0
    let starts =
      [0]
      + ZonePopulation.zones.map { zone in
        sum += zone.weight
        return Int(sum * UInt64(users) / total)
      }
    self.starts = starts
    isFirst = options.rates == .first
    if isFirst {
      let order = Permutation(count: users, key: Draws.key(options.seed, .zone))
      groups = [Group(firstUser: 0, starts: starts, order: order)]
      return
    }
    let core = RoomMembers.coreUsers(users)
    let coreStarts = starts.map { $0 * core / users }
    groups = [
      Group(
        firstUser: 0, starts: coreStarts,
        order: Permutation(count: core, key: Draws.key(options.seed, .zone))),
      Group(
        firstUser: core, starts: zip(starts, coreStarts).map { $0 - $1 },
        order: Permutation(count: max(1, users - core), key: Draws.key(options.seed, .zone, 1))),
    ]
  }

  /// The number of a user's zone.
  func zone(of user: Int) -> Int {
    if isFirst { return groups[0].zone(at: groups[0].order[user]) }
    let group = groups[user < groups[1].firstUser ? 0 : 1]
    return group.zone(at: group.order.index(of: user - group.firstUser))
  }

  /// How many users there are.
  var people: Int { starts[starts.count - 1] }

  /// The zone at an index of all users by zone.
  func zone(at index: Int) -> Int { Group.zone(at: index, starts) }

  func count(inZone zone: Int) -> Int { starts[zone + 1] - starts[zone] }

  /// The user at an index of a zone, 0 ..< its count.
  func user(_ index: Int, inZone zone: Int) -> Int {
    let first = groups[0].range(ofZone: zone)
    if isFirst { return groups[0].order.index(of: first.lowerBound + index) }
    if index < first.count { return groups[0].order[first.lowerBound + index] }
    let range = groups[1].range(ofZone: zone)
    return groups[1].firstUser + groups[1].order[range.lowerBound + index - first.count]
  }
}
