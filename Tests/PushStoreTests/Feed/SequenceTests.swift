import Foundation
import PushModel
import TestSupport
import Testing

@testable import PushStore

/// Goal: a write gets the number by which others wait for it, and a store says which it is.
@Suite struct SequenceTests {
  @Test func aWriteIsVisibleAtItsNumber() async throws {
    let folder = ScratchFolder()
    let store = try SettingsStore(folder.path("settings.store"), .create, threads: 1)
    #expect(store.visibleSequence == 0)
    let first = try await store.write(at: .zero) { write in
      try write.setMember("u1", of: "g")
      try write.setMember("u2", of: "g")
      return try write.sequence
    }
    #expect(first == 2)
    #expect(store.visibleSequence == 2)
    #expect(await store.waitUntilVisible(2))
    async let later = store.waitUntilVisible(3)
    try await store.write(at: .zero) { try $0.setMember("u3", of: "g") }
    #expect(await later)
    let never = Task { await store.waitUntilVisible(9) }
    never.cancel()
    #expect(await never.value == false)
    async let closed = store.waitUntilVisible(9)
    try await store.close()
    #expect(await closed == false)
  }

  /// An engine that could not follow a commit follows no later one: nobody waits for it.
  @Test(.timeLimit(.minutes(1))) func nobodyWaitsForAnEngineThatFollowsNoMore() async throws {
    let folder = ScratchFolder()
    let store = try SettingsStore(folder.path("settings.store"), .create, threads: 1)
    try await store.write(at: .zero) { try $0.setMember("u1", of: "g") }
    async let visible = store.waitUntilVisible(2)
    var events = store.events().makeAsyncIterator()
    #expect(try await events.next()?.sequence == 1)
    let error = StoreError.database(store.path, reason: "no room")
    store.feedNotifier.fail(error)
    #expect(await visible == false)
    #expect(await store.waitUntilVisible(1))
    await #expect(throws: error) { try await events.next() }
    try await store.close()
  }

  @Test func aNumberIsOfItsStore() throws {
    let folder = ScratchFolder()
    let paths = ["a", "b"].map { folder.path($0) }
    let stores = try paths.map { try SettingsStore($0, .create, threads: 1) }
    for store in stores { try store.write(at: .zero) { try $0.setMember("u", of: "g") } }
    let identities = try stores.map { try $0.reader.identity }
    #expect(Set(identities).count == 2)
    #expect(identities.allSatisfy { $0.wholeMatch(of: /[0-9a-f]{32}/) != nil })
    let cursor = try stores[0].reader.cursor(at: 1)
    #expect(try stores[0].changes().map(\.cursor) == [cursor])
    #expect(try stores[0].reader.cursor(at: 0) == .start)
    #expect(try stores[0].reader.cursor(at: 2) == nil)
    for store in stores { try store.close() }
  }
}
