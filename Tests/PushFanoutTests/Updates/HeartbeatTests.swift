@testable import PushFanout
import PushModel
import PushReference
import TestSupport
import Testing

/// Goal: what heartbeats say of devices decides as settings with those devices do, while settings
/// change and connections expire, on an engine and along a timeline; and what is set stays as it is.
@Suite struct HeartbeatTests {
  /// What heartbeats said, kept beside a model.
  private struct Told {
    private struct Key: Hashable {
      let user: Identifier
      let device: Identifier
    }
    private var known: [Key: (heartbeat: Heartbeat, set: Device)] = [:]

    private static func devices(_ user: Identifier, _ model: ModelWorld) -> [Device] {
      (model.declared[user] ?? UserSettings()).effectiveDevices
    }

    /// - Returns: whether the device is known.
    mutating func add(_ heartbeat: Heartbeat, _ model: ModelWorld) -> Bool {
      guard model.users.contains(heartbeat.user) else { return false }
      let devices = Self.devices(heartbeat.user, model)
      guard let set = devices.first(where: { $0.id == heartbeat.device }) else { return false }
      known[Key(user: heartbeat.user, device: heartbeat.device)] = (heartbeat, set)
      return true
    }

    /// What is told of a device ends with it, and when its state is set anew.
    mutating func follow(_ model: ModelWorld) {
      known = known.filter { key, told in
        Self.devices(key.user, model).contains {
          $0.id == key.device && ($0.state, $0.seenAt) == (told.set.state, told.set.seenAt)
        }
      }
    }

    func settings(_ model: ModelWorld) -> FanoutSettings {
      var model = model
      for (key, told) in known {
        var user = model.declared[key.user] ?? UserSettings()
        user.devices = user.effectiveDevices.map { device in
          var device = device
          if device.id == key.device {
            (device.state, device.seenAt) = (told.heartbeat.state, told.heartbeat.seenAt)
          }
          return device
        }
        model.setUser(key.user, user)
      }
      return model.settings
    }
  }

  private static func outcomes(_ settings: FanoutSettings, _ message: Message) -> [String] {
    var evaluator = ReferenceEvaluator(settings)
    var found: [String] = []
    evaluator.decide(message) {
      found.append("\(settings.id(of: $0)) \($1.outcome.key) \($1.devices)")
    }
    return found
  }

  private static func outcomes(_ result: FanoutResult) -> [String] {
    var found: [String] = []
    result.forEachRecipient {
      found.append("\(result.id(of: $0)) \($1.key) \(result.devices(of: $0))")
    }
    return found
  }

  /// Conversations whose keys are read from the tables, are counted for each message, and have
  /// tallies.
  @Test(arguments: [12, 180, 600])
  func asDevicesOfTheSettings(userCount: Int) throws {
    var onlineCount = 0
    for seed in TestSupport.seeds(userCount < 600 ? [1, 2, 3, 4] : [5]) {
      onlineCount += try run(seed, userCount)
    }
    #expect(onlineCount > 100)
  }

