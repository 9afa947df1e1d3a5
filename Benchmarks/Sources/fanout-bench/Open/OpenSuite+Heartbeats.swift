import BenchSupport
import Foundation
import PushFanout
import PushModel
import Synchronization

extension OpenSuite {
  /// Heartbeats of a million users in ninety seconds, beside decisions.
  ///
  /// Users: services whose devices say every minute or so that they are connected.
  func heartbeats() -> [Line] {
    let world = HeartbeatWorld(userCount: users)
    var lines: [Line] = []
    // The first ones connect everybody.
    lines.append(
      Line(
        name: "a heartbeat that connects a user", value: world.price(of: users, every: 90),
        unit: "µs", most: 10))
    lines.append(
      Line(
        name: "a heartbeat of a connected user", value: world.price(of: users / 2, every: 90),
        unit: "µs", most: 5))
    world.check()
    lines += beside(world)
    lines += large(world)
    world.check()
    return lines
  }

  /// Decisions of one thread, alone and beside 11,000 heartbeats a second.
  private func beside(_ world: HeartbeatWorld) -> [Line] {
    var (alone, beside, rates) = (Samples(), Samples(), Samples())
    // The first one fills what is kept of conversations.
    _ = world.decisionRate(heartbeatsPerSecond: 0)
    for _ in 0..<3 {
      alone.add(1 / world.decisionRate(heartbeatsPerSecond: 0).messages)
      let both = world.decisionRate(heartbeatsPerSecond: HeartbeatWorld.rate)
      beside.add(1 / both.messages)
      rates.add(both.heartbeats)
    }
    return [
      Line(name: "messages alone", value: 1 / alone.median, unit: "a second"),
      Line(
        name: "messages beside \(HeartbeatWorld.rate) heartbeats a second",
        value: 1 / beside.median,
        unit: "a second"),
      Line(name: "heartbeats beside them", value: rates.median, unit: "a second", least: 10_500),
      Line(
        name: "a message beside heartbeats", value: beside.median / alone.median,
        unit: "× one alone", most: 2),
    ]
  }

  /// A message to the largest conversation, a second after the last.
  private func large(_ world: HeartbeatWorld) -> [Line] {
    var (without, with) = (Samples(), Samples())
    for round in 0..<12 {
      let before = world.secondsOfLargest(heartbeats: 0)
      let after = world.secondsOfLargest(heartbeats: HeartbeatWorld.rate)
      if round < 2 { continue }
      without.add(before)
      with.add(after)
    }
    let members = "a message to \(world.largestSize) members"
    return [
      Line(name: "\(members), a second later", value: without.median * 1e6, unit: "µs"),
      Line(
        name: "the same after \(HeartbeatWorld.rate) heartbeats", value: with.median * 1e6,
        unit: "µs"),
    ]
  }
}

/// Users in ten conversations each, one of them large, all of whom say that they are connected.
final class HeartbeatWorld: Sendable {
  /// A million users in ninety seconds.
  static let rate = 11_000
  private static let batch = 1000
  private static let roomSize = 500
  /// Those that messages go to.
  private static let busyRooms = 2000

  private let userCount: Int
  private let fanout: Fanout
  /// The next user who says so.
  private let next = Atomic<Int>(0)
  /// In milliseconds.
  private let now = Atomic<Int64>(BenchWorld.start)
  let largestSize: Int

  init(userCount: Int) {
    self.userCount = userCount
    largestSize = min(100_000, userCount)
    var random = Seeded(7)
    var builder = FanoutBuilder()
    do {
      try builder.setApp(AppSettings(rules: .open))
      for user in 0..<userCount {
        var settings = UserSettings()
        settings.level = user % 3 == 0 ? NotificationLevel(.mentions) : .unset
        settings.devices = [Device(id: "phone"), Device(id: "laptop", kind: .desktop)]
        try builder.setUser(BenchWorld.userID(user), settings)
      }
      let rooms = max(1, userCount * 9 / Self.roomSize)
      for room in 0..<rooms {
        for _ in 0..<Self.roomSize {
          try builder.setMember(
            BenchWorld.userID(random.below(userCount)), of: Self.room(room), MemberSettings())
        }
      }
      for user in 0..<largestSize {
        let member = BenchWorld.userID(user &* 7 % userCount)
        try builder.setMember(member, of: "largest", MemberSettings())
      }
      fanout = try builder.build(threads: 1)
    } catch {
      fatalError("the benchmark's own world is not accepted: \(error)")
    }
  }

