import Foundation
import GRDB
import Glibc
import PushFanout
import PushModel
import TestSupport
import Testing

@testable import PushStore

/// Goal: one store of one process writes a file at a time, whatever its names are and whatever is
/// removed beside it, and what is acknowledged is found under its name.
@Suite struct StoreLockTests {
  private static func write(_ id: Identifier, to store: SettingsStore) throws {
    try store.write(at: .zero) { try $0.setMember(id, of: "g") }
  }

  private static func outcome(_ body: () throws -> Void) -> StoreError? {
    do {
      try body()
      return nil
    } catch { return error as? StoreError }
  }

  /// Opens, writes and closes; nil when nothing was refused.
  private static func write(_ id: Identifier, in path: String) -> StoreError? {
    outcome {
      let store = try SettingsStore(path, threads: 1)
      try write(id, to: store)
      try store.close()
    }
  }

  @Test func nothingBesideTheFileIsTheLock() throws {
    try ScratchFolder.with { folder in
      let path = folder.appending(path: "s").path
      let writer = try StoreWriter(["write", path, "1", "0", "1000000"], in: folder)
      defer { writer.kill() }
      try writer.wait(for: "ack")
      // It would end at its next write, which finds that the file has two names.
      writer.stop()
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      for name in names where name.hasPrefix("s.") {
        try FileManager.default.removeItem(at: folder.appending(path: name))
      }
      let link = folder.appending(path: "link").path
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "s")
      let second = folder.appending(path: "second").path
      try FileManager.default.linkItem(atPath: path, toPath: second)
      let found = [path, link, second].map { Self.write("u", in: $0) }
      #expect(found == [.inUse(path), .inUse(link), .inUse(second)])
    }
  }

  @Test func severalNamesAreNotWritten() throws {
    let folder = ScratchFolder()
    let (path, second) = (folder.path("s"), folder.path("second"))
    let store = try SettingsStore(path, .create, threads: 1)
    try Self.write("u1", to: store)
    try FileManager.default.linkItem(atPath: path, toPath: second)
    let whileOpen = Self.outcome { try Self.write("u2", to: store) }
    try folder.remove("second")
    try Self.write("u3", to: store)
    try store.close()
    try FileManager.default.linkItem(atPath: path, toPath: second)
    let closed = [path, second].map { Self.write("u4", in: $0) }
    try folder.remove("second")
    let again = try SettingsStore(path, threads: 1)
    let users = ["u1", "u2", "u3", "u4"].map { again.fanout.member($0, of: "g") != nil }
    try again.close()
    #expect(whileOpen == .linked(path, names: 2))
    #expect(closed == [.linked(path, names: 2), .linked(second, names: 2)])
    #expect(users == [true, false, true, false])
  }

  /// A process was killed after a new store had got its name, and before its first one was removed.
  @Test func aFirstNameThatIsLeftIsRemoved() throws {
    let folder = ScratchFolder()
    let path = folder.path("s")
    try SettingsStore(path, .create, threads: 1).close()
    try FileManager.default.linkItem(atPath: path, toPath: path + ".77-0123abcd.part")
    #expect(Self.write("u", in: path) == nil)
    #expect(try folder.names == ["s"])
  }

  @Test func aSymbolicLinkIsTheSameStore() throws {
    let folder = ScratchFolder()
    let (path, link) = (folder.path("s"), folder.path("links/l"))
    try FileManager.default.createDirectory(
      atPath: folder.path("links"), withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    let dangling = Self.outcome { _ = try SettingsStore(link, .create) }
    let store = try SettingsStore(path, .create, threads: 1)
    try Self.write("u1", to: store)
    let busy = Self.write("u2", in: link)
    try store.writeSnapshot()
    try store.close()
    let again = try SettingsStore(link, threads: 1)
    try Self.write("u3", to: again)
    try again.writeSnapshot()
    let opening = again.opening
    let busyByPath = Self.write("u2", in: path)
    let reader = try StoreReader(path)
    let members = try reader.settings().members(of: "g").count
    try reader.close()
    try again.close()
    #expect(dangling?.description.contains("is a symbolic link that leads nowhere") == true)
    #expect(opening == .snapshot(sequence: 1, changes: 0))
    #expect(
      [busy, busyByPath]
        == [.inUse(link, byThisProcess: true), .inUse(path, byThisProcess: true)])
    #expect(members == 2)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("links")) == ["l"])
    #expect(try folder.names == ["links", "s", "s.snapshot"])
  }

  /// Another file has the name, or none: nothing is acknowledged any more, not even afterwards.
  @Test(arguments: ["removed", "renamed", "replaced"])
  func aStoreThatHasLostItsNameIsNotWritten(how: String) throws {
    let folder = ScratchFolder()
    let path = folder.path("s")
    let store = try SettingsStore(path, .create, threads: 1)
    try Self.write("u1", to: store)
    switch how {
    case "removed": try folder.remove("s")
    case "renamed":
      try FileManager.default.moveItem(atPath: path, toPath: folder.path("other"))
    default:
      let other = try SettingsStore(folder.path("other"), .create, threads: 1)
      try other.close()
      #expect(unsafe rename(folder.path("other"), path) == 0)
    }
    let first = Self.outcome { try Self.write("u2", to: store) }
    let snapshot = #expect(throws: SnapshotError.self) { try store.writeSnapshot() }
    if how == "renamed" {
      try FileManager.default.moveItem(atPath: folder.path("other"), toPath: path)
    }
    let second = Self.outcome { try Self.write("u3", to: store) }
    #expect([first, second] == [.replaced(path), .replaced(path)])
    #expect(snapshot?.path == path + ".snapshot")
    try store.close()
    #expect(store.fanout.memberCount(of: "g") == 1)
  }

  /// SQLite's locks of a process on a file, as the system lists them.
  private static func locks(_ path: String) throws -> [String] {
    let status = try #require(StoreInode.status(path))
    var found: Set<[Substring]> = []
    // A list that other processes change while it is read may lack a lock.
    for _ in 0..<5 {
      for line in systemLocks().split(separator: "\n")
      where line.contains(" \(getpid()) ") && line.contains(":\(status.st_ino) ") {
        found.insert(Array(line.split(separator: " ").dropFirst()))
      }
    }
    return found.map { String($0[0]) }.sorted()
  }

  /// The list, in as few reads as the system allows.
  private static func systemLocks() -> String {
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    let file = unsafe open("/proc/locks", O_RDONLY)
    defer { close(file) }
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes {
        unsafe read(file, $0.baseAddress, $0.count)
      }
      if count <= 0 { return String(decoding: text, as: UTF8.self) }
      text += buffer[..<count]
    }
  }

  /// Whoever closes a descriptor of a file takes the locks of the whole process along.
  @Test func otherUsesInTheProcessLeaveTheLocks() throws {
    let folder = ScratchFolder()
    let path = folder.path("s")
    let store = try SettingsStore(path, .create, threads: 1)
    try Self.write("u1", to: store)
    let before = try Self.locks(path)
    for number in 0..<3 {
      let reader = try SettingsStore(path, .read, threads: 1)
      #expect(try reader.reader.check() == [])
      try reader.reader.backup(to: folder.path("copy\(number)"))
      _ = try reader.reader.statistics()
      try reader.close()
      #expect(Self.write("u2", in: path) == .inUse(path, byThisProcess: true))
    }
    #expect(before.contains("FLOCK") && before.contains("POSIX"))
    #expect(try Self.locks(path) == before)
    // A reader alone keeps nobody from writing, and goes on after the writer.
    let reader = try StoreReader(path)
    try store.close()
    #expect(Self.write("u3", in: path) == nil)
    #expect(try reader.settings().members(of: "g").count == 2)
    #expect(try Self.locks(path).contains("POSIX"))
    try reader.close()
    #expect(try Self.locks(path) == [])
  }

  @Test func whoWaitsGetsTheRight() throws {
    let folder = ScratchFolder()
    let path = folder.path("s")
    let store = try SettingsStore(path, .create, threads: 1)
    let isClosed = Locked(false)
    let waiting = Locked<[StoreError?]>([])
    let thread = Thread {
      let refused = Self.outcome {
        let second = try SettingsStore(path, threads: 1, waiting: .seconds(300))
        #expect(isClosed.withLock { $0 })
        try second.close()
      }
      waiting.withLock { $0.append(refused) }
    }
    thread.start()
    #expect(
      throws: StoreError.inUse(path, byThisProcess: true)
    ) { try SettingsStore(path, threads: 1, waiting: .milliseconds(50)) }
    isClosed.withLock { $0 = true }
    try store.close()
    #expect(waits { waiting.withLock { !$0.isEmpty } })
    #expect(waiting.withLock { $0 } == [nil])
  }

  @Test func fileSystemsAreKnown() {
    let mounts = """
      25 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
      31 25 0:54 / /mnt/a\\040b rw - nfs4 host:/x rw,vers=4.2
      32 25 259:300000 / /big rw - fuse.sshfs host: rw
      """
    // As glibc's makedev.
    func device(_ major: UInt64, _ minor: UInt64) -> dev_t {
      dev_t((major & 0xFFF) << 8 | (major & ~0xFFF) << 32 | minor & 0xFF | (minor & ~0xFF) << 12)
    }
    let types = [device(8, 1), device(0, 54), device(259, 300_000), device(9, 9)].map {
      FileSystem.type(ofDevice: $0, mounts)
    }
    #expect(types == ["ext4", "nfs4", "fuse.sshfs", nil])
    #expect(types.map { $0.map(FileSystem.isOfNetwork) } == [false, true, true, nil])
  }
}
