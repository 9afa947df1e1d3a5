import PushFanout
import PushReference
import PushModel
import QuietTime
import TestSupport
import Testing

/// Goal: a timeline counts what the reference decides, message by message, while time goes on, jumps
/// and goes back and settings change in between; and a held decision is released when the reference,
/// asked again at every instant at which anything turns, first pushes.
///
/// `PUSH_SEED=n swift test --filter TimelineTests` runs one more seed; each failure names its own.
@Suite struct TimelineTests {
  /// What happens in one run.
  struct Course {
    var userCount = 90
    var density = 100
    var changesApp = false
    var steps = 35
  }

  @Test(arguments: RuleSet.allCases)
  func largeRooms(rules: RuleSet) throws {
    try run(rules, [1, 2], Course())
  }

  @Test(arguments: RuleSet.allCases)
  func roomsWithAnIndexOfSchedules(rules: RuleSet) throws {
    try run(rules, [5], Course(userCount: 320, steps: 15))
  }

  @Test(arguments: RuleSet.allCases)
  func smallWorldsWhoseAppChanges(rules: RuleSet) throws {
    try run(rules, [11, 12, 13, 14], Course(userCount: 20, density: 70, changesApp: true))
  }

  /// Members whose windows were changed turn at the new ones, quarter by quarter, without the
  /// conversation being worked out anew.
  @Test func changedWindowsTurn() throws {
    var random = SeededGenerator(seed: 21)
    var settings = FanoutSettings()
    let user = { (random: inout SeededGenerator) throws -> UserSettings in
      var user = UserSettings()
      user.quietHours = .interval(
        try QuietInterval(
          startHour: random.pick(Array(0..<24)), startMinute: random.pick([0, 15, 30, 45]),
          endHour: random.pick(Array(0..<24)), endMinute: 0))
      user.timeZone = random.pick(RandomWorld.zones)
      return user
    }
    for number in 0..<400 {
      settings.setUser(Identifier("u\(number)"), try user(&random))
      settings.setMember(Identifier("u\(number)"), of: "g")
    }
    let fanout = try Fanout(settings, threads: 1)
    let timeline = FanoutTimeline(fanout.currentVersion)
    var wrong: [String] = []
    for quarter in 0..<96 {
      for _ in 0..<3 {
        let id = Identifier("u\(random.pick(Array(0..<400)))")
        let changed = try user(&random)
        settings.setUser(id, changed)
        try fanout.update { (update) throws(FanoutError) in try update.setUser(id, changed) }
      }
      timeline.follow(fanout.currentVersion)
      let at = Instant(milliseconds: RandomWorld.noon + Int64(quarter) * 900_000)
      let message = Message(id: "m", conversation: "g", at: at)
      var reference = HoldReference(settings)
      let counts = timeline.counts(message)
      let found = (0..<Outcome.codeCount).map { counts[code: UInt8($0)] }
      if let place = firstDifference(found, reference.decide(message).counts) {
        wrong.append("quarter \(quarter): \(place)")
      }
    }
    #expect(wrong == [])
  }

  /// Windows in every zone there is, through clock changes, with steps of hours and days: as the
  /// engine answers, which looks at each date by itself.
  @Test func yearsOfClockChanges() throws {
    var random = SeededGenerator(seed: 22)
    var settings = FanoutSettings()
    for (number, zone) in try ZoneDatabase.system.get().names.sorted().enumerated() {
      var user = UserSettings()
      user.timeZone = zone
      user.quietHours = .interval(
        try QuietInterval(
          startHour: number % 24, startMinute: 30, endHour: (number % 24 + number % 13) % 24,
          endMinute: 0))
      settings.setUser(Identifier("u\(number)"), user)
      settings.setMember(Identifier("u\(number)"), of: "g")
    }
    let fanout = try Fanout(settings, threads: 1)
    let timeline = FanoutTimeline(fanout.currentVersion)
    var at = RandomWorld.noon
    var wrong: [String] = []
    for _ in 0..<600 {
      at += Int64(random.pick([1, 1, 2, 7, 24, 24, 90])) * random.pick([900_000, 3_600_000])
      let message = Message(id: "m", conversation: "g", at: Instant(milliseconds: at))
      if timeline.counts(message) != fanout.decide(message).counts { wrong.append("\(at)") }
    }
    #expect(wrong == [])
    #expect(at > RandomWorld.noon + 200 * 86_400_000)
  }

  private func run(_ rules: RuleSet, _ seeds: [UInt64], _ course: Course) throws {
    var tally = Tally()
    for seed in TestSupport.seeds(seeds) { try run(rules, seed, course, &tally) }
    // A test in which nothing is held would be no test.
    #expect(tally.decisions > 1000 && tally.pushes > 100, "\(tally)")
    #expect(tally.held > 25 && tally.never > 50, "\(tally)")
  }

