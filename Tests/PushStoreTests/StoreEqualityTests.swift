import Foundation
import PushContent
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

  /// A store that is made equal to another world decides as that one, and its feed says what changed;
  /// made equal once more, nothing changes.
  @Test(arguments: worlds)
  func aReplacedStoreIsTheOther(rules: RuleSet, seed: UInt64) throws {
    try ScratchFolder.with { folder in
      let (path, other) = (folder.appending(path: "a").path, folder.appending(path: "b").path)
      let before = RandomWorld(rules, seed: seed).settings()
      let world = RandomWorld(rules, seed: seed + 100)
      let settings = world.settings()
      let content = Self.content(settings.id(of: UserIndex(0)), rules)
      try StoreImport(path).run(before, at: .zero, replacingApp: true)
      try StoreImport(other).run(settings, content: content, at: .zero, replacingApp: true)

      let store = try SettingsStore(path, .write, threads: 1)
      for round in 0..<2 {
        try store.write(at: .zero) {
          try $0.replace(with: settings, content: content, replacingApp: true)
        }
        var reference = ReferenceEvaluator(settings)
        let expected = world.messages.map { message in
          reference.rows(message).map { "\(settings.id(of: UserIndex($0.user))) \($0.code)" }
            .sorted()
        }
        let found = world.messages.map { message in
          store.fanout.decide(message).rows.map {
            "\(store.fanout.id(of: UserIndex($0.user))) \($0.code)"
          }.sorted()
        }
        #expect(found == expected)
        #expect(try store.reader.check() == [])
        let lines = try [path, other].map { path in
          try export(StoreReader(path), folder.appending(path: "\(round)")).split(separator: 10)
            .map { String(decoding: $0, as: UTF8.self) }.sorted()
        }
        #expect(lines[0] == lines[1])
      }
      let entries = try store.changes()
      // Of what is equal there is none.
      let idle = entries.filter { entry in
        switch (entry.change, entry.user, entry.conversation) {
        case (.user, let user?, _):
          before.index(of: user) != nil
            && before.user(user) == settings.user(user) && content.user(user) == RecipientDisplay()
        case (.conversation, _, let id?): before.conversation(id) == settings.conversation(id)
        case (.member, let user?, let id?):
          member(user, id, before) == member(user, id, settings)
        case (.userRemoved, let user?, _): settings.index(of: user) != nil
        case (.memberRemoved, let user?, let id?): member(user, id, settings) != nil
        case (.conversationRemoved, _, let id?): settings.conversationIDs.contains(id)
        default: entry.sequence != 1 && entry.change != .app
        }
      }
      #expect(
        idle.map { "\($0.change) \($0.user?.text ?? "") \($0.conversation?.text ?? "")" } == [])
      #expect(entries.count > 10)
      try store.close()
    }
  }

  /// Under the rules that have displays, somebody's name.
  private static func content(_ user: Identifier, _ rules: RuleSet) -> ContentDirectory {
    var content = ContentDirectory()
    var display = RecipientDisplay()
    display.name = "Ann"
    if rules == .easemob { content.setUser(user, display) }
    return content
  }

  private func member(
    _ user: Identifier, _ conversation: Identifier, _ settings: FanoutSettings
  ) -> MemberSettings? {
    settings.index(of: user).flatMap { settings.member($0, of: conversation) }
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
