import Foundation
import Testing

/// Goal: `evaluate` writes every form of decisions to standard output or a file, and nothing but its
/// last line to standard error.
@Suite struct EvaluateTests {
  private static let ndjson = """
    {"message":"m1","user":"u1","action":"none","reason":"quietHours","scope":"app"}
    {"message":"m1","user":"u2","action":"none","reason":"notMentioned","scope":"app"}
    {"message":"m1","user":"u3","action":"push","reason":"allowed","scope":"default"}
    {"message":"m2","user":"u1","action":"push","reason":"allowed","scope":"default"}
    {"message":"m2","user":"u2","action":"push","reason":"allowed","scope":"app"}\n
    """

  private static let outputs: [(options: [String], output: String)] = [
    ([], ndjson), (["--format", "ndjson"], ndjson),
    (
      ["--format", "csv"],
      """
      message,user,action,reason,scope
      m1,u1,none,quietHours,app
      m1,u2,none,notMentioned,app
      m1,u3,push,allowed,default
      m2,u1,push,allowed,default
      m2,u2,push,allowed,app\n
      """
    ),
    (
      ["--format", "counts"],
      """
      {"message":"m1","conversation":"g1","recipients":3,"counts":{"none/notMentioned/app":1,\
      "none/quietHours/app":1,"push/allowed/default":1}}
      {"message":"m2","conversation":"g1","recipients":2,"counts":{"push/allowed/app":1,\
      "push/allowed/default":1}}
      {"message":"m1","conversation":"g9","recipients":0,"counts":{}}\n
      """
    ),
    (
      ["--format", "pushlist"],
      """
      {"message":"m1","push":["u3"]}
      {"message":"m2","push":["u1","u2"]}
      {"message":"m1","push":[]}\n
      """
    ),
    (
      ["--format", "summary"],
      """
      messages                3
      decisions               5
      pushes                  3  60.0 %

      action  reason             scope                    count     share
      push    allowed            default                      2    40.0 %
      none    notMentioned       app                          1    20.0 %
      none    quietHours         app                          1    20.0 %
      push    allowed            app                          1    20.0 %

      1 message to unknown conversations: g9 (line 3)\n
      """
    ),
    (["--format", "summary", "--json"], summaryJSON), (["--json"], summaryJSON),
    (["--devices"], devices), (["--devices", "--format", "ndjson"], devices),
  ]

  private static let summaryJSON = """
    {"messages":3,"decisions":5,"counts":{"none/notMentioned/app":1,"none/quietHours/app":1,\
    "push/allowed/app":1,"push/allowed/default":2},"unknownConversations":1}\n
    """

  private static let devices = """
    {"message":"m1","user":"u1","action":"none","reason":"quietHours","scope":"app"}
    {"message":"m1","user":"u2","action":"none","reason":"notMentioned","scope":"app"}
    {"message":"m1","user":"u3","action":"push","reason":"allowed","scope":"default",\
    "devices":["default"]}
    {"message":"m2","user":"u1","action":"push","reason":"allowed","scope":"default",\
    "devices":["p1"]}
    {"message":"m2","user":"u2","action":"push","reason":"allowed","scope":"app",\
    "devices":["default"]}\n
    """

  private func isLastLine(_ line: String?, _ counts: String) -> Bool {
    guard let line, line.hasPrefix(counts + ", ") else { return false }
    return line.dropFirst(counts.count + 2).wholeMatch(
      of: /[0-9]+\.[0-9]{3} s, [0-9,]+ decisions\/s/)
      != nil
  }

