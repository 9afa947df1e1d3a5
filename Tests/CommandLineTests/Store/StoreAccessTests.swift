import Foundation
import Glibc
import PushStore
import TestSupport
import Testing

/// Goal: who may use a store's files, who waits for whom, and what is left behind, are as said.
@Suite struct StoreAccessTests {
  /// The id may be mistyped; what the store has is not named.
  @Test func aUserWhoWasNotThereIsNamed() throws {
    try withWorkplace { place in
      _ = try place.run("store", "import", "-q", "--store", "s", "--settings", "world.ndjson")
      let set = ["settings", "set", "--store", "s", "--level", "none", "--user"]
      let runs = try ["u1", "somebody", "sombody", "somebody"].map { try place.run(set + [$0]) }
      #expect(
        runs.map(\.errors) == [
          "", "new user \"somebody\"\n",
          "new user \"sombody\"; did you mean \"somebody\"?\n", "",
        ])
      #expect(runs.map(\.status) == [0, 0, 0, 0])
    }
  }

  private static func mode(_ path: String) throws -> Int {
    let found = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
    return (found as? NSNumber)?.intValue ?? -1
  }

  /// Modes do not depend on the umask, and what is made later has that of the store.
  @Test(arguments: [("", 0o600), ("--mode 640", 0o640), ("--mode 0660", 0o660)])
  func filesAreForTheirOwnerOrItsGroup(option: String, mode: Int) throws {
    for mask in ["000", "077"] {
      try withWorkplace { place in
        let made = try place.shell(
          "umask \(mask); \"$0\" store import --store s --settings world.ndjson \(option)")
        #expect(made.status == 0, "\(made.errors)")
        try place.shell(
          """
          umask \(mask); "$0" store backup --store s --output copy
          "$0" store stats --store s
          "$0" store snapshot --store copy
          """)
        let store = try SettingsStore(place.path("s"), threads: 1)
        let names = place.names().filter { $0.hasPrefix("s") || $0.hasPrefix("copy") }
        #expect(
          Set(names).isSuperset(of: ["copy", "copy.snapshot", "s", "s-shm", "s-wal", "s.snapshot"]))
        let modes = try names.map { try Self.mode(place.path($0)) }
        #expect(modes == names.map { _ in mode }, "\(names), umask \(mask)")
        try store.close()
      }
    }
  }

  @Test func otherModesAreRefused() throws {
    try withWorkplace { place in
      for mode in ["644", "777", "6400", "owner", ""] {
        let run = try place.run(
          "store", "import", "--store", "s", "--settings", "world.ndjson", "--mode", mode)
        #expect(run.status == 2)
        #expect(run.errors.contains("a store's mode is 600, 640 or 660."))
      }
      _ = try place.run("store", "import", "--store", "s", "--settings", "world.ndjson")
      let there = try place.run(
        "store", "import", "--store", "s", "--settings", "world.ndjson", "--mode", "640")
      #expect(there.errors == "push-fanout: --mode is for a new store, and s is there; use chmod\n")
      #expect(there.status == 1)
      #expect(try Self.mode(place.path("s")) == 0o600)
    }
  }

  @Test func commandsWaitForTheRightToWrite() throws {
    try withWorkplace { place in
      _ = try place.run("store", "import", "--store", "s", "--settings", "world.ndjson")
      let commands = [
        ["settings", "set", "--user", "u1", "--level", "all"],
        ["store", "import", "--settings", "world.ndjson"], ["store", "snapshot"],
      ].map { $0 + ["--store", "s", "--wait"] }
      let store = try SettingsStore(place.path("s"), threads: 1)
      for command in commands {
        let run = try place.run(command + ["0"])
        #expect(
          run.errors
            == "push-fanout: s is open for writing in another process; close it there first\n"
        )
        #expect(run.status == 1)
      }
      let isClosed = Locked(false)
      var runs: [Int32] = []
      for command in commands {
        let run = try place.run(command + ["300"]) { process in
          // It waits, or the store is closed already.
          Thread.sleep(forTimeInterval: 0.2)
          #expect(isClosed.withLock { $0 } || process.isRunning)
          #expect(throws: Never.self) { try store.close() }
          isClosed.withLock { $0 = true }
        }
        runs.append(run.status)
      }
      #expect(runs == [0, 0, 0])
      let wrong = try place.run(commands[0] + ["-1"])
      #expect(wrong.status == 2)
    }
  }

  /// Importers that come into each other's way: who says that it did, did.
  @Test func anImportsStatusIsTrue() throws {
    try withWorkplace { place in
      _ = try place.run("store", "import", "--store", "s", "--settings", "world.ndjson")
      let imported = Locked<[String]>([])
      DispatchQueue.concurrentPerform(iterations: 3) { importer in
        for number in 0..<8 {
          let (id, name) = ("x\(importer)-\(number)", "w\(importer)-\(number).ndjson")
          try? place.write([#"{"kind":"user","id":"\#(id)","level":"all"}"#], as: name)
          let run = try? place.run(
            "store", "import", "--store", "s", "--settings", name, "--wait", "0")
          if run?.status == 0 { imported.withLock { $0.append(id) } }
        }
      }
      let export = try place.run("store", "export", "--store", "s").lines
      let there = export.filter { $0.contains(#""id":"x"#) }.compactMap {
        $0.split(separator: "\"").first { $0.hasPrefix("x") }.map(String.init)
      }
      #expect(there.sorted() == imported.withLock { $0.sorted() })
      #expect(!there.isEmpty)
    }
  }

  /// What killed processes have left is removed by the next one; nobody else's file is.
  @Test func whatIsLeftOfAnUnfinishedStoreIsRemoved() throws {
    try withWorkplace { place in
      _ = try place.run("store", "import", "--store", "s", "--settings", "world.ndjson")
      let header = try Data(contentsOf: place.url.appending(path: "s"))
      let left = ["t.1-0123abcd.part", "s.2-00000000.part", "copy.1-ffffffff.part-wal"]
      func leave() throws {
        for name in left + ["copy.1-ffffffff.part"] {
          let isEmpty = name.hasPrefix("s.")
          try (isEmpty ? Data() : header).write(to: place.url.appending(path: name))
        }
      }
      // Text of somebody else's, one that somebody makes at this moment, and another name.
      let others = ["t.1-0123abce.part", "t.3-0123abcd.part", "t.4194305.part"]
      try Data("text".utf8).write(to: place.url.appending(path: others[0]))
      for name in others[1...] { try header.write(to: place.url.appending(path: name)) }
      let descriptor = unsafe open(place.path(others[1]), O_RDONLY)
      #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
      defer { close(descriptor) }
      for command in [
        "store import --store t --settings world.ndjson",
        "store backup --store s --output t2",
      ] {
        try leave()
        let run = try place.shell("\"$0\" \(command)")
        #expect(run.status == 0, "\(run.errors)")
        let found = place.names().filter { $0.contains(".part") }.sorted()
        #expect(found == others.sorted(), "\(command)")
      }
    }
  }

  /// Killed at any time, an import leaves nothing that the next one does not remove.
  @Test func aKilledImportLeavesNothingForLong() throws {
    try withWorkplace { place in
      try place.write(
        (0..<20_000).map { #"{"kind":"user","id":"x\#($0)","level":"all"}"# }, as: "large.ndjson")
      var found = 0
      for attempt in 0..<20 where found < 2 {
        try place.shell("rm -f s s-* s.snapshot")
        let process = Process()
        process.executableURL = Workplace.program
        process.arguments = ["store", "import", "--store", "s", "--settings", "large.ndjson"]
        process.currentDirectoryURL = place.url
        process.standardError = FileHandle.nullDevice
        try process.run()
        waits(while: { process.isRunning }) { place.names().contains { $0.hasSuffix(".part") } }
        Thread.sleep(forTimeInterval: Double(attempt % 10) / 100)
        _ = kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        if place.names().contains(where: { $0.contains(".part") }) { found += 1 }
      }
      #expect(found > 0)
      try place.shell("rm -f s s-*")
      let run = try place.run("store", "import", "--store", "s", "--settings", "world.ndjson")
      #expect(run.status == 0)
      #expect(
        place.names() == ["large.ndjson", "messages.ndjson", "s", "s.snapshot", "world.ndjson"])
    }
  }
}
