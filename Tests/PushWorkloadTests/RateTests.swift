import Foundation
import PushModel
import Testing

@testable import PushWorkload

/// Goal: worlds have the rates that docs/generate.md names, within the tolerances that stand here.
///
/// The draws are fixed by the seed, so a test that passes once passes always; tolerances are several
/// standard errors of the sample.
@Suite struct RateTests {
  static let world: Workload = {
    var options = WorkloadOptions()
    options.sizes.users = 20_000
    options.traffic.messages = 60_000
    options.traffic.durationMilliseconds = 3 * 86_400_000
    return try! Workload(options, threads: 2)
  }()

  /// Whether a share or number is the expected one.
  private func near(_ found: Double, _ expected: Double, _ tolerance: Double) -> Bool {
    abs(found - expected) <= tolerance
  }

  // MARK: Rooms

  /// Discrete Pareto with exponent 2, half of the rooms with 5 members or more, and the giants.
  @Test func roomSizes() {
    let sizes = (0..<Self.world.roomCount).map { Self.world.size(ofRoom: $0) }
    #expect(sizes.count == 4000)
    #expect(Array(sizes[0..<2]) == [5000, 10_000])
    for (size, share) in [(3, 0.833), (5, 0.5), (10, 0.25), (25, 0.1), (250, 0.01)] {
      let found = Double(sizes[2...].count { $0 >= size }) / Double(sizes.count - 2)
      let error = (share * (1 - share) / Double(sizes.count)).squareRoot()
      #expect(near(found, share, 3 * error), "\(found) have at least \(size) members")
    }
    #expect(sizes[2...].max() ?? 0 <= 3000)
  }

  struct Membership {
    var user: Int
    var size: Int
    var settings: MemberSettings
  }

  static let memberships: [Membership] = (0..<world.roomCount).flatMap { room in
    var found: [Membership] = []
    let size = world.size(ofRoom: room)
    world.forEachMember(ofRoom: room) {
      found.append(Membership(user: $0, size: size, settings: $1))
    }
    return found
  }

  @Test func mutesByTheSizeOfRooms() {
    let classes: [(sizes: Range<Int>, share: Double)] = [
      (0..<20, 0.15), (20..<200, 0.35), (200..<3000, 0.6), (3000..<1_000_000, 0.75),
    ]
    for (sizes, share) in classes {
      let levels = Self.memberships.filter { sizes ~= $0.size }.map(\.settings.level)
      let muted = levels.filter { $0 == .mention || $0 == .blocked }
      let found = Double(muted.count) / Double(levels.count)
      #expect(near(found, share, 0.015), "\(found) of rooms \(sizes)")
      let mentions = Double(muted.count { $0 == .mention }) / Double(muted.count)
      #expect(near(mentions, 0.5, 0.02), "\(mentions) of rooms \(sizes)")
      let all = Double(levels.count { $0 == .all }) / Double(levels.count - muted.count)
      #expect(near(all, 0.01, 0.005), "\(all) of rooms \(sizes)")
    }
  }

  /// 59 to 75 % of the people mute a room, where people are in several.
  @Test func peopleWhoMute() {
    var mutes: [Int: Bool] = [:]
    for membership in Self.memberships {
      let level = membership.settings.level
      mutes[membership.user, default: false] =
        mutes[membership.user, default: false] || level == .mention || level == .blocked
    }
    let share = Double(mutes.values.count { $0 }) / Double(mutes.count)
    #expect((0.59...0.75).contains(share), "\(share)")
  }

  @Test func whoIsInManyRoomsAndWhoJoins() {
    let core = Self.memberships.count { $0.user < 2000 }
    let share = Double(core) / Double(Self.memberships.count)
    // A giant of half of the users cannot have 38 % of its members among 10 % of them.
    #expect(near(share, 0.38, 0.11), "\(share)")
    let small = Self.memberships.filter { $0.size < 3000 }
    let smallShare = Double(small.count { $0.user < 2000 }) / Double(small.count)
    #expect(near(smallShare, 0.38, 0.02), "\(smallShare)")
    let joins = Self.memberships.filter { $0.settings.since > .zero }
    let joinShare = Double(joins.count) / Double(Self.memberships.count)
    #expect(near(joinShare, 0.1, 0.01), "\(joinShare)")
    let end = Self.world.time.upperBound
    let days = joins.map { Int((end - 1 - $0.settings.since.milliseconds) / 86_400_000) }
    // Over thirty days, on none of them most; half of a room's come in its bursts.
    let counts = (0..<30).map { day in days.count { $0 == day } }
    #expect(counts.reduce(0, +) == joins.count)
    #expect(counts.allSatisfy { $0 > joins.count / 300 && $0 < joins.count / 4 }, "\(counts)")
    #expect((counts.max() ?? 0) > joins.count / 20, "\(counts)")
  }

  // MARK: People

