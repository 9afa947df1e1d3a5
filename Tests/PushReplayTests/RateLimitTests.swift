import PushFanout
import PushModel
import PushReplay
import TestSupport
import Testing

/// Goal: what a provider's limit comes to is what a simulation of every second says.
///
/// `PUSH_SEED=n swift test --filter RateLimitTests` runs one more seed.
@Suite struct RateLimitTests {
  /// A queue, second by second, push by push.
  private static func simulate(_ arriving: [Int64: Int], limit: Int) -> RateLimitResult {
    var result = RateLimitResult(perSecond: limit)
    guard let first = arriving.keys.min(), let last = arriving.keys.max() else { return result }
    var queue: [Int64] = []
    var head = 0
    var minutes: Set<Int64> = []
    var current: Backlog?
    var second = first
    while second <= last || head < queue.count {
      let count = arriving[second] ?? 0
      result.most = max(result.most, count)
      queue += Array(repeating: second, count: count)
      if count > limit {
        result.secondsOver += 1
        minutes.insert(second / 60)
      }
      for arrived in queue[head...].prefix(limit) where arrived < second { result.delayed += 1 }
      head = min(queue.count, head + limit)
      let waiting = queue.count - head
      if waiting > 0 {
        var backlog = current ?? Backlog(from: second * 1000, seconds: 0, waiting: 0, at: 0)
        backlog.seconds += 1
        result.backlogSeconds += 1
        if waiting > backlog.waiting { (backlog.waiting, backlog.at) = (waiting, second * 1000) }
        current = backlog
      } else if let backlog = current {
        result.backlogs += 1
        if backlog.seconds > result.longest?.seconds ?? 0 { result.longest = backlog }
        if backlog.waiting > result.worst?.waiting ?? 0 { result.worst = backlog }
        current = nil
      }
      second += 1
    }
    result.minutesOver = minutes.count
    return result
  }

  @Test func itIsWhatASimulationSays() throws {
    var backlogs = 0
    for seed in TestSupport.seeds(Array(1...40)) {
      var random = SeededGenerator(seed: seed)
      let members = Int.random(in: 1...9, using: &random)
      let limit = Int.random(in: 1...12, using: &random)
      var second = Int64.random(in: 0...1000, using: &random)
      var arriving: [Int64: Int] = [:]
      var options = ReplayOptions()
      options.rateLimit = limit
      let replayer = try Replayer(
        try Fanout(ReplayerTests.world(members), threads: random.pick([1, 2])), options)
      for _ in 0..<Int.random(in: 1...200, using: &random) {
        second += random.pick([0, 0, 0, 1, 1, 2, 5, 60, 200])
        let at = Instant(
          milliseconds: second * 1000 + Int64.random(in: 0...9, using: &random) / 9)
        try replayer.add(.message(Message(id: "m", conversation: "g", at: at)))
        arriving[second, default: 0] += members
      }
      let found = try #require(replayer.finish().rateLimit)
      #expect(found == Self.simulate(arriving, limit: limit), "seed \(seed)")
      backlogs += found.backlogs
    }
    #expect(backlogs > 50)
  }

  @Test func aComparisonHasBothSides() throws {
    let settings = ReplayerTests.world(4)
    var other = settings
    other.updateUser("u0") { $0.level = .blocked }
    var options = CompareOptions()
    options.rateLimit = 3
    let comparer = try Comparer(
      try Fanout(settings, threads: 1), try Fanout(other, threads: 1), labels: ([], []), options)
    for second in [0, 1, 5] {
      try comparer.add(
        .message(Message(id: "m", conversation: "g", at: ReplayerTests.at(1, 0, second))))
    }
    let result = comparer.finish()
    // Four come at 0 and 1: one waits, then two; the seconds 2 to 4 take them.
    let from = ReplayerTests.at(1).milliseconds
    var expected = RateLimitResult(perSecond: 3)
    expected.most = 4
    (expected.secondsOver, expected.minutesOver, expected.delayed) = (3, 1, 4)
    (expected.backlogs, expected.backlogSeconds) = (2, 3)
    expected.longest = Backlog(from: from, seconds: 2, waiting: 2, at: from + 1000)
    expected.worst = expected.longest
    #expect(result.a.rateLimit == expected)
    var within = RateLimitResult(perSecond: 3)
    within.most = 3
    #expect(result.b.rateLimit == within)
    #expect(try ReplayerTests.replay(settings, [ReplayerTests.message(1)]).rateLimit == nil)
  }
}