  @Test func everyFormatIsWrittenToStandardOutput() throws {
    try withWorkplace { place in
      let runs = try Self.outputs.map { try place.run(SmallWorld.evaluate + $0.options) }
      #expect(runs.map(\.output) == Self.outputs.map(\.output))
      #expect(Set(runs.map(\.status)) == [0])
      #expect(
        runs.allSatisfy {
          $0.errorLines.count == 2
            && $0.errorLines[0] == "1 message to unknown conversations: g9 (line 3)"
            && isLastLine($0.errorLines.last, "3 messages, 5 decisions, 3 pushed")
        })
    }
  }

  @Test func everyFormatIsWrittenToAFile() throws {
    try withWorkplace { place in
      let found = try Self.outputs.map { options, _ in
        let run = try place.run(SmallWorld.evaluate + options + ["--output", "out"])
        #expect(run.output == "")
        #expect(run.status == 0)
        return try place.read("out")
      }
      #expect(found == Self.outputs.map(\.output))
      let short = try place.run(SmallWorld.evaluate + ["-o", "/dev/null"])
      #expect(short.status == 0)
      #expect(isLastLine(short.errorLines.last, "3 messages, 5 decisions, 3 pushed"))
      #expect(place.names() == ["messages.ndjson", "out", "world.ndjson"])
    }
  }

  @Test func messagesAreChosenByTheirIDs() throws {
    try withWorkplace { place in
      let counts = SmallWorld.evaluate + ["--format", "pushlist", "--message"]
      let one = try place.run(counts + ["m2"])
      #expect(one.lines == [#"{"message":"m2","push":["u1","u2"]}"#])
      #expect(isLastLine(one.errorLines.last, "1 message, 2 decisions, 2 pushed"))
      let both = try place.run(counts + ["m2", "m1", "m2"])
      #expect(
        both.lines == [
          #"{"message":"m1","push":["u3"]}"#, #"{"message":"m2","push":["u1","u2"]}"#,
          #"{"message":"m1","push":[]}"#,
        ])
      let missing = try place.run(counts + ["m2", "m3", "m4", "--output", "out"])
      #expect(missing.status == 1)
      #expect(
        missing.errorLines == ["push-fanout: no message in messages.ndjson has the id \"m3\""])
      #expect(place.names() == ["messages.ndjson", "world.ndjson"])
    }
  }

  @Test func csvFilesAndStandardInputAreRead() throws {
    try withWorkplace { place in
      try place.write(["id,level", "u2,mention", "u1,"], as: "users.csv")
      try place.write(["conversation,user", "g1,u1", "g1,u2", "g1,u3"], as: "members.csv")
      try place.write(
        ["conversation,at,mentions", "g1,1717401600000,", "g1,1717401600000,u2"], as: "m.csv")
      let rows = [
        #"{"message":"1","push":["u1","u3"]}"#, #"{"message":"2","push":["u2","u1","u3"]}"#,
      ]
      let csv = try place.run(
        "evaluate", "--users", "users.csv", "--members", "members.csv", "--messages", "m.csv",
        "--format", "pushlist")
      #expect(csv.lines == rows)
      let piped = try place.shell(
        """
        gzip m.csv world.ndjson; cat messages.ndjson \
        | "$0" evaluate --settings world.ndjson.gz --messages - --format pushlist
        """)
      #expect(piped.lines.count == 3)
      #expect(piped.lines.last == #"{"message":"m1","push":[]}"#)
      let packed = try place.run(
        "evaluate", "--users", "users.csv", "--members", "members.csv", "--messages", "m.csv.gz",
        "--format", "pushlist")
      #expect(packed.lines == rows)
    }
  }

  /// A night without traffic is no error, and a file without a header is one.
  @Test func aFileMayHaveNoMessages() throws {
    try withWorkplace { place in
      try place.shell(
        """
        : >empty.ndjson; gzip -c empty.ndjson >empty.ndjson.gz; echo conversation,at >empty.csv
        """)
      let world = ["--settings", "world.ndjson", "--messages"]
      for file in ["empty.ndjson", "empty.ndjson.gz", "empty.csv"] {
        for command in [
          ["evaluate", "--format", "csv"], ["evaluate", "--engine", "reference"], ["render"],
          ["replay"], ["replay", "--per-person", "--json"], ["compare", "--b", "unset.level=none"],
          ["profile"],
        ] {
          let run = try place.run([command[0]] + world + [file] + command.dropFirst())
          #expect(run.status == 0, "\(command) \(file): \(run.errors)")
          #expect(run.errors.hasPrefix("0 messages, "), "\(command) \(file): \(run.errors)")
        }
        let checked = try place.run("check", "--strict", "world.ndjson", file)
        #expect(checked.status == 0 && checked.output == "", "\(file): \(checked.output)")
        let explained = try place.run(
          ["explain"] + world + [file, "--message", "m1", "--user", "u1"])
        #expect(
          explained.errors == "push-fanout: no message in \(file) has the id \"m1\"\n")
      }
      let piped = try place.shell(
        "\"$0\" evaluate --settings world.ndjson --messages - --format csv </dev/null")
      #expect(piped.status == 0 && piped.output == "message,user,action,reason,scope\n")
      let none = try place.shell(
        "\"$0\" evaluate --settings world.ndjson --messages csv:- </dev/null")
      #expect(none.errors == "-:1: has no header; the first line of CSV names the columns\n")
      #expect(none.status == 1 && none.output == "")
    }
  }

  @Test func severalFilesOfMessagesAreReadAsOne() throws {
    try withWorkplace { place in
      try place.shell(
        "head -1 messages.ndjson >a.ndjson; tail -n +2 messages.ndjson | gzip >b.ndjson.gz")
      let files = ["--settings", "world.ndjson", "--messages", "a.ndjson", "b.ndjson.gz"]
      #expect(try place.run(["evaluate"] + files).output == Self.ndjson)
      let explained = try place.run(["explain"] + files + ["--message", "m2", "--user", "u1"])
      #expect(explained.lines.last == "push/allowed/default")
      let render = try place.run(["render"] + files)
      #expect(render.errorLines.last?.hasPrefix("3 messages, ") == true, "\(render.errors)")
      let twice = try place.shell(
        "\"$0\" evaluate --settings world.ndjson --messages - - <a.ndjson")
      #expect(twice.status == 1 && twice.errorLines.count == 1, "\(twice.errors)")
    }
  }

  @Test func namesMayBeInCapitals() throws {
    try withWorkplace { place in
      try place.shell(
        """
        gzip -c messages.ndjson >M.NDJSON.GZ; printf 'conversation,user\\ng1,u1\\n' >MEMBERS.CSV
        printf 'id,conversation,at\\nm1,g1,1717401600000\\n' | tee M.CSV | gzip >M.Csv.Gz
        """)
      let packed = try place.run(
        "evaluate", "--settings", "world.ndjson", "--messages", "M.NDJSON.GZ")
      #expect(packed.output == Self.ndjson, "\(packed.errors)")
      let members = ["evaluate", "--members", "MEMBERS.CSV", "--format", "csv", "--messages"]
      let runs = try ["M.CSV", "M.Csv.Gz"].map { try place.run(members + [$0]) }
      #expect(runs.map(\.lines.last) == Array(repeating: "m1,u1,push,allowed,default", count: 2))
      let piped = try place.shell(
        "gzip -dc M.Csv.Gz | \"$0\" \(members.joined(separator: " ")) csv:-")
      #expect(piped.output == runs[0].output)
      let check = try place.run("check", "MEMBERS.CSV", "M.CSV", "M.NDJSON.GZ")
      #expect(check.status == 0 && check.errors.contains(", 0 problems"), "\(check.errors)")
    }
  }

  /// A misspelt id is silence for everyone.
  @Test func messagesToUnknownConversationsAreCounted() throws {
    try withWorkplace { place in
      try place.write(
        [
          #"{"id":"1","conversation":"taem","at":1717401600000}"#,
          #"{"id":"2","conversation":"g1","at":1717401600000}"#,
          #"{"id":"3","conversation":"taem","at":1717401600000}"#,
        ], as: "some.ndjson")
      let note = "2 messages to unknown conversations: taem (line 1)"
      for engine in ["packed", "reference"] {
        func run(_ more: String...) throws -> Run {
          try place.run(
            ["evaluate", "--settings", "world.ndjson", "--messages", "some.ndjson"]
              + ["--engine", engine] + more)
        }
        let rows = try run()
        #expect(rows.errorLines.count == 2 && rows.errorLines[0] == note)
        #expect(!rows.output.contains("taem") && rows.status == 0)
        let table = try run("--format", "summary")
        #expect(table.output.hasSuffix("\n\n\(note)\n"))
        #expect(try run("--json").output.hasSuffix(#","unknownConversations":2}"# + "\n"))
        let one = try run("--message", "1")
        #expect(one.errorLines[0] == "1 message to unknown conversations: taem (line 1)")
        let none = try run("--message", "2", "--format", "summary")
        #expect(none.errorLines.count == 1 && !none.output.contains("unknown"))
      }
    }
  }

  /// With a byte order mark, semicolons, names of its own, local times and lists with commas, as a
  /// spreadsheet writes it.
  @Test func anExportIsReadAsItIs() throws {
    let rows = [
      "1002;g1;u9;2024/6/3 12:05;u2,u1", "1001;g1;u3;2024-06-03 23:30:00;",
      "\"10;03\";g1;;2024-06-04 07:59:59;\"u2, u3\"",
    ]
    let converted = [
      "1002,g1,u9,2024-06-03T04:05:00Z,u2;u1", "1001,g1,u3,2024-06-03T15:30:00Z,",
      "10;03,g1,,1717459199000,u2;u3",
    ]
    let options = [
      "--delimiter", ";", "--zone", "Asia/Shanghai", "--columns",
      "id=Message ID,conversation=Group ID,sender=From,at=Timestamp,mentions=Mentioned",
    ]
    try withWorkplace { place in
      let header = "\u{FEFF}Message ID;Group ID;From;Timestamp;Mentioned"
      try place.write(([header] + rows).map { $0 + "\r" }, as: "export.csv")
      try place.write(["id,conversation,sender,at,mentions"] + converted, as: "m.csv")
      let world = ["--settings", "world.ndjson", "--messages"]
      for command in [
        ["evaluate", "--format", "csv"], ["evaluate", "--format", "counts"], ["render"],
        ["explain", "--message", "10;03", "--user", "u1"], ["profile", "--json"],
      ] {
        let start = [command[0]] + world
        let expected = try place.run(start + ["m.csv"] + command.dropFirst())
        let found = try place.run(start + ["export.csv"] + command.dropFirst() + options)
        #expect(found.status == 0 && expected.status == 0, "\(command): \(found.errors)")
        #expect(found.output == expected.output && !expected.output.isEmpty, "\(command)")
      }
    }
  }
}