  static let users = (0..<world.userCount).map { world.drawnUser($0) }

  @Test func zonesByPopulation() {
    var counts: [Int: Int] = [:]
    for user in Self.users { counts[user.zone, default: 0] += 1 }
    let total = Double(ZonePopulation.zones.reduce(0) { $0 + $1.weight })
    for (number, zone) in ZonePopulation.zones.enumerated() {
      let expected = Double(zone.weight) / total * 20_000
      #expect(abs(Double(counts[number] ?? 0) - expected) <= 1, "\(zone.name)")
    }
    let partHours = Self.users.count { ZonePopulation.zones[$0.zone].offsetMinutes % 60 != 0 }
    #expect(near(Double(partHours) / 20_000, 0.207, 0.002))
  }

  @Test func windowsOfTheNight() {
    let windows = Self.users.compactMap(\.window)
    let count = Double(windows.count)
    #expect(near(count / 20_000, 0.475, 0.011))
    #expect(near(Double(Self.users.count { $0.isSilent }) / 20_000, 0.075, 0.006))
    #expect(Self.users.allSatisfy { $0.window == nil || !$0.isSilent })
    // From noon on, so that the small hours come last.
    let starts = windows.map { Double(($0.startMinute + 720) % 1440 + 720) }
    let lengths = windows.map { Double($0.lengthMinutes) }
    let mean = starts.reduce(0, +) / count
    let deviation = (starts.reduce(0) { $0 + pow($1 - mean, 2) } / count).squareRoot()
    #expect(near(mean, 1395, 3))
    #expect(near(deviation, 75, 2))
    let length = lengths.reduce(0, +) / count
    let lengthDeviation = (lengths.reduce(0) { $0 + pow($1 - length, 2) } / count).squareRoot()
    #expect(near(length, 480, 2.5))
    #expect(near(lengthDeviation, 60, 2))
    #expect(windows.allSatisfy { $0.startMinute % 15 == 0 && $0.lengthMinutes % 30 == 0 })
    let quarters = Double(windows.count { $0.startMinute % 30 != 0 }) / count
    #expect(near(quarters, 0.125, 0.015))
    // normal(23:15, 75) begins before midnight, rounded, in 66 of 100; the others begin after it.
    let crossing = Double(windows.count { $0.startMinute + $0.lengthMinutes > 1440 }) / count
    #expect(near(crossing, 0.66, 0.02))
  }

  @Test func levelsAndPhones() {
    let mention = Double(Self.users.count { $0.level == .mention }) / 20_000
    let blocked = Double(Self.users.count { $0.level == .blocked }) / 20_000
    #expect(near(mention, 0.1, 0.007))
    #expect(near(blocked, 0.05, 0.005))
    let pushes = Double(Self.users.count { $0.hasToken }) / 20_000
    #expect(near(pushes, 0.6, 0.011))
    let android = Self.users.filter(\.isAndroid)
    #expect(near(Double(android.count) / 20_000, 0.3, 0.01))
    let androidPushes = Double(android.count { $0.hasToken }) / Double(android.count)
    #expect(near(androidPushes, 0.81, 0.016))
    let ios = Self.users.filter { !$0.isAndroid }
    let iosPushes = Double(ios.count { $0.hasToken }) / Double(ios.count)
    #expect(near(iosPushes, 0.51, 0.014))
  }

  // MARK: Presence

  @Test func sessionsAndWhoIsOnline() throws {
    // Who writes has visits beside.
    var options = Self.world.options
    options.traffic.messages = 0
    let world = try Workload(options, threads: 2)
    var changes: [WorkloadPresence] = []
    world.forEachPresenceChange(threads: 2) { changes.append($0) }
    let start = world.time.lowerBound
    var begun: [Int: Int64] = [:]
    var minutes: [Double] = []
    var onlineTime = 0.0
    let end = world.time.upperBound
    for change in changes {
      let at = change.at.milliseconds
      if change.isOnline {
        begun[change.user] = at
      } else if let from = begun.removeValue(forKey: change.user) {
        onlineTime += Double(at - from)
        // Those that began before, and those that may end after, have another distribution.
        if from > start { minutes.append(Double(at - from) / 60_000) }
      }
    }
    for from in begun.values {
      onlineTime += Double(end - from)
      if from > start { minutes.append(Double(end - from) / 60_000) }
    }
    let online = onlineTime / Double(end - start) / 20_000
    #expect((0.03...0.09).contains(online), "\(online)")
    #expect(near(online, 0.06, 0.006), "\(online)")
    minutes.sort()
    let quantile = { (share: Double) in minutes[Int(Double(minutes.count) * share)] }
    #expect(near(quantile(0.1), 3, 0.4), "\(quantile(0.1))")
    #expect(near(quantile(0.5), 78, 8), "\(quantile(0.5))")
    #expect(near(quantile(0.9), 1100, 200), "\(quantile(0.9))")
  }
}
