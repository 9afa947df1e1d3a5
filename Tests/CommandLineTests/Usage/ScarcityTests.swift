import Foundation
import TestSupport
import Testing

/// Goal: where the system gives no more threads or open files, every command does its work with those
/// that it has, or says what is missing and ends with status 1. None waits for ever, and none
/// crashes. One test after the other: the threads of a user are counted together.
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
          "timeout -s KILL 20 bash -c '\(limits); exec \(other) ./program \(command)'; s=$?; "
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
}
