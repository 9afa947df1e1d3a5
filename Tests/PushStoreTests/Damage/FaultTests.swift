import Foundation
import GRDB
import PushContent
import PushFanout
import PushModel
import PushStore
import Testing
import TestSupport

/// Goal: what a machine can do to a store is an error that says what is wrong; no acknowledged write
/// is lost by it, and nothing crashes.
@Suite struct FaultTests {
  /// A store that some writes were made to, closed.
  private func makeStore(_ folder: URL, writes: Int64 = 40) throws -> (path: String, WriterModel) {
    let path = folder.appending(path: "settings.store").path
    var model = WriterModel(writer: 0, imports: false)
    let store = try SettingsStore(path, .create, threads: 1)
    for number in 1...writes {
      let write = model.write(number)
      try store.write(at: .zero) { try write.apply(to: &$0) }
    }
    model.advance(to: writes)
    try store.close()
    return (path, model)
  }

  /// The message of the error that opening gives; nil when it opens.
  private func messageOfOpening(
    _ path: String, _ access: SettingsStore.Access = .write
  ) -> String? {
    do {
      try SettingsStore(path, access, threads: 1).close()
      return nil
    } catch let error as StoreError {
      return error.description
    } catch {
      return "another error: \(error)"
    }
  }

  @Test(arguments: [250_000, 400_000, 1_000_000])
  func aFileThatCannotGrowLosesNothing(bytes: Int) throws {
    try ScratchFolder.with { folder in
      let path = folder.appending(path: "settings.store").path
      let writer = try StoreWriter(
        ["write", path, "3", "0", "100000", "--bytes", "\(bytes)"], in: folder)
      let end = try writer.finish()
      #expect(end.reason == .exit)
      #expect(writer.errors.count == 3)
      let expected = "\(path): a read or write failed; nothing was changed: disk I/O error"
      #expect(Set(writer.errors).subtracting([expected, fullMessage(path)]) == [])
      let store = try SettingsStore(path, threads: 1)
      for place in 0..<3 {
        var model = WriterModel(writer: place, imports: false)
        model.check(store, acknowledged: writer.acknowledged[place] ?? 0, slack: 0)
      }
      #expect(try store.reader.check() == [])
      try store.close()
    }
  }

  private func fullMessage(_ path: String) -> String {
    "\(path): the disk is full; nothing was changed"
  }

  /// Gives a test a disk of a megabyte; nothing where that is not allowed, as in many containers.
  private func withSmallDisk(_ body: (_ folder: URL, _ disk: URL) throws -> Void) throws {
    try ScratchFolder.with { folder in
      let disk = folder.appending(path: "disk")
      try FileManager.default.createDirectory(at: disk, withIntermediateDirectories: true)
      guard try run("/bin/mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk.path) else {
        return
      }
      defer { _ = try? run("/bin/umount", disk.path) }
      try body(folder, disk)
    }
  }

  private func makeRoom(_ disk: URL, _ size: String) throws {
    #expect(try run("/bin/mount", "-o", "remount,size=\(size)", disk.path))
  }

  private func run(_ program: String, _ arguments: String...) throws -> Bool {
    let process = try Process.run(URL(filePath: program), arguments: arguments)
    process.waitUntilExit()
    return process.terminationStatus == 0
  }

