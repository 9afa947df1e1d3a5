@testable import PushFanout
import PushReference
import PushModel
import Synchronization
import TestSupport
import Testing

/// Goal: an engine that was opened from a snapshot answers as the one that wrote it, and goes on
/// doing so after the same updates; nothing of the one is needed by the other.
///
/// `PUSH_SEED=n swift test --filter SnapshotTests` runs one more seed; each failure names its
/// own.
@Suite struct SnapshotTests {
  static let identity = SnapshotIdentity(high: 0x0123_4567_89AB_CDEF, low: 42)

  /// An engine with a history, and what it must answer.
  struct Aged {
    var world: RandomWorld
    var model: ModelWorld
    var fanout: Fanout
    var random: SeededGenerator

    init(_ rules: RuleSet, _ seed: UInt64, users: Int, density: Int, updates: Int) throws {
      world = RandomWorld(
        rules, seed: seed, userCount: users, messageCount: 30,
        style: RandomWorld.Style(density: density, isVaried: true))
      random = SeededGenerator(seed: seed ^ 0x5A5A)
      model = ModelWorld(world)
      fanout = try Fanout(model.settings, threads: 1)
      for _ in 0..<updates { try update() }
    }

    /// Some changes, and now and then some that fail.
    mutating func update() throws {
      var changes: [RandomChange] = []
      for _ in 0..<random.pick([1, 1, 5]) {
        let change = world.change(of: model, changesApp: false)
        change.apply(to: &model)
        changes.append(change)
      }
      let compacts = random.chance(10)
      try fanout.update { (update) throws(FanoutError) in
        if compacts { update.writer.compact() }
        for change in changes { try change.apply(to: &update) }
      }
      if random.chance(20) {
        #expect(throws: FanoutError.emptyID) {
          try fanout.update { (update) throws(FanoutError) in
            try update.setMember("STRAY", of: "nowhere", MemberSettings(level: .blocked))
            try update.setUser("", UserSettings())
          }
        }
      }
    }

