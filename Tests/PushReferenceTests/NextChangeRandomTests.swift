import PushReference
import PushModel
import TestSupport
import Testing

/// Goal: for users of all sorts, the answer is constant up to the next change and differs at it;
/// where there is said to be none, it stays constant.
///
/// Method: random users from a seed, near clock changes and near each other's edges; the answer is
/// sampled between. A failure names the seed and the user; `PUSH_SEED=n` replays it.
@Suite struct NextChangeRandomTests {
  static let runs = seeds.flatMap { seed in RuleSet.allCases.map { (seed: seed, rules: $0) } }

  @Test(arguments: runs)
  func constantUpToTheChange(run: (seed: UInt64, rules: RuleSet)) {
    var random = SeededGenerator(seed: run.seed)
    var wrong: [String] = []
    var changes = 0
    for index in 0..<40 {
      let (world, now) = randomWorld(run.rules, &random)
      let next = world.nextChange(after: now) { $0 }
      var evaluator = ReferenceEvaluator(world.settings)
      let answer = { (instant: Instant) in
        evaluator.decide(Message(id: "m", conversation: "c", at: instant), for: "u")
      }
      let before = answer(now)
      let failure = "user \(index) after \(now.milliseconds)"
      if let next {
        changes += 1
        if next <= now || answer(next) == before {
          wrong.append("\(failure): no change at \(next.milliseconds)")
        }
      }
      let early = samples(world, from: now, to: next, &random).first { answer($0) != before }
      if let early {
        let said = next.map { "\($0.milliseconds)" } ?? "never"
        wrong.append("\(failure): changes at or before \(early.milliseconds), not \(said)")
      }
    }
    #expect(wrong == [], "seed \(run.seed), \(run.rules)")
    // A test of users who never change would be no test.
    #expect(changes > 12, "seed \(run.seed), \(run.rules)")
  }

  /// Instants after `now` and before `next`: each second near both, coarser between, and those that
  /// the settings name, a millisecond before and after too.
  private func samples(
    _ world: World, from now: Instant, to next: Instant?, _ random: inout SeededGenerator
  ) -> [Instant] {
    let day: Int64 = 86_400_000
    let start = now.milliseconds / 1000 * 1000
    let end = next?.milliseconds ?? (now.milliseconds + 400 * day)
    var found: [Int64] = [now.milliseconds + 1, end - 1]
    found += (1...90).map { start + $0 * 1000 }
    found += (1...90).map { end - $0 * 1000 }
    // The shortest window has 59 seconds.
    found += stride(from: start, to: min(end, start + day * 26 / 24), by: 59_000)
    found += stride(from: start, to: min(end, start + 3 * day), by: 593_000)
    found += (0..<60).map { _ in Int64.random(in: start...max(start, end), using: &random) }
    var named = [world.user.mutedUntil.milliseconds]
    for record in [world.member, world.parent].compactMap({ $0 }) {
      named += [record.mutedUntil.milliseconds, record.since.milliseconds]
    }
    let grace = world.app.rongcloud.backgroundGraceSeconds * 1000
    for since in world.user.effectiveDevices.compactMap(\.backgroundSince) {
      named += [since.milliseconds, since.milliseconds + grace]
    }
    return (found + named.flatMap { [$0 - 1, $0, $0 + 1] })
      .filter { now.milliseconds < $0 && $0 < end }.map { Instant(milliseconds: $0) }
  }

  // MARK: Random users

  /// A zone and the instant of one of its clock changes, which all lie between 23:00 and 4:00.
  static let places = [
    ("UTC", "2024-06-03T00:00:00Z"), ("Europe/Berlin", "2024-03-31T01:00:00Z"),
    ("Europe/Berlin", "2024-10-27T01:00:00Z"), ("America/New_York", "2024-03-10T07:00:00Z"),
    ("America/New_York", "2024-11-03T06:00:00Z"), ("Australia/Lord_Howe", "2024-10-05T15:30:00Z"),
    ("Australia/Lord_Howe", "2024-04-06T15:00:00Z"), ("Asia/Kathmandu", "2024-06-02T18:15:00Z"),
    ("Pacific/Apia", "2011-12-30T10:00:00Z"), ("Africa/Casablanca", "2024-03-10T02:00:00Z"),
    ("Africa/Casablanca", "2024-04-14T02:00:00Z"), ("America/Sao_Paulo", "2018-11-04T03:00:00Z"),
  ]

