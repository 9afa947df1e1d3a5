import Foundation
import PushModel
import PushStore
import Testing
import TestSupport

/// Goal: whatever the instant at which a writing process dies, every write that it acknowledged is
/// there afterwards, none is there in part, and the snapshot gives the engine that the tables give.
@Suite(.serialized) struct CrashTests {
  private static let kills =
    ProcessInfo.processInfo.environment["PUSH_KILLS"].flatMap { Int($0) } ?? 15
  private static let seed =
    ProcessInfo.processInfo.environment["PUSH_SEED"].flatMap { UInt64($0) }
    ?? UInt64.random(in: 0..<1_000_000)

  @Test func nothingAcknowledgedIsLost() throws {
    print("crash test: \(Self.kills) kills, PUSH_SEED=\(Self.seed)")
    var random = SeededGenerator(seed: Self.seed)
    var left = Self.kills
    var total = Total()
    var more = 10
    while left > 0 || (total.isPoor && more > 0) {
      // A new store now and then: a long feed only makes the checks slow. On a slow machine, until
      // there was something to lose.
      let kills = left > 0 ? min(left, 40) : Self.kills
      if left > 0 { left -= kills } else { more -= 1 }
      try ScratchFolder.with { try killAgainAndAgain(kills, in: $0, &random, &total) }
    }
    print(
      """
      crash test: \(total.kills) kills, \(total.writes) acknowledged writes, nothing lost; \
      \(total.snapshots) snapshots written, \(total.cut) kills while one was being written, \
      \(total.mapped) openings by one
      """)
    #expect(!total.isPoor)
  }

  private struct Total {
    var kills = 0
    var writes = 0
    var snapshots = 0
    /// Kills that left an unfinished snapshot behind.
    var cut = 0
    var mapped = 0
    var isPoor: Bool { writes == 0 || snapshots == 0 || mapped == 0 }
  }

  private func killAgainAndAgain(
    _ kills: Int, in folder: URL, _ random: inout SeededGenerator, _ total: inout Total
  ) throws {
    let path = folder.appending(path: "settings.store").path
    var models = (0..<4).map { WriterModel(writer: $0, imports: $0 == 3) }
    var acknowledged = [Int64](repeating: 0, count: models.count)
    for kill in 0..<kills {
      let writer = try StoreWriter(
        ["write", path, "3", "1", "1000000", "--snapshots", "yes"], in: folder)
      // Mostly while it writes; sometimes while it opens what the last one left.
      if random.chance(85) { try writer.wait(for: "ready") }
      Thread.sleep(forTimeInterval: Double.random(in: 0...0.25, using: &random))
      writer.kill()
      total.kills += 1
      for (place, number) in writer.acknowledged { acknowledged[place] = number }
      #expect(writer.errors == [])
      total.snapshots += writer.lines.count { $0 == "snapshot" }
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      total.cut += names.contains { $0.hasPrefix("settings.store.snapshot.tmp-") } ? 1 : 0

      let store = try SettingsStore(path, .create)
      if case .snapshot = store.opening { total.mapped += 1 }
      for place in models.indices {
        models[place].check(store, acknowledged: acknowledged[place])
        // One that was not acknowledged but is there counts from now on.
        acknowledged[place] = models[place].count
      }
      if kill % 4 == 3 || kill == kills - 1 { #expect(try store.reader.check() == []) }
      try store.close()
      let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(!left.contains { $0.contains(".tmp-") })
    }
    total.writes += acknowledged.reduce(0) { $0 + Int($1) }
  }
}
