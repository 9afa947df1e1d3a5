import Foundation
import PushContent
import PushFanout
import PushFiles
import PushModel
import PushService
import PushStore
import PushStoreService
import TestSupport
import Testing

/// Goal: changes are made all or none, by an engine alone and by a store alike, and whoever follows
/// the events misses none.
@Suite struct ChangeTests {
  /// A service on a store in a folder of its own.
  private final class Stored {
    let path: String
    let service: FanoutService
    let store: SettingsStore

    init(_ path: String, _ access: SettingsStore.Access) throws {
      self.path = path
      store = try SettingsStore(path, access, threads: 1)
      service = try FanoutService(StoreBackend(store))
    }
  }

  /// What a change leaves: who gets a push, what they see, and the events.
  private func afterChanges(_ service: FanoutService) async throws -> [String] {
    let change = """
      {"kind":"user","id":"u5","display":{"name":"Ada"}}
      {"kind":"member","conversation":"g1","user":"u5"}
      {"kind":"member","conversation":"g1","user":"u3","level":"none"}
      """
    #expect(try await service.change(ndjson: Array(change.utf8), at: Sample.noon) == 3)
    let thread = """
      {"kind":"conversation","id":"t1","type":"thread","parent":"g1"}
      {"kind":"member","conversation":"t1","user":"u4","level":"none"}
      """
    #expect(
      try await service.change(ndjson: Array(thread.utf8), at: Sample.noon, from: "d1") == 2)
    var removal = SettingsBatch(FanoutSettings(app: service.app))
    removal.removedMembers = [SettingsBatch.Member("u4", of: "g1")]
    try await service.change(removal, at: Sample.noon)
    #expect(service.engine.member("u4", of: "t1") == nil)

    let decision = service.decide(
      Message(id: "m", conversation: "g1", at: Sample.noon, sender: "u5"),
      MessageContent(text: "Hi"))
    return decision.pushes.map { push in
      "\(push.id) \(push.payload().content.title) \(push.payload().content.body)"
    }
  }

  @Test func anEngineAndAStoreChangeAlike() async throws {
    let alone = try Sample.service()
    let folder = ScratchFolder()
    let stored = try Stored(folder.path("app.store"), .create)
    try await stored.service.change(ndjson: Array(Sample.settings.utf8), at: Sample.noon)

    let found = try await afterChanges(stored.service)
    #expect(try await afterChanges(alone) == found)
    #expect(found.count == 2)

    let feed = StoreBackend(stored.store)
    let removed = try feed.events().filter { $0.change == "memberRemoved" }
    #expect(removed.map(\.conversation) == ["g1", "t1"])
    #expect(removed.map(\.user) == ["u4", "u4"])
    let last = try #require(removed.last?.cursor)
    #expect(try feed.events(after: last) == [])
    #expect(throws: ServiceError.unknownCursor("nonsense")) {
      try feed.events(after: "nonsense")
    }
    #expect(throws: StoreError.self) { try feed.events(after: "1-00c0ffee00c0ffee") }
    try await stored.store.close()

    let again = try Stored(stored.path, .write)
    let kept = again.service.decide(Message(id: "m", conversation: "g1", at: Sample.noon))
    #expect(kept.pushes.map(\.id) == ["u1", "u2", "u5"])
    try await again.store.close()
  }

  @Test func whatIsWrongChangesNothing() throws {
    let service = try Sample.service()
    let wrong = """
      {"kind":"member","conversation":"g1","user":"u7"}
      {"kind":"conversation","id":"t9","type":"thread","parent":"nowhere"}
      """
    let problem = #expect(throws: FileProblem.self) {
      try service.change(ndjson: Array(wrong.utf8), at: Sample.noon)
    }
    #expect(problem?.file == "settings.ndjson")
    #expect(problem?.line == 2)
    #expect(service.members(of: "g1").ids == ["u1", "u2", "u3", "u4"])
    #expect(service.engine.version == 1)

    var batch = SettingsBatch(FanoutSettings(app: service.app))
    batch.settings.setMember("u7", of: "g1", MemberSettings())
    batch.removedMembers = [SettingsBatch.Member("u8", of: "g1")]
    #expect(throws: FanoutError.unknownUser("u8")) { try service.change(batch, at: Sample.noon) }
    #expect(service.members(of: "g1").ids == ["u1", "u2", "u3", "u4"])
    let foreign = SettingsBatch(FanoutSettings(app: AppSettings(rules: .rongcloud)))
    #expect(throws: ServiceError.rulesDiffer(engine: .easemob, batch: .rongcloud)) {
      try service.change(foreign, at: Sample.noon)
    }
  }
}
