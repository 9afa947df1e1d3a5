import Foundation
import PushModel
import Testing

@testable import PushWorkload

/// Goal: worlds have the rates that docs/generate.md names, as far as chance and the model
/// allow.
///
/// The draws are fixed by the seed, so a test that passes once passes always. A number may be off by
/// four standard errors of its sample (`isChance`, `misses`); what is allowed beyond has its reason
/// beside it.
@Suite struct RateTests {
  static let world: Workload = {
    var options = WorkloadOptions()
    options.sizes.users = 20_000
    options.traffic.messages = 60_000
    options.traffic.durationMilliseconds = 3 * 86_400_000
    return try! Workload(options, threads: 2)
  }()

  static let profile = world.profile()

  // MARK: Rooms

  /// Discrete Pareto with exponent 2, half of the rooms with 5 members or more, and the giants.
  @Test func roomSizes() {
    let sizes = (0..<Self.world.roomCount).map { Self.world.size(ofRoom: $0) }
    #expect(sizes.count == 4000)
    #expect(Array(sizes[0..<2]) == [5000, 10_000])
    for (size, share) in [(3, 0.833), (5, 0.5), (10, 0.25), (25, 0.1), (250, 0.01)] {
      let found = sizes[2...].count { $0 >= size }
      #expect(isChance(found, of: sizes.count - 2, share), "\(found) have \(size) members")
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
    #expect(Self.profile.misses("mute-shares", [0.15, 0.35, 0.6, 0.75]) == [])
    #expect(Self.profile.misses("mute-mention-share", [0.5]) == [])
    #expect(Self.profile.misses("all-level-share", [0.01]) == [])
    #expect(Self.profile.misses("muters", [0.75]) == [])
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
    // A giant of half of the users cannot have 38 % of its members among 10 % of them.
    let small = Self.memberships.filter { $0.size < 3000 }
    let core = small.count { $0.user < 2000 }
    #expect(isChance(core, of: small.count, 0.38), "\(core) of \(small.count)")
    let joins = Self.memberships.filter { $0.settings.since > .zero }
    // The first member of a room never joins.
    let others = Self.memberships.count - Self.world.roomCount
    #expect(isChance(joins.count, of: others, 0.1), "\(joins.count) of \(others)")
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
    // Zones have their people to the person: 20.7 % is a rounded number.
    #expect(abs(Double(partHours) / 20_000 - 0.207) < 0.001)
  }

  @Test func windowsOfTheNight() {
    let windows = Self.users.compactMap(\.window)
    #expect(Self.profile.misses("quiet-share", [0.475]) == [])
    #expect(Self.profile.misses("silent-share", [0.075]) == [])
    #expect(Self.users.allSatisfy { $0.window == nil || !$0.isSilent })
    // 23:15, before midnight.
    #expect(Self.profile.misses("quiet-start", [-45]) == [])
    // Rounding to a step adds the variance step²/12: to 30 minutes for three in four, to 15 for
    // others, and to 30 for all lengths.
    let rounded = (75.0 * 75 + 0.75 * 75 + 0.25 * 18.75).squareRoot()
    #expect(Self.profile.misses("quiet-start-sd", [rounded]) == [])
    #expect(Self.profile.misses("quiet-length", [480]) == [])
    #expect(Self.profile.misses("quiet-length-sd", [(60.0 * 60 + 75).squareRoot()]) == [])
    #expect(windows.allSatisfy { $0.startMinute % 15 == 0 && $0.lengthMinutes % 30 == 0 })
    #expect(isChance(windows.count { $0.startMinute % 30 != 0 }, of: windows.count, 0.125))
  }

  @Test func levelsAndPhones() {
    #expect(Self.profile.misses("mention-level-share", [0.1]) == [])
    #expect(Self.profile.misses("none-level-share", [0.05]) == [])
    #expect(isChance(Self.users.count { $0.hasToken }, of: 20_000, 0.6))
    let android = Self.users.filter(\.isAndroid)
    #expect(isChance(android.count, of: 20_000, 0.3))
    #expect(isChance(android.count { $0.hasToken }, of: android.count, 0.81))
    let ios = Self.users.filter { !$0.isAndroid }
    #expect(isChance(ios.count { $0.hasToken }, of: ios.count, 0.51))
  }

  // MARK: Presence

  @Test func sessionsAndWhoIsOnline() throws {
    // Who writes has visits beside.
    var options = Self.world.options
    options.traffic.messages = 0
    let world = try Workload(options, threads: 2)
    let profile = world.profile(presence: true)
    // Cycles are left alone that miss the share by 2 %.
    #expect(profile.misses("online-share", [0.06], model: -0.0012...0.0012) == [])
    #expect(profile.misses("session-minutes", [3, 78, 1100]) == [])
  }
}
