import Foundation
import PushFanout
import PushReference
import PushReplay
import PushModel
import QuietTime
import TestSupport
import Testing

/// Goal: engine, timeline, next change, hold and replay agree with the reference where people have
/// several quiet windows on some weekdays, around a clock change in Europe.
///
/// A plain run takes 40 worlds, `PUSH_FULL=1` 400, `PUSH_SEED=n` one more; each
/// failure names its own.
@Suite struct QuietWindowsTests {
  @Test(.tags(.slow), .unlessFast) func worldsOfSeveralWindows() throws {
    let isFull = ProcessInfo.processInfo.environment["PUSH_FULL"] == "1"
    var tally = Tally()
    for seed in TestSupport.seeds(Array(1...(isFull ? 400 : 40))) {
      let world = Self.world(seed)
      let difference = try Self.difference(world, &tally)
      #expect(difference == nil, "seed \(seed)")
    }
    // What never happens would not be tested.
    #expect(tally.quiet > 75 && tally.pushes > 75 && tally.held > 25, "\(tally)")
    #expect(tally.changes > 20 && tally.never > 2, "\(tally)")
  }

  struct Tally {
    var quiet = 0
    var pushes = 0
    var held = 0
    var changes = 0
    var never = 0
  }

  static func world(_ seed: UInt64) -> RandomWorld {
    var world = RandomWorld(
      .open, seed: seed, userCount: 14, messageCount: 10,
      style: RandomWorld.Style(density: 80, isVaried: seed % 2 == 0))
    var random = SeededGenerator(seed: seed ^ 0x3E11)
    world.app.open.expireSeconds = random.pick([86_400, 1_209_600])
    world.steps = world.steps.map { step in
      guard case .user(let id, var user) = step, random.chance(80) else { return step }
      user.quietHours = .windows(windows(&random))
      return .user(id, user)
    }
    // The week before the clock change, and the one behind it.
    world.messages = world.messages.map { message in
      var message = message
      let quarter = Int64.random(in: -5 * 96...5 * 96, using: &random)
      message.at = Instant(
        milliseconds: RandomWorld.noon + quarter * 900_000 + random.pick([0, -1, 1, 30_000]))
      message.sentAt = nil
      return message
    }.sorted { $0.at < $1.at }
    return world
  }

  private static func windows(_ random: inout SeededGenerator) -> QuietWindows {
    let windows = (0..<Int.random(in: 1...4, using: &random)).compactMap { _ in
      let start = Int.random(in: 0..<96, using: &random)
      let end = start + random.pick([1, 8, 32, 48, 96])
      return try? QuietWindows.Window(
        days: random.pick([127, 31, 96, .random(in: 1...127, using: &random)]),
        start: "\(start / 4):\(start % 4 * 15)", end: "\(end / 4 % 24):\(end % 4 * 15)",
        allow: random.pick([[], .mentionsMe, [.plain, .keyword]]))
    }
    return (try? QuietWindows(windows)) ?? .none
  }

  /// Where something differs from the reference; nil when nothing does.
  private static func difference(
    _ world: RandomWorld, _ tally: inout Tally
  ) throws -> String? {
    let settings = world.settings()
    let fanout = try Fanout(settings, threads: 1)
    let timeline = FanoutTimeline(fanout.currentVersion)
    var options = ReplayOptions()
    options.holds = true
    let replayer = try Replayer(try Fanout(settings, threads: 2), options)
    var (evaluator, hold) = (ReferenceEvaluator(settings), HoldReference(settings))
    var (counts, held) = (
      [Int](repeating: 0, count: Outcome.codeCount), [Int](repeating: 0, count: Outcome.codeCount)
    )
    for (number, message) in world.messages.enumerated() {
      if number % 2 == 0 { fanout.advance(to: message.at) }
      let rows = evaluator.rows(message)
      if let found = fanout.decide(message).disagreement(with: rows) { return "engine: \(found)" }
      tally.quiet += rows.count { $0.outcome?.reason == .quietHours }
      let expected = hold.answer(message)
      if let found = difference(timeline, expected, message) { return found }
      tally.held += expected.held.reduce(0, +)
      tally.pushes += rows.count { $0.outcome?.action == .push }
      if let found = difference(fanout, &evaluator, world, message, number, &tally) { return found }
      guard settings.conversation(message.conversation) != nil else { continue }
      try replayer.add(.message(message))
      for code in counts.indices {
        counts[code] += expected.counts[code]
        held[code] += expected.held[code]
      }
    }
    let result = replayer.finish()
    let sums = [
      result.decisions, result.pushes, result.hold?.held ?? -1, result.hold?.never ?? -1,
    ]
    let wanted = [
      counts.reduce(0, +),
      Outcome.coded.filter { $0.outcome.action == .push }.reduce(0) { $0 + counts[Int($1.code)] },
      held.reduce(0, +),
      Outcome.coded.filter { $0.outcome.action == .suppress }.reduce(0) {
        $0 + counts[Int($1.code)]
      }
        - held.reduce(0, +),
    ]
    return firstDifference(sums, wanted).map { "replay: \($0)" }
  }

  private static func difference(
    _ timeline: FanoutTimeline, _ expected: HoldReference.Answer, _ message: Message
  ) -> String? {
    var held = FanoutCounts()
    var releases: [Int64: Int] = [:]
    let counts = timeline.counts(message, held: &held) { releases[$0, default: 0] += $1 }
    let found = [counts, held].map { counts in
      (0..<Outcome.codeCount).map { counts[code: UInt8($0)] }
    }
    if let place = firstDifference(found[0], expected.counts) { return "timeline: \(place)" }
    if let place = firstDifference(found[1], expected.held) { return "held: \(place)" }
    let wanted = expected.releases.sorted { $0.key < $1.key }.map { [$0.key, Int64($0.value)] }
    let instants = releases.filter { $0.value != 0 }.sorted { $0.key < $1.key }
      .map { [$0.key, Int64($0.value)] }
    return firstDifference(instants, wanted).map { "releases: \($0)" }
  }

  /// Compares the next change with the answers of the reference, quarter by quarter.
  private static func difference(
    _ fanout: Fanout, _ evaluator: inout ReferenceEvaluator, _ world: RandomWorld,
    _ message: Message, _ number: Int, _ tally: inout Tally
  ) -> String? {
    let user = world.users[(number * 5) % world.users.count]
    func answer(_ milliseconds: Int64) -> Outcome? {
      evaluator.openDecision(
        ofClasses: nil, for: user, in: message.conversation,
        at: Instant(milliseconds: milliseconds))
    }
    let at = message.at.milliseconds
    guard number % 3 == 0, let before = answer(at) else { return nil }
    let found: Instant?
    do throws(FanoutError) {
      found = try fanout.nextChange(
        for: user, in: message.conversation, channel: message.channel, after: message.at)
    } catch {
      return "next change: \(error)"
    }
    let last = found?.milliseconds ?? message.at.milliseconds + 15 * 86_400_000
    let first = (message.at.milliseconds / 900_000 + 1) * 900_000
    let limit = min(last, message.at.milliseconds + 15 * 86_400_000)
    if let early = stride(from: first, to: limit, by: 900_000).first(where: { answer($0) != before }
    ) {
      return "next change of \(user) after \(message.at): \(last), but it is by \(early)"
    }
    if let found {
      tally.changes += 1
      if answer(found.milliseconds) == before || answer(found.milliseconds - 1) != before {
        return "next change of \(user) after \(message.at): nothing changes at \(found)"
      }
    } else {
      tally.never += 1
    }
    return nil
  }
}