  private func randomWorld(
    _ rules: RuleSet, _ random: inout SeededGenerator
  ) -> (World, now: Instant) {
    let (zone, change) = Self.places.randomElement(using: &random)!
    let center = at(change)
    var world = World(app: AppSettings(rules: rules))
    world.app.easemob.intervalEnd = random.oneIn(3) ? .inclusiveMinute : .exclusive
    world.app.easemob.zeroZeroMeans = random.oneIn(2) ? .allDay : .off
    world.app.easemob.threadScope = EasemobOptions.ThreadScope.allCases.randomElement(
      using: &random)!
    world.app.rongcloud.boundary = RongCloudOptions.Boundary.allCases.randomElement(using: &random)!
    world.app.rongcloud.span1439 = random.oneIn(2) ? .allDay : .literal
    world.app.rongcloud.quietZero = random.oneIn(3) ? .all : .fallThrough
    world.app.rongcloud.backgroundGraceSeconds = [0, 1, 120, 3600].randomElement(using: &random)!
    if random.oneIn(2) { world.app.timeZone = zone } else { world.user.timeZone = zone }
    if !random.oneIn(5) { world.user.quietHours = randomWindow(rules, &random) }

    let levels: [NotificationLevel] = [.unset, .unset, .all, .mention, .blocked]
    world.user.level = levels.randomElement(using: &random)!
    world.user.mutedUntil = randomInstant(center, &random)
    world.member = randomMember(levels, center, &random)
    if rules == .easemob, random.oneIn(4) {
      world.conversation = ConversationSettings(kind: .thread, parent: "p")
      world.parent = randomMember(levels, center, &random)
    }
    if random.oneIn(3) {
      world.user.devices = (0..<Int.random(in: 1...3, using: &random)).map { index in
        Device(
          id: Identifier("d\(index)"), kind: random.oneIn(3) ? .desktop : .mobile,
          state: random.oneIn(3) ? .offline : .background,
          backgroundSince: random.oneIn(6) ? nil : randomInstant(center, &random))
      }
    }
    return (world, randomInstant(center, &random))
  }

  private func randomMember(
    _ levels: [NotificationLevel], _ center: Instant, _ random: inout SeededGenerator
  ) -> MemberSettings {
    MemberSettings(
      level: levels.randomElement(using: &random)!,
      mutedUntil: random.oneIn(2) ? randomInstant(center, &random) : .zero,
      since: random.oneIn(4) ? randomInstant(center, &random) : .zero)
  }

  /// Within eight hours: a full quarter, a full second, or any millisecond.
  private func randomInstant(_ center: Instant, _ random: inout SeededGenerator) -> Instant {
    let step = [900_000, 1000, 1].randomElement(using: &random)! as Int64
    let nudge = Int64.random(in: -1...1, using: &random)
    let count = 28_800_000 / step
    return center.plus(Int64.random(in: -count...count, using: &random) * step + nudge)
  }

  private func randomWindow(
    _ rules: RuleSet, _ random: inout SeededGenerator
  ) -> QuietHours {
    let hours = [22, 23, 0, 1, 2, 3, 4]
    let minutes = [0, 0, 15, 30, 45, 59]
    let startHour = hours.randomElement(using: &random)!
    let startMinute = minutes.randomElement(using: &random)!
    switch rules {
    case .easemob:
      return .interval(
        try! QuietInterval(
          startHour: startHour, startMinute: startMinute,
          endHour: hours.randomElement(using: &random)!,
          endMinute: minutes.randomElement(using: &random)!))
    case .rongcloud, .open:
      let spans = [1, 15, 30, 60, 90, 540, 1438, 1439]
      let levels: [NotificationLevel] = [.blocked, .mention, .unset]
      return .span(
        try! QuietSpan(
          hour: startHour, minute: startMinute, second: [0, 30, 59].randomElement(using: &random)!,
          spanMinutes: spans.randomElement(using: &random)!,
          level: levels.randomElement(using: &random)!))
    }
  }
}
