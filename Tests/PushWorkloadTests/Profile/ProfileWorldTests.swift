import Foundation
import PushModel
import Testing

@testable import PushWorkload

/// Goal: what is measured of a generated world is what was asked for, within the tolerances that
/// stand here.
///
/// The draws are fixed by the seed, so a test that passes once passes always.
@Suite struct ProfileWorldTests {
  /// A world of a week, of options that differ from the defaults.
  private static let profile: WorkloadProfile = measured { options in
    options.sizes.medianSize = 8
    options.sizes.sizeExponent = 2.4
    options.sizes.topJoinersShare = 0.5
    options.sizes.joinShare = 0.2
    options.people.quietShare = 0.3
    options.people.silentShare = 0.15
    options.people.quietStartMinute = 30
    options.people.quietStartDeviationMinutes = 40
    options.people.quietLengthMinutes = 400
    options.people.quietLengthDeviationMinutes = 90
    options.people.mentionLevelShare = 0.2
    options.people.noneLevelShare = 0.02
    options.people.muteShares = [0.3, 0.2, 0.5, 0.1]
    options.people.muters = 0.6
    options.people.muteMentionShare = 0.8
    options.people.allLevelShare = 0.07
    options.traffic.burstExponent = 2.6
    options.traffic.burstGapSeconds = 30
    options.traffic.mentionShare = 0.3
    options.traffic.mentionCountShares = [0.7, 0.2, 0.1]
    options.traffic.recentShare = 0.7
    options.traffic.dayShare = 0.8
    options.traffic.smallAllShare = 0.02
    options.presence.onlineShare = 0.12
    options.presence.sessionMinutes = [5, 40, 300]
  }

  private static func measured(_ change: (inout WorkloadOptions) -> Void) -> WorkloadProfile {
    var options = WorkloadOptions()
    options.rates = .first
    options.sizes.users = 4000
    options.sizes.rooms = 1500
    options.sizes.giants = []
    options.traffic.messages = 40_000
    options.traffic.durationMilliseconds = 7 * 86_400_000
    change(&options)
    let world = try! Workload(options, threads: 2)
    var profiler = WorkloadProfiler(world.settings())
    // Presence and messages, in the order of time.
    var messages: [WorkloadMessage] = []
    world.forEachMessage(threads: 2) { messages.append($0) }
    var next = 0
    func addMessages(before instant: Instant?) {
      while next < messages.count, instant.map({ messages[next].at < $0 }) ?? true {
        let message = messages[next]
        let zone = ZonePopulation.zones[world.zones.zone(of: message.sender)]
        profiler.add(
          world.message(message, number: next),
          clock: SenderClock(offsetSeconds: Int64(zone.offsetMinutes) * 60))
        next += 1
      }
    }
    world.forEachPresenceChange(threads: 2) { change in
      addMessages(before: change.at)
      profiler.addPresence(
        at: change.at, user: Workload.userID(change.user), conversation: nil,
        isOnline: change.isOnline)
    }
    addMessages(before: nil)
    return profiler.profile()
  }

  /// Each number of a rate, what was asked for, and how far the measured one may be from it.
  private static let asked: [(name: String, values: [Double], tolerance: Double)] = [
    ("median-size", [8], 0.6), ("size-exponent", [2.4], 0.15), ("top-joiners-share", [0.5], 0.03),
    // The first member of a room never joins.
    ("join-share", [0.2], 0.015),
    ("quiet-share", [0.3], 0.02), ("silent-share", [0.15], 0.015), ("quiet-start", [30], 5),
    ("quiet-start-sd", [40], 3), ("quiet-length", [400], 8), ("quiet-length-sd", [90], 6),
    ("mention-level-share", [0.2], 0.02), ("none-level-share", [0.02], 0.007),
    ("muters", [0.6], 0.03), ("mute-mention-share", [0.8], 0.015),
    ("all-level-share", [0.07], 0.01),
    ("burst-exponent", [2.6], 0.15), ("burst-gap", [30], 3),
    ("mention-share", [0.3], 0.01), ("mention-counts", [0.7, 0.2, 0.1], 0.03),
    // By chance some of the others wrote lately.
    ("recent-share", [0.7], 0.06), ("day-share", [0.8], 0.06), ("small-all-share", [0.02], 0.003),
    ("online-share", [0.12], 0.01), ("activity-sd", [0.85], 0.2), ("sender-exponent", [1], 0.3),
    // The next to write is the same by chance, too.
    ("same-sender-share", [0.4], 0.15),
  ]

  @Test(arguments: asked.map(\.name))
  func aRateIsTheOneThatWasAskedFor(name: String) throws {
    let (_, values, tolerance) = try #require(Self.asked.first { $0.name == name })
    let found = Self.profile.values(name)
    #expect(found.count == values.count)
    for (found, value) in zip(found, values) {
      #expect(abs((found ?? .infinity) - value) <= tolerance, "\(name): \(found ?? .nan)")
    }
  }

  @Test func mutesAndSessions() {
    let mutes = Self.profile.values("mute-shares")
    for (found, value) in zip(mutes.prefix(3), [0.3, 0.2, 0.5]) {
      #expect(abs((found ?? 2) - value) < 0.03, "\(mutes)")
    }
    let sessions = Self.profile.values("session-minutes")
    for (found, value) in zip(sessions, [5.0, 40, 300]) {
      #expect(abs((found ?? 0) / value - 1) < 0.08, "\(sessions)")
    }
  }

  /// Each flag once, lists complete, shares of counts that add up to 1.
  @Test func flagsAreTakenByTheGenerator() throws {
    let flags = Self.profile.flags
    #expect(flags.count % 2 == 0)
    let names = stride(from: 0, to: flags.count, by: 2).map { flags[$0] }
    #expect(Set(names).count == names.count)
    let sum = try #require(flags.firstIndex(of: "--mention-counts")).advanced(by: 1)
    let counts = flags[sum].split(separator: ",").compactMap { Double($0) }
    #expect(counts.count == 3 && abs(counts.reduce(0, +) - 1) < 1e-9)
    #expect(flags.prefix(4) == ["--users", "4000", "--rooms", "1500"])
    let shares = try #require(flags.firstIndex(of: "--mute-shares")).advanced(by: 1)
    #expect(flags[shares].split(separator: ",").count == 4)
  }
}
