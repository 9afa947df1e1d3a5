import Foundation
import PushFiles
import TestSupport
import Testing

/// Goal: whatever is wrong with a file or the place to write to, one line says what, the status is
/// 1, and no output file is left, complete or not.
@Suite struct FailureTests {
  private static let inputs = ["messages.ndjson", "world.ndjson"]

  @Test func badInputStopsTheRun() throws {
    try withWorkplace { place in
      let bad = #"{"kind":"user","id":5}"#
      let message = SmallWorld.messages[0]
      try place.write([bad], as: "bad.ndjson")
      try place.write([message, "nonsense", message], as: "bad-messages.ndjson")
      try place.write(["conversation,at", "g1,5", "g1"], as: "bad-messages.csv")
      try place.shell(
        """
        mkdir folder; : >empty.ndjson; : >empty.csv; echo PAR1 >world.parquet
        gzip -c world.ndjson | head -c 60 >cut.ndjson.gz
        gzip -c messages.ndjson | head -c 60 >cut-messages.ndjson.gz
        cp world.ndjson plain.ndjson.gz
        """)
      let rows: [(settings: String, messages: String, error: String)] = [
        (
          "none.ndjson", "messages.ndjson",
          "none.ndjson: cannot be opened: No such file or directory"
        ),
        ("folder", "messages.ndjson", "folder: is a directory; name a file"),
        ("empty.ndjson", "messages.ndjson", "empty.ndjson:1: the file is empty"),
        (
          "cut.ndjson.gz", "messages.ndjson",
          "cut.ndjson.gz:1: the gzip data ends too early; the file was cut off"
        ),
        (
          "plain.ndjson.gz", "messages.ndjson",
          "plain.ndjson.gz:1: is not gzip data, although its name ends in .gz"
        ),
        ("bad.ndjson", "messages.ndjson", #"bad.ndjson:1: "id" must be a string"#),
        (
          "world.parquet", "messages.ndjson",
          "world.parquet:1: Parquet is read by the Python package: python -m push_fanout evaluate "
            + "--help"
        ),
        (
          "world.ndjson", "world.parquet",
          "world.parquet:1: Parquet is read by the Python package: python -m push_fanout evaluate "
            + "--help"
        ),
        ("world.ndjson", "none", "none: cannot be opened: No such file or directory"),
        ("world.ndjson", "folder", "folder: is a directory; name a file"),
        (
          "world.ndjson", "empty.csv",
          "empty.csv:1: has no header; the first line of CSV names the columns"
        ),
        (
          "world.ndjson", "cut-messages.ndjson.gz",
          "cut-messages.ndjson.gz:1: the gzip data ends too early; the file was cut off"
        ),
        ("world.ndjson", "bad-messages.ndjson", "bad-messages.ndjson:2: the line is not JSON"),
        (
          "world.ndjson", "bad-messages.csv",
          "bad-messages.csv:3: 1 cells in a row of 2 columns"
        ),
      ]
      let before = place.names()
      let runs = try rows.map {
        try place.run(
          "evaluate", "--settings", $0.settings, "--messages", $0.messages, "--output", "out")
      }
      #expect(runs.map(\.errors) == rows.map { $0.error + "\n" })
      #expect(Set(runs.map(\.status)) == [1])
      #expect(Set(runs.map(\.output)) == [""])
      #expect(place.names() == before)
      let others = try ["explain --message m1", "next-change --conversation g1 --at 5"].map {
        try place.shell(
          "\"$0\" \($0) --user u1 --settings bad.ndjson"
            + ($0.hasPrefix("explain") ? " --messages messages.ndjson" : ""))
      }
      #expect(
        others.map(\.errors)
          == Array(repeating: "bad.ndjson:1: \"id\" must be a string\n", count: 2))
      #expect(others.map(\.status) == [1, 1])
    }
  }

