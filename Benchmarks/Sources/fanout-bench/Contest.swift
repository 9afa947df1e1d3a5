import BenchSupport
import PushFanout
import PushModel

/// One world, and everybody who decides in it.
final class Contest {
  static let sizes = [5, 50, 500, 5_000, 100_000, 1_000_000]
  /// All groups of a size have about so many members together.
  private static let memberships = 200_000

  let userCount: Int
  let rounds: Int
  let world: BenchWorld
  /// The engine on one thread, and on two.
  let one: Fanout
  let two: Fanout
  private var scalar: Scalar
  private let groups: [Int: Range<Int>]
  private var at = BenchWorld.start

  init(_ plan: Plan) {
    userCount = plan.users
    rounds = plan.rounds
    var world = BenchWorld(userCount: userCount)
    var groups: [Int: Range<Int>] = [:]
    for size in plan.sizes {
      groups[size] = world.addGroups(size: size, memberships: Self.memberships)
    }
    for number in 0..<plan.memberships / 100 {
      world.addGroup(Identifier("more\(number)"), size: 100, seed: UInt64(number) &+ 1 << 40)
    }
    self.world = world
    self.groups = groups
    one = world.fanout(threads: 1)
    two = plan.needsTwoThreads ? world.fanout(threads: 2) : one
    scalar = Scalar(plan.suites.contains(where: \.decides) ? world : BenchWorld(userCount: 1))
  }

  /// Moves all contestants to an instant at which windows have turned.
  private func turn() {
    at += 15 * 60_000
    one.advance(to: Instant(milliseconds: at))
    two.advance(to: Instant(milliseconds: at))
    scalar.advance(to: at)
  }

  // MARK: Deciding

  /// Lets all contestants decide a message of a kind to each group of a size.
  func decide(_ suite: String, _ name: String, size: Int, _ kind: MessageKind) -> [Row] {
    guard let places = groups[size] else { return [] }
    let groups = world.groups[places]
    let total = groups.count * size
    turn()
    var reference = ReferenceContestant(world, places)
    check(places, kind, &reference)

    var result = FanoutResult()
    var codes = [UInt8](repeating: 0, count: size)
    var copy = Copying(members: total, users: userCount)
    var samples: [String: Samples] = [:]
    // The first round warms up.
    var isMeasured = false
    func measure(_ contestant: String, _ body: () -> Void) {
      let time = seconds(body)
      if isMeasured { samples[contestant, default: Samples()].add(time) }
    }
    for round in 0...rounds {
      isMeasured = round > 0
      turn()
      let messages = groups.map { kind.message(to: $0, at: at) }
      // It takes hundreds of times as long as all others together.
      if 1...3 ~= round { measure("reference") { reference.decide(kind, at: at) } }
      measure("scalar") { decideScalar(messages, &codes) }
      measure("packed-cold") { decide(one, messages, &result, &codes) }
      measure("packed-warm") { decide(one, messages, &result, &codes) }
      count(one, messages, &result)
      measure("packed-warm-counts") { count(one, messages, &result) }
      if size >= 100_000 {
        measure("packed-cold-2-threads") { decide(two, messages, &result, &codes) }
      }
      measure("limit") { copy.run() }
    }
    func each(_ contestant: String) -> Double {
      let count = contestant == "reference" ? reference.decisions : total
      return (samples[contestant]?.median ?? 0) / Double(count) * 1e9
    }
    return samples.keys.map { contestant in
      Row(
        suite: suite, name: name, contestant: contestant, members: size,
        nanoseconds: each(contestant), spread: samples[contestant]?.spread ?? 0,
        ratioToReference: each("reference") / each(contestant),
        ratioToLimit: each(contestant) / each("limit"))
    }.sorted { $0.nanoseconds > $1.nanoseconds }
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

  /// How many get a push, and the first who does.
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

  /// Compares all contestants with the reference, and stops the program when one differs.
  private func check(
    _ places: Range<Int>, _ kind: MessageKind, _ reference: inout ReferenceContestant
  ) {
    var members = 0
    for (number, place) in places.enumerated() where number < reference.groupCount {
      guard members < 20_000 else { return }
      let group = world.groups[place]
      members += group.members.count
      let message = kind.message(to: group, at: at)
      let expected = reference.codes(number, message)
      let sum = Checksum(expected)
      var result = FanoutResult()
      var codes = [UInt8](repeating: 0, count: expected.count)
      for fanout in [one, two] {
        decide(fanout, [message], &result, &codes)
        require(codes == expected, "the engine answers otherwise: \(message)")
        require(result.pushCount == sum.pushes, "the engine counts otherwise: \(message)")
      }
      decideScalar([message], &codes)
      require(Checksum(codes) == sum, "the plain loop answers otherwise: \(message)")
    }
  }
}

/// A copy of what a plain loop must read at the least: an id and a byte a member, and once the
/// lines of memory that the users' settings are in.
private struct Copying {
  private let source: [UInt8]
  private var target: [UInt8]

  init(members: Int, users: Int) {
    let bytes = members * 5 + min(users, members * 64)
    source = Array(repeating: 1, count: bytes)
    target = Array(repeating: 0, count: bytes)
  }

  mutating func run() {
    unsafe target.withUnsafeMutableBytes { target in
      unsafe source.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
    }
    keep(Int(target[0]))
  }
}
