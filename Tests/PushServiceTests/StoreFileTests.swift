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
