import Foundation
import Glibc
import PushSupport
import Testing

/// Goal: a file appears under its final name only when it is complete, nobody more may read it then
/// than before, claiming a name replaces nothing, and failed work leaves no temporary file.
@Suite struct AtomicFileTests {
  /// Gives a test a folder and removes it afterwards.
  private func withFolder(_ body: (URL) throws -> Void) throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "push-support-\(UUID())")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: url) }
    try body(url)
  }

  private func names(_ folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  private func text(_ folder: URL, _ name: String) throws -> String {
    try String(contentsOf: folder.appending(path: name), encoding: .utf8)
  }

  private func write(_ text: String, to file: AtomicFile, at offset: Int? = nil) throws {
    try unsafe Array(text.utf8).withUnsafeBytes {
      try unsafe AtomicFile.write($0, to: file.descriptor, at: offset)
    }
  }

  private func problem(_ body: () throws -> Void) -> Int32? {
    do { try body() } catch { return (error as? SystemError)?.number }
    return nil
  }

  @Test(arguments: [false, true])
  func aFileReplacesTheOldOneWhenItIsFinished(syncsFolder: Bool) throws {
    try withFolder { folder in
      let path = folder.appending(path: "out").path
      try "old".write(toFile: path, atomically: false, encoding: .utf8)
      let temporary = TemporaryName(beside: path, ending: "new")
      let file = try AtomicFile(
        path, temporary: temporary, mode: 0o600, syncsFolder: syncsFolder)
      try write("12345", to: file)
      try write("ab", to: file, at: 1)
      #expect(try names(folder) == ["out", "out.new"])
      #expect(try text(folder, "out") == "old")
      try file.finish()
      file.abandon()
      #expect(try names(folder) == ["out"])
      #expect(try text(folder, "out") == "1ab45")
    }
  }

  /// Whatever the umask is: a new file's mode is that which was asked for, less it.
  @Test(arguments: [0o600, 0o640, 0o660, 0o664, 0o400, 0o777, nil])
  func aFileThatIsReplacedKeepsItsModeAndGroup(_ mode: Int?) throws {
    try withFolder { folder in
      let path = folder.appending(path: "out").path
      let group = getuid() == 0 ? 4711 : gid_t(getgid())
      if let mode {
        try "old".write(toFile: path, atomically: false, encoding: .utf8)
        #expect(unsafe chown(path, uid_t.max, group) == 0)
        #expect(unsafe chmod(path, mode_t(mode)) == 0)
      }
      let file = try AtomicFile(
        path, temporary: TemporaryName(beside: path), mode: mode == nil ? 0o600 : 0o666,
        syncsFolder: false)
      try write("new", to: file)
      try file.finish()
      let found = try FileManager.default.attributesOfItem(atPath: path)
      #expect(found[.posixPermissions] as? Int == mode ?? 0o600)
      if mode != nil { #expect(found[.groupOwnerAccountID] as? Int == Int(group)) }
    }
  }

  @Test func anAbandonedFileLeavesNothing() throws {
    try withFolder { folder in
      let path = folder.appending(path: "out").path
      for forgets in [false, true] {
        let file = try AtomicFile(
          path, temporary: TemporaryName(beside: path), mode: 0o666, syncsFolder: true)
        try write("x", to: file)
        if !forgets { file.abandon() }
      }
      #expect(try names(folder) == [])
    }
  }

  @Test func aFileThatCannotGetItsNameLeavesNothing() throws {
    try withFolder { folder in
      let path = folder.appending(path: "out").path
      let file = try AtomicFile(
        path, temporary: TemporaryName(beside: path), mode: 0o666, syncsFolder: false)
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      #expect(problem { try file.finish() } == EISDIR)
      #expect(try names(folder) == ["out"])
    }
  }

  @Test func whatHasTheTemporaryNameIsNotWrittenOver() throws {
    try withFolder { folder in
      let path = folder.appending(path: "out").path
      let temporary = TemporaryName(beside: path, ending: "part")
      try "other".write(toFile: temporary.path, atomically: false, encoding: .utf8)
      #expect(problem { _ = try temporary.createFile(mode: 0o666) } == EEXIST)
      temporary.remove()
      try FileManager.default.createSymbolicLink(
        atPath: temporary.path, withDestinationPath: "elsewhere")
      #expect(problem { _ = try temporary.createFile(mode: 0o666) } == EEXIST)
      #expect(try names(folder) == ["out.part"])
    }
  }

  @Test func aNameInUseIsNotClaimed() throws {
    try withFolder { folder in
      let path = folder.appending(path: "out").path
      let temporary = TemporaryName(beside: path, ending: "part")
      close(try temporary.createFile(mode: 0o666))
      try "old".write(toFile: path, atomically: false, encoding: .utf8)
      #expect(try !temporary.claim(path))
      #expect(try text(folder, "out") == "old")
      #expect(try names(folder) == ["out", "out.part"])
      try FileManager.default.removeItem(atPath: path)
      #expect(try temporary.claim(path))
      #expect(try names(folder) == ["out"])
      #expect(problem { _ = try temporary.claim(path + "2") } == ENOENT)
    }
  }

  /// A file is abandoned when it is one of ours, nobody has it locked, and it has no second name.
  @Test func onlyAbandonedFilesAreRemoved() throws {
    try withFolder { folder in
      let paths = ["dead", "alive", "foreign", "named", "final"].map {
        folder.appending(path: $0).path
      }
      for path in paths.dropLast() {
        try path.write(toFile: path, atomically: false, encoding: .utf8)
      }
      try "log".write(toFile: paths[0] + "-wal", atomically: false, encoding: .utf8)
      #expect(unsafe link(paths[3], paths[4]) == 0)
      let alive = unsafe open(paths[1], O_RDONLY)
      defer { close(alive) }
      #expect(flock(alive, LOCK_EX | LOCK_NB) == 0)
      let foreign = UInt64(try #require(inode(paths[2])))
      for path in paths.dropLast() + [folder.path] {
        TemporaryName.removeAbandoned(path, with: [path + "-wal"]) { descriptor in
          var status = stat()
          return unsafe fstat(descriptor, &status) == 0 && UInt64(status.st_ino) != foreign
        }
      }
      #expect(try names(folder) == ["alive", "final", "foreign"])
    }
  }

  private func inode(_ path: String) -> Int? {
    try? FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int
  }

  @Test func pathsAreTakenApart() throws {
    #expect(["a", "a/b", "/a", "a/b/"].map(FilePath.folder) == [".", "a/", "/", "a/b/"])
    #expect(["a", "a//", "/", "//", ""].map(FilePath.trimmed) == ["a", "a", "/", "/", ""])
  }
}
