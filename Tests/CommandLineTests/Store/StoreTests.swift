import Foundation
import TestSupport
import Testing

/// Goal: `push-fanout store` imports all or nothing, and what it says and leaves is exact.
@Suite struct StoreTests {
  private static let importWorld = [
    "store", "import", "--store", "s", "--settings", "world.ndjson",
  ]

  @Test func aStoreDecidesLikeItsFiles() throws {
    try withWorkplace { place in
      let made = try place.run(Self.importWorld)
      #expect(made.status == 0)
      #expect(made.output == "")
      #expect(made.errors.hasPrefix("6 records, 3 users, "))
      let expected = try place.run(SmallWorld.evaluate).output
      for engine in ["packed", "reference"] {
        let found = try place.run(
          "evaluate", "--store", "s", "--messages", "messages.ndjson", "--engine", engine)
        #expect(found.status == 0)
        #expect(found.output == expected)
      }
      let explained = try ["--store s", "--settings world.ndjson"].map {
        try place.shell(
          "\"$0\" explain \($0) --messages messages.ndjson --message m1 --user u1"
        ).output
      }
      // Over a store it says of when the settings are.
      let lines = explained.map { $0.components(separatedBy: "\n") }
      #expect(lines[0].filter { !$0.hasPrefix("Settings ") } == lines[1])
      #expect(
        lines[0][2].contains(
          /^Settings as of now; since 20.*, changed after .*: all of them imported/))
      let next = try ["--store s", "--settings world.ndjson"].map {
        try place.shell("\"$0\" next-change \($0) --user u1 --conversation g1 --at 5").output
      }
      #expect(next[0] == next[1])
      #expect(next[0] != "")
    }
  }

  @Test func anExportImportsToAnEqualStore() throws {
    try withWorkplace { place in
      _ = try place.run(Self.importWorld)
      let export = try place.run("store", "export", "--store", "s")
      #expect(
        export.output == """
          {"kind":"app","rules":"easemob","timeZone":"Asia/Shanghai","devicePolicy":"allOffline",\
          "advancedPush":true,"options":{"zeroZeroMeans":"off","intervalEnd":"exclusive",\
          "forceScope":"dndOnly","flagConflict":"silentWins","atListAllInArray":false,\
          "atListStringAsId":false,"atListIdCase":"insensitive","atListLegacyApnsExt":false,\
          "mentionBypassesDnd":false,"singleChatMentionOnly":"listed","pushTransparent":false,\
          "threadScope":"inheritParent","expireSeconds":86400}}
          {"kind":"user","id":"u1","quietHours":{"start":"22:00","end":"08:00"},\
          "devices":[{"id":"p1"},{"id":"p2","token":false}]}
          {"kind":"user","id":"u2","level":"mention"}
          {"kind":"user","id":"u3"}
          {"kind":"conversation","id":"g1","type":"group"}
          {"kind":"member","conversation":"g1","user":"u1"}
          {"kind":"member","conversation":"g1","user":"u2"}
          {"kind":"member","conversation":"g1","user":"u3"}\n
          """)
      #expect(export.errors == "8 records\n")
      let written = try place.run("store", "export", "--store", "s", "--output", "out.ndjson")
      #expect(written.status == 0)
      #expect(try place.read("out.ndjson") == export.output)
      _ = try place.run("store", "import", "--store", "t", "--settings", "out.ndjson")
      #expect(try place.run("store", "export", "--store", "t").output == export.output)
    }
  }

  /// What is bound and imported is exported only if it is asked for, and printed nowhere (S-3).
  @Test func tokensAreSecrets() throws {
    try withWorkplace { place in
      let user = """
        {"kind":"user","id":"u1","devices":[{"id":"p1","token":"0a1b","notifier":"n",\
        "platform":"apns"},{"id":"p2","platform":"fcm","fid":"0a1bf"}]}
        """
      for store in ["s", "t"] {
        try place.write([user], as: "\(store).ndjson")
        let run = try place.run(
          "store", "import", "--store", store, "--settings", "\(store).ndjson")
        #expect(run.status == 0, "\(run.errors)")
        // The second is an import into a store that is there.
        if store == "t" {
          try place.write([user.replacing("0a1b", with: "0a1bc")], as: "t.ndjson")
          let run = try place.run(
            "store", "import", "--replace", "--store", "t", "--settings", "t.ndjson")
          #expect(run.status == 0, "\(run.errors)")
        }
      }
      func export(_ arguments: String...) throws -> String {
        let lines = try place.run(["store", "export"] + arguments).output.split(separator: "\n")
        return String(lines[1])
      }
      #expect(try export("--store", "s", "--with-tokens") == user)
      #expect(
        try export("--store", "t", "--with-tokens") == user.replacing("0a1b", with: "0a1bc"))
      #expect(
        try export("--store", "s") == """
          {"kind":"user","id":"u1","devices":[{"id":"p1","token":true,"notifier":"n","platform":"apns"},\
          {"id":"p2","platform":"fcm"}]}
          """)
      let bind = "settings device bind --store s --user u1 --device p3 --token 0a1bd --platform fcm"
      for command in [
        bind, "settings device bind --store s --user u1 --device p3 --token 0a1be",
        "settings device list --store s --user u1", "settings get --store s --user u1 --json",
        "settings events --store s --after 0", "settings events --store s --after 0 --json",
        "store check --store s", "store stats --store s", "store verify --store s",
        "settings device bind --store s --user u1 --device p3 --token 0a1b\u{E9}",
        "explain --store s --user u1 --conversation g --at 5",
      ] {
        let run = try place.run(command.split(separator: " ").map(String.init))
        #expect(!(run.output + run.errors).contains("0a1b"), "\(command)")
        if command == bind {
          #expect(run.output.contains("device p3: mobile, offline, token, fcm"))
        }
      }
      #expect(
        try export("--store", "s", "--with-tokens").hasSuffix(#",{"id":"p3","token":"0a1be"}]}"#))
      // Who lists processes does not see what stands in a file.
      let read = "\"$0\" settings device bind --store s --user u1 --device p3 --token -"
      let secret = try place.shell("printf '0a1bf\\n0a1bg\\n' | \(read) --fid -")
      #expect(secret.status == 0 && !secret.output.contains("0a1b"), "\(secret.errors)")
      #expect(
        try export("--store", "s", "--with-tokens")
          .hasSuffix(#",{"id":"p3","token":"0a1bf","fid":"0a1bg"}]}"#))
      let none = try place.shell("\(read) < /dev/null")
      #expect(none.status != 0 && none.errors.contains("--token -: standard input has no line"))
    }
  }

  @Test func whatIsThereIsInspected() throws {
    try withWorkplace { place in
      _ = try place.run(Self.importWorld)
      let check = try place.run("store", "check", "--store", "s")
      #expect(check.output == "")
      #expect(check.errors == "0 problems\n")
      #expect(check.status == 0)
      let events = try place.run("settings", "events", "--store", "s").output
      let cursor = events.prefix { $0 != " " }
      let stats = try place.run("store", "stats", "--store", "s")
      #expect(
        stats.lines.prefix(3) == [
          "rules                 easemob", "cursor                \(cursor)",
          "users                 3",
        ])
      let json = try place.run("store", "stats", "--store", "s", "--json")
      #expect(
        json.output.hasPrefix(
          #"{"rules":"easemob","cursor":"\#(cursor)","users":3,"declaredUsers":2,"devices":2,"conversations":1,"#
            + #""members":3,"memberSettings":0,"templates":0,"feedEntries":1,"lastSequence":1,"feedStart":"0","#
        ))

      let copy = try place.run("store", "backup", "--store", "s", "--output", "copy")
      #expect(copy.status == 0)
      #expect(copy.errors == "")
      #expect(try place.run("store", "check", "--store", "copy").status == 0)
      let again = try place.run("store", "backup", "--store", "s", "--output", "copy")
      #expect(again.errors == "push-fanout: copy exists; give a name that is not in use\n")
      #expect(again.status == 1)
      #expect(
        Set(place.names())
          .subtracting(["s", "s.snapshot", "copy", "world.ndjson", "messages.ndjson"])
          .filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") } == [])
    }
  }

  @Test func anImportIsAllOrNothing() throws {
    try withWorkplace { place in
      try place.write([#"{"kind":"user","id":"u9"}"#, "nonsense"], as: "bad.ndjson")
      let refused = try place.run(
        "store", "import", "--store", "s", "--settings", "bad.ndjson")
      #expect(refused.errors == "bad.ndjson:2: the line is not JSON\n")
      #expect(refused.status == 1)
      #expect(place.names() == ["bad.ndjson", "messages.ndjson", "world.ndjson"])

      _ = try place.run(Self.importWorld)
      let before = try place.run("store", "export", "--store", "s").output
      #expect(
        try place.run("store", "import", "--store", "s", "--settings", "bad.ndjson").status == 1
      )
      try place.write([#"{"kind":"app","rules":"rongcloud"}"#], as: "other.ndjson")
      let other = try place.run("store", "import", "--store", "s", "--settings", "other.ndjson")
      #expect(
        other.errors
          == "push-fanout: the store's rules are easemob's, and the settings' are rongcloud's\n")
      #expect(other.status == 1)
      #expect(try place.run("store", "export", "--store", "s").output == before)

      // Without an app's record the store's stays, and a record replaces the whole one.
      try place.write([#"{"kind":"user","id":"u1","level":"none"}"#], as: "more.ndjson")
      #expect(
        try place.run("store", "import", "--store", "s", "--settings", "more.ndjson").status == 0)
      let after = try place.run("store", "export", "--store", "s").output
      #expect(after.contains(#""timeZone":"Asia/Shanghai""#))
      #expect(after.contains(#"{"kind":"user","id":"u1","level":"none"}"# + "\n"))
    }
  }

  @Test func aMissingOrForeignStoreIsSaid() throws {
    try withWorkplace { place in
      let commands = [
        "export", "check", "stats", "backup --output out",
      ]
      for command in commands {
        let missing = try place.shell("\"$0\" store \(command) --store none")
        #expect(
          missing.errors == "push-fanout: there is no store none; import settings to make one\n")
        #expect(missing.status == 1)
        let foreign = try place.shell("\"$0\" store \(command) --store world.ndjson")
        #expect(
          foreign.errors
            == "push-fanout: world.ndjson is not a push-fanout store: file is not a database\n")
        #expect(foreign.status == 1)
      }
      #expect(place.names() == ["messages.ndjson", "world.ndjson"])
      let both = try place.run(
        "evaluate", "--store", "s", "--settings", "world.ndjson", "--messages", "messages.ndjson")
      #expect(
        both.errors.hasPrefix("Error: --store goes without --settings, --users and --members."))
      #expect(both.status == 2)
    }
  }

  @Test func anOutputIsNotWrittenOverItsStore() throws {
    try withWorkplace { place in
      _ = try place.run(Self.importWorld)
      let before = try place.run("store", "export", "--store", "s").output
      let commands = [
        "store export --store s", "evaluate --store s --messages messages.ndjson",
        "evaluate --store s --messages messages.ndjson --format npy",
        "render --store s --messages messages.ndjson",
        "replay --store s --messages messages.ndjson",
        "compare --store s --messages messages.ndjson --b app.timeZone=UTC",
      ]
      for command in commands {
        for name in ["s", "./s-wal", "s.snapshot", "s-journal"] {
          let run = try place.shell("\"$0\" \(command) --output \(name)")
          #expect(
            run.errors
              == "Error: --output \(name) belongs to the store s; write somewhere else\n")
          #expect(run.status == 2)
        }
      }
      let held = try place.run(
        "replay", "--store", "s", "--messages", "messages.ndjson", "--held", "s")
      #expect(held.status == 2)
      #expect(try place.run("store", "check", "--store", "s").errors == "0 problems\n")
      #expect(try place.run("store", "export", "--store", "s").output == before)
    }
  }

  /// A log that a crashed writer has left is not taken for the new store's.
  @Test func anImportBesideAnotherStoresLogIsRefused() throws {
    try withWorkplace { place in
      try place.write(["left"], as: "s-wal")
      let run = try place.run(Self.importWorld)
      #expect(
        run.errors == "push-fanout: s-wal is the log of a store that is gone: restore the store, "
          + "or delete the log\n")
      #expect(run.status == 1)
      #expect(place.names() == ["messages.ndjson", "s-wal", "world.ndjson"])
    }
  }

  /// While an import reads its files, another makes the store.
  @Test func aStoreThatIsMadeMeanwhileKeepsItsApp() throws {
    try withWorkplace { place in
      try place.shell("mkfifo slow")
      let run = try place.run(["store", "import", "--store", "s", "--settings", "slow"]) {
        process in
        // Opened for reading, so the import has begun.
        _ = try? place.shell(
          "exec 3>slow; \"$0\" store import --store s --settings world.ndjson"
            + "; echo '{\"kind\":\"user\",\"id\":\"z\"}' >&3")
      }
      #expect(run.errors == "push-fanout: s was made meanwhile; import again\n")
      #expect(run.status == 1)
      let export = try place.run("store", "export", "--store", "s").output
      let said = [export.contains("Asia/Shanghai"), export.contains(#""z""#)]
      #expect(said == [true, false])
    }
  }

  /// Whether a process waits for SIGINT, which it blocks.
  private static func listens(_ process: Process) -> Bool {
    let path = "/proc/\(process.processIdentifier)/status"
    let lines = (try? String(contentsOfFile: path, encoding: .utf8))?.split(separator: "\n") ?? []
    let mask = lines.first { $0.hasPrefix("SigBlk:") }?.split(separator: "\t").last
    return mask.flatMap { UInt64($0, radix: 16) }.map { $0 & 1 << UInt64(SIGINT - 1) != 0 } ?? false
  }

  /// A write that is in the store is not denied, although its result was not printed.
  @Test func anInterruptedWriteThatWasMadeIsSaid() throws {
    try withWorkplace { place in
      _ = try place.run(Self.importWorld)
      for (write, isMade) in [
        ("set --store s --user u1 --level none", "get --store s --user u1 | grep -q none"),
        (
          "device kick --store s --user u1 --device p1",
          "device list --store s --user u1 | grep -q kicked"
        ),
      ] {
        // The result has no room in the pipe.
        let run = try place.shell(
          """
          rm -f full; mkfifo full; exec 3<>full; head -c 65536 /dev/zero >&3
          "$0" settings \(write) >&3 2>said &
          for try in $(seq 600); do "$0" settings \(isMade) && break; sleep 0.05; done
          kill -TERM $!; wait $!; echo $?; cat said
          """)
        #expect(run.output == "1\n\npush-fanout: interrupted; the change was made\n")
      }
    }
  }

  /// Interrupted at many instants, an import is there or is not, and what is said of it is true.
  @Test(arguments: [false, true])
  func anInterruptedImportIsWholeOrNothing(isThere: Bool) throws {
    try withWorkplace { place in
      try place.write(
        (0..<15_000).map { #"{"kind":"user","id":"x\#($0)","level":"all"}"# }, as: "large.ndjson")
      let importLarge = ["store", "import", "--store", "s", "--settings", "large.ndjson"]
      func renew() throws {
        try place.shell("rm -f s s-* s.*")
        if isThere { _ = try place.run(Self.importWorld) }
      }
      func export() throws -> String { try place.run("store", "export", "--store", "s").output }
      try renew()
      let before = try export()
      let start = ContinuousClock.now
      #expect(try place.run(importLarge).status == 0)
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      let after = try export()
      #expect(before != after)

      let attempts = 8
      var answers: Set<String> = []
      for attempt in 0..<attempts {
        try renew()
        let run = try place.run(importLarge) { process in
          // Before it listens to signals they would just end it.
          waits(while: { process.isRunning }) { Self.listens(process) }
          Thread.sleep(forTimeInterval: seconds * Double(attempt) / Double(attempts))
          // Not by a shell, which on a busy machine begins when the import has ended.
          _ = kill(process.processIdentifier, SIGINT)
        }
        let answer = run.errorLines.last ?? ""
        let found = try export()
        let isTrue =
          switch answer {
          // The first is said before the command has begun.
          case "push-fanout: interrupted; no output was written",
            "push-fanout: interrupted; nothing was imported",
            "push-fanout: interrupted; no store was made":
            run.status == 1 && found == before
          case "push-fanout: interrupted; the store has all of the import or nothing of it":
            run.status == 1 && (found == before || found == after)
          case "push-fanout: interrupted; s is complete",
            "push-fanout: interrupted; the import is complete; no snapshot was written":
            run.status == 1 && found == after
          default: run.status == 0 && found == after
          }
        #expect(isTrue, "\(run.status), \(run.errorLines), \(found.count) bytes")
        #expect(place.names().filter { $0.contains(".part") || $0.contains(".tmp") } == [])
        if run.status == 1 { answers.insert(answer) }
      }
      #expect(!answers.isEmpty)
    }
  }
}
