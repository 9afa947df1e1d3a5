import Foundation
import PushFanout
import PushModel
import TestSupport
import Testing

@testable import PushStore

/// Goal: where SQLite cannot lock, the file alone is read, and only what nobody changed meanwhile is
/// believed.
@Suite struct UnlockedReadingTests {
  /// A store, and something in the place of the memory that its users would share: a symbolic
  /// link, which SQLite does not follow: it stops the superuser too.
  private struct Place {
    let folder = ScratchFolder()
    var path: String { folder.path("s") }

    init() throws {
      let store = try SettingsStore(path, .create, threads: 1)
      try store.write(at: .zero) { try $0.setMember("u0", of: "g") }
      try store.close()
      try block()
    }

    func block() throws {
      try FileManager.default.createSymbolicLink(
        atPath: folder.path("s-shm"), withDestinationPath: "nowhere")
    }

    /// What somebody does who can write the store.
    func write(_ id: Identifier) throws {
      try folder.remove("s-shm")
      let store = try SettingsStore(path, threads: 1)
      try store.write(at: .zero) { try $0.setMember(id, of: "g") }
      try store.close()
      try block()
    }
  }

  @Test func theFileAloneIsRead() throws {
    let place = try Place()
    let store = try SettingsStore(place.path, .read, threads: 1)
    #expect(store.fanout.memberCount(of: "g") == 1)
    #expect(try store.reader.check() == [])
    try store.reader.backup(to: place.folder.path("copy"))
    try store.close()
    let copy = try SettingsStore(place.folder.path("copy"), threads: 1)
    #expect(copy.fanout.memberCount(of: "g") == 1)
    try copy.close()
    // SQLite may have tried to make a log.
    #expect(try place.folder.names.filter { $0 != "s-wal" } == ["copy", "s", "s-shm"])
  }

  /// A name with everything that means something in a URI.
  @Test func anyNameCanBeRead() throws {
    let folder = ScratchFolder()
    let path = folder.path("a b?c=d&e#f%41;g")
    try SettingsStore(path, .create, threads: 1).close()
    try FileManager.default.createSymbolicLink(
      atPath: path + "-shm", withDestinationPath: "nowhere")
    let reader = try StoreReader(path)
    #expect(try reader.app().rules == .easemob)
    try reader.close()
  }

  @Test func aLogThatCannotBeReadIsSaid() throws {
    let place = try Place()
    try place.folder.write(Array(repeating: 1, count: 5000), as: "s-wal")
    let error = #expect(throws: StoreError.self) { try StoreReader(place.path) }
    #expect(error?.description.contains("its log \(place.path)-wal cannot be read") == true)
  }

  @Test func whatWasChangedMeanwhileIsReadAgain() throws {
    let place = try Place()
    let reader = try StoreReader(place.path)
    var seen: [Int] = []
    let members = try reader.read { rows in
      seen.append(try rows.settings().members(of: "g").count)
      if seen.count == 1 { try place.write("u1") }
      return try rows.settings().members(of: "g").count
    }
    #expect(members == 2 && seen == [1, 2])
    // Twice is too often.
    var calls = 0
    #expect(throws: StoreError.changedMeanwhile(place.path)) {
      try reader.read { _ in
        calls += 1
        try place.write(Identifier("u2-\(calls)"))
      }
    }
    #expect(calls == 2)
    // What was handed out cannot be taken back.
    calls = 0
    #expect(throws: StoreError.changedMeanwhile(place.path)) {
      try reader.forEachRecord { _ in
        calls += 1
        if calls == 1 { try place.write("u3") }
      }
    }
    #expect(try reader.settings().members(of: "g").count == 5)
    try reader.close()
  }

  @Test func whatWasReplacedMeanwhileIsNotBelieved() throws {
    let (place, other) = (try Place(), try Place())
    let reader = try StoreReader(place.path)
    #expect(throws: StoreError.self) {
      try reader.read { _ in
        try place.folder.remove("s")
        try FileManager.default.copyItem(atPath: other.path, toPath: place.path)
      }
    }
  }
}
