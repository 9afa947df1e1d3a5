import Foundation
import TestSupport
import Testing

/// Goal: a store that may not be written can be read, checked and copied; what cannot be read says so.
@Suite struct ReadOnlyStoreTests {
  private static let unprivileged = "setpriv --reuid 65534 --regid 65534 --clear-groups"

  private static func succeeds(_ script: String) -> Bool {
    let shell = Process()
    shell.executableURL = URL(filePath: "/bin/sh")
    shell.arguments = ["-c", script, Workplace.program.path]
    shell.standardOutput = FileHandle.nullDevice
    shell.standardError = FileHandle.nullDevice
    guard (try? shell.run()) != nil else { return false }
    shell.waitUntilExit()
    return shell.terminationStatus == 0
  }

  static let hasUnprivileged = succeeds("\(unprivileged) \"$0\" --version")
  private static let hasMounts = succeeds("unshare -m mount --bind /tmp /tmp")

  /// A store that everybody may read, and a script that reads it.
  private static func withReadableStore(
    _ body: (Workplace, _ before: String) throws -> Void
  ) throws {
    try withWorkplace { place in
      _ = try place.run("store", "import", "--store", "s", "--settings", "world.ndjson")
      try place.shell("chmod 755 . && chmod 644 s world.ndjson messages.ndjson")
      try body(place, try place.run("store", "export", "--store", "s").output)
      try place.shell("chmod 755 .")
    }
  }

  private static func reads(_ run: String) -> [String] {
    [
      "\(run) store export --store s", "\(run) store check --store s",
      "\(run) evaluate --store s --messages messages.ndjson",
      "\(run) settings list --store s --user u2",
      "\(run) store backup --store s --output \"$1/copy\"",
    ]
  }

  private func expectReadable(_ run: String, _ place: Workplace, _ before: String) throws {
    let target = ScratchFolder()
    try place.shell("chmod 777 '\(target.url.path)'")
    for command in Self.reads(run) {
      let found = try place.shell(
        command.replacing("$1", with: target.url.path))
      #expect(found.status == 0, "\(command): \(found.errors)")
      if command.contains("export") { #expect(found.output == before) }
    }
    let copy = try place.run("store", "export", "--store", target.path("copy"))
    #expect(copy.output == before)
  }

  @Test(.enabled(if: hasUnprivileged, "needs the superuser, setpriv, and a program for everybody"))
  func aFolderThatMayNotBeWritten() throws {
    try Self.withReadableStore { place, before in
      let run = "\(Self.unprivileged) \"$0\""
      try place.shell("rm -f s-wal s-shm")
      let names = place.names()
      try expectReadable(run, place, before)
      #expect(place.names() == names)
      let refused = try place.shell("\(run) settings set --store s --user u1 --level all")
      #expect(refused.errors == "push-fanout: s: it cannot be written: Permission denied\n")
      #expect(refused.status == 1)
      // What a reader of its owner leaves does not matter.
      try place.shell("\"$0\" store stats --store s && chmod 600 s-shm")
      try expectReadable(run, place, before)
    }
  }

  /// A disk without a free byte: SQLite cannot make the memory that readers share.
  @Test(.enabled(if: hasMounts, "needs the right to mount"))
  func aDiskThatIsFull() throws {
    try Self.withReadableStore { place, before in
      try place.shell("rm -f s-wal s-shm && mkdir disk")
      let fill = """
        mount -t tmpfs -o size=2m tmpfs disk && cp s *.ndjson disk && cd disk \
          && ! cat /dev/zero > filler 2>&-
        """
      let run = "unshare -m sh -c '\(fill); exec \"$@\"' sh \"$0\""
      try expectReadable(run, place, before)
      let refused = try place.shell("\(run) settings set --store s --user u1 --level all")
      #expect(
        refused.errors == "push-fanout: s: its log cannot be made: the disk is full, or the folder "
          + "may not be written; nothing was changed\n")
      #expect(refused.status == 1)
    }
  }

  @Test(.enabled(if: hasMounts, "needs the right to mount"))
  func aMountThatMayOnlyBeRead() throws {
    try Self.withReadableStore { place, before in
      try place.shell("rm -f s-wal s-shm")
      let names = place.names()
      let mount = "mount --bind . . && mount -o remount,ro,bind . && cd \"$PWD\" && ! touch x 2>&-"
      // In a mount namespace of each command's own.
      let run = "unshare -m sh -c '\(mount) && exec \"$@\"' sh \"$0\""
      try expectReadable(run, place, before)
      #expect(place.names() == names)
      let refused = try place.shell("\(run) settings set --store s --user u1 --level all")
      #expect(refused.errors == "push-fanout: s: it cannot be written: Read-only file system\n")
      #expect(refused.status == 1)
    }
  }
}
