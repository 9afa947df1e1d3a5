import Dispatch
import Foundation
import PushFanout
import PushReference
import PushRules

/// The measurements: one world, decided by all contestants in turns.
struct Bench {
  private let userCount: Int
  private let rounds: Int
  private let filter: String?
  private var world: BenchWorld
  private let one: Fanout
  private let two: Fanout
  private var scalar: Scalar
  private var at = BenchWorld.start
  private var rows: [Row] = []
  private(set) var notes: [String] = []
  private static let sizes = [5, 50, 500, 5_000, 100_000, 1_000_000]

  init(userCount: Int, rounds: Int, memberships: Int, filter: String?) {
    self.userCount = userCount
    self.rounds = rounds
    self.filter = filter
    world = BenchWorld(userCount: userCount)
    for size in Self.sizes where size <= userCount {
      for number in 0..<max(1, 200_000 / size) {
        world.addGroup(
          Identifier("g\(size)-\(number)"), size: size, seed: UInt64(size * 1_000_003 + number))
      }
    }
    for number in 0..<memberships / 100 {
      world.addGroup(Identifier("more\(number)"), size: 100, seed: UInt64(number) &+ 1 << 40)
    }
    let world = world
    guard let one = world.fanout(threads: 1) else { preconditionFailure("the world is valid") }
    self.one = one
    let report = one.memoryReport()
    two = memberships > 0 ? one : world.fanout(threads: 2) ?? one
    scalar = Scalar(memberships > 0 ? BenchWorld(userCount: 1) : world)
    noteMachine(report)
  }

  private mutating func noteMachine(_ report: MemoryReport) {
    let cpu = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?
      .split(separator: "\n").first { $0.hasPrefix("model name") }?.split(separator: ":").last
    notes.append("CPU:\(cpu ?? " unknown"), \(ProcessInfo.processInfo.activeProcessorCount) cores")
    notes.append(String(format: "second core: %.2fx in a spin loop", Self.secondCore()))
    let users = Double(report.users + report.userExtras) / Double(report.userCount)
    let memberships =
      Double(report.memberships + report.membershipExtras + report.conversations)
      / Double(report.membershipCount)
    let ids = Double(report.ids) / Double(report.userCount + report.conversationCount)
    notes.append(
      "\(report.userCount) users, \(report.membershipCount) memberships in "
        + "\(report.conversationCount) conversations")
    notes.append(
      String(
        format: "bytes: %.1f a user, %.1f a membership, %.1f an id beyond its characters", users,
        memberships, ids))
  }

  /// How much faster two threads spin than one.
  private static func secondCore() -> Double {
    @Sendable func spin() {
      var state: UInt64 = 1
      for _ in 0..<50_000_000 { state = state &* 6_364_136_223_846_793_005 &+ 1 }
      if state == 0 { print() }
    }
    let single = seconds {
      spin()
      spin()
    }
    let double = seconds { DispatchQueue.concurrentPerform(iterations: 2) { _ in spin() } }
    return single / double
  }

  mutating func run() -> [Row] {
    for size in Self.sizes where size <= userCount {
      let name = "\(size)"
      if let filter, name != filter { continue }
      measureDeciding(size, name)
    }
    if filter.map({ "turn".contains($0) }) ?? true { measureTurn() }
    if filter.map({ "update".contains($0) }) ?? true { measureUpdates() }
    return rows
  }

  // MARK: Deciding

