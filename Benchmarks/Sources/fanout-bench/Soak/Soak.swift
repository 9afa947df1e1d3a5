import BenchSupport
import Dispatch
import Foundation
import PushFanout
import PushModel
import PushReference
import QuietTime
import Synchronization

/// One engine under the work of a service: threads that decide at different instants, one that
/// changes settings, and a cache that holds a quarter of the rooms' states.
final class Soak: Sendable {
  let rules: RuleSet
  let fanout: Fanout
  let needed: Int
  private let seed: UInt64
  private let model: Mutex<SoakModel>
  private let rooms: [SoakModel.Room]
  private let ids: [Identifier]
  private let zones: SettingsZones
  private let clock: SoakClock
  /// While how many versions a result is held at most. Not for how long: the pages that versions
  /// keep would be more when the machine has nothing else to do.
  private static let longestHold = 300
  let decided = Atomic(0)
  let checked = Atomic(0)
  let changed = Atomic(0)
  private let problems = Mutex<[String]>([])

  init(_ rules: RuleSet, seed: UInt64, clock: SoakClock) throws {
    self.rules = rules
    self.seed = seed
    self.clock = clock
    let now = clock.milliseconds
    let world = SoakModel(rules, seed: seed, now: now)
    let settings = world.settings
    zones = try SettingsZones(settings)
    (rooms, ids) = (world.rooms, world.ids)
    // What all rooms need.
    let unbounded = try Fanout(settings, threads: 2, cacheBytes: .max)
    unbounded.warmUp(world.rooms.map(\.id), at: Instant(milliseconds: now))
    needed = unbounded.memoryReport().states
    fanout = try Fanout(settings, threads: 2, cacheBytes: needed / 4)
    model = Mutex(world)
    // The log of changes reaches its full length, and most memberships have changed.
    for _ in 0..<300 { change(5000) }
  }

  var found: [String] { problems.withLock { $0 } }

  private func report(_ problem: String) {
    problems.withLock { $0.append("\(rules.rawValue), seed \(seed): \(problem)") }
  }

  private var isOver: Bool { clock.isOver || problems.withLock { !$0.isEmpty } }

  /// The bodies of the threads.
  var bodies: [@Sendable () -> Void] {
    [
      { [self] in write() }, { [self] in decideLive(1) }, { [self] in decideLive(2) },
      { [self] in decideBatches(3) },
    ]
  }

  // MARK: Changing

  private func write() {
    var (random, update) = (Seeded(seed &+ 100), 0)
    while !isOver {
      // Large updates come at equal distances: as many pages as ever are then in use soon. At random
      // distances, the most that were in use at once would increase for as long as the soak runs.
      update += 1
      change(update % 200 == 0 ? 1000 : 1 + random.below(8))
      Thread.sleep(forTimeInterval: 0.0005)
    }
  }

  private func change(_ count: Int) {
    let now = clock.milliseconds
    model.withLock { model in
      do throws(FanoutError) {
        try fanout.update { (update) throws(FanoutError) in
          for _ in 0..<count { try model.change(&update, now: now) }
        }
      } catch {
        report("\(error)")
      }
      model.version = fanout.version
    }
    changed.add(count, ordering: .relaxed)
  }

  // MARK: Deciding

  /// A result that somebody keeps, and the settings of its room at its version, if they are known.
  private struct Held {
    let result: FanoutResult
    let message: Message
    let settings: FanoutSettings?
    /// The version with which it is released.
    let end: UInt64
  }

  /// Single messages; each thread has an instant of its own, and some messages are late.
  private func decideLive(_ thread: Int) {
    var (random, held) = (Seeded(seed &+ UInt64(thread)), [Held]())
    var (result, nextCheck) = (FanoutResult(), DispatchTime.now())
    var sum = 0
    while !isOver {
      for _ in 0..<200 {
        let (message, room) = message(&random, thread)
        fanout.decide(message, into: &result)
        sum &+= result.pushCount
        if random.below(20) == 0 { for user in result.pushes { sum &+= Int(user.rawValue) } }
        if random.below(500) == 0 { hold(result, message, room, &nextCheck, &held, &random) }
      }
      decided.add(200, ordering: .relaxed)
      release(&held)
    }
    keep(sum)
  }

  private func decideBatches(_ thread: Int) {
    var (random, held, nextCheck) = (Seeded(seed &+ UInt64(thread)), [Held](), DispatchTime.now())
    while !isOver {
      let chosen = (0..<300).map { _ in message(&random, thread) }
        .sorted { $0.message.at < $1.message.at }
      let messages = chosen.map(\.message)
      if random.below(2) == 0 {
        fanout.decide(messages) { keep($1.pushCount) }
      } else {
        let results: [FanoutResult] = fanout.decide(messages)
        let index = random.below(results.count)
        hold(results[index], messages[index], chosen[index].room, &nextCheck, &held, &random)
      }
      if random.below(100) == 0 {
        let some = (0..<10).map { _ in rooms[random.below(rooms.count)].id }
        fanout.warmUp(some, at: Instant(milliseconds: clock.milliseconds))
      }
      decided.add(messages.count, ordering: .relaxed)
      release(&held)
    }
  }

