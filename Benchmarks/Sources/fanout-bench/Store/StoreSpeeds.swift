import ArgumentParser
import BenchSupport
import Foundation
import PushFanout
import PushModel
import PushStore
import Synchronization

/// The speeds of the store that must hold, each beside its must.
struct StoreSpeeds: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store",
    abstract: """
      Measures imports, durable writes, their visibility, decisions beside them, openings, compaction, \
      and changes of a live renderer.
      """)

  @Option(help: "Users that are imported; a membership each, 40 % with settings.")
  var users = 1_000_000

  @Option(help: "Users of the store that is opened, with five memberships each.")
  var openedUsers = 10_000_000

  @Option(
    help: "Users of the import that is compared with plain SQLite, with ten memberships each.")
  var plainUsers = 1_000_000

  @Flag(help: "Only that comparison.")
  var onlyPlain = false

  @Option(help: "Entries of the feed that is compacted.")
  var feedEntries = 10_000_000

  @Option(help: "People with display settings of the live renderer.")
  var people = 1_000_000

  @Flag(help: "Only the compaction and the live renderer.")
  var onlyOperation = false

  @Option(help: "Seconds that each kind of measurement goes on.")
  var seconds = 3.0

  @Option(help: "A folder on the disk that counts.")
  var folder = NSTemporaryDirectory()

  func run() throws {
    let place = URL(filePath: folder).appending(
      path: "fanout-bench-store-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: place) }
    if onlyOperation { return try operation(place) }
    try PlainImport(world: StoreWorld(users: plainUsers, memberships: 10)).measure(in: place)
    if onlyPlain { return }
    let settings = world.settings
    try importAlone(settings, place)
    let store = try SettingsStore(place.appending(path: "store").path, .create)
    try importIntoOpen(settings, store)
    try writes(store)
    try visibility(store)
    try decisionsBesideWrites(store)
    try store.close()
    try Opening(users: openedUsers).measure(in: place)
    try operation(place)
  }

  private func operation(_ folder: URL) throws {
    LiveRendering(people: people).measure()
    try Compaction(entries: feedEntries).measure(in: folder)
  }

  private var world: StoreWorld { StoreWorld(users: users) }

  // MARK: Imports

  private func importAlone(_ settings: FanoutSettings, _ folder: URL) throws {
    let path = folder.appending(path: "alone").path
    for what in ["import into a new store", "the same again, every record replaced"] {
      let time = try BenchSupport.seconds {
        try StoreImport(path).run(settings, at: .zero, replacingApp: true)
      }
      sayImport(what, time)
    }
    try FileManager.default.removeItem(atPath: path)
  }

  private func importIntoOpen(_ settings: FanoutSettings, _ store: SettingsStore) throws {
    let time = try BenchSupport.seconds { try store.importSettings(settings, at: .zero) }
    require(store.fanout.userCount == users, "the engine has the import")
    sayImport("import into an open store, visible", time)
  }

  private func sayImport(_ what: String, _ time: Double) {
    let rate = Double(2 * users) / time
    say(what, "\(Int(rate)) records/s", must: ">= 200000", rate >= 200_000)
  }

  // MARK: Writes

  /// Changes one user's mute, `rate` times a second by each of so many writers, until the time is
  /// over; as often as it can without a rate.
  ///
  /// - Parameter meanwhile: what this thread does until then.
  private func write(
    _ store: SettingsStore, writers: Int, seconds: Double, rate: Double? = nil,
    meanwhile: () -> Void = {}
  ) throws -> Int {
    let end = ContinuousClock.now + .seconds(seconds)
    let users = users
    let written = Mutex(Result<Int, any Error>.success(0))
    @Sendable func changes(by writer: Int) throws -> Int {
      var count = 0
      var next = ContinuousClock.now
      while ContinuousClock.now < end {
        let id = BenchWorld.userID((writer * 7919 + count * 104_729) % users)
        let until = Instant(milliseconds: BenchWorld.start + Int64(count) * 1000)
        try store.write(at: .zero) { write in
          try write.updateUser(id, .userMute) { $0.mutedUntil = until }
        }
        count += 1
        guard let rate else { continue }
        next += .seconds(1 / rate)
        Thread.sleep(forTimeInterval: max(0, (next - ContinuousClock.now) / .seconds(1)))
      }
      return count
    }
    let threads = Threads(
      (0..<writers).map { writer in
        {
          let count = Result { try changes(by: writer) }
          written.withLock { sum in sum = sum.flatMap { sum in count.map { sum + $0 } } }
        }
      })
    meanwhile()
    threads.wait()
    return try written.withLock { try $0.get() }
  }

  private func writes(_ store: SettingsStore) throws {
    for writers in [1, 8, 64] {
      let count = try write(store, writers: writers, seconds: seconds)
      let rate = Double(count) / seconds
      let must = writers == 1 ? "anything" : ">= 5000"
      say(
        "durable single writes, \(writers) at a time", "\(Int(rate)) writes/s", must: must,
        writers == 1 || rate >= 5000)
    }
  }

  /// From the acknowledgement of a write to the first decision that follows it.
  private func visibility(_ store: SettingsStore) throws {
    var times: [Double] = []
    let now = Instant(milliseconds: BenchWorld.start)
    for number in 0..<500 {
      // Somebody whose membership has no level of its own.
      let user = (number * 104_729) % (users / 5) * 5 + 4
      let id = BenchWorld.userID(user)
      let isMuted = number % 2 == 0
      try store.write(at: now) { try $0.setUser(id, Self.always(isMuted)) }
      let message = Message(id: "m", conversation: world.group(of: user), at: now)
      let start = ContinuousClock.now
      let expected: Action = isMuted ? .suppress : .push
      while store.fanout.decision(message, for: id)?.outcome.action != expected {
        require(ContinuousClock.now - start < .seconds(5), "a write never became visible")
      }
      times.append((ContinuousClock.now - start) / .milliseconds(1))
    }
    let worst = times.max() ?? 0
    say(
      "acknowledged to visible, the worst of 500",
      "\(text(worst, digits: 4)) ms", must: "<= 1", worst <= 1)
  }

  private static func always(_ isMuted: Bool) -> UserSettings {
    var settings = UserSettings()
    settings.level = isMuted ? .blocked : .all
    return settings
  }

  // MARK: Decisions

  /// Messages to all groups in turn, alone and beside a thousand writes a second, in turns.
  private func decisionsBesideWrites(_ store: SettingsStore) throws {
    var (alone, beside) = (Samples(), Samples())
    var written = 0
    for round in 0..<10 {
      alone.add(decide(store))
      let count = try write(store, writers: 10, seconds: seconds / 3 + 0.2, rate: 100) {
        Thread.sleep(forTimeInterval: 0.1)
        beside.add(decide(store))
      }
      if round > 0 { written += count }
    }
    let share = beside.median / alone.median
    let rate = Double(written) / 9 / (seconds / 3 + 0.2)
    say(
      "decisions beside \(Int(rate)) writes/s, of those alone",
      "\(text(share * 100, digits: 1)) %", must: ">= 90 %", share >= 0.9)
    show("decisions alone: \(Int(alone.median)) messages of 1000 members a second")
  }

  /// - Returns: messages a second.
  private func decide(_ store: SettingsStore) -> Double {
    let groups = world.groupCount
    let now = Instant(milliseconds: BenchWorld.start)
    let end = ContinuousClock.now + .seconds(seconds / 3)
    let start = ContinuousClock.now
    var count = 0
    var pushes = 0
    var result = FanoutResult()
    while ContinuousClock.now < end {
      for _ in 0..<64 {
        let message = Message(id: "m", conversation: Identifier("g\(count % groups)"), at: now)
        store.fanout.decide(message, into: &result)
        pushes &+= result.pushCount
        count += 1
      }
    }
    keep(pushes)
    return Double(count) / ((ContinuousClock.now - start) / .seconds(1))
  }
}