  private func run(_ seed: UInt64, _ userCount: Int) throws -> Int {
    var world = RandomWorld(
      .open, seed: seed, userCount: userCount, messageCount: 40,
      style: RandomWorld.Style(density: userCount > 100 ? 100 : 70, isVaried: true))
    var random = SeededGenerator(seed: seed ^ 0xBEA7)
    var model = ModelWorld(world)
    var told = Told()
    let fanout = try Fanout(model.settings, threads: 1)
    let timeline = FanoutTimeline(fanout.currentVersion)
    timeline.keepsLargeConversations = seed == 2
    var now = RandomWorld.noon
    var onlineCount = 0
    for step in 0..<40 {
      var changes: [RandomChange] = []
      for _ in 0..<random.pick([0, 0, 1, 2]) {
        let change = world.change(of: model, changesApp: step % 10 == 9)
        change.apply(to: &model)
        told.follow(model)
        changes.append(change)
      }
      var heartbeats: [(Heartbeat, isKnown: Bool)] = []
      for _ in 0..<random.pick([0, 1, 3, 40]) {
        let seen = random.pick([0, 0, 1000, 80_000, 100_000, -5000])
        let heartbeat = Heartbeat(
          user: random.chance(98) ? random.pick(world.users) : "nobody",
          device: random.pick(["d0", "d1", "d2", "default"]),
          state: random.chance(70) ? .foreground : random.pick(Device.State.allCases),
          seenAt: random.chance(90) ? Instant(milliseconds: now - Int64(seen)) : nil)
        heartbeats.append((heartbeat, told.add(heartbeat, model)))
      }
      try fanout.update { (update) throws(FanoutError) in
        for change in changes { try change.apply(to: &update) }
      }
      let before = fanout.settingsVersion
      let refused = fanout.setPresence(heartbeats.map(\.0)).map(\.position)
      #expect(refused == heartbeats.indices.filter { !heartbeats[$0].isKnown }, "seed \(seed)")
      #expect(fanout.settingsVersion == before && fanout.version == before + 1)
      timeline.follow(fanout.currentVersion)
      let settings = told.settings(model)
      #expect(model.disagreement(with: fanout) == nil, "seed \(seed), step \(step)")
      now += random.pick([1, 1000, 60_000, 90_000, 900_000])
      for _ in 0..<3 {
        var message = random.pick(world.messages)
        let shift = random.chance(30) ? random.pick([-86_400, -90, -1, 1, 89, 3600]) : 0
        message.at = Instant(milliseconds: now + Int64(shift) * 1000)
        if random.chance(70) { message.sentAt = nil }
        let label: Comment = "seed \(seed), step \(step), \(message)"
        let expected = Self.outcomes(settings, message)
        #expect(Self.outcomes(fanout.decide(message)) == expected, label)
        _ = timeline.counts(message)
        #expect(Self.outcomes(timeline.result) == expected, label)
        onlineCount += expected.count { $0.contains("online") }
      }
    }
    try checkSnapshot(of: fanout, model, world, seed)
    return onlineCount
  }

  /// A snapshot has the settings alone, and so has an engine under other rules and back.
  private func checkSnapshot(
    of fanout: Fanout, _ model: ModelWorld, _ world: RandomWorld, _ seed: UInt64
  ) throws {
    let folder = ScratchFolder()
    let path = folder.path("engine.snapshot")
    try fanout.writeSnapshot(to: path, identity: SnapshotTests.identity, sequence: 1)
    let opened = try Fanout(snapshot: path, identity: SnapshotTests.identity)
    opened.checkInvariants(.all)
    #expect(model.disagreement(with: opened) == nil, "seed \(seed)")
    for message in world.messages {
      #expect(
        Self.outcomes(opened.decide(message)) == Self.outcomes(model.settings, message),
        "seed \(seed), \(message)")
    }
    #expect(opened.currentVersion.engineVersion.tables.devices.toldUsers == 0)
  }

  /// An explanation and the records beside it have devices as heartbeats say.
  @Test func recordsAreAsTold() throws {
    var settings = FanoutSettings(app: AppSettings(rules: .open))
    settings.setMember("u", of: "c")
    let fanout = try Fanout(settings, threads: 1)
    let beat = Heartbeat(
      user: "u", device: "default", state: .foreground, seenAt: Instant(milliseconds: 5))
    #expect(fanout.setPresence([beat]).isEmpty)
    let records = fanout.currentVersion.records(of: "u", in: "c")
    guard case .user(_, let told)? = records.dropFirst().first else {
      Issue.record("no user in \(records)")
      return
    }
    #expect(told.devices?.map(\.state) == [.foreground])
    #expect(told.devices?.map(\.seenAt) == [Instant(milliseconds: 5)])
    #expect(fanout.user("u") == UserSettings())
    try fanout.update { (update) throws(FanoutError) in try update.removeUser("u") }
    #expect(fanout.currentVersion.engineVersion.tables.devices.toldUsers == 0)
  }

  /// Rules whose devices have settings alone.
  @Test(arguments: RuleSet.vendors) func vendorsHaveNone(rules: RuleSet) throws {
    var settings = FanoutSettings(app: AppSettings(rules: .open))
    settings.setMember("u", of: "c")
    let fanout = try Fanout(settings, threads: 1)
    let beat = Heartbeat(user: "u", device: "default", state: .foreground, seenAt: nil)
    #expect(fanout.setPresence([beat]).isEmpty)
    let message = Message(id: "m", conversation: "c", at: .zero)
    #expect(fanout.decide(message).counts.pushCount == 0)
    try fanout.update { (update) throws(FanoutError) in
      try update.setApp(AppSettings(rules: rules))
    }
    #expect(fanout.decide(message).counts.pushCount == 1)
    #expect(fanout.setPresence([beat]).map(\.error) == [.noHeartbeats(rules)])
  }
}