    /// Where an answer or a record is another than the model's.
    mutating func difference(_ messageCount: Int = 30) -> String? {
      if let difference = model.disagreement(with: fanout) { return difference }
      var evaluator = ReferenceEvaluator(model.settings)
      for message in world.messages.prefix(messageCount) {
        let expected = evaluator.rows(message)
        if random.chance(20) { fanout.advance(to: message.at) }
        let difference = fanout.decide(message).disagreement(with: expected)
        if let difference { return "\(difference), \(message)" }
      }
      return nil
    }
  }

  @Test(arguments: RuleSet.allCases)
  func anOpenedEngineIsTheOneThatWrote(rules: RuleSet) throws {
    for seed in TestSupport.seeds(rules == .easemob ? [1, 2, 3, 4] : [1, 2]) {
      let label: Comment = "seed \(seed), \(rules.rawValue)"
      let folder = ScratchFolder()
      let path = folder.path("snapshot")
      let isLarge = seed % 2 == 0
      var aged = try Aged(
        rules, seed, users: isLarge ? 300 : 24, density: isLarge ? 100 : 70,
        updates: Int(seed % 3) * 10)
      try aged.fanout.writeSnapshot(to: path, identity: Self.identity, sequence: seed)
      #expect(try folder.names == ["snapshot"], label)
      let names = (0..<aged.fanout.userCount).map { aged.fanout.id(of: UserIndex(UInt32($0))) }
      #expect(aged.difference(5) == nil, label)
      // The first engine goes, and the file's name.
      aged.fanout = try Fanout(snapshot: path, identity: Self.identity, threads: 2)
      try folder.remove("snapshot")
      #expect(aged.fanout.snapshot?.sequence == seed, label)
      #expect(aged.fanout.snapshot?.identity == Self.identity, label)
      #expect(aged.fanout.version == 1, label)
      let found = (0..<aged.fanout.userCount).map { aged.fanout.id(of: UserIndex(UInt32($0))) }
      #expect(firstDifference(found, names) == nil, label)
      #expect(aged.difference() == nil, label)
    }
  }

  @Test(arguments: RuleSet.allCases)
  func updatesCopyWhatIsMapped(rules: RuleSet) throws {
    for seed in TestSupport.seeds(rules == .easemob ? [11, 12, 13] : [11]) {
      let label: Comment = "seed \(seed), \(rules.rawValue)"
      let folder = ScratchFolder()
      let path = folder.path("snapshot")
      var aged = try Aged(rules, seed, users: 90, density: 100, updates: 5)
      try aged.fanout.writeSnapshot(to: path, identity: Self.identity, sequence: 1)
      let before = try folder.bytes("snapshot")
      aged.fanout = try Fanout(snapshot: path, identity: Self.identity, threads: 1)
      var held: [(FanoutResult, [Row])] = []
      for _ in 0..<25 {
        var evaluator = ReferenceEvaluator(aged.model.settings)
        let message = aged.random.pick(aged.world.messages)
        held.append((aged.fanout.decide(message), evaluator.rows(message)))
        for _ in 0..<aged.random.pick([1, 4]) { try aged.update() }
      }
      #expect(aged.difference() == nil, label)
      #expect(try folder.bytes("snapshot") == before, label)
      // Into the next snapshot go what was mapped and what is new.
      try aged.fanout.writeSnapshot(to: path, identity: Self.identity, sequence: 2)
      let late = try Fanout(snapshot: path, identity: Self.identity, threads: 2)
      aged.fanout = late
      #expect(aged.fanout.snapshot?.sequence == 2, label)
      for _ in 0..<5 { try aged.update() }
      #expect(aged.difference() == nil, label)
      // Results outlive the engine, and with it the file that they were decided on.
      for (result, rows) in held.shuffled(using: &aged.random) {
        #expect(result.disagreement(with: rows) == nil, label)
      }
    }
  }

  /// Stored keys that are mapped are replaced when the app changes, written and opened again.
  @Test(arguments: RuleSet.allCases)
  func mappedKeysAreReplaced(rules: RuleSet) throws {
    for seed in TestSupport.seeds([21, 22]) {
      let label: Comment = "seed \(seed), \(rules.rawValue)"
      let folder = ScratchFolder()
      let path = folder.path("snapshot")
      var aged = try Aged(rules, seed, users: 90, density: 100, updates: 5)
      try aged.fanout.writeSnapshot(to: path, identity: Self.identity, sequence: 1)
      aged.fanout = try Fanout(snapshot: path, identity: Self.identity, threads: 1)
      for _ in 0..<3 {
        let change = aged.world.change(of: aged.model, changesApp: true)
        change.apply(to: &aged.model)
        try aged.fanout.update { (update) throws(FanoutError) in try change.apply(to: &update) }
        try aged.fanout.update { (update) throws(FanoutError) in try update.setApp(update.app) }
        #expect(aged.difference(10) == nil, label)
      }
      try aged.fanout.writeSnapshot(to: path, identity: Self.identity, sequence: 2)
      aged.fanout = try Fanout(snapshot: path, identity: Self.identity, threads: 2)
      #expect(aged.fanout.reading { $0.hasKeys }, label)
      #expect(aged.difference(10) == nil, label)
    }
  }

  /// Many ids, members and mutes, so that every table has several pages and nodes, and slots grow.
  @Test func tablesOfManyPages() throws {
    var builder = FanoutBuilder()
    let count = 20_000
    for number in 0..<count {
      var user = UserSettings()
      user.level = number % 3 == 0 ? .mention : .unset
      if number % 5 == 0 { user.mutedUntil = Instant(milliseconds: 1_711_843_200_000) }
      if number % 7 == 0 { user.devices = [Device(id: Identifier("d\(number % 900)"))] }
      let id = number % 1000 == 0 ? String(repeating: "L", count: 250 + number / 1000) : "U"
      try builder.setUser(Identifier("\(id)\(number)"), user)
      try builder.setMember(Identifier("\(id)\(number)"), of: Identifier("c\(number % 700)"))
      try builder.setMember(Identifier("\(id)\(number)"), of: "all")
    }
    let built = try builder.build(threads: 2)
    let folder = ScratchFolder()
    let path = folder.path("snapshot")
    try built.writeSnapshot(to: path, identity: Self.identity, sequence: 1)
    let opened = try Fanout(snapshot: path, identity: Self.identity, threads: 2)
    let message = Message(
      id: "m", conversation: "all", at: Instant(milliseconds: 1_711_843_000_000), sender: "U17")
    #expect(opened.decide(message).writtenCodes == built.decide(message).writtenCodes)
    for round in 0..<2 {
      for fanout in [built, opened] {
        try fanout.update { (update) throws(FanoutError) in
          for number in 0..<8000 {
            try update.setMember(Identifier("new\(round)-\(number)"), of: "all")
          }
          try update.setMember("U17", of: "c0", MemberSettings(level: .blocked))
        }
      }
    }
    #expect(opened.decide(message).writtenCodes == built.decide(message).writtenCodes)
    for number in stride(from: 0, to: count, by: 37) {
      let id = built.id(of: UserIndex(UInt32(number)))
      #expect(opened.user(id) == built.user(id))
    }
    let (report, whole) = (opened.memoryReport(), built.memoryReport())
    #expect(report.membershipCount == whole.membershipCount)
    #expect(report.mapped == opened.snapshot?.byteCount && whole.mapped == 0)
    #expect(report.total > whole.total / 2 && report.total < whole.total * 2)
  }

  @Test(arguments: RuleSet.allCases) func nobodyAtAll(rules: RuleSet) throws {
    let folder = ScratchFolder()
    let path = folder.path("snapshot")
    let app = AppSettings(rules: rules, timeZone: "Asia/Shanghai")
    try Fanout(app: app).writeSnapshot(to: path, identity: Self.identity, sequence: .max)
    let opened = try Fanout(snapshot: path, identity: Self.identity)
    #expect(opened.app == app && opened.userCount == 0 && opened.snapshot?.sequence == .max)
    try opened.update { (update) throws(FanoutError) in try update.setMember("u", of: "g") }
    let message = Message(id: "m", conversation: "g", at: Instant(milliseconds: 1_711_843_000_000))
    #expect(opened.decide(message).recipientCount == 1)
  }

  /// Each snapshot holds the version that it says, whatever is updated meanwhile.
  @Test func aSnapshotWhileOthersUpdateIsOneVersion() throws {
    let seed = TestSupport.seeds([7]).last ?? 7
    let world = RandomWorld(
      .easemob, seed: seed, userCount: 80, messageCount: 10,
      style: RandomWorld.Style(density: 100, isVaried: true))
    let model = ModelWorld(world)
    let fanout = try Fanout(model.settings, threads: 2)
    let ledger = ConcurrencyTests.Ledger(ConcurrencyTests.seconds, least: 8)
    ledger.keep(model.settings, for: 1)
    let folder = ScratchFolder()
    let label = "seed \(seed)"
    let snapshots: @Sendable (Int) -> Void = { number in
      let path = folder.path("snapshot-\(number)")
      while !ledger.isOver {
        do throws(SnapshotError) {
          try fanout.writeSnapshot(to: path, identity: Self.identity, sequence: { $0 })
          let opened = try Fanout(snapshot: path, identity: Self.identity, threads: 1)
          let version = opened.snapshot?.sequence ?? 0
          guard let settings = ledger.settings(of: version) else {
            ledger.report("\(label): version \(version) is of nobody")
            return
          }
          var evaluator = ReferenceEvaluator(settings)
          for message in world.messages {
            let difference = opened.decide(message).disagreement(with: evaluator.rows(message))
            if let difference { ledger.report("\(label), version \(version): \(difference)") }
          }
        } catch {
          ledger.report("\(error)")
        }
        ledger.checked.add(1, ordering: .relaxed)
      }
    }
    ConcurrencyTests.onThreads([
      { ConcurrencyTests.write(fanout, world, model, ledger, label) },
      { snapshots(0) }, { snapshots(1) },
    ])
    #expect(ledger.found.first == nil)
    #expect(try folder.names == ["snapshot-0", "snapshot-1"])
    #expect(fanout.version > 8)
  }
}