  private mutating func measureDeciding(_ size: Int, _ name: String) {
    let places = world.groups.indices.filter {
      world.groups[$0].members.count == size && world.groups[$0].id.text.hasPrefix("g")
    }
    let ids = places.map { world.groups[$0].id }
    let total = ids.count * size
    var codes = [UInt8](repeating: 0, count: size)
    var result = FanoutResult()
    check(places, size, &codes)

    var samples: [String: Samples] = [:]
    for _ in 0..<rounds {
      turn()
      let messages = messages(ids)
      samples["packed-cold", default: Samples()].add(
        seconds { decide(one, messages, &result, &codes) })
      samples["packed-warm", default: Samples()].add(
        seconds { decide(one, messages, &result, &codes) })
      count(one, messages, &result)
      samples["packed-warm-counts", default: Samples()].add(
        seconds { count(one, messages, &result) })
      if size >= 100_000 {
        samples["packed-cold-2-threads", default: Samples()].add(
          seconds { decide(two, messages, &result, &codes) })
      }
      samples["scalar", default: Samples()].add(seconds { decideScalar(messages, &codes) })
      samples["limit", default: Samples()].add(copySeconds(size, ids.count))
    }
    let reference = referenceSeconds(places)
    let limit = samples["limit"]?.median ?? 0
    rows.append(
      row(name, "reference", size, reference.seconds / Double(reference.decisions) * 1e9, 0))
    for (contestant, samples) in samples.sorted(by: { $0.value.median > $1.value.median }) {
      var row = row(
        name, contestant, size, samples.median / Double(total) * 1e9, samples.spread)
      row.ratioToReference =
        reference.seconds / Double(reference.decisions) / (samples.median / Double(total))
      row.ratioToLimit = samples.median / limit
      rows.append(row)
    }
  }

  private func row(
    _ name: String, _ contestant: String, _ members: Int, _ nanoseconds: Double, _ spread: Double
  ) -> Row {
    Row(
      suite: "decide", name: name, contestant: contestant, members: members,
      nanoseconds: nanoseconds, spread: spread)
  }

  /// Moves all contestants to an instant at which windows have turned.
  private mutating func turn() {
    at += 15 * 60_000
    one.advance(to: Instant(milliseconds: at))
    two.advance(to: Instant(milliseconds: at))
    scalar.advance(to: at)
  }

  private func messages(_ ids: [Identifier]) -> [Message] {
    ids.map { Message(id: "m", conversation: $0, at: Instant(milliseconds: at), sender: "u17") }
  }

  /// A reason for every member.
  private func decide(
    _ fanout: Fanout, _ messages: [Message], _ result: inout FanoutResult, _ codes: inout [UInt8]
  ) {
    for message in messages {
      fanout.decide(message, into: &result)
      var span = codes.mutableSpan
      result.writeCodes(into: &span)
    }
  }

  /// How many get a push, and a bit a member that says who.
  private func count(_ fanout: Fanout, _ messages: [Message], _ result: inout FanoutResult) {
    var pushes = 0
    for message in messages {
      fanout.decide(message, into: &result)
      pushes &+= result.pushCount
      var iterator = result.pushes.makeIterator()
      if let user = iterator.next() { pushes &+= Int(user.rawValue & 1) }
    }
    keep(pushes)
  }

  private func decideScalar(_ messages: [Message], _ codes: inout [UInt8]) {
    var pushes = 0
    unsafe codes.withUnsafeMutableBufferPointer { codes in
      guard let codes = codes.baseAddress else { return }
      for message in messages { pushes &+= (unsafe scalar.decide(message, into: codes)).pushes }
    }
    keep(pushes)
  }

  /// Stops the compiler from leaving out what nobody reads.
  @inline(never) private func keep(_ value: Int) {
    if value == Int.min { print(value) }
  }

  /// A copy of what must be read: an id and a byte a member, and the bytes of users' classes.
  private func copySeconds(_ size: Int, _ groups: Int) -> Double {
    let bytes = size * 5 + min(userCount, size * 64)
    let source = [UInt8](repeating: 1, count: bytes)
    var target = [UInt8](repeating: 0, count: bytes)
    return seconds {
      for _ in 0..<groups {
        unsafe target.withUnsafeMutableBytes { target in
          unsafe source.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
        }
      }
    }
  }

  // MARK: The same answers

