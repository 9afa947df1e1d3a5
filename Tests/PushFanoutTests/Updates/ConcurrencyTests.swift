import Foundation
import PushFanout
import PushReference
import PushModel
import Synchronization
import TestSupport
import Testing

/// Goal: while one thread updates, others decide on whole versions only, and each result is right
/// for the version it names.
///
/// `PUSH_SECONDS=30 swift test --filter ConcurrencyTests` goes on for longer.
@Suite(.serialized) struct ConcurrencyTests {
  /// How long each of the four cases goes on.
  static let seconds =
    (ProcessInfo.processInfo.environment["PUSH_SECONDS"].flatMap { Double($0) } ?? 2) / 4

  /// What every version must answer, and what was found wrong.
  final class Ledger: Sendable {
    private let entries = Locked<[UInt64: FanoutSettings]>([:])
    private let problems = Locked<[String]>([])
    private let end: Date
    /// How many checks and versions there must be, however slow the machine is.
    private let least: Int
    let checked = Atomic<Int>(0)
    let versions = Atomic<Int>(0)

    init(_ seconds: Double, least: Int) {
      end = Date(timeIntervalSinceNow: seconds)
      self.least = least
    }

    var isOver: Bool {
      let now = Date()
      if now > end.addingTimeInterval(300) || !found.isEmpty { return true }
      return now > end && checked.load(ordering: .relaxed) >= least
        && versions.load(ordering: .relaxed) >= least
    }
    var found: [String] { problems.withLock { $0 } }
    func report(_ problem: String) { problems.withLock { $0.append(problem) } }
    func keep(_ settings: FanoutSettings, for version: UInt64) {
      entries.withLock { $0[version] = settings }
    }
    func settings(of version: UInt64) -> FanoutSettings? { entries.withLock { $0[version] } }
  }

  /// Runs each body on a thread of its own, until all have come back.
  static func onThreads(_ bodies: [@Sendable () -> Void]) {
    let group = DispatchGroup()
    for body in bodies {
      group.enter()
      let thread = Thread {
        body()
        group.leave()
      }
      thread.stackSize = 8 << 20
      thread.start()
    }
    group.wait()
  }

  /// In every version one of the two is blocked and the other is not, and there are as many members
  /// as the version says.
  @Test(arguments: [40, 300])
  func twoSettingsThatChangeTogether(memberCount: Int) throws {
    var settings = FanoutSettings()
    for number in 0..<memberCount { settings.setMember(Identifier("u\(number)"), of: "g") }
    settings.setMember("u0", of: "g", MemberSettings(level: .blocked))
    settings.setMember("u1", of: "g", MemberSettings(level: .all))
    let fanout = try Fanout(settings, threads: 2)
    let ledger = Ledger(Self.seconds, least: 100)
    let reader: @Sendable () -> Void = {
      var result = FanoutResult()
      var now: Int64 = 1_711_843_200_000
      while !ledger.isOver {
        now += 500
        let message = Message(
          id: "m", conversation: "g", at: Instant(milliseconds: now), sender: "u2")
        fanout.decide(message, into: &result)
        let isFirst = result.version % 2 == 0
        let pushes = [result.outcome(of: "u0")?.action, result.outcome(of: "u1")?.action]
        let wanted: [Action?] = isFirst ? [.push, .suppress] : [.suppress, .push]
        let members = memberCount + Int((result.version - 1) / 16)
        // Neither the blocked one nor the sender.
        let numbers = [result.memberCount, result.recipientCount, result.pushCount]
        if pushes != wanted || numbers != [members, members - 1, members - 2] {
          ledger.report("version \(result.version): \(pushes), \(numbers) of \(members)")
        }
        ledger.checked.add(1, ordering: .relaxed)
      }
    }
    let writer: @Sendable () -> Void = {
      var version: UInt64 = 1
      while !ledger.isOver {
        version += 1
        let isFirst = version % 2 == 0
        do throws(FanoutError) {
          try fanout.update { (update) throws(FanoutError) in
            try update.updateMember("u0", of: "g") { $0.level = isFirst ? .all : .blocked }
            try update.updateMember("u1", of: "g") { $0.level = isFirst ? .blocked : .all }
            if (version - 1) % 16 == 0 {
              try update.setMember(Identifier("new\(version)"), of: "g")
            }
          }
        } catch {
          ledger.report("\(error)")
        }
        ledger.versions.add(1, ordering: .relaxed)
        if version % 64 == 0 { Thread.sleep(forTimeInterval: 0.001) }
      }
    }
    Self.onThreads([writer, reader, reader, reader])
    #expect(ledger.found.first == nil)
    #expect(ledger.checked.load(ordering: .relaxed) >= 100)
    #expect(fanout.version > 100)
  }

