import PushFiles
import PushModel
import PushService
import PushStore
import PushStoreService
import TestSupport
import Testing

/// Goal: files go into a store, and out of it, by one call each.
@Suite struct StoreFileTests {
  @Test func filesAreImportedAndExported() throws {
    let folder = ScratchFolder()
    let path = folder.path("app.store")
    let rows = "id,level\nu3,mention\nu8,none\n"
    let steps = Locked<[String]>([])
    let files = SettingsPaths(
      settings: ["world.ndjson"], users: ["users.csv"],
      contents: ["world.ndjson": Array(Sample.settings.utf8), "users.csv": Array(rows.utf8)])
    let done = try StoreImport(path).run(files, at: Sample.noon) { step in
      let name =
        switch step {
        case .reading: "reading"
        case .read: "read"
        case .importing: "importing"
        case .imported: "imported"
        }
      steps.withLock { if $0.last != name { $0.append(name) } }
    }
    #expect(done.recordCount == 10 && done.userCount == 5 && done.snapshotProblem == nil)
    #expect(steps.withLock { $0 }.filter { $0 != "reading" } == ["read", "importing", "imported"])
    #expect(try folder.names == ["app.store", "app.store.snapshot"])

    let exports = try ["a", "b"].map { name -> [UInt8] in
      let output = try OutputFile(path: folder.path("\(name).ndjson"))
      let reader = try StoreReader(path)
      #expect(try reader.export(to: output) == 11)
      try output.finish()
      try reader.close()
      return try folder.bytes("\(name).ndjson")
    }
    #expect(exports[0] == exports[1])
    // What is exported is what was imported.
    let direct = try FanoutService(files, threads: 1)
    let again = try FanoutService(ndjson: exports[0], threads: 1)
    let messages = Array(Sample.messages.utf8)
    #expect(try again.decide(ndjson: messages) == direct.decide(ndjson: messages))
    #expect(try again.render(ndjson: messages) == direct.render(ndjson: messages))
  }

  /// A new store's rows are made of the engine's tables: they are those of the values, in their order,
  /// and the snapshot is that of the rows.
  @Test(arguments: RuleSet.allCases, [1, 2, 3, 4] as [UInt64])
  func aNewStoreHasTheRowsOfTheValues(rules: RuleSet, seed: UInt64) throws {
    let world = RandomWorld(rules, seed: seed, style: .init(isVaried: true))
    var lines = [Self.line(.app(world.app), rules, [:])]
    var kinds: [Identifier: ConversationKind] = [:]
    for step in world.steps {
      if case .conversation(let id, let settings) = step { kinds[id] = settings.kind }
      lines.append(Self.line(step, rules, kinds))
    }
    try expectEqualStores(lines, rows: ["users.csv": "id,timeZone\nnew,\nu1,Asia/Tokyo\n"])
  }

  /// A thread before its parent, a parent that is only named by a group, names and nicknames.
  @Test func conversationsKeepTheirOrder() throws {
    let lines = [
      #"{"kind":"app","rules":"easemob"}"#,
      #"{"kind":"conversation","id":"t","type":"thread","parent":"late"}"#,
      #"{"kind":"member","conversation":"only","user":"zoe","since":5}"#,
      #"{"kind":"member","conversation":"g","user":"ann","level":"none","nickname":"A"}"#,
      #"{"kind":"user","id":"zoe","display":{"name":"Zoë"},"remarks":{"ann":"Annie"}}"#,
      #"{"kind":"conversation","id":"empty","name":"Nobody"}"#,
      #"{"kind":"conversation","id":"late"}"#,
      #"{"kind":"member","conversation":"late","user":"zoe"}"#,
      #"{"kind":"member","conversation":"t","user":"zoe","level":"all","mutedUntil":9}"#,
    ]
    try expectEqualStores(
      lines, rows: ["members.csv": "conversation,user,level\nrow,bob,none\nlate,ann,\n"])
  }

  private static func line(
    _ record: SettingsRecord, _ rules: RuleSet, _ kinds: [Identifier: ConversationKind]
  ) -> String {
    let bytes =
      switch record {
      case .app(let app): SettingsEncoder.app(app)
      case .user(let id, let user): SettingsEncoder.user(id, user, rules)
      case .conversation(let id, let settings): SettingsEncoder.conversation(id, settings, rules)
      case .member(let user, let id, let member, _):
        SettingsEncoder.member(user, of: id, kinds[id] ?? .group, member, rules)
      }
    return String(decoding: bytes.dropLast(), as: UTF8.self)
  }

  /// Imports files and the values of the same files into two stores.
  private func expectEqualStores(_ lines: [String], rows: [String: String]) throws {
    let folder = ScratchFolder()
    var contents = rows.mapValues { Array($0.utf8) }
    contents["world.ndjson"] = Array((lines.joined(separator: "\n") + "\n").utf8)
    let files = SettingsPaths(
      settings: ["world.ndjson"], users: rows.keys.filter { $0 == "users.csv" },
      members: rows.keys.filter { $0 == "members.csv" }, contents: contents)
    let done = try StoreImport(folder.path("files")).run(files, at: Sample.noon)
    #expect(done.snapshotProblem == nil)
    var settings = FanoutSettings()
    let loaded = try SettingsLoader.load(
      files, into: &settings, LoadOptions(readsContent: true, marksRows: true))
    try StoreImport(folder.path("values")).run(
      settings, content: loaded.content, partial: loaded.rows, at: Sample.noon, replacingApp: true)
    #expect(done.recordCount == loaded.recordCount && done.userCount == settings.userCount)
    var exports: [[UInt8]] = []
    for name in ["files", "values"] {
      let reader = try StoreReader(folder.path(name))
      #expect(try reader.check() == [])
      let output = try OutputFile(path: folder.path("\(name).ndjson"))
      try reader.export(to: output)
      try output.finish()
      exports.append(try folder.bytes("\(name).ndjson"))
      // What was declared, and what was only named.
      for number in 0..<UInt32(settings.userCount) {
        let user = UserIndex(number)
        let expected = settings.isDeclared(user) ? settings.user(user) : nil
        #expect(try reader.user(settings.id(of: user)) == expected)
      }
      for id in settings.conversationIDs {
        let isDeclared = (try? reader.record(of: nil, in: id)) != nil
        #expect(isDeclared == settings.isDeclared(id), "\(id)")
      }
      try reader.close()
    }
    #expect(exports[0] == exports[1])
    let store = try SettingsStore(folder.path("files"), .read, threads: 1)
    #expect(store.opening == .snapshot(sequence: 1, changes: 0))
    try store.close()
  }

  @Test func aBadLineImportsNothing() throws {
    let folder = ScratchFolder()
    let wrong = SettingsPaths(Array((Sample.settings + "\n{}\n").utf8), name: "bad.ndjson")
    let problem = #expect(throws: FileProblem.self) {
      try StoreImport(folder.path("app.store")).run(wrong, at: Sample.noon)
    }
    #expect(problem?.file == "bad.ndjson" && problem?.line == 9)
    #expect(try folder.names == [])
  }
}
