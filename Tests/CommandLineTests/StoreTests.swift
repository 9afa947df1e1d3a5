import Foundation
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
      #expect(explained[0] == explained[1])
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

  @Test func whatIsThereIsInspected() throws {
    try withWorkplace { place in
      _ = try place.run(Self.importWorld)
      let check = try place.run("store", "check", "--store", "s")
      #expect(check.output == "")
      #expect(check.errors == "0 problems\n")
      #expect(check.status == 0)
      let stats = try place.run("store", "stats", "--store", "s")
      #expect(
        stats.lines.prefix(3) == [
          "rules                 easemob", "users                 3",
          "  with settings       2",
        ])
      let json = try place.run("store", "stats", "--store", "s", "--json")
      #expect(
        json.output.hasPrefix(
          #"{"rules":"easemob","users":3,"declaredUsers":2,"devices":2,"conversations":1,"#
            + #""members":3,"memberSettings":0,"feedEntries":1,"lastSequence":1,"fileBytes":"#))

      let copy = try place.run("store", "backup", "--store", "s", "--output", "copy")
      #expect(copy.status == 0)
      #expect(copy.errors == "")
      #expect(try place.run("store", "check", "--store", "copy").status == 0)
      let again = try place.run("store", "backup", "--store", "s", "--output", "copy")
      #expect(again.errors == "push-fanout: copy exists; give a name that is not in use\n")
      #expect(again.status == 1)
      #expect(
        Set(place.names())
          .subtracting(["s", "s.lock", "s.snapshot", "copy", "world.ndjson", "messages.ndjson"])
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

  @Test(arguments: [false, true])
  func anInterruptedImportLeavesTheStoreAsItWas(isThere: Bool) throws {
    try withWorkplace { place in
      if isThere { _ = try place.run(Self.importWorld) }
      let before = try place.run("store", "export", "--store", "s").output
      try place.write(
        (0..<300_000).map { #"{"kind":"user","id":"x\#($0)","level":"all"}"# }, as: "large.ndjson")
      var isAtWork = false
      let run = try place.run(
        ["store", "import", "--store", "s", "--settings", "large.ndjson"]
      ) { process in
        // It is at work when something of the store grows.
        let end = ContinuousClock.now + .seconds(30)
        while !isAtWork, process.isRunning, ContinuousClock.now < end {
          Thread.sleep(forTimeInterval: 0.002)
          isAtWork = place.names().contains { name in
            let size = try? FileManager.default.attributesOfItem(atPath: place.path(name))[.size]
            return name.hasSuffix("-wal") && (size as? Int ?? 0) > 100_000
          }
        }
        process.interrupt()
      }
      // It may have been done already; then nothing was interrupted.
      if run.status == 0 { return }
      #expect(isAtWork)
      #expect(
        run.errors.hasSuffix(
          isThere
            ? "push-fanout: interrupted; the store has all of the import or nothing of it\n"
            : "push-fanout: interrupted; no store was made\n"))
      #expect(try place.run("store", "export", "--store", "s").output == before)
      #expect(place.names().filter { $0.contains(".part") } == [])
    }
  }
}
