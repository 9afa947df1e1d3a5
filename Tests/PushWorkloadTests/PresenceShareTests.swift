import PushModel
import TestSupport
import Testing

@testable import PushWorkload

/// Goal: as many users are connected at once as `--online-share` says, whatever else is said.
@Suite struct PresenceShareTests {
  struct Case: CustomTestStringConvertible {
    var share: Double
    var seed: UInt64 = 1
    var minutes: [Double] = [3, 78, 1100]
    var hourRatio = 3.8

    var testDescription: String {
      "seed \(seed), share \(share), minutes \(minutes), hour ratio \(hourRatio)"
    }
  }

  static let cases: [Case] =
    (1...3).flatMap { seed in
      [0.03, 0.06, 0.2, 0.5].map { Case(share: $0, seed: seed) }
    } + [
      Case(share: 0.3, minutes: [3, 30, 300]), Case(share: 0.5, minutes: [1, 10, 100]),
      Case(share: 0.06, minutes: [1, 10, 100]), Case(share: 0.5, minutes: [60, 480, 1100]),
      Case(share: 0.5, minutes: [4000, 4000, 4000]), Case(share: 0.05, minutes: [0.1, 0.1, 0.1]),
      Case(share: 0.4, hourRatio: 1), Case(share: 0.4, hourRatio: 20),
      Case(share: 0.2, hourRatio: 100),
    ]

  /// The mean share of the users who are connected, over the world's time.
  private static func share(_ world: Workload) -> Double {
    var online = 0.0
    world.forEachPresenceChange(threads: 2) { change in
      let left = Double(world.time.upperBound - change.at.milliseconds)
      online += change.isOnline ? left : -left
    }
    return online / Double(world.time.count) / Double(world.userCount)
  }

  private static func world(_ given: Case) throws -> Workload {
    var options = WorkloadOptions()
    options.seed = given.seed
    // Sessions without visits, of a day as steep as is asked for.
    options.rates = .first
    options.sizes.rooms = 0
    options.traffic.messages = 0
    options.traffic.durationMilliseconds = 4 * 86_400_000
    options.traffic.hourRatio = given.hourRatio
    options.presence.onlineShare = given.share
    options.presence.sessionMinutes = given.minutes
    // About 30,000 sessions, whose mean is then known well enough.
    let cycle = try #require(
      PresenceCycle(
        onlineShare: given.share, lengths: SessionLengths(quantiles: given.minutes),
        day: .local(ratio: given.hourRatio)))
    options.sizes.users = max(500, Int(30_000 * cycle.minutes / (4 * 1440)))
    return try Workload(options)
  }

  @Test(.tags(.slow), .unlessFast, arguments: cases) func theShareIsThatOfTheOption(given: Case)
    throws
  {
    let found = Self.share(try Self.world(given))
    // Cycles are left alone that miss the share by 2 %; the rest is chance: four standard errors of
    // the mean of 30,000 sessions.
    let samples = SessionLengths(quantiles: given.minutes).samples
    let mean = samples.reduce(0, +) / Double(samples.count)
    let variance = samples.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(samples.count)
    let error = (variance / 30_000).squareRoot() / mean
    #expect(abs(found / given.share - 1) < 0.02 + 4 * error, "\(found)")
  }

  /// Nobody is connected twice, and everybody's sessions have gaps between them.
  @Test func sessionsThatAreCutStayApart() throws {
    let world = try Self.world(Case(share: 0.5))
    var endings: [Int: Int64] = [:]
    var online: Set<Int> = []
    var isRight = true
    world.forEachPresenceChange { change in
      let at = change.at.milliseconds
      if change.isOnline {
        isRight = isRight && online.insert(change.user).inserted
        isRight = isRight && (endings[change.user].map { at - $0 >= 1000 } ?? true)
      } else {
        isRight = isRight && online.remove(change.user) != nil
        endings[change.user] = at
      }
    }
    #expect(isRight && !endings.isEmpty)
  }

  /// The world of an earlier version stays the same as long as it had the share.
  @Test func cyclesThatGiveTheShareAreLeftAlone() throws {
    let lengths = SessionLengths(quantiles: [3, 78, 1100])
    let mean = lengths.samples.reduce(0.0, +) / 4096
    let cycles = try [0.01, 0.06, 0.1, 0.5].map { share in
      try #require(
        PresenceCycle(onlineShare: share, lengths: lengths, day: .local(ratio: 3.8))
      ).minutes
    }
    #expect(cycles[0] == mean / 0.01)
    #expect(cycles[1] == mean / 0.06)
    #expect(cycles[2] < mean / 0.1)
    #expect(cycles[3] < mean / 0.5 / 4)
  }
}