  /// Into a file all or nothing; to standard output what comes before the line that is wrong, then
  /// the error: in every format, by both engines, on any number of threads, and by `render`.
  @Test func standardOutputHasWhatCameBeforeTheError() throws {
    try withWorkplace { place in
      let first = SmallWorld.messages[0]
      let badInstant =
        #"bad.ndjson:2: "at": "oops" is not an instant; give Unix milliseconds, 0 to "#
        + "9007199254740991, or an RFC 3339 time with an offset or Z"
      try place.write([first], as: "one.ndjson")
      try place.write(
        [first, #"{"id":"m2","conversation":"g1","at":"oops"}"#, first], as: "bad.ndjson")
      try place.shell(
        #"""
        { cat one.ndjson; head -c 100000 /dev/urandom | od -A n -t x1 | tr -d ' \n'; } | gzip -c \
          | head -c 50000 >cut.ndjson.gz
        """#)
      let commands =
        DecisionFormat.allCases.filter { !$0.isFolder }.flatMap { format in
          [["--threads", "1"], ["--threads", "3"], ["--engine", "reference"]].map {
            ["evaluate", "--format", format.rawValue] + $0
          }
        } + [["render"], ["render", "--threads", "3"]]
      let before = place.names()
      for command in commands {
        let arguments = command + ["--settings", "world.ndjson", "--messages"]
        let good = try place.run(arguments + ["one.ndjson"])
        // A summary is made of all messages.
        let expected = command.contains("summary") ? "" : good.output
        for (file, error) in [
          ("bad.ndjson", badInstant),
          ("cut.ndjson.gz", "cut.ndjson.gz:2: the gzip data ends too early; the file was cut off"),
        ] {
          let run = try place.run(arguments + [file])
          #expect(run.output == expected, "\(command) \(file)")
          #expect(run.errors == error + "\n", "\(command)")
          #expect(run.status == 1)
          let written = try place.run(arguments + [file, "--output", "out"])
          #expect(written.output == "" && written.errors == error + "\n" && written.status == 1)
          #expect(place.names() == before, "\(command) \(file)")
        }
      }
    }
  }

  /// A file that may not grow any more is an error of the write, not the end of the process.
  @Test func aLimitOfTheFileSizeIsSaid() throws {
    try withWorkplace { place in
      try SmallWorld.writeLarge(to: place)
      let large = "--settings world.ndjson --messages messages.ndjson"
      try place.shell(#""$0" store import --store a.store --settings world.ndjson"#)
      let stored = "a read or write failed; nothing was changed: disk I/O error\n"
      let noLog =
        "its log cannot be made: the disk is full, or the folder may not be written; nothing was "
        + "changed\n"
      // SQLite leaves its own two files, which the next who opens the store uses or removes.
      let names = { place.names().filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") } }
      let before = names()
      for (blocks, command, error) in [
        (1, "evaluate \(large) --output out", "cannot write out: File too large\n"),
        (1, "evaluate \(large) --format npy --output out", "codes.npy: File too large\n"),
        (1, "render \(large) --output out", "cannot write out: File too large\n"),
        (1, "generate --users 2000 --output out", "users.csv: File too large\n"),
        (100, "store export --store a.store --output out", "cannot write out: File too large\n"),
        (100, "store backup --store a.store --output out", stored),
        (100, "store import --store b.store --settings world.ndjson", stored),
        (1, "store snapshot --store a.store", noLog),
        (1, "settings set --store a.store --user u1 --level none", noLog),
      ] {
        let run = try place.shell("ulimit -f \(blocks); \"$0\" \(command)")
        #expect(run.errors.hasPrefix("push-fanout: ") && run.errors.hasSuffix(error), "\(command)")
        #expect(run.errorLines.count == 1 && run.status == 1, "\(command)")
        #expect(names() == before, "\(command)")
      }
      let whole = try place.shell("ulimit -f 1; \"$0\" evaluate \(large)")
      #expect(whole.errors == "push-fanout: cannot write standard output: File too large\n")
      #expect(whole.status == 1)
    }
  }

  @Test func badMessagesCanBeSkipped() throws {
    try withWorkplace { place in
      let lines = [
        SmallWorld.messages[1], "nonsense", #"{"id":"m3","conversation":"g1"}"#, "",
        SmallWorld.messages[0], #"{"id":"#,
      ]
      try place.write(lines, as: "messages.ndjson")
      let run = try place.run(
        SmallWorld.evaluate + ["--format", "pushlist", "--skip-invalid", "--output", "out"])
      #expect(
        try place.read("out") == """
          {"message":"m2","push":["u1","u2"]}
          {"message":"m1","push":["u3"]}\n
          """)
      #expect(
        run.errorLines.dropLast() == [
          "messages.ndjson:2: the line is not JSON",
          #"messages.ndjson:3: the field "at" is missing"#,
          "messages.ndjson:6: the JSON ends too early; the line was cut off",
          "push-fanout: bad lines left out: 3",
        ])
      #expect(run.errorLines.last?.hasPrefix("2 messages, 5 decisions, 3 pushed, ") == true)
      #expect(run.status == 1)

      try place.write(SmallWorld.messages, as: "messages.ndjson")
      let clean = try place.run(SmallWorld.evaluate + ["--skip-invalid"])
      #expect(clean.status == 0)
      #expect(clean.errorLines.count == 2)

      // The same of the other commands; what one rule set does not understand is left out of both.
      let sorted = [
        SmallWorld.messages[1], "nonsense", SmallWorld.messages[0],
        #"{"id":"m4","conversation":"g1","at":"2024-06-03T23:31:00+08:00","force":true}"#,
        #"{"id":"m5","conversation":"g1","at":"2024-06-03T23:32:00+08:00"}"#,
      ]
      try place.write(sorted, as: "sorted.ndjson")
      try place.write(["ts,conversation,user,online"], as: "presence.csv")
      try place.write([#"{"kind":"app","rules":"rongcloud"}"#], as: "rules.ndjson")
      try place.write(["conversation,user", "g1,u1"], as: "members.csv")
      let world = ["--members", "members.csv", "--messages", "sorted.ndjson"]
      let one = ["explain", "--message", "m5", "--user", "u1"]
      for (command, count) in [
        (one, 1), (one + ["--presence", "presence.csv"], 1), (["render"], 1),
        (["compare", "--b", "everyone.level=none"], 1), (["compare", "--b", "rules.ndjson"], 2),
      ] {
        #expect(try place.run(command + world).status == 1)
        let run = try place.run(command + world + ["--skip-invalid"])
        #expect(run.status == 1 && run.output != "", "\(command): \(run.errors)")
        #expect(run.errorLines.first == "sorted.ndjson:2: the line is not JSON", "\(command)")
        let said = run.errorLines.filter { $0.hasPrefix("push-fanout: bad lines left out: ") }
        #expect(said == ["push-fanout: bad lines left out: \(count)"], "\(run.errors)")
      }
      try place.shell("rm sorted.ndjson presence.csv rules.ndjson members.csv")

      // What is wrong with the file itself is not skipped.
      try place.shell("gzip -c messages.ndjson | head -c 60 >m.ndjson.gz; rm out")
      let cut = try place.run(
        "evaluate", "--settings", "world.ndjson", "--messages", "m.ndjson.gz", "--skip-invalid",
        "--output", "out")
      #expect(cut.status == 1)
      #expect(
        cut.errorLines == ["m.ndjson.gz:1: the gzip data ends too early; the file was cut off"])
      #expect(place.names() == ["m.ndjson.gz"] + Self.inputs)
    }
  }

  @Test func anOutputThatCannotBeWrittenSaysWhy() throws {
    try withWorkplace { place in
      try place.shell("mkdir folder; echo x >file")
      let before = place.names()
      let targets: [(name: String, reason: String)] = [
        ("none/out", "No such file or directory"), ("folder", "Is a directory"),
        ("file/out", "Not a directory"), ("/dev/full", "No space left on device"),
        ("/proc/out", "No such file or directory"),
      ]
      let runs = try targets.map { try place.run(SmallWorld.evaluate + ["--output", $0.name]) }
      #expect(
        runs.map(\.errors) == targets.map { "push-fanout: cannot write \($0.name): \($0.reason)\n" }
      )
      #expect(Set(runs.map(\.status)) == [1])
      #expect(place.names() == before)
    }
  }

  @Test func aFullDeviceOnStandardOutputIsSaid() throws {
    try withWorkplace { place in
      try place.write(["nonsense"], as: "bad.ndjson")
      let world = ["--settings", "world.ndjson", "--user", "u1"]
      let runs = try [
        SmallWorld.evaluate, SmallWorld.evaluate + ["--json"], ["--help"], ["check", "bad.ndjson"],
        ["explain"] + world + ["--messages", "messages.ndjson", "--message", "m1"],
        ["next-change"] + world + ["--conversation", "g1", "--at", "5"],
      ].map { arguments in
        let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
        return try place.run(arguments, output: full)
      }
      #expect(
        Set(runs.map(\.errors)) == [
          "push-fanout: cannot write standard output: No space left on device\n"
        ])
      #expect(Set(runs.map(\.status)) == [1])
    }
  }

  @Test func aClosedPipeEndsWithoutAWord() throws {
    try withWorkplace { place in
      try SmallWorld.writeLarge(to: place)
      let run = try place.shell(
        """
        { "$0" evaluate --settings world.ndjson --messages messages.ndjson; echo $? >status; } \
        | head -1
        """)
      #expect(
        run.lines == [
          #"{"message":"m0","user":"u0","action":"push","reason":"allowed","scope":"default"}"#
        ])
      #expect(run.errors == "")
      #expect(try place.read("status") == "141\n")
    }
  }

  @Test(arguments: ["INT", "TERM", "HUP"])
  func anInterruptedRunLeavesNothing(signal: String) throws {
    try withWorkplace { place in
      try SmallWorld.writeLarge(to: place)
      var partial: String?
      let run = try place.run(SmallWorld.evaluate + ["--output", "out"]) { process in
        // The program is at work when its temporary file has grown.
        waits(while: { process.isRunning }) {
          partial = place.names().first { name in
            let size = try? FileManager.default.attributesOfItem(atPath: place.path(name))[.size]
            return name.hasPrefix("out") && (size as? Int ?? 0) > 0
          }
          return partial != nil
        }
        _ = try? place.shell("kill -\(signal) \(process.processIdentifier)")
      }
      #expect(partial != nil)
      #expect(partial != "out")
      #expect(
        run.errorLines == ["push-fanout: interrupted; no output was written"])
      #expect(run.status == 1)
      #expect(place.names() == Self.inputs)
    }
  }
}