  private func message(_ random: inout Seeded, _ thread: Int) -> (message: Message, room: Int) {
    // Half of the messages go to rooms as by Zipf's law, half to any.
    let share = Double(random.below(1 << 20)) / Double(1 << 20)
    let isSkewed = random.below(2) == 0
    let room = isSkewed ? Int(pow(Double(rooms.count), share)) - 1 : random.below(rooms.count)
    let shifts = [0, 0, 0, 0, 0, 60_000, -random.below(300_000), -random.below(7_200_000)]
    let shift = shifts[random.below(shifts.count)] - (thread - 1) * 37 * 60_000
    let candidates = rooms[room].candidates
    var message = Message(
      id: "m", conversation: rooms[room].id,
      at: Instant(milliseconds: clock.milliseconds + Int64(shift)),
      sender: ids[candidates[random.below(candidates.count)]])
    if random.below(5) == 0 {
      message.mentions = (0...random.below(3)).map { _ in
        ids[candidates[random.below(candidates.count)]]
      }
    }
    if random.below(20) == 0 { message.mentionsAll = true }
    if random.below(20) == 0 { message.silent = true }
    if rules == .easemob, random.below(20) == 0 { message.force = true }
    if rules == .rongcloud {
      message.pushContent = "text"
      if random.below(2) == 0 { message.channel = SoakModel.channel }
    }
    return (message, room)
  }

  // MARK: Holding and comparing

  /// Holds a result, and at times the settings that it has to agree with, if it is of the latest
  /// version. Only one of each thread with settings, whose memory is not the engine's.
  private func hold(
    _ result: FanoutResult, _ message: Message, _ room: Int, _ nextCheck: inout DispatchTime,
    _ held: inout [Held], _ random: inout Seeded
  ) {
    if held.count >= 100 { return }
    var settings: FanoutSettings?
    if DispatchTime.now() >= nextCheck, held.allSatisfy({ $0.settings == nil }) {
      nextCheck = .now() + 0.1
      settings = model.withLock { $0.version == result.version ? $0.settings(ofRoom: room) : nil }
    }
    let end = result.version + UInt64(random.below(Self.longestHold))
    held.append(Held(result: result, message: message, settings: settings, end: end))
  }

  /// Releases results whose time is over, compared with the reference where settings are held.
  private func release(_ held: inout [Held]) {
    let version = fanout.version
    held.removeAll { one in
      guard one.end <= version else { return false }
      guard let settings = one.settings else { return true }
      if let difference = difference(one.result, one.message, settings) {
        report("version \(one.result.version): \(difference), \(one.message)")
      }
      checked.add(1, ordering: .relaxed)
      return true
    }
  }

  /// Where a result is not what the reference says; nil when they agree.
  private func difference(
    _ result: FanoutResult, _ message: Message, _ settings: FanoutSettings
  ) -> String? {
    var evaluator = ReferenceEvaluator(settings, zoneOffset: zones.offset)
    var expected: [Identifier: Decision] = [:]
    evaluator.decide(message) { expected[settings.id(of: $0)] = $1 }
    let pushes = expected.values.count { $0.outcome.action == .push }
    let numbers = [result.recipientCount, result.pushCount, Array(result.pushes).count]
    if numbers != [expected.count, pushes, pushes] {
      return "recipients and pushes are \(numbers), not \(expected.count) and \(pushes)"
    }
    for rank in 0..<result.memberCount {
      let user = result.member(at: rank)
      let id = result.id(of: user)
      let (outcome, decision) = (result.outcome(of: user), expected[id])
      if outcome != decision?.outcome {
        return "\(id): \(String(describing: outcome)), not \(String(describing: decision?.outcome))"
      }
      if let decision, result.devices(of: user) != decision.devices {
        return "\(id): devices \(result.devices(of: user)), not \(decision.devices)"
      }
    }
    return nil
  }
}

/// The instant of a soak, in milliseconds since the epoch, which goes faster than time.
final class SoakClock: Sendable {
  private let now: Atomic<Int64>
  private let over = Atomic(false)

  init(_ milliseconds: Int64) { now = Atomic(milliseconds) }

  var milliseconds: Int64 { now.load(ordering: .relaxed) }
  var isOver: Bool { over.load(ordering: .relaxed) }
  func add(_ milliseconds: Int64) { now.add(milliseconds, ordering: .relaxed) }
  func end() { over.store(true, ordering: .relaxed) }
}
