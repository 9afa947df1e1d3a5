import PushModel
import PushReference
import TestSupport
import Testing

@testable import PushFanout

/// Goal: who is online beside the settings of a timeline decides each message as a desktop among the
/// devices of the settings does, with listed devices and without, while settings change, messages
/// come early and late, and whatever is kept of conversations.
@Suite struct OnlineUsersTests {
  private static func desktop(isOnline: Bool) -> Device {
    Device(
      id: "a desktop", kind: .desktop, state: isOnline ? .foreground : .loggedOut, hasToken: false)
  }

  private static func outcomes(_ settings: FanoutSettings, _ message: Message) -> [String] {
    var evaluator = ReferenceEvaluator(settings)
    var found: [String] = []
    evaluator.decide(message) { found.append("\(settings.id(of: $0)) \($1.outcome.key)") }
    return found
  }

  private static func outcomes(_ result: FanoutResult) -> [String] {
    var found: [String] = []
    result.forEachRecipient { found.append("\(result.id(of: $0)) \($1.key)") }
    return found
  }

  /// Counts and single members, which are read without the states of all members.
  private static func summary(_ result: FanoutResult) -> [Int] {
    var counts = (0..<Outcome.codeCount).map { result.counts[code: UInt8($0)] }
    for rank in 0..<result.memberCount { counts[Int(result.code(of: rank))] -= 1 }
    return Array(counts[1...])
  }

  /// Conversations whose keys are read from the tables, are counted for each message, and have
  /// tallies.
  @Test(arguments: RuleSet.allCases, [20, 180, 600])
  func asADesktopOfTheSettings(rules: RuleSet, userCount: Int) throws {
    var onlineCount = 0
    for seed in TestSupport.seeds(userCount < 600 ? [1, 2, 3] : [4]) {
      onlineCount += try run(rules, seed, userCount)
    }
    #expect(onlineCount > 100)
  }

  private func run(_ rules: RuleSet, _ seed: UInt64, _ userCount: Int) throws -> Int {
    var world = RandomWorld(
      rules, seed: seed, userCount: userCount, messageCount: 40,
      style: RandomWorld.Style(density: userCount > 100 ? 100 : 70, isVaried: true))
    var random = SeededGenerator(seed: seed ^ 0x0411)
    var model = ModelWorld(world)
    let fanout = try Fanout(model.settings, threads: 1)
    // Without the index nothing is kept when presence changes.
    if seed != 3 { fanout.indexMemberships(above: random.pick([0, 100, 1000])) }
    let timeline = FanoutTimeline(fanout.currentVersion)
    timeline.keepsLargeConversations = seed == 2
    var online: [Identifier: Bool] = [:]
    var now = RandomWorld.noon
    var onlineCount = 0
    for step in 0..<30 {
      for _ in 0..<random.pick([0, 0, 1, 2]) {
        let change = world.change(of: model, changesApp: step % 10 == 9)
        change.apply(to: &model)
        try fanout.update { (update) throws(FanoutError) in try change.apply(to: &update) }
      }
      timeline.follow(fanout.currentVersion)
      var changes: [UserPresenceChange] = []
      for _ in 0..<random.pick([0, 1, 3, 40]) {
        let (id, isOnline) = (random.pick(world.users), random.chance(60))
        guard let user = fanout.index(of: id) else { continue }
        online[id] = isOnline
        changes.append(UserPresenceChange(user: user, isOnline: isOnline))
      }
      let first = random.pick([0, changes.count / 2, changes.count])
      timeline.apply(changes, 0..<first)
      timeline.apply(changes, first..<changes.count)
      var settings = model.settings
      for (id, isOnline) in online {
        settings.updateUser(id) {
          $0.devices = ($0.devices ?? [.default]) + [Self.desktop(isOnline: isOnline)]
        }
      }
      now += random.pick([1000, 60_000, 900_000, 3_600_000])
      for _ in 0..<4 {
        var message = random.pick(world.messages)
        let shift = random.chance(30) ? random.pick([-400_000, -3600, -1, 600, 90_000]) : 0
        message.at = Instant(milliseconds: now + Int64(shift) * 1000)
        if random.chance(70) { message.sentAt = nil }
        _ = timeline.counts(message)
        let label: Comment = "seed \(seed), \(rules.rawValue), step \(step), \(message)"
        let found = Self.outcomes(timeline.result)
        #expect(found == Self.outcomes(settings, message), label)
        #expect(Self.summary(timeline.result).allSatisfy { $0 == 0 }, label)
        onlineCount += found.count { $0.hasSuffix("online") }
      }
    }
    return onlineCount
  }
}