  /// Compares all contestants with the reference.
  private mutating func check(_ places: [Int], _ size: Int, _ codes: inout [UInt8]) {
    turn()
    var result = FanoutResult()
    for place in places.prefix(max(1, 20_000 / size)) {
      let message = messages([world.groups[place].id])[0]
      var expected = Checksum()
      let settings = world.settings(ofGroup: place)
      var evaluator = ReferenceEvaluator(settings)
      var reference = [UInt8](repeating: 0, count: size)
      var rank: [Int: Int] = [:]
      for (place, user) in world.groups[place].members.enumerated() { rank[Int(user)] = place }
      evaluator.decide(message) { user, decision in
        let id = settings.id(of: user).text.dropFirst()
        if let place = Int(id).flatMap({ rank[$0] }) { reference[place] = decision.outcome.code }
      }
      unsafe reference.withUnsafeBufferPointer { unsafe expected.add($0) }
      for fanout in [one, two] {
        decide(fanout, [message], &result, &codes)
        precondition(checksum(codes, size) == expected, "the engine answers otherwise")
        precondition(result.pushCount == expected.pushes, "the engine counts otherwise")
      }
      decideScalar([message], &codes)
      precondition(checksum(codes, size) == expected, "the plain loop answers otherwise")
    }
  }

  private func checksum(_ codes: [UInt8], _ size: Int) -> Checksum {
    var sum = Checksum()
    unsafe codes.withUnsafeBufferPointer {
      unsafe sum.add(UnsafeBufferPointer(rebasing: $0[..<size]))
    }
    return sum
  }

  private func referenceSeconds(_ places: [Int]) -> (seconds: Double, decisions: Int) {
    var time = 0.0
    var decisions = 0
    for place in places.prefix(200) where decisions < 300_000 {
      var evaluator = ReferenceEvaluator(world.settings(ofGroup: place))
      let message = messages([world.groups[place].id])[0]
      var counts = OutcomeCounts()
      evaluator.decide(message) { _, decision in counts.add(decision.outcome) }
      time += seconds {
        evaluator.decide(message) { _, decision in counts.add(decision.outcome) }
      }
      decisions += counts.total / 2
    }
    return (time, max(decisions, 1))
  }

  // MARK: Turns and updates

  private mutating func measureTurn() {
    var samples = Samples()
    for _ in 0..<rounds {
      at += 15 * 60_000
      samples.add(seconds { one.advance(to: Instant(milliseconds: at)) })
    }
    var row = row(
      "turn", "packed", userCount, samples.median / Double(userCount) * 1e9, samples.spread)
    row = Row(
      suite: "turn", name: "ns a user", contestant: "packed", members: userCount,
      nanoseconds: row.nanoseconds, spread: row.spread)
    rows.append(row)
  }

  private mutating func measureUpdates() {
    let ids = (0..<1000).map { BenchWorld.userID($0 * 7919 % userCount) }
    let group = world.groups.first { $0.members.count == min(1_000_000, userCount) }
    let members = (0..<1000).compactMap { number in
      group.map { BenchWorld.userID(Int($0.members[number * 7919 % $0.members.count])) }
    }
    var samples: [String: Samples] = [:]
    for round in 0..<rounds {
      let level: NotificationLevel = round % 2 == 0 ? .mention : .all
      samples["user, 1000 at once", default: Samples()].add(
        seconds {
          try? one.update { (update) throws(FanoutError) in
            for id in ids { try update.updateUser(id) { $0.level = level } }
          }
        })
      samples["user, each published", default: Samples()].add(
        seconds {
          for id in ids {
            try? one.update { (update) throws(FanoutError) in
              try update.updateUser(id) { $0.level = level == .all ? .mention : .all }
            }
          }
        })
      guard let group else { continue }
      samples["member, 1000 at once", default: Samples()].add(
        seconds {
          try? one.update { (update) throws(FanoutError) in
            for id in members { try update.updateMember(id, of: group.id) { $0.level = level } }
          }
        })
      samples["member, each published", default: Samples()].add(
        seconds {
          for id in members {
            try? one.update { (update) throws(FanoutError) in
              try update.updateMember(id, of: group.id) {
                $0.level = level == .all ? .mention : .all
              }
            }
          }
        })
    }
    for (contestant, samples) in samples.sorted(by: { $0.key < $1.key }) {
      rows.append(
        Row(
          suite: "update", name: "ns a setting", contestant: contestant, members: 1,
          nanoseconds: samples.median / 1000 * 1e9, spread: samples.spread))
    }
  }
}
