import Foundation
import PushFanout
import PushModel
import TestSupport
import Testing

@testable import PushStore

/// Goal: a store is made only where none is; what is left of one is never taken for a new one, and a
/// snapshot, perhaps the last copy, stays.
@Suite struct EmptyStoreTests {
  private func message(_ path: String, _ access: SettingsStore.Access) -> String? {
    do {
      try SettingsStore(path, access, threads: 1, withEngine: false).close()
      return nil
    } catch { return "\(error)" }
  }

  @Test func aFileOfNoBytesIsNoNewStore() throws {
    try ScratchFolder.with { folder in
      let path = folder.appending(path: "settings.store").path
      let store = try SettingsStore(path, .create, threads: 1)
      var user = UserSettings()
      user.level = .mention
      user.devices = [Device(id: "d", kind: .web)]
      let written = user
      try store.write(at: .zero) { write in
        try write.setUser("u1", written)
        try write.setMember("u1", of: "g", MemberSettings(level: .blocked))
        try write.setMember("u2", of: "g")
        try write.setConversation("t", ConversationSettings(kind: .thread, parent: "g"))
        try write.setMember("u2", of: "t", MemberSettings(level: .all))
      }
      try store.writeSnapshot()
      try store.close()
      let snapshot = try Data(contentsOf: URL(filePath: path + ".snapshot"))
      #expect(throws: StoreError.exists(path)) { try StoreRebuild(fromSnapshotOf: path) }

      try Data().write(to: URL(filePath: path))
      let accesses = [SettingsStore.Access.read, .write, .create]
      let found = accesses.map { message(path, $0) }
      let empty = "\(path) is not a push-fanout store: it is empty; restore a backup, or "
      let way = "rebuild it from its snapshot: push-fanout store rebuild --from-snapshot"
      #expect(found == Array(repeating: empty + way, count: 3))
      #expect(try Data(contentsOf: URL(filePath: path)).isEmpty)
      #expect(try Data(contentsOf: URL(filePath: path + ".snapshot")) == snapshot)

      let rebuilt = try StoreRebuild(fromSnapshotOf: path).run(at: .zero)
      #expect(rebuilt.userCount == 2)
      let again = try SettingsStore(path, .read, threads: 1)
      #expect(again.fanout.difference(from: store.fanout) == nil)
      #expect(try again.changes().map(\.change) == [.imported])
      #expect(try again.reader.check().map(\.kind) == [.snapshot])
      #expect(try Data(contentsOf: URL(filePath: path + ".snapshot")) == snapshot)
      try again.close()

      // Where the file is gone, too, and not where a log is.
      for name in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + name) }
      try Data("log".utf8).write(to: URL(filePath: path + "-wal"))
      #expect(throws: StoreError.strayLog(path + "-wal")) {
        try StoreRebuild(fromSnapshotOf: path)
      }
      try FileManager.default.removeItem(atPath: path + "-wal")
      _ = try StoreRebuild(fromSnapshotOf: path).run(at: .zero)
      #expect(message(path, .write) == nil)
      var damaged = snapshot
      damaged[snapshot.count / 2] ^= 1
      try damaged.write(to: URL(filePath: path + ".snapshot"))
      try FileManager.default.removeItem(atPath: path)
      #expect(throws: SnapshotError.self) { try StoreRebuild(fromSnapshotOf: path).run(at: .zero) }
      #expect(!FileManager.default.fileExists(atPath: path))
    }
  }

  /// An old copy under the name of a store is not what its snapshot is of, which stays all the same.
  @Test func aRefusedWriteLeavesASnapshotOfAnotherStore() throws {
    try ScratchFolder.with { folder in
      let path = folder.appending(path: "settings.store").path
      for name in ["settings.store", "other.store"] {
        let store = try SettingsStore(folder.appending(path: name).path, .create, threads: 1)
        try store.write(at: .zero) { try $0.setMember(Identifier(name), of: "g") }
        try store.writeSnapshot()
        try store.close()
      }
      let other = try Data(contentsOf: URL(filePath: folder.path + "/other.store.snapshot"))
      try other.write(to: URL(filePath: path + ".snapshot"))
      let store = try SettingsStore(path, .write, threads: 1, withEngine: false)
      #expect(throws: StoreError.idLength(0)) {
        try store.write(at: .zero) { try $0.setUser("", UserSettings()) }
      }
      try store.close()
      #expect(try Data(contentsOf: URL(filePath: path + ".snapshot")) == other)
    }
  }

  /// Whoever is stopped while making a store leaves nothing under its name.
  @Test func aNewStoreAppearsWhenItIsComplete() throws {
    try ScratchFolder.with { folder in
      let path = folder.appending(path: "settings.store").path
      try OpenStore.open(path, .create).close()
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["settings.store"])
      let reader = try StoreReader(path)
      #expect(try reader.check() == [])
      try reader.close()
      let before = try Data(contentsOf: URL(filePath: path))
      let again = try OpenStore.make(path, file: path, .owner) { _ in }
      #expect(again == nil)
      #expect(try Data(contentsOf: URL(filePath: path)) == before)
    }
  }
}
