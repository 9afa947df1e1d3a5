import Foundation
import PushContent
import PushFanout
import PushModel
import PushStore
import Testing
import TestSupport

/// Goal: whatever the instant at which a writing process dies, every write that it acknowledged is
/// there afterwards, none is there in part, and the snapshot gives the engine that the tables give.
/// An erasure that it acknowledged has left no byte of the id in any file, and one that it did not
/// is complete or has not begun.
///
/// Four writers change, remove and import records, while a thread makes the engine's tables again and
/// writes snapshots, one erases users and one compacts the feed.
@Suite(.serialized) struct CrashTests {
  private static let kills =
    ProcessInfo.processInfo.environment["PUSH_KILLS"].flatMap { Int($0) } ?? 15
  private static let seed = TestSupport.seed(1)

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
      \(total.removals) of them with a removal, \(total.erasures) erasures, \(total.begun) kills \
      during one, \(total.compactions) compactions, \(total.snapshots) snapshots written, \(total.cut) kills while one was being written, \
      \(total.mapped) openings by one
      """)
    #expect(!total.isPoor)
  }

  private struct Total {
    var kills = 0
    var writes = 0
    var removals = 0
    var erasures = 0
    /// Kills after a user to be erased was made, and before the erasure was acknowledged.
    var begun = 0
    var compactions = 0
    var snapshots = 0
    /// Kills that left an unfinished snapshot behind.
    var cut = 0
    var mapped = 0
    var isPoor: Bool {
      [writes, removals, erasures, compactions, snapshots, mapped].contains(0)
    }
  }

  private static let secret = "the-secret-id"

  /// The numbers of the erased users of which bytes are in the files of a store.
  private func traces(in folder: URL) throws -> Set<Int64> {
    let start = Data("\(Self.secret)-1".utf8)
    var found: Set<Int64> = []
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
    where name.hasPrefix("settings.store") {
      // A file may go while a process ends.
      guard let data = try? Data(contentsOf: folder.appending(path: name)) else { continue }
      var rest = data.startIndex..<data.endIndex
      while let place = data.range(of: start, in: rest) {
        let digits = data[place.upperBound...].prefix(6)
        found.insert(Int64(String(decoding: digits, as: UTF8.self)) ?? -1)
        rest = place.upperBound..<data.endIndex
      }
    }
    return found
  }

  /// Checks what is left of the users that were erased, after the store was opened again.
  ///
  /// - Parameters:
  ///   - erased: the number of the last erasure that was acknowledged.
  ///   - made: the number of the last user that was known to be made.
  private func checkErasures(
    _ store: SettingsStore, in folder: URL, erased: Int64, made: Int64
  ) throws {
    let count = store.fanout.user("erasures")?.mutedUntil.milliseconds ?? 0
    #expect((made...made + 1).contains(count))
    let found = try traces(in: folder)
    for number in stride(from: max(1, erased), through: count, by: 1) {
      let id = ErasedUser.id(Self.secret, number)
      let state = [
        store.fanout.user(id) == ErasedUser.settings,
        store.fanout.member(id, of: ErasedUser.group) == ErasedUser.member,
        try store.pushDisplay(of: "erasures").remarks[id] == "remark", found.contains(number),
      ]
      let isGone = store.fanout.user(id) == nil && !found.contains(number)
      if number <= erased {
        #expect(isGone, "erased \(number): \(state)")
      } else {
        #expect(isGone || state == [true, true, true, true], "\(number): \(state)")
      }
    }
    #expect(found.allSatisfy { $0 > erased }, "\(erased): \(found)")
  }

  private func killAgainAndAgain(
    _ kills: Int, in folder: URL, _ random: inout SeededGenerator, _ total: inout Total
  ) throws {
    let path = folder.appending(path: "settings.store").path
    var models = (0..<4).map { WriterModel(writer: $0, imports: $0 == 3) }
    var acknowledged = [Int64](repeating: 0, count: models.count)
    var (erased, made): (Int64, Int64) = (0, 0)
    for kill in 0..<kills {
      let writer = try StoreWriter(
        [
          "write", path, "3", "1", "1000000", "--snapshots", "yes", "--erasures", Self.secret,
          "--compactions", "yes",
        ], in: folder)
      // Mostly while it writes; sometimes while it opens what the last one left.
      if random.chance(85) { try writer.wait(for: "ready") }
      // An erasure takes longer than other writes.
      let longest = random.pick([0.1, 0.4, 1.2])
      Thread.sleep(forTimeInterval: Double.random(in: 0...longest, using: &random))
      writer.kill()
      total.kills += 1
      for (place, number) in writer.acknowledged { acknowledged[place] = number }
      #expect(writer.errors == [])
      total.snapshots += writer.lines.count { $0 == "snapshot" }
      erased = writer.last("erased") ?? erased
      made = writer.last("made") ?? made
      // As the process left them.
      #expect(try traces(in: folder).allSatisfy { $0 > erased })
      total.erasures += writer.lines.count { $0.hasPrefix("erased ") }
      total.begun += made > erased ? 1 : 0
      total.compactions += writer.lines.count { $0.hasPrefix("compacted ") }
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      total.cut += names.contains { $0.hasPrefix("settings.store.snapshot.tmp-") } ? 1 : 0

      let store = try SettingsStore(path, .create)
      if case .snapshot = store.opening { total.mapped += 1 }
      for place in models.indices {
        models[place].check(store, acknowledged: acknowledged[place])
        // One that was not acknowledged but is there counts from now on.
        acknowledged[place] = models[place].count
      }
      try checkErasures(store, in: folder, erased: erased, made: made)
      made = store.fanout.user("erasures")?.mutedUntil.milliseconds ?? 0
      if store.fanout.user(ErasedUser.id(Self.secret, made)) == nil { erased = made }
      #expect(try store.reader.startOfFeed().sequence >= writer.last("compacted") ?? 0)
      if kill % 4 == 3 || kill == kills - 1 { #expect(try store.reader.check() == []) }
      try store.close()
      let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(!left.contains { $0.contains(".tmp-") })
    }
    total.writes += acknowledged.reduce(0) { $0 + Int($1) }
    total.removals += acknowledged.dropLast().reduce(0) { $0 + Int($1 / 4) - Int($1 / 16) }
  }
}