  private static func room(_ room: Int) -> Identifier { Identifier("r\(room)") }

  private var instant: Instant { Instant(milliseconds: now.load(ordering: .relaxed)) }

  /// Heartbeats of the next users, in one update.
  private func send(_ count: Int) {
    let first = next.wrappingAdd(count, ordering: .relaxed).oldValue
    let seenAt = instant
    let heartbeats = (first..<first + count).map { number in
      Heartbeat(
        user: BenchWorld.userID(number &* 7919 % userCount),
        device: number % 5 == 0 ? "laptop" : "phone", state: .foreground, seenAt: seenAt)
    }
    require(fanout.setPresence(heartbeats).isEmpty, "a heartbeat is refused")
  }

  /// Microseconds of one of so many heartbeats, which come in so many seconds.
  func price(of count: Int, every seconds: Int) -> Double {
    let batches = max(1, count / Self.batch)
    let taken = BenchSupport.seconds {
      for _ in 0..<batches {
        send(min(count, Self.batch))
        now.wrappingAdd(Int64(seconds * 1000 / batches), ordering: .relaxed)
      }
    }
    return taken / Double(batches * min(count, Self.batch)) * 1e6
  }

  /// Messages to the rooms in turn, for two seconds, or less in a small world.
  func decisionRate(heartbeatsPerSecond rate: Int) -> (messages: Double, heartbeats: Double) {
    let rooms = min(Self.busyRooms, userCount * 9 / Self.roomSize)
    let isOver = Atomic<Bool>(false)
    let sent = Atomic<Int>(0)
    let start = ContinuousClock.now
    let threads = Threads([
      { [self] in
        while rate > 0, !isOver.load(ordering: .relaxed) {
          send(Self.batch)
          let count = sent.wrappingAdd(Self.batch, ordering: .relaxed).newValue
          let due = start + .seconds(Double(count) / Double(rate))
          now.wrappingAdd(Int64(1000 * Self.batch / rate), ordering: .relaxed)
          while ContinuousClock.now < due, !isOver.load(ordering: .relaxed) { usleep(500) }
        }
      }
    ])
    var result = FanoutResult()
    var count = 0
    let length = Duration.milliseconds(userCount < 100_000 ? 200 : 2000)
    while ContinuousClock.now - start < length {
      for _ in 0..<100 {
        let message = Message(id: "m", conversation: Self.room(count % rooms), at: instant)
        fanout.decide(message, into: &result)
        keep(result.pushCount)
        count += 1
      }
    }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    isOver.store(true, ordering: .relaxed)
    threads.wait()
    return (Double(count) / seconds, Double(sent.load(ordering: .relaxed)) / seconds)
  }

  /// The time of a message to the largest conversation, a second and so many heartbeats after the one
  /// before.
  func secondsOfLargest(heartbeats: Int) -> Double {
    now.wrappingAdd(1000, ordering: .relaxed)
    if heartbeats > 0 { send(heartbeats) }
    let message = Message(id: "m", conversation: "largest", at: instant)
    var result = FanoutResult()
    return seconds {
      fanout.decide(message, into: &result)
      keep(result.pushCount)
    }
  }

  /// Compares what conversations have kept with what the tables say.
  func check() {
    let rooms = [Identifier("largest")] + (0..<20).map(Self.room)
    func codes() -> [[UInt8]] {
      rooms.map { room in
        let result = fanout.decide(Message(id: "m", conversation: room, at: instant))
        var codes = [UInt8](repeating: 0, count: result.memberCount)
        var span = codes.mutableSpan
        result.writeCodes(into: &span)
        return codes
      }
    }
    let kept = codes()
    fanout.forgetConversations()
    require(kept == codes(), "kept conversations answer otherwise than the tables")
  }
}
