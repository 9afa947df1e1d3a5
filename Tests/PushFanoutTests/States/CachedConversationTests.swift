import PushModel
import PushReference
import TestSupport
import Testing

@testable import PushFanout

/// Goal: whatever the order of messages, changes and instants, with tallies and without them, each
/// result is what the reference decides for its version, also when it is asked for later.
@Suite struct CachedConversationTests {
  /// What a result must be.
  private struct Expected {
    let message: Message
    let result: FanoutResult
    let outcomes: [String]
  }

  private static func outcomes(_ settings: FanoutSettings, _ message: Message) -> [String] {
    var evaluator = ReferenceEvaluator(settings)
    var found: [String] = []
    evaluator.decide(message) { user, decision in
      found.append("\(settings.id(of: user)) \(decision.outcome.key) \(decision.devices)")
    }
    return found
  }

  private static func outcomes(_ result: FanoutResult) -> [String] {
    var found: [String] = []
    result.forEachRecipient { user, outcome in
      found.append("\(result.id(of: user)) \(outcome.key) \(result.devices(of: user))")
    }
    return found
  }

  /// Counts and single members, which are read without the states of all members.
  private static func summary(_ result: FanoutResult) -> [Int] {
    var counts = (0..<Outcome.codeCount).map { result.counts[code: UInt8($0)] }
    for rank in 0..<result.memberCount { counts[Int(result.code(of: rank))] -= 1 }
    counts[0] = 0
    return counts + [
      result.pushCount - Array(result.pushes).count, result.counts.pushCount - result.pushCount,
    ]
  }

  private static let nothing = [Int](repeating: 0, count: Outcome.codeCount + 2)

  /// Draws a change of a world that exists.
  private static func change(_ world: inout RandomWorld) -> SettingsRecord {
    let conversations = Set(
      world.steps.compactMap { step -> Identifier? in
        if case .member(_, let conversation, _, _) = step { return conversation }
        return nil
      }
    ).sorted { $0.text < $1.text }
    let user = world.random.pick(world.users)
    if world.random.chance(50) { return .user(user, world.userSettings()) }
    var member = MemberSettings(level: world.level())
    if world.random.chance(30) { member.mutedUntil = world.instant() }
    if world.random.chance(20) { member.since = world.instant() }
    return .member(user, of: world.random.pick(conversations), member)
  }

  @Test(arguments: RuleSet.allCases, seeds)
  func everyOrder(rules: RuleSet, seed: UInt64) throws {
    for world in 0..<8 {
      try run(
        RandomWorld(
          rules, seed: seed &* 1000 &+ UInt64(world), userCount: 24, messageCount: 90,
          style: RandomWorld.Style(isVaried: world >= 4)), CacheSizes.all[world % 4])
    }
  }

  private func run(_ drawn: RandomWorld, _ sizes: CacheSizes) throws {
    var world = drawn
    var settings = world.settings()
    var builder = FanoutBuilder()
    try builder.add(settings)
    let fanout = Fanout(try builder.finish(), threads: 1, sizes)
    let timeline = FanoutTimeline(fanout.currentVersion)
    var versions: [(FanoutVersion, FanoutSettings)] = [(fanout.currentVersion, settings)]
    var held: [Expected] = []
    var result = FanoutResult()
    for (number, message) in world.messages.sorted(by: { $0.at < $1.at }).enumerated() {
      var message = message
      // Mostly in order; some late or early, by seconds or by days.
      if world.random.chance(30) {
        let distance = world.random.pick([1, 600, 90_000, 400_000] as [Int64])
        let shift = Int64(world.random.pick([-distance, distance])) * 1000
        message.at = Instant(milliseconds: max(0, message.at.milliseconds + shift))
      }
      if world.random.chance(40) {
        let record = Self.change(&world)
        settings.set(record)
        try fanout.update { (update) throws(FanoutError) in try update.set(record) }
        versions.append((fanout.currentVersion, settings))
      }
      let expected = Self.outcomes(settings, message)
      fanout.decide(message, into: &result)
      #expect(Self.summary(result) == Self.nothing, "message \(number)")
      #expect(Self.outcomes(result) == expected, "message \(number)")
      if world.random.chance(50) {
        let copy = fanout.decide(message)
        held.append(Expected(message: message, result: copy, outcomes: expected))
      }
      // A version some changes behind, on the engine's cache and on a timeline.
      let (version, then) = versions[max(0, versions.count - 1 - number % 4)]
      let before = Self.outcomes(then, message)
      result.reset(message.at.milliseconds, threads: 1)
      result.storage.version = version.engineVersion
      Decider(version: version.engineVersion, threads: 1)
        .decide(message, fanout.cache, into: &result)
      #expect(Self.summary(result) == Self.nothing, "message \(number), earlier version")
      #expect(Self.outcomes(result) == before, "message \(number), earlier version")
      timeline.follow(version)
      #expect(timeline.counts(message).recipientCount == before.count, "message \(number)")
      #expect(Self.outcomes(timeline.result) == before, "message \(number), timeline")
    }
    for item in held.shuffled(using: &world.random) {
      #expect(Self.outcomes(item.result) == item.outcomes, "held \(item.message.id)")
      #expect(Self.summary(item.result) == Self.nothing, "held \(item.message.id)")
    }
  }

