import Foundation
import TestSupport
import Testing

/// Goal: where the system gives no more threads, open files or memory, has no room, or lets nothing be
/// read, every command does its work with what it has, or says what is missing and ends with status 1.
/// None waits for ever, and none crashes but for want of memory. One test after the other: the
/// threads of a user are counted together.
@Suite(.serialized) struct ScarcityTests {
  /// A run of each kind of command, and of what does no work.
  private static let commands: [String] = [
    "--version", "help evaluate", "check world.ndjson",
    "evaluate --settings world.ndjson --messages messages.ndjson",
    "evaluate --settings world.ndjson --messages messages.ndjson --threads 3 --format counts",
    "evaluate --settings world.ndjson --messages messages.ndjson --engine reference",
    "evaluate --store s --messages messages.ndjson",
    "render --settings world.ndjson --messages messages.ndjson",
    "explain --settings world.ndjson --messages messages.ndjson --message m2 --user u1",
    "next-change --settings world.ndjson --user u1 --conversation g1 --at 5",
    "replay --settings world.ndjson --messages sorted.ndjson --json",
    "compare --settings world.ndjson --messages sorted.ndjson --b unset.level=none",
    "profile --settings world.ndjson --messages sorted.ndjson --json",
    "generate --users 50 --output made", "settings get --store s --user u1",
    "settings set --store s --user u1 --level none",
    "store import --store t --settings world.ndjson",
    "store export --store s", "store backup --store s --output copy", "store verify --store s",
  ]

  /// Runs commands in a folder in which everybody may write, under limits of the shell. A user of its
  /// own counts no threads of others, and root has no limit of them.
  private func withLimits(
    saying: String = "true",
    _ body: (Workplace, _ run: (_ limits: String, _ command: String) throws -> Run) throws -> Void
  ) throws {
    try withWorkplace { place in
      try place.write([SmallWorld.messages[1], SmallWorld.messages[0]], as: "sorted.ndjson")
      try place.shell(
        """
        cp "$0" program; chmod 755 program
        "$0" store import -q --store s --settings world.ndjson; chmod 777 .; chmod 666 s s.*
        """)
      let user = 100_000 + Int(getpid())
      let other = getuid() == 0 ? "setpriv --reuid \(user) --clear-groups" : ""
      try body(place) { limits, command in
        // Status 137: it was still waiting.
        try place.shell(
          "\(saying); timeout -s KILL 20 bash -c '\(limits); exec \(other) ./program \(command)'; s=$?; "
            + "rm -rf made t t.* t-* copy copy.*; exit $s")
      }
    }
  }

  /// Dispatch and SQLite's readers need two, the work one, and signals one.
  @Test func withoutThreads() throws {
    try withLimits { _, run in
      for command in Self.commands {
        for count in [1, 2, 4] {
          let none = try run("ulimit -u \(count)", command)
          #expect(
            none.errors.hasPrefix("push-fanout: no thread can be started: "), "\(command), \(count)"
          )
          #expect(none.errorLines.count == 1 && none.output == "" && none.status == 1, "\(command)")
        }
        let usual = try run("true", command)
        let few = try run("ulimit -u 6", command)
        #expect(usual.status == 0 && few.status == 0, "\(command): \(usual.errors), \(few.errors)")
        if !command.hasSuffix("--json") { #expect(few.output == usual.output, "\(command)") }
      }
    }
  }

  @Test func withTooFewOpenFiles() throws {
    try withLimits { _, run in
      for command in Self.commands {
        for count in [3, 4, 8, 18, 19, 22] {
          let few = try run("ulimit -n \(count)", command)
          // 127: the system's loader has no file for a library.
          let isSaid = [1, 127].contains(few.status) && few.errors != ""
          #expect(few.status == 0 || isSaid, "\(command), \(count): \(few.status) \(few.errors)")
        }
      }
    }
  }

  /// What reads no file, or makes what it needs.
  private static func readsNothing(_ command: String) -> Bool {
    ["--version", "help", "generate"].contains { command.hasPrefix($0) }
  }

  @Test(.enabled(if: ReadOnlyStoreTests.hasUnprivileged, "needs the superuser and setpriv"))
  func withoutTheRightToRead() throws {
    try withLimits { place, run in
      try place.shell("chmod 600 world.ndjson messages.ndjson sorted.ndjson s s.*")
      for command in Self.commands {
        let found = try run("true", command)
        if Self.readsNothing(command) {
          #expect(found.status == 0, "\(command): \(found.errors)")
        } else {
          // `check` prints what it found.
          let said = command.hasPrefix("check") ? found.output : found.output + found.errors
          #expect(found.status == 1, "\(command)")
          #expect(said.hasSuffix("Permission denied\n"), "\(command): \(found.errors)")
        }
      }
    }
  }

  /// No file may become larger than a kilobyte: what writes one says so and leaves none, and what
  /// only reads works, but for a log of a store, which SQLite made and is empty.
  @Test func withoutRoom() throws {
    let writers = ["generate", "store import", "store backup", "settings set"]
    try withLimits { place, run in
      let names = place.names()
      for command in Self.commands {
        let usual = try run("true", command)
        let found = try run("trap \"\" XFSZ; ulimit -f 1", command)
        if writers.contains(where: command.hasPrefix) {
          #expect(found.status == 1 && found.errors != "", "\(command): \(found.errors)")
        } else if usual.output.utf8.count > 1024 {
          // The output of a test is a file.
          #expect(
            found.status == 1 && found.errors.contains("File too large"),
            "\(command): \(found.errors)")
        } else {
          #expect(found.status == 0 && found.output == usual.output, "\(command): \(found.errors)")
        }
        #expect(place.names().filter { !$0.hasPrefix("s-") } == names, "\(command)")
      }
    }
  }

  /// Where memory ends, Swift ends the process with a signal; a command that ends by itself has said
  /// why. What was acknowledged is there, and nothing else.
  @Test func withoutMemory() throws {
    // What a shell says of a signal would be a crash to the tests.
    try withLimits(saying: "exec 2>/dev/null") { place, run in
      let names = place.names()
      var before = try run("true", "store export --store s").output
      for command in Self.commands {
        for megabytes in [80, 150, 300] {
          let found = try run("ulimit -v \(megabytes * 1024)", command + " 2>errors")
          let errors = try place.read("errors")
          try place.shell("rm errors")
          // 137: it was still waiting.
          #expect(found.status != 137, "\(command), \(megabytes)")
          #expect(found.status == 0 || errors != "", "\(command), \(megabytes)")
          #expect(
            place.names().filter { !$0.hasPrefix("s-") } == names, "\(command), \(megabytes)")
        }
        let after = try run("true", "store export --store s").output
        if command.hasPrefix("settings set") { before = after }
        #expect(after == before, "\(command)")
      }
    }
  }
}
