import PushReference
import PushModel
import TestSupport
import Testing

@testable import PushFanout

/// Goal: after any sequence of updates the engine answers as the reference does with the same
/// settings; an update that fails changes nothing; a result goes on answering for its own version.
///
/// `PUSH_SEED=n swift test --filter UpdateTests` runs one more seed; each failure names its
/// own.
@Suite struct UpdateTests {
  /// A result, and what it must answer as long as it is held.
  struct Held {
    let result: FanoutResult
    let expected: [Row]
    let label: String
  }

  struct Stop: Error {}

  /// Users whose number of devices changes leave no records behind.
  @Test func devicesAreReused() throws {
    var random = SeededGenerator(seed: 11)
    var settings = FanoutSettings(app: AppSettings(rules: .rongcloud))
    for user in 0..<40 { settings.setUser(Identifier("u\(user)"), UserSettings()) }
    let fanout = try Fanout(settings)
    var expected = [[Device]?](repeating: nil, count: 40)
    var sizes: [Int] = []
    for step in 0..<4000 {
      let user = Int.random(in: 0..<40, using: &random)
      let count = Int.random(in: -1...6, using: &random)
      let devices =
        count < 0
        ? nil
        : (0..<count).map {
          Device(
            id: Identifier("d\($0)"), kind: .mobile, state: .background, hasToken: true,
            notifier: nil, backgroundSince: Instant(milliseconds: Int64(step)))
        }
      expected[user] = devices
      if random.oneIn(20) {
        // What a failed update freed is not free.
        #expect(throws: Stop.self) {
          try fanout.update { update in
            try update.updateUser(Identifier("u\((user + 1) % 40)")) { $0.devices = nil }
            throw Stop()
          }
        }
      }
      try fanout.update { update throws(FanoutError) in
        try update.updateUser(Identifier("u\(user)")) { $0.devices = devices }
      }
      sizes.append(fanout.memoryReport().userExtras)
      if step % 500 == 0 {
        let found = (0..<40).map { fanout.user(Identifier("u\($0)"))?.devices }
        #expect(found == expected, "step \(step)")
      }
    }
    // Some more runs of a number are needed at times; without reuse it would grow by 200 kB.
    let growth = (sizes[1000...].max() ?? 0) - sizes[1000]
    #expect(growth < 8192, "it grows from \(sizes[1000]) to \(sizes[3999])")
  }

  /// What happens in one run.
  struct Course {
    /// Every user in every conversation, so that conversations are large enough to be kept.
    var userCount = 90
    var density = 100
    var changesApp = false
    var advances = false
    var steps = 50
  }

  @Test(.tags(.slow), .unlessFast, arguments: RuleSet.allCases)
  func randomUpdatesOfLargeRooms(rules: RuleSet) throws {
    for seed in TestSupport.seeds(rules == .easemob ? [1, 2, 3, 4] : [1, 2]) {
      try run(rules, seed, Course(advances: seed % 2 == 0))
    }
  }

  @Test(arguments: RuleSet.allCases)
  func randomUpdatesOfSmallWorldsAndOfTheApp(rules: RuleSet) throws {
    for seed in TestSupport.seeds(rules == .easemob ? [11, 12, 13] : [11]) {
      try run(
        rules, seed,
        Course(
          userCount: 20, density: 70, changesApp: true, advances: seed % 2 == 0,
          steps: rules == .easemob ? 60 : 30))
    }
  }

  private func run(_ rules: RuleSet, _ seed: UInt64, _ course: Course) throws {
    var world = RandomWorld(
      rules, seed: seed, userCount: course.userCount, messageCount: 30,
      style: RandomWorld.Style(density: course.density, isVaried: true))
    var random = SeededGenerator(seed: seed ^ 0xABCD)
    var model = ModelWorld(world)
    let fanout = try Fanout(model.settings, threads: 1)
    var evaluator = ReferenceEvaluator(model.settings)
    var now = RandomWorld.noon
    var version: UInt64 = 1
    var held: [Held] = []
    var result = FanoutResult()
    for step in 0..<course.steps {
      let label = "seed \(seed), \(rules.rawValue), step \(step)"
      var changes: [RandomChange] = []
      var next = model
      for _ in 0..<random.pick([0, 1, 1, 2, 5]) {
        let change = world.change(of: next, changesApp: course.changesApp)
        change.apply(to: &next)
        changes.append(change)
      }
      if random.chance(25) {
        failedUpdate(fanout, changes, label)
      } else {
        let compacts = random.chance(20)
        try fanout.update { (update) throws(FanoutError) in
          for change in changes { try change.apply(to: &update) }
          if compacts { update.writer.compact() }
        }
        model = next
        version += 1
        if !changes.isEmpty { evaluator = ReferenceEvaluator(model.settings) }
      }
      #expect(fanout.version == version, "\(label)")
      if random.chance(20) { #expect(model.disagreement(with: fanout) == nil, "\(label)") }
      now = Self.moved(now, &random)
      if course.advances, random.chance(50) {
        fanout.advance(to: Instant(milliseconds: now))
        #expect(fanout.version == version, "\(label): time is no update")
      }
      for _ in 0..<3 {
        var message = random.pick(world.messages)
        message.at = Instant(milliseconds: now + random.pick([0, 0, 1, 1000]))
        let expected = evaluator.rows(message)
        fanout.decide(message, into: &result)
        let difference = result.disagreement(ofAll: expected, in: &random)
        #expect(difference == nil, "\(label), \(changes), \(message)")
        if difference != nil { return }
        #expect(result.version == version, "\(label)")
        if random.chance(30) {
          held.append(Held(result: result, expected: expected, label: label))
        }
      }
      check(&held, &random, label)
    }
    for held in held.shuffled(using: &random) {
      #expect(held.result.disagreement(with: held.expected) == nil, "\(held.label), at the end")
    }
  }

  /// Mostly on by seconds or minutes, now and then to where windows turn, a day on, or back.
  private static func moved(_ now: Int64, _ random: inout SeededGenerator) -> Int64 {
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<5: now
    case 5..<10: now + Int64.random(in: 1...2000, using: &random)
    case 10..<14: now + Int64.random(in: 1...30, using: &random) * 60_000
    case 14..<17: (now / 900_000 + 1) * 900_000 - random.pick([0, 1])
    case 17: now + 86_400_000
    default: now - Int64.random(in: 1...7_200_000, using: &random)
    }
  }

  /// One of the held results must answer as it did, and some are let go.
  private func check(_ held: inout [Held], _ random: inout SeededGenerator, _ label: String) {
    guard let one = held.randomElement(using: &random) else { return }
    let difference = one.result.disagreement(with: one.expected)
    #expect(difference == nil, "\(one.label), asked again at \(label)")
    while held.count > 8 || !held.isEmpty && random.chance(20) {
      held.remove(at: Int.random(in: 0..<held.count, using: &random))
    }
  }

  /// Changes, and then an error: nothing of it is there afterwards.
  private func failedUpdate(_ fanout: Fanout, _ changes: [RandomChange], _ label: String) {
    let before = (fanout.userCount, fanout.app, fanout.version)
    #expect(throws: Stop.self, "\(label)") {
      try fanout.update { update in
        for change in changes { try? change.apply(to: &update) }
        try update.setUser("STRAY", UserSettings())
        try update.setMember("stray2", of: "nowhere", MemberSettings(level: .blocked))
        var user = UserSettings()
        user.devices = [Device(id: "stray device")]
        try update.setUser("stray3", user)
        if changes.count % 2 == 0 { update.writer.compact() }
        throw Stop()
      }
    }
    #expect((fanout.userCount, fanout.app, fanout.version) == before, "\(label)")
    #expect(fanout.user("STRAY") == nil, "\(label)")
    #expect(fanout.user("stray2") == nil, "\(label)")
    #expect(fanout.conversation("nowhere") == nil, "\(label)")
    #expect(fanout.member("stray2", of: "nowhere") == nil, "\(label)")
  }
}

extension FanoutResult {
  /// Where this is not what is expected: always asked for the recipients, now and then in every
  /// way.
  func disagreement(ofAll expected: [Row], in random: inout SeededGenerator) -> String? {
    random.chance(30) ? disagreement(with: expected) : firstDifference(rows, expected)
  }
}