  /// A change that moves a member's event, and changes no key at the instant of the keys.
  @Test(arguments: CacheSizes.cached) func anEarlierAnswerKeepsItsEvents(sizes: CacheSizes) throws {
    let noon: Int64 = 1_711_886_400_000
    var settings = FanoutSettings()
    for number in 0..<10 { settings.setMember(Identifier("u\(number)"), of: "g") }
    // Between the earlier message and noon.
    var muted = MemberSettings()
    muted.mutedUntil = Instant(milliseconds: noon - 600_000)
    settings.setMember("u3", of: "g", muted)
    var builder = FanoutBuilder()
    try builder.add(settings)
    let fanout = Fanout(try builder.finish(), threads: 1, sizes)
    func decide(_ at: Int64) -> FanoutResult {
      fanout.decide(Message(id: "m", conversation: "g", at: Instant(milliseconds: at)))
    }
    #expect(decide(noon).recipientCount == 10)
    let earlier = decide(noon - 1_200_000)
    #expect(!earlier.stamp.isExact)
    try fanout.update { (update) throws(FanoutError) in
      try update.updateMember("u5", of: "g") {
        $0.since = Instant(milliseconds: noon - 900_000)
      }
    }
    #expect(decide(noon).recipientCount == 10)
    #expect(Self.outcomes(earlier).count == 10)
    #expect(Self.outcomes(decide(noon - 1_200_000)).count == 9)
  }

  /// Ten times as many conversations as fit, asked for in any order.
  @Test(arguments: [1, 4]) func evictionUnderPressure(threads: Int) throws {
    var settings = FanoutSettings()
    for number in 0..<400 {
      var member = MemberSettings()
      if number % 3 == 0 { member.level = .blocked }
      for rank in 0..<10 {
        settings.setMember(
          Identifier("u\((number * 7 + rank) % 500)"), of: Identifier("g\(number)"), member)
      }
    }
    var builder = FanoutBuilder()
    try builder.add(settings)
    let whole = Fanout(try builder.finish(), threads: 1, readFromTablesLimit: 0)
    whole.warmUp((0..<400).map { Identifier("g\($0)") }, at: Instant(milliseconds: 0))
    #expect(whole.cache.entryCount == 400)
    let limit = whole.cache.byteCount / 10
    var another = FanoutBuilder()
    try another.add(settings)
    let fanout = Fanout(
      try another.finish(), threads: threads, cacheBytes: limit, readFromTablesLimit: 0)
    let messages = (0..<4000).map { number in
      Message(
        id: "m", conversation: Identifier("g\(number * 7919 % 400)"),
        at: Instant(milliseconds: Int64(number) * 1000))
    }
    let bytes = Locked(0)
    fanout.decide(messages) { _, result in
      let now = fanout.cache.byteCount
      bytes.withLock { $0 = max($0, now) }
      _ = result.pushCount
    }
    #expect(bytes.withLock { $0 } <= limit)
    #expect(fanout.cache.entryCount > 30 && fanout.cache.entryCount <= 40)
    let expected = whole.decide(messages).map(\.pushCount)
    #expect(fanout.decide(messages).map(\.pushCount) == expected)
  }
}
