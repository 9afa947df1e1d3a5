import Foundation
import Glibc
import PushFanout
import PushModel
import PushStore
import TestSupport
import Testing

/// Goal: no file that is there is replaced, and no other store's log is taken for a new one's.
@Suite struct StoreNameTests {
  private static func world(_ user: Identifier) -> FanoutSettings {
    var settings = FanoutSettings()
    settings.setUser(user, UserSettings())
    return settings
  }

  @Test func aLogThatIsLeftIsRefused() throws {
    let folder = ScratchFolder()
    let path = folder.path("s")
    for ending in ["-wal", "-journal"] {
      try folder.write(Array("what somebody wrote".utf8), as: "s\(ending)")
      let error = StoreError.strayLog(path + ending)
      #expect(throws: error) { try StoreImport(path) }
      #expect(throws: error) { try SettingsStore(path, .create) }
      let other = try SettingsStore(folder.path("other"), .create)
      #expect(throws: error) { try other.reader.backup(to: path) }
      try other.close()
      let (names, bytes) = (try folder.names, try folder.bytes("s\(ending)"))
      #expect(!names.contains("s") && names.filter { $0.contains(".part") } == [])
      #expect(bytes == Array("what somebody wrote".utf8))
      try folder.remove("s\(ending)")
    }
    // Also where an empty file is: SQLite would drop the log.
    try folder.write([], as: "s")
    for bytes: [UInt8] in [[1], []] {
      try folder.write(bytes, as: "s-wal")
      for access in [SettingsStore.Access.read, .write, .create] {
        #expect(throws: StoreError.empty(path, hasSnapshot: false)) {
          try SettingsStore(path, access)
        }
      }
      #expect(try folder.bytes("s-wal") == bytes)
    }
  }

  /// SQLite takes paths of 512 bytes, those of the files beside a store too.
  @Test func aPathThatSQLiteDoesNotTake() throws {
    let folder = ScratchFolder()
    func path(ofBytes count: Int) throws -> String {
      var found = folder.url.path
      while found.utf8.count + 101 < count { found += "/" + String(repeating: "f", count: 60) }
      try FileManager.default.createDirectory(atPath: found, withIntermediateDirectories: true)
      return found + "/" + String(repeating: "s", count: count - found.utf8.count - 1)
    }
    let longest = try path(ofBytes: 482)
    let store = try SettingsStore(longest, .create, threads: 1)
    try store.write(at: .zero) { try $0.setMember("u", of: "g") }
    try store.close()
    let again = try SettingsStore(longest, .read, threads: 1)
    #expect(again.fanout.memberCount(of: "g") == 1)
    try again.close()
    let longer = try path(ofBytes: 483)
    let error = StoreError.database(
      longer,
      reason:
        "its path has 483 bytes, and SQLite takes 482; put it into a folder with a shorter name")
    for access in [SettingsStore.Access.read, .write, .create] {
      #expect(throws: error) { try SettingsStore(longer, access, threads: 1) }
    }
    #expect(throws: error) { try StoreImport(longer) }
  }

  /// The log appears between the reading of the files and the import.
  @Test func aLogThatAppearsIsRefused() throws {
    let folder = ScratchFolder()
    let path = folder.path("s")
    let storeImport = try StoreImport(path)
    try folder.write([1], as: "s-wal")
    #expect(throws: StoreError.strayLog(path + "-wal")) {
      try storeImport.run(Self.world("u"), at: .zero, replacingApp: true)
    }
    let names = try folder.names
    #expect(names == ["s-wal"])
  }

  @Test func aStoreThatWasMadeMeanwhileIsNotReplaced() throws {
    let folder = ScratchFolder()
    let path = folder.path("s")
    let (first, second) = (try StoreImport(path), try StoreImport(path))
    let isNew = [first.isNew, second.isNew]
    try second.run(Self.world("second"), at: .zero, replacingApp: true)
    #expect(throws: StoreError.madeMeanwhile(path)) {
      try first.run(Self.world("first"), at: .zero, replacingApp: true)
    }
    let again = try StoreImport(path)
    let reader = try StoreReader(path)
    let found = [try reader.user("first") != nil, try reader.user("second") != nil]
    try reader.close()
    #expect(isNew + [again.isNew] + found == [true, true, false, false, true])
    #expect(try folder.names.filter { $0.contains(".part") } == [])
  }

  /// What appears under the name while the work goes on stays.
  @Test func aFileThatAppearsIsNotReplaced() throws {
    let folder = ScratchFolder()
    let (path, copy) = (folder.path("s"), folder.path("copy"))
    let (mine, new) = (Array("mine".utf8), folder.path("new"))
    let store = try SettingsStore(path, .create)
    try store.importSettings(Self.world("u"), at: .zero)
    #expect(throws: StoreError.exists(copy)) {
      try store.reader.backup(to: copy) { _ in _ = try? folder.write(mine, as: "copy") }
    }
    var many = FanoutSettings()
    for number in 0..<20_000 { many.setUser(Identifier("u\(number)"), UserSettings()) }
    #expect(throws: StoreError.madeMeanwhile(new)) {
      try StoreImport(new).run(many, at: .zero, replacingApp: true) { _ in
        _ = try? folder.write(mine, as: "new")
      }
    }
    try store.close()
    let kept = [try folder.bytes("copy"), try folder.bytes("new")]
    #expect(kept == [mine, mine])
    #expect(try folder.names.filter { $0.contains(".part") } == [])
  }

  /// Whoever starts a process has for a moment a copy of every descriptor in it.
  @Test func aCopyOfTheLockKeepsNobodyOut() throws {
    let folder = ScratchFolder()
    let path = folder.path("s")
    let store = try SettingsStore(path, .create)
    let copies = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
      return target == path
    }.compactMap { Int32($0) }.map { dup($0) }
    try store.close()
    try SettingsStore(path).close()
    for copy in copies { close(copy) }
    #expect(!copies.isEmpty)
  }

  @Test func aStoresOwnFilesAreKnown() throws {
    let folder = ScratchFolder()
    let path = folder.path("s")
    let store = try SettingsStore(path, .create)
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("link"), withDestinationPath: path)
    try FileManager.default.linkItem(atPath: path, toPath: folder.path("second"))
    let own = ["s", "s-wal", "s.snapshot", "s-journal", "link", "second", "../s"].map {
      $0 == "../s"
        ? folder.url.path + "/../" + folder.url.lastPathComponent + "/s.snapshot"
        : folder.path($0)
    }
    let foreign = ["t", "s.ndjson", "s-wal2"].map { folder.path($0) }
    let known = (own + foreign).map { StoreReader.isFile($0, ofStore: path) }
    let byLink = [path + "-wal", path + ".snapshot", folder.path("link")].map {
      StoreReader.isFile($0, ofStore: folder.path("link"))
    }
    #expect(known == own.map { _ in true } + [false, false, false])
    #expect(byLink == [true, true, true])
    let log = path + "-journal"
    #expect(throws: StoreError.partOfStore(log, path)) { try store.reader.backup(to: log) }
    try store.close()
  }
}
