import PushModel
import PushWorkload
import TestSupport
import Testing

/// Goal: a world makes sense: members are different people, who writes and who is mentioned is
/// there by then, time does not go back, nobody is connected twice.
@Suite struct WorldTests {
  /// Worlds of awkward sizes.
  static let worlds: [(users: Int, rooms: Int, joins: Double)] = [
    (1, 3, 0.5), (2, 10, 1), (9, 20, 0.5), (10, 20, 0), (11, 40, 1), (257, 90, 0.3), (999, 30, 1),
  ]

  static func world(
    _ size: (users: Int, rooms: Int, joins: Double), _ seed: UInt64
  ) throws -> Workload {
    var options = WorkloadOptions()
    options.seed = seed
    options.sizes.users = size.users
    options.sizes.rooms = size.rooms
    options.sizes.joinShare = size.joins
    options.sizes.giants = [size.users, max(1, size.users / 2)]
    options.traffic.messages = 700
    options.traffic.mentionShare = 0.7
    options.traffic.mentionCountShares = [0.4, 0.3, 0.3]
    options.traffic.durationMilliseconds = 36 * 3_600_000
    return try Workload(options)
  }

  @Test(arguments: worlds)
  func whoWritesAndIsMentionedIsThere(size: (users: Int, rooms: Int, joins: Double)) throws {
    for seed in seeds([1, 2, 3]) {
      let world = try Self.world(size, seed)
      var members: [[Int: Instant]] = []
      var memberships = 0
      for room in 0..<world.roomCount {
        var since: [Int: Instant] = [:]
        world.forEachMember(ofRoom: room) { since[$0] = $1.since }
        #expect(since.count == world.size(ofRoom: room), "seed \(seed), room \(room)")
        #expect(since.keys.allSatisfy { 0..<size.users ~= $0 }, "seed \(seed), room \(room)")
        memberships += since.count
        members.append(since)
      }
      #expect(memberships == world.membershipCount)
      var last = world.options.traffic.start
      let end = last.milliseconds + world.options.traffic.durationMilliseconds
      var wrong: [WorkloadMessage] = []
      var count = 0
      world.forEachMessage { message in
        let there = { (user: Int) in
          members[message.room][user].map { $0 <= message.at } ?? false
        }
        let targets = Set(message.mentions)
        if !there(message.sender) || !message.mentions.allSatisfy(there)
          || targets.contains(message.sender) || targets.count != message.mentions.count
          || message.at < last || message.at.milliseconds >= end
        {
          wrong.append(message)
        }
        last = message.at
        count += 1
      }
      #expect(wrong == [], "seed \(seed)")
      #expect(count == 700)
    }
  }

  @Test(arguments: worlds)
  func nobodyIsConnectedTwice(size: (users: Int, rooms: Int, joins: Double)) throws {
    for seed in seeds([1, 2, 3]) {
      let world = try Self.world(size, seed)
      let start = world.options.traffic.start
      let end = start.milliseconds + world.options.traffic.durationMilliseconds
      var online: Set<Int> = []
      var last = start
      var wrong: [WorkloadPresence] = []
      world.forEachPresenceChange(threads: 2) { change in
        let isNew =
          change.isOnline
          ? online.insert(change.user).inserted : online.remove(change.user) != nil
        if !isNew || change.at < last || change.at.milliseconds >= end
          || !(0..<size.users ~= change.user)
        {
          wrong.append(change)
        }
        last = change.at
      }
      #expect(wrong == [], "seed \(seed)")
    }
  }

  /// Memberships are exact also where the last room must be cut, or fits.
  @Test func membershipsAreAsManyAsWanted() throws {
    for members in [0, 1, 2, 3, 17, 100, 5000, 5001, 12_345] {
      var options = WorkloadOptions()
      options.sizes.users = 2000
      options.sizes.memberships = members
      options.sizes.giants = members > 5000 ? [1999, 500] : nil
      let world = try Workload(options, threads: 2)
      let sizes = (0..<world.roomCount).map { world.size(ofRoom: $0) }
      #expect(world.membershipCount == members)
      #expect(sizes.reduce(0, +) == members)
      #expect(sizes.allSatisfy { $0 > 0 })
      #expect(world.messageCount == (members == 0 ? 0 : 2000))
    }
  }

  /// A knob changes what it is about and nothing else; who sleeps at other times writes at others.
  @Test(arguments: [
    (WorkloadRates.first, [WorkloadText.File.members, .messages, .presence]), (.people, [.members]),
  ])
  func aKnobChangesOnlyItsOwn(rates: WorkloadRates, files: [WorkloadText.File]) throws {
    let before = try smallWorld(.easemob) { $0.rates = rates }
    let after = try smallWorld(.easemob) {
      $0.rates = rates
      $0.people.quietShare = 0.9
      $0.people.silentShare = 0.1
    }
    let users = (0..<before.userCount).map { (before.user($0), after.user($0)) }
    #expect(users.allSatisfy { $0.level == $1.level && $0.timeZone == $1.timeZone })
    #expect(users.contains { $0.quietHours != $1.quietHours })
    #expect(users.allSatisfy { $0.quietHours == nil || $1.quietHours != nil })
    for file in files {
      let texts = [before, after].map { bytes(file, of: WorkloadText($0, .csv)) }
      #expect(texts[0] == texts[1], "\(file)")
    }
  }

  @Test func largeRoomsAreUltraGroupsUnderRongCloud() throws {
    let kinds = try RuleSet.vendors.map { rules in
      let world = try smallWorld(rules) {
        $0.sizes.users = 4000
        $0.sizes.giants = [3001, 3000]
      }
      return (0..<3).map { world.kind(ofRoom: $0) }
    }
    #expect(kinds == [[.group, .group, .group], [.ultraGroup, .group, .group]])
  }
}
