import Foundation
import PushFanout
import PushFiles
import PushReference
import PushModel
import PushStore
import Testing
import TestSupport

/// Goal: a world that goes through a store, or through its export, is decided as before; and the
/// export of an equal store is the same bytes.
@Suite struct StoreEqualityTests {
  static let worlds: [(rules: RuleSet, seed: UInt64)] = RuleSet.allCases.flatMap { rules in
    seeds([1, 2, 3, 4]).map { (rules, $0) }
  }

  @Test(.tags(.slow), .unlessFast, arguments: worlds)
  func aWorldGoesThroughAStoreAndItsExport(rules: RuleSet, seed: UInt64) throws {
    try ScratchFolder.with { folder in
      let world = RandomWorld(
        rules, seed: seed, messageCount: 60, style: .init(isVaried: seed % 2 == 0))
      let settings = world.settings()
      var reference = ReferenceEvaluator(settings)
      let expected = world.messages.map { reference.rows($0) }

      let store = try SettingsStore(folder.appending(path: "a").path, .create, threads: 1)
      try store.importSettings(settings, at: .zero)
      #expect(firstDifference(rows(store.fanout, world), expected) == nil)
      #expect(try store.reader.check() == [])
      #expect(try store.changes().map(\.change) == [.imported])
      let export = try export(store.reader, folder.appending(path: "a.ndjson"))
      try store.close()
      // What the engine followed is what is read back.
      let again = try SettingsStore(folder.appending(path: "a").path, .read, threads: 1)
      #expect(firstDifference(rows(again.fanout, world), expected) == nil)
      try again.close()

      let path = folder.appending(path: "b").path
      let read = try SettingsLoader.load(
        SettingsPaths(settings: [folder.appending(path: "a.ndjson").path]))
      try StoreImport(path).run(read, at: .zero, replacingApp: true)
      let copy = try SettingsStore(path, threads: 1)
      #expect(firstDifference(rows(copy.fanout, world), expected) == nil)
      #expect(try self.export(copy.reader, folder.appending(path: "b.ndjson")) == export)
      try copy.close()
    }
  }

  /// Records in two imports and in single writes come to the same.
  @Test(arguments: worlds)
  func importsReplaceRecordsAsFilesDo(rules: RuleSet, seed: UInt64) throws {
    try ScratchFolder.with { folder in
      let world = RandomWorld(rules, seed: seed)
      var random = SeededGenerator(seed: seed)
      let store = try SettingsStore(folder.appending(path: "a").path, .create, threads: 1)
      // Earlier records of some people and of all conversations, which go together, and then the
      // whole world.
      let other = RandomWorld(rules, seed: seed + 100)
      var app = world.app
      app.timeZone = "Asia/Tokyo"
      var first = FanoutSettings(app: app)
      var isChosen: [Identifier: Bool] = [:]
      for step in other.steps {
        switch step {
        case .app, .conversation: first.set(step)
        case .user(let id, _), .member(let id, _, _, _):
          let isKept = isChosen[id] ?? random.chance(50)
          isChosen[id] = isKept
          if isKept { first.set(step) }
        }
      }
      try store.importSettings(first, at: .zero)
      let before = try store.reader.settings()
      try store.importSettings(world.settings(), at: .zero, replacingApp: false)

      var expected = before
      for step in world.steps { expected.set(step) }
      var reference = ReferenceEvaluator(expected)
      let rows = world.messages.map { reference.rows($0) }
      #expect(store.fanout.app.timeZone == "Asia/Tokyo")
      #expect(firstDifference(self.rows(store.fanout, world), rows) == nil)
      #expect(try store.changes().map(\.sequence) == [1, 2])
      try store.close()
      let again = try SettingsStore(folder.appending(path: "a").path, .read, threads: 1)
      #expect(firstDifference(self.rows(again.fanout, world), rows) == nil)
      try again.close()
    }
  }

  private func rows(_ fanout: Fanout, _ world: RandomWorld) -> [[Row]] {
    world.messages.map { fanout.decide($0).rows }
  }

  private func export(_ reader: StoreReader, _ file: URL) throws -> Data {
    let output = try OutputFile(path: file.path)
    var writer = SettingsWriter(output)
    try reader.forEachRecord { record in
      try writer.write(record)
    }
    try output.finish()
    return try Data(contentsOf: file)
  }
}
