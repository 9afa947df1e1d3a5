import PushFanout
import PushFiles
import PushModel
import PushReplay
import TestSupport
import Testing

/// Goal: a result is the same, field by field, on any number of threads, also where a batch covers
/// days and some threads have nothing to do for weeks.
///
/// `PUSH_SEED=n swift test --filter ThreadCountTests` runs one more seed.
@Suite struct ThreadCountTests {
  private static let threads = [1, 2, 3, 4, 16]

  /// Messages of six weeks, most of them in the first and last, and what happens beside them.
  static func events(
    _ world: RandomWorld, _ settings: FanoutSettings, _ random: inout SeededGenerator,
    presence: Bool, changes: Bool
  ) -> [ReplayEvent] {
    let week: Int64 = 7 * 86_400_000
    let messages: [Message] = world.messages.compactMap { message in
      guard settings.conversation(message.conversation) != nil else { return nil }
      var message = message
      let from = RandomWorld.noon + random.pick([0, 0, 5, 5, 1, 3]) * week
      message.at = Instant(milliseconds: from + Int64.random(in: 0..<week, using: &random))
      return message
    }
    var drawn = DrawnEvents(settings, RandomWorld.noon...RandomWorld.noon + 6 * week, random)
    var events: [ReplayEvent] = []
    if changes { events += drawn.changes(40) }
    if presence { events += drawn.presence(100) }
    random = drawn.random
    return (events + messages.map { .message($0) }).enumerated().sorted {
      ($0.element.at, $0.offset) < ($1.element.at, $1.offset)
    }.map(\.element)
  }

  /// Two rooms of one person, which different threads decide, on two days of one batch.
  @Test(arguments: threads) func aPersonsDayIsCountedOnce(threads: Int) throws {
    var settings = FanoutSettings(app: AppSettings())
    for room: Identifier in ["a", "b"] { settings.setMember("ann", of: room) }
    let events = [1, 3].flatMap { day in
      ["a", "b"].map { ReplayerTests.message(24 * day, in: Identifier($0)) }
    }
    var options = ReplayOptions()
    options.countsPeople = true
    let replayed = try Self.replay(settings, events, options, threads: threads)
    let people = try #require(replayed.result.people)
    #expect([people.people, people.personDays, people.mostDays] == [1, 2, 2])
    #expect(people.pushes.median == 2)
    #expect(replayed.people.map { [$0.days, $0.pushes] } == [[2, 4]])
  }

  private struct Replayed: Equatable {
    var result: ReplayResult
    var people: [PersonTotal] = []
    var rows: [UInt8] = []
  }

  private static func replay(
    _ settings: FanoutSettings, _ events: [ReplayEvent], _ options: ReplayOptions, threads: Int
  ) throws -> Replayed {
    let replayer = try Replayer(try Fanout(settings, threads: threads), options)
    var rows: [UInt8] = []
    replayer.takeHeldRows = { rows += $0 }
    for event in events { try replayer.add(event) }
    var replayed = Replayed(result: replayer.finish(), rows: rows)
    replayer.forEachPerson { replayed.people.append($0) }
    return replayed
  }

  /// Eight worlds for each rule set: with and without each kind of event and each option.
  @Test(arguments: RuleSet.allCases) func aReplayIsTheSame(rules: RuleSet) throws {
    for seed in TestSupport.seeds([0, 1, 2, 3, 4, 5, 6, 7]) {
      let world = RandomWorld(
        rules, seed: seed, userCount: 40, messageCount: 120,
        style: RandomWorld.Style(density: 40, isVaried: true))
      let settings = ModelWorld(world).settings
      var random = SeededGenerator(seed: seed)
      let events = Self.events(
        world, settings, &random, presence: seed & 1 != 0, changes: seed & 2 != 0)
      let fanout = try Fanout(settings, threads: 1)
      let known = world.users.filter { fanout.user($0) != nil }
      var options = ReplayOptions()
      options.countsPeople = true
      options.holds = seed & 4 != 0
      if seed & 5 == 5 {
        options.heldRow = { $1 += Array("\($0.user.text) \($0.pushAt.milliseconds)\n".utf8) }
      }
      options.rateLimit = random.chance(50) ? 1 : nil
      options.followedUser = random.chance(50) ? random.pick(known) : nil
      options.timeZone = random.pick(RandomWorld.zones)
      options.batch = (messages: random.pick([7, 40, 2048]), versions: random.pick([2, 512]))
      let replays = try Self.threads.map {
        try Self.replay(settings, events, options, threads: $0)
      }
      let different = zip(Self.threads, replays).filter { $0.1 != replays[0] }.map(\.0)
      #expect(different == [], "seed \(seed), \(rules.rawValue): these numbers of threads")
      #expect((replays[0].result.people?.mostDays ?? 0) > 2, "seed \(seed)")
    }
  }

  @Test(arguments: RuleSet.allCases) func aComparisonIsTheSame(rules: RuleSet) throws {
    for seed in TestSupport.seeds([10, 11, 12, 13]) {
      // Rooms on both sides of the size from which on ledgers are kept.
      let isLarge = seed >= 12
      var world = RandomWorld(
        rules, seed: seed, userCount: isLarge ? 200 : 40, messageCount: 120,
        style: RandomWorld.Style(density: isLarge ? 80 : 40, isVaried: true))
      let model = ModelWorld(world)
      var other = model
      for _ in 0..<25 { world.change(of: other, changesApp: false).apply(to: &other) }
      var random = SeededGenerator(seed: seed)
      let events = Self.events(
        world, model.settings, &random, presence: seed & 1 != 0, changes: false)
      var options = CompareOptions()
      options.rateLimit = random.chance(50) ? 1 : nil
      options.timeZone = random.pick(RandomWorld.zones)
      options.batch = (messages: random.pick([7, 40, 512]), versions: 128)
      let compared = try Self.threads.map { threads in
        let comparer = try Comparer(
          try Fanout(model.settings, threads: threads),
          try Fanout(other.settings, threads: threads), labels: ([], []), options)
        for event in events { try comparer.add(event) }
        let result = comparer.finish()
        var people: [PersonTotal] = []
        comparer.forEachPerson { people.append($0) }
        return Pair(result: result, people: people)
      }
      let different = zip(Self.threads, compared).filter { $0.1 != compared[0] }.map(\.0)
      #expect(different == [], "seed \(seed), \(rules.rawValue): these numbers of threads")
    }
  }

  private struct Pair: Equatable {
    var result: CompareResult
    var people: [PersonTotal]
  }
}