  /// What is looked up is of one version, however many come while somebody looks: users, devices and
  /// members move to new pages with every update, and the old ones are used again.
  @Test func lookUpsAreOfOneVersion() throws {
    let count = 20
    let device: @Sendable (Int) -> Device = {
      Device(id: Identifier("a-device-of-some-length-\($0 % 7)"), hasToken: $0 % 2 == 0)
    }
    var settings = FanoutSettings()
    for number in 0..<count {
      var user = UserSettings()
      user.devices = [device(0)]
      settings.setUser(Identifier("u\(number)"), user)
      settings.setMember(Identifier("u\(number)"), of: "g", MemberSettings(level: .all))
    }
    let fanout = try Fanout(settings, threads: 1)
    let ledger = Ledger(Self.seconds, least: 1000)
    let writer: @Sendable () -> Void = {
      var number = 0
      while !ledger.isOver {
        number += 1
        let id = Identifier("u\(number % count)")
        var user = UserSettings()
        user.mutedUntil = Instant(milliseconds: Int64(1000 + number))
        user.devices = [device(number)]
        let member = MemberSettings(level: .all, mutedUntil: user.mutedUntil)
        let next = user
        do throws(FanoutError) {
          try fanout.update { (update) throws(FanoutError) in
            try update.setUser(id, next)
            try update.setMember(id, of: "g", member)
          }
        } catch {
          ledger.report("\(error)")
        }
        ledger.versions.add(1, ordering: .relaxed)
      }
    }
    let reader: @Sendable () -> Void = {
      var number = 0
      while !ledger.isOver {
        for _ in 0..<100 {
          number += 1
          let id = Identifier("u\(number % count)")
          let member = fanout.member(id, of: "g")
          let devices = fanout.user(id)?.devices ?? []
          if member?.level != .all { ledger.report("member \(id): \(String(describing: member))") }
          if devices.count != 1 || !devices[0].id.text.hasPrefix("a-device-of-some-length-") {
            ledger.report("devices of \(id): \(devices)")
          }
          let size = fanout.memberCount(of: "g")
          if size != count || fanout.conversation("g") == nil { ledger.report("g has \(size)") }
          if fanout.id(of: UserIndex(UInt32(number % count))) != id { ledger.report("no \(id)") }
        }
        ledger.checked.add(1, ordering: .relaxed)
      }
    }
    Self.onThreads([writer, reader, reader, reader, reader])
    #expect(ledger.found.first == nil)
    #expect(ledger.checked.load(ordering: .relaxed) >= 1000 && fanout.version > 1000)
  }

  /// Random changes, and every version against the reference.
  @Test(arguments: RuleSet.allCases)
  func everyVersionIsWhole(rules: RuleSet) throws {
    let seed = TestSupport.seeds([7]).last ?? 7
    let world = RandomWorld(
      rules, seed: seed, userCount: 80, messageCount: 30,
      style: RandomWorld.Style(density: 100, isVaried: true))
    let model = ModelWorld(world)
    let fanout = try Fanout(model.settings, threads: 2)
    let ledger = Ledger(Self.seconds, least: 10)
    ledger.keep(model.settings, for: 1)
    let label = "seed \(seed), \(rules.rawValue)"
    let readers = (0..<3).map { number -> @Sendable () -> Void in
      { Self.read(fanout, world, ledger, seed: seed + UInt64(number), label) }
    }
    Self.onThreads([{ Self.write(fanout, world, model, ledger, label) }] + readers)
    #expect(ledger.found.first == nil)
    #expect(ledger.checked.load(ordering: .relaxed) >= 10)
    #expect(fanout.version > 10)
  }

  static func write(
    _ fanout: Fanout, _ world: RandomWorld, _ model: ModelWorld, _ ledger: Ledger, _ label: String
  ) {
    var (world, model, version) = (world, model, fanout.version)
    while !ledger.isOver {
      var changes: [RandomChange] = []
      for _ in 0..<3 {
        let change = world.change(of: model, changesApp: false)
        change.apply(to: &model)
        changes.append(change)
      }
      version += 1
      // Before anybody can see the version.
      ledger.keep(model.settings, for: version)
      do throws(FanoutError) {
        try fanout.update { (update) throws(FanoutError) in
          for change in changes { try change.apply(to: &update) }
        }
      } catch {
        ledger.report("\(label): \(error)")
      }
      ledger.versions.add(1, ordering: .relaxed)
      if world.random.chance(10) { fanout.advance(to: world.variedInstant()) }
      if world.random.chance(50) { Thread.sleep(forTimeInterval: 0.002) }
    }
  }

  private static func read(
    _ fanout: Fanout, _ world: RandomWorld, _ ledger: Ledger, seed: UInt64, _ label: String
  ) {
    var random = SeededGenerator(seed: seed)
    var result = FanoutResult()
    var held: [(FanoutResult, Message)] = []
    while !ledger.isOver {
      let messages = (0..<8).map { _ in random.pick(world.messages) }.sorted { $0.at < $1.at }
      var results: [FanoutResult] = []
      if random.chance(30) {
        results = fanout.decide(messages)
        if Set(results.map(\.version)).count > 1 { ledger.report("\(label): a batch of versions") }
      } else {
        for message in messages {
          fanout.decide(message, into: &result)
          results.append(result)
        }
      }
      held += zip(results, messages).filter { _ in random.chance(20) }
      guard random.chance(20), let (result, message) = held.randomElement(using: &random) else {
        continue
      }
      if held.count > 30 { held.removeFirst(held.count - 10) }
      guard let settings = ledger.settings(of: result.version) else {
        ledger.report("\(label): version \(result.version) is of nobody")
        return
      }
      var evaluator = ReferenceEvaluator(settings)
      if let difference = result.disagreement(with: evaluator.rows(message)) {
        ledger.report("\(label), version \(result.version): \(difference), \(message)")
      }
      ledger.checked.add(1, ordering: .relaxed)
    }
  }
}