  private func run(
    _ rules: RuleSet, _ seed: UInt64, _ course: Course, _ tally: inout Tally
  ) throws {
    var world = RandomWorld(
      rules, seed: seed, userCount: course.userCount, messageCount: 40,
      style: RandomWorld.Style(density: course.density, isVaried: true))
    var random = SeededGenerator(seed: seed ^ 0x7153)
    world.app.easemob.expireSeconds = random.pick([3600, 86_400, 86_400, 604_800, .max / 10_000])
    world.app.open.expireSeconds = world.app.easemob.expireSeconds
    if !course.changesApp { world.app.advancedPush = true }
    var model = ModelWorld(world)
    let fanout = try Fanout(model.settings, threads: 1)
    let timeline = FanoutTimeline(fanout.currentVersion)
    var now = RandomWorld.noon - 30 * 3_600_000
    for step in 0..<course.steps {
      let label = "seed \(seed), \(rules.rawValue), step \(step)"
      for _ in 0..<random.pick([0, 0, 1, 2]) {
        let change = world.change(of: model, changesApp: course.changesApp)
        change.apply(to: &model)
        try fanout.update { (update) throws(FanoutError) in try change.apply(to: &update) }
      }
      timeline.follow(fanout.currentVersion)
      var reference = HoldReference(model.settings)
      for _ in 0..<3 {
        now = Self.moved(now, &random)
        var message = random.pick(world.messages)
        message.at = Instant(milliseconds: now)
        if random.chance(70) { message.sentAt = nil }
        let difference = Self.difference(timeline, &reference, message, &tally)
        #expect(difference == nil, "\(label), at \(now), \(message)")
        if difference != nil { return }
      }
    }
  }

  /// Mostly on by seconds or a part of a day, now and then days on, or back.
  private static func moved(_ now: Int64, _ random: inout SeededGenerator) -> Int64 {
    switch Int.random(in: 0..<24, using: &random) {
    case 0..<4: now
    case 4..<9: now + Int64.random(in: 1...2000, using: &random)
    case 9..<15: now + Int64.random(in: 1...90, using: &random) * 60_000
    case 15..<20: (now / 900_000 + 1) * 900_000 - random.pick([0, 1])
    case 20: (now / 86_400_000 + 1) * 86_400_000
    case 21: now + Int64.random(in: 1...40, using: &random) * 3_600_000
    case 22: now + 3 * 86_400_000
    default: max(0, now - Int64.random(in: 1...7_200_000, using: &random))
    }
  }

  struct Tally {
    var decisions = 0
    var pushes = 0
    var held = 0
    var never = 0
  }

  /// Where a timeline says something else of a message than the reference; nil when it does not.
  private static func difference(
    _ timeline: FanoutTimeline, _ reference: inout HoldReference, _ message: Message,
    _ tally: inout Tally
  ) -> String? {
    let plain = timeline.counts(message)
    var localHours = [[Int]](repeating: [Int](repeating: 0, count: 24), count: 2)
    timeline.addPushes(byLocalHour: &localHours[0])
    var held = FanoutCounts()
    var found: [Int64: Int] = [:]
    let counts = timeline.counts(message, held: &held) { found[$0, default: 0] += $1 }
    timeline.addPushes(byLocalHour: &localHours[1])
    let expected = reference.answer(message)
    let hours = reference.localHours(expected, at: message.at)
    if let place = firstDifference(localHours[0], hours) { return "local hours " + place }
    if let place = firstDifference(localHours[1], hours) { return "local hours, holding, " + place }
    tally.decisions += expected.counts.reduce(0, +)
    tally.pushes += counts.pushCount
    tally.held += expected.held.reduce(0, +)
    tally.never += expected.never
    let tables = [plain, counts, held].map { counts in
      (0..<Outcome.codeCount).map { counts[code: UInt8($0)] }
    }
    if let place = firstDifference(tables[0], expected.counts) { return "counts " + place }
    if let place = firstDifference(tables[1], expected.counts) {
      return "counts, holding, " + place
    }
    if let place = firstDifference(tables[2], expected.held) { return "held " + place }
    let releases = found.filter { $0.value != 0 }.sorted { $0.key < $1.key }.map {
      [$0.0, Int64($0.1)]
    }
    let wanted = expected.releases.sorted { $0.key < $1.key }.map { [$0.0, Int64($0.1)] }
    return firstDifference(releases, wanted).map { "releases " + $0 }
  }
}