  @Test(.enabled(if: getuid() == 0, "mounting needs the superuser"))
  func writesSucceedAgainWhenThereIsRoom() throws {
    try withSmallDisk { _, disk in
      let path = disk.appending(path: "settings.store").path
      let store = try SettingsStore(path, .create, threads: 1)
      var acknowledged = 0
      func write() throws {
        let (id, text) = (Identifier("u\(acknowledged)"), String(repeating: "x", count: 5000))
        try store.write(at: .zero) { write in
          try write.setMember(id, of: "g")
          try write.setMember(id, of: Identifier(text))
        }
        acknowledged += 1
      }
      #expect(throws: StoreError.database(path, reason: "the disk is full; nothing was changed")) {
        while acknowledged < 100_000 { try write() }
      }
      let before = acknowledged
      #expect(store.fanout.memberCount(of: "g") == before)
      try makeRoom(disk, "8m")
      for _ in 0..<10 { try write() }
      #expect(store.fanout.memberCount(of: "g") == before + 10)
      try store.close()
      let again = try SettingsStore(path, threads: 1)
      #expect(again.fanout.memberCount(of: "g") == before + 10)
      #expect(try again.changes(limit: 1_000_000).map(\.sequence).last == Int64(2 * before + 20))
      #expect(try again.reader.check() == [])
      try again.close()
    }
  }

  @Test(.enabled(if: getuid() == 0, "mounting needs the superuser"))
  func aFullDiskLosesNothing() throws {
    try withSmallDisk { folder, disk in
      let path = disk.appending(path: "settings.store").path
      let writer = try StoreWriter(["write", path, "2", "0", "100000"], in: folder)
      #expect(try writer.finish().reason == .exit)
      #expect(Set(writer.errors) == [fullMessage(path)])
      try makeRoom(disk, "8m")
      let store = try SettingsStore(path, threads: 1)
      for place in 0..<2 {
        var model = WriterModel(writer: place, imports: false)
        model.check(store, acknowledged: try #require(writer.acknowledged[place]), slack: 0)
      }
      #expect(try store.reader.check() == [])
      try store.close()
    }
  }

  @Test(.enabled(if: getuid() == 0, "another user is needed"))
  func whatMayNotBeWrittenSaysSo() throws {
    try ScratchFolder.with { folder in
      let (path, _) = try makeStore(folder)
      let nobody = ["--user", "65534"]
      func failure(_ mode: String) throws -> String {
        let writer = try StoreWriter([mode, path, "1", "0", "1"] + nobody, in: folder)
        _ = try writer.finish()
        return writer.lines.first ?? ""
      }
      func permissions(_ mode: Int, _ path: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
      }
      // A file that may only be read.
      try permissions(0o777, folder.path)
      try permissions(0o444, path)
      #expect(try failure("write") == "failed \(path): it cannot be written: Permission denied")
      // A folder in which no log can be made.
      try permissions(0o755, folder.path)
      try permissions(0o666, path)
      #expect(
        try failure("write")
          == "failed \(path): its log cannot be made in \(folder.path)/: Permission denied")
      // One that may not even be read.
      try permissions(0o000, path)
      #expect(try failure("read") == "failed \(path): it cannot be read: Permission denied")
    }
  }

  @Test func whatIsNoStoreIsLeftAlone() throws {
    try ScratchFolder.with { folder in
      let path = folder.appending(path: "settings.store").path
      #expect(messageOfOpening(path) == "there is no store \(path); import settings to make one")

      let text = Data(String(repeating: "{\"kind\":\"app\"}\n", count: 100).utf8)
      try text.write(to: URL(filePath: path))
      let foreign = "\(path) is not a push-fanout store: "
      #expect(messageOfOpening(path) == foreign + "file is not a database")
      #expect(messageOfOpening(path, .create) == foreign + "file is not a database")
      #expect(try Data(contentsOf: URL(filePath: path)) == text)

      try FileManager.default.removeItem(atPath: path)
      let other = try DatabaseQueue(path: path)
      try other.write { try $0.execute(sql: "CREATE TABLE users (id)") }
      try other.close()
      let before = try Data(contentsOf: URL(filePath: path))
      for access in [SettingsStore.Access.read, .write, .create] {
        #expect(messageOfOpening(path, access) == foreign + "it is a database of something else")
      }
      #expect(try Data(contentsOf: URL(filePath: path)) == before)

      try FileManager.default.removeItem(atPath: path)
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      #expect(messageOfOpening(path) == foreign + "it is a folder")
    }
  }

  /// 0 is that of the stores before formats had numbers.
  @Test(arguments: [0, 3, 5] as [Int32], [true, false])
  func aStoreOfAnotherFormatIsRefusedAndStays(format: Int32, isInLog: Bool) throws {
    try ScratchFolder.with { folder in
      let (path, _) = try makeStore(folder, writes: 1)
      let store = try SettingsStore(path, threads: 1)
      try store.writeSnapshot()
      try store.close()
      let queue = try setFormat(format, of: path)
      if !isInLog { try queue.close() }
      func contents() throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        // An opening for reading leaves an empty log, and the memory of its users.
        let files = names.filter { !$0.hasSuffix("-shm") }.map { name in
          (name, try? Data(contentsOf: folder.appending(path: name)))
        }
        return Dictionary(uniqueKeysWithValues: files.map { ($0, $1 ?? Data()) })
          .filter { !$0.hasSuffix("-wal") || !$1.isEmpty }
      }
      let before = try contents()
      #expect(before.keys.contains("settings.store-wal") == isInLog)
      let openings: [(name: String, open: () throws -> Void)] = [
        ("read", { try SettingsStore(path, .read, threads: 1).close() }),
        ("write", { try SettingsStore(path, .write, threads: 1).close() }),
        ("create", { try SettingsStore(path, .create, threads: 1).close() }),
        ("without an engine", { try SettingsStore(path, .write, withEngine: false).close() }),
        ("import", { _ = try StoreImport(path) }),
        ("check, export, backup, verify, follow", { try StoreReader(path).close() }),
        ("rebuild", { _ = try StoreRebuild(fromSnapshotOf: path) }),
      ]
      for (name, open) in openings {
        let error = #expect(throws: StoreError.otherFormat(path, format), "\(name)") { try open() }
        #expect(
          error?.description == "\(path) has format \(format), and this version of push-fanout "
            + "reads format 4: export it with the version that wrote it (store export), and import "
            + "that into a new store")
        #expect(try contents() == before, "\(name)")
      }
      // Nothing but the number was in the way.
      if isInLog { try queue.close() }
      try setFormat(4, of: path).close()
      #expect(messageOfOpening(path) == nil)
    }
  }

  @Test func anotherWriterIsRefusedInAnotherProcess() throws {
    try ScratchFolder.with { folder in
      let path = folder.appending(path: "settings.store").path
      let writer = try StoreWriter(["write", path, "1", "0", "1000000"], in: folder)
      defer { writer.kill() }
      try writer.wait(for: "ack")
      let message = "\(path) is open for writing in another process; close it there first"
      #expect(messageOfOpening(path) == message)
      #expect(messageOfOpening(path, .create) == message)
      #expect(messageOfOpening(path, .read) == nil)
      writer.kill()
      #expect(messageOfOpening(path) == nil)
    }
  }

  @Test func readersInOtherProcessesSeeWholeCommits() throws {
    try ScratchFolder.with { folder in
      let path = folder.appending(path: "settings.store").path
      let writer = try StoreWriter(["write", path, "2", "1", "1000000"], in: folder)
      defer { writer.kill() }
      try writer.wait(for: "ack 2")
      let readers = try (0..<2).map { _ in
        try StoreWriter(["read", path, "2", "1", "4"], in: folder)
      }
      for reader in readers {
        _ = try reader.finish()
        let lines = reader.lines
        #expect(lines.last == "closed")
        // It did see the writer go on.
        #expect(Set(lines.filter { $0.hasPrefix("equal ") }).count == 4)
      }
    }
  }

  @Test func aCopyWhileItIsWrittenIsWhole() throws {
    try ScratchFolder.with { folder in
      let path = folder.appending(path: "settings.store").path
      let writer = try StoreWriter(["write", path, "2", "1", "1000000"], in: folder)
      defer { writer.kill() }
      try writer.wait(for: "ack 2")
      for number in 0..<3 {
        let acknowledged = writer.acknowledged
        let copy = folder.appending(path: "copy-\(number)").path
        let reader = try StoreReader(path)
        try reader.backup(to: copy)
        #expect(throws: StoreError.exists(copy)) { try reader.backup(to: copy) }
        try reader.close()
        let store = try SettingsStore(copy, threads: 1)
        #expect(try store.reader.check() == [])
        for place in 0..<3 {
          var model = WriterModel(writer: place, imports: place == 2)
          model.check(store, acknowledged: acknowledged[place] ?? 0, slack: 1_000_000)
        }
        try store.close()
      }
      let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(left.filter { $0.contains(".part") } == [])
    }
  }

  /// Words that a write has read again and that the disk does not give: the write is refused as a
  /// whole, and decisions go on with the words of their commit.
  @Test func wordsThatCannotBeReadRefuseTheWrite() throws {
    try ScratchFolder.with { folder in
      let path = folder.appending(path: "settings.store").path
      var settings = FanoutSettings()
      settings.setMember("u", of: "g")
      var content = ContentDirectory()
      content.setNickname("Ann", of: "u", in: "g")
      let made = try SettingsStore(path, .create, threads: 1)
      try made.importSettings(settings, content: content, at: .zero)
      try made.close()
      let queue = try storeQueue(path)
      let page = try #require(
        try queue.read { db in
          let find = "SELECT rootpage FROM sqlite_schema WHERE name = 'nicknames'"
          return try Int.fetchOne(db, sql: find)
        })
      try queue.close()
      func flip() throws {
        let file = try FileHandle(forUpdating: URL(filePath: path))
        try file.seek(toOffset: UInt64(page * 4096 - 100))
        let byte = try #require(try file.read(upToCount: 1)?.first)
        try file.seek(toOffset: UInt64(page * 4096 - 100))
        try file.write(contentsOf: [byte ^ 1])
        try file.close()
      }

      let store = try SettingsStore(path, threads: 1)
      let live = try store.liveRenderer()
      let before = store.fanout.version
      let tokyo = AppSettings(timeZone: "Asia/Tokyo")
      try flip()
      #expect(throws: StoreError.self) { try store.write(at: .zero) { try $0.setApp(tokyo) } }
      #expect(store.fanout.version == before)
      #expect(try store.reader.app().timeZone != "Asia/Tokyo")
      // Not on this thread: it must not wait for what never comes.
      func isFound(_ version: UInt64) -> Bool {
        let done = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
          if live.renderer(of: version) != nil { done.signal() }
        }
        return done.wait(timeout: .now() + 10) == .success
          && live.directory.nickname(of: "u", in: "g") == "Ann"
      }
      #expect(isFound(store.fanout.settingsVersion))
      // Writes that need not read go on.
      try store.write(at: .zero) { try $0.setMember("v", of: "g") }
      #expect(isFound(store.fanout.settingsVersion))
      // So does a version that no write of the store has made.
      store.fanout.update { _ in }
      #expect(isFound(store.fanout.settingsVersion))
      try flip()
      try store.write(at: .zero) { try $0.setApp(tokyo) }
      #expect(store.fanout.app.timeZone == "Asia/Tokyo")
      #expect(isFound(store.fanout.settingsVersion))
      #expect(try store.reader.check() == [])
      try store.close()
    }
  }
}
