import Foundation
import PushModel
import PushReference
import TestSupport
import Testing

@testable import PushFanout

/// Goal: every way of reading who gets a push, and where it goes, gives what the reference decides:
/// ids and devices, in the order of users, with corrections, filters and local notifications; also
/// when several threads read one result, and when settings have changed since.
@Suite struct ReadingTests {
  /// What a recipient is read as.
  struct Seen: Equatable, CustomStringConvertible {
    var id: String
    var code: UInt8
    var devices: [String]

    var description: String { "\(id) \(code) \(devices)" }
  }

  private static func expected(_ settings: FanoutSettings, _ message: Message) -> [Seen] {
    var evaluator = ReferenceEvaluator(settings)
    var seen: [Seen] = []
    evaluator.decide(message) { user, decision in
      seen.append(
        Seen(
          id: settings.id(of: user).text, code: decision.outcome.code,
          devices: decision.devices.map(\.text)))
    }
    return seen
  }

  private static func text(_ bytes: RawSpan) -> String {
    unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }

  private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
    unsafe String(decoding: bytes, as: UTF8.self)
  }

  /// The recipients of a range of ranks, with the devices of each.
  private static func recipients(_ result: FanoutResult, _ ranks: Range<Int>) -> [Seen] {
    let targets = result.targetReader
    var seen: [Seen] = []
    unsafe result.forEachRecipient(in: ranks, withDevices: ranks.lowerBound % 2 == 0) {
      (user, id, code) -> Void in
      var devices: [String] = []
      unsafe targets.forEachID(of: user, code: code) { devices.append(unsafe text($0)) }
      seen.append(Seen(id: unsafe text(id), code: code, devices: devices))
    }
    return seen
  }

  /// The devices that pushes go to, a line each.
  private static func targets(_ result: FanoutResult) -> [String] {
    var lines: [String] = []
    result.pushes.forEachTarget { user, id, device in
      lines.append("\(user.rawValue) \(text(id)) \(text(device))")
    }
    return lines
  }

  private static func pushes(_ result: FanoutResult, _ ranks: Range<Int>) -> [String] {
    var ids: [String] = []
    unsafe result.forEachPush(in: ranks) { ids.append(unsafe text($0)) }
    return ids
  }

  /// Where a result is not read as expected; nil when it is.
  private static func difference(
    _ result: FanoutResult, _ expected: [Seen], _ random: inout SeededGenerator
  ) -> String? {
    let all = 0..<result.memberCount
    let pushed = expected.filter { $0.code & 1 != 0 }
    if let found = firstDifference(recipients(result, all), expected) { return "rows: \(found)" }
    let ids = result.pushes.ids.map(\.text)
    if let found = firstDifference(ids, pushed.map(\.id)) { return "ids: \(found)" }
    var bytes: [String] = []
    var users: [UserIndex] = []
    result.pushes.forEachID { user, id in
      users.append(user)
      bytes.append(text(id))
    }
    if let found = firstDifference(bytes, pushed.map(\.id)) { return "bytes of ids: \(found)" }
    if let found = firstDifference(Array(result.pushes), users) { return "users: \(found)" }
    let lines = zip(users, pushed).flatMap { user, seen in
      seen.devices.map { "\(user.rawValue) \(seen.id) \($0)" }
    }
    if let found = firstDifference(targets(result), lines) { return "targets: \(found)" }
    var notified: [String] = []
    result.forEachRecipient { user, outcome in
      notified += result.targets(of: user, outcome.action).map(\.id.text)
      if result.devices(of: user) != result.targets(of: user, outcome.action).map(\.id) {
        notified.append("not those of \(user.rawValue)")
      }
    }
    if let found = firstDifference(notified, expected.flatMap(\.devices)) {
      return "devices: \(found)"
    }
    return partDifference(result, expected, &random)
  }

  /// The same for parts of the members, as rows are written.
  private static func partDifference(
    _ result: FanoutResult, _ expected: [Seen], _ random: inout SeededGenerator
  ) -> String? {
    let count = result.memberCount
    var cuts = [0, count]
    for _ in 0..<3 { cuts.append(Int(random.next() % UInt64(count + 1))) }
    cuts.sort()
    let parts = zip(cuts, cuts.dropFirst()).map { $0..<$1 }
    let rows = parts.map { recipients(result, $0) }
    if let found = firstDifference(rows.flatMap { $0 }, expected) { return "\(parts): \(found)" }
    for (part, rows) in zip(parts, rows) {
      let wanted = rows.filter { $0.code & 1 != 0 }.map(\.id)
      let found = pushes(result, part)
      if found != wanted { return "pushes of \(part): \(found), not \(wanted)" }
      if result.hasPush(in: part) == wanted.isEmpty { return "hasPush of \(part)" }
    }
    return nil
  }

  @Test(arguments: RuleSet.allCases)
  func randomWorldsAreReadAsTheReferenceDecides(rules: RuleSet) throws {
    for seed in UInt64(1)...25 {
      var world = RandomWorld(
        rules, seed: seed, messageCount: 16, style: RandomWorld.Style(isVaried: seed % 3 != 0))
      let settings = world.settings()
      var builder = FanoutBuilder()
      try builder.add(settings)
      let sizes = CacheSizes.all[Int(seed) % CacheSizes.all.count]
      let fanout = Fanout(try builder.finish(), threads: 1, sizes)
      var kept = FanoutResult()
      for message in world.messages {
        let expected = Self.expected(settings, message)
        fanout.decide(message, into: &kept)
        let found = Self.difference(kept, expected, &world.random)
        #expect(found == nil, "seed \(seed), \(message)")
      }
    }
  }

  /// A group of users of whom most have the default device, with ids of up to 300 characters.
  private static func group(_ count: Int) -> FanoutSettings {
    var settings = FanoutSettings()
    for number in 0..<count {
      let padding = number % 11 == 0 ? String(repeating: "é", count: number % 149) : ""
      let id = Identifier("\(padding)\(number)")
      var user = UserSettings()
      if number % 7 == 0 { user.level = .blocked }
      if number % 5 == 0 {
        user.devices = (0..<number % 4).map { Device(id: Identifier("d\($0)"), hasToken: $0 != 1) }
      }
      settings.setUser(id, user)
      let level: NotificationLevel = number % 13 == 0 ? .mention : .unset
      settings.setMember(id, of: "g", MemberSettings(level: level))
    }
    return settings
  }

  private static func message(_ count: Int, filters: Bool = false) -> Message {
    var message = Message(
      id: "m", conversation: "g", at: Instant(milliseconds: 1_711_843_200_000),
      sender: Identifier("\(count / 2)"))
    message.mentions = ["13", "26", Identifier("\(count - 1)")]
    if filters {
      var filter = DeviceFilter()
      filter.ignoreDeviceIDs = ["default"]
      filter.acceptDeviceIDs = ["d0", "d2"]
      message.filter = filter
    }
    return message
  }

  /// Sizes around those of words and of what is loaded ahead, with many pushes and few.
  @Test(arguments: [1, 2, 23, 24, 25, 63, 64, 65, 127, 128, 129, 191, 193, 511, 513, 1000, 2600])
  func sizesAroundWhatIsLoadedAhead(count: Int) throws {
    let settings = Self.group(count)
    let fanout = try Fanout(settings, threads: 1)
    var random = SeededGenerator(seed: UInt64(count))
    for filters in [false, true] {
      let message = Self.message(count, filters: filters)
      let expected = Self.expected(settings, message)
      let found = Self.difference(fanout.decide(message), expected, &random)
      #expect(found == nil, "filters: \(filters)")
    }
  }

  /// Copies of a result, and pushes taken from it, keep what they are while it is used again and
  /// settings change.
  @Test(arguments: [40, 700])
  func resultsThatAreHeldStayTheSame(count: Int) throws {
    let settings = Self.group(count)
    let fanout = try Fanout(settings, threads: 1)
    var random = SeededGenerator(seed: UInt64(count))
    var result = FanoutResult()
    var held: [(result: FanoutResult, pushes: PushSet, expected: [Seen])] = []
    var model = settings
    for number in 0..<12 {
      let message = Self.message(count, filters: number % 4 == 3)
      fanout.decide(message, into: &result)
      held.append((result, result.pushes, Self.expected(model, message)))
      try fanout.update { (update) throws(FanoutError) in
        for user in stride(from: number, to: count, by: 9) where user % 11 != 0 {
          let member = MemberSettings(level: number % 2 == 0 ? .blocked : .all)
          model.setMember(Identifier("\(user)"), of: "g", member)
          try update.setMember(Identifier("\(user)"), of: "g", member)
        }
      }
      fanout.decide(Message(id: "n", conversation: "none", at: message.at), into: &result)
      #expect(Array(result.pushes) == [] && result.recipientCount == 0)
      #expect(result.outcome(of: UserIndex(0)) == nil && result.row.count == 0)
    }
    fanout.forgetConversations()
    for (number, held) in held.enumerated() {
      let found = Self.difference(held.result, held.expected, &random)
      #expect(found == nil, "result \(number)")
      let pushed = held.expected.filter { $0.code & 1 != 0 }.map(\.id)
      #expect(held.pushes.ids.map(\.text) == pushed, "pushes \(number)")
    }
  }

  /// Several threads read the same results, of which nobody has computed the states before.
  @Test func threadsReadOneResultAtOnce() throws {
    let settings = Self.group(3000)
    let fanout = try Fanout(settings, threads: 1)
    let message = Self.message(3000)
    let expected = Self.expected(settings, message)
    let wanted = expected.flatMap { seen in
      seen.code & 1 == 0 ? [] : seen.devices.map { "\(seen.id) \($0)" }
    }
    for round in 0..<20 {
      if round % 5 == 0 { fanout.forgetConversations() }
      let result = fanout.decide(message)
      let found = Collected<Bool>(count: 4)
      ConcurrencyTests.onThreads(
        (0..<4).map { thread in
          {
            let copy = result
            var lines: [String] = []
            copy.pushes.forEachTarget { _, id, device in
              lines.append("\(Self.text(id)) \(Self.text(device))")
            }
            found.set(thread, lines == wanted)
            found.set(thread, copy.writtenCodes.count { $0 != 0 } == expected.count)
          }
        })
      #expect(found.values == [[Bool]](repeating: [true, true], count: 4), "round \(round)")
    }
  }

  /// An error of the closure ends an iteration at once.
  @Test func errorsEndAnIteration() throws {
    struct Stop: Error {}
    let fanout = try Fanout(Self.group(500), threads: 1)
    let pushes = fanout.decide(Self.message(500)).pushes
    var count = 0
    #expect(throws: Stop.self) {
      try pushes.forEachID { (_, _) throws(Stop) -> Void in
        count += 1
        if count == 70 { throw Stop() }
      }
    }
    #expect(throws: Stop.self) {
      try pushes.forEachTarget { (_, _, _) throws(Stop) -> Void in
        count += 1
        if count == 75 { throw Stop() }
      }
    }
    #expect(count == 75)
  }
}
