import Foundation
import Testing

/// Goal: `explain`, `next-change` and `check` answer in words and in JSON.
@Suite struct AnswerTests {
  private static let world = ["--settings", "world.ndjson"]
  private static let explain =
    ["explain"] + world + ["--messages", "messages.ndjson", "--message", "m1", "--user"]
  private static let nextChange = ["next-change"] + world + ["--conversation", "g1", "--user"]

  private struct Explained: Decodable, Equatable {
    struct Step: Decodable, Equatable {
      let rule, subject, found: String
      let scope: String?
      let stops, decides: Bool
    }
    struct Answer: Decodable, Equatable {
      let action, reason: String
      let scope: String?
      let devices: [String]?
    }
    struct Change: Decodable, Equatable {
      let field, text: String
      let at: Int64?
    }
    struct Alternative: Decodable, Equatable {
      let changes: [Change]
      let decision: Answer
    }
    let advice: [String]
    let answer, message, conversation, user, timeZone: String
    let at: Int64
    let steps: [Step]
    let decision: Answer?
    let alternatives: [Alternative]
  }

  private func isRule(_ text: String) -> Bool {
    text.wholeMatch(of: /([ER]-[0-9]+a?|decision-rules §4)((, | to )[ER]-[0-9]+)*/) != nil
  }

  @Test func explainAnswersFirst() throws {
    try withWorkplace { place in
      let run = try place.run(Self.explain + ["u1"])
      #expect(run.status == 0)
      #expect(run.errors == "")
      // The id stands for two messages; a blank line parts them.
      #expect(
        run.output == """
          No push for u1. Stopped by the user's quiet hours (22:00-08:00; it was 23:30:00 in \
          Asia/Shanghai).
          Message m1 in g1, 2024-06-03T15:30:00Z (2024-06-03 23:30 in Asia/Shanghai)

          ok    member        since always                                    decision-rules §4
          ok    sender        u9, somebody else                               decision-rules §4
          ok    conversation  a group                                         E-60
          ok    delivery      also to people who are offline                  E-61
          ok    body          text                                            E-62
          ok    silent flag   not set                                         E-40, E-44
          ok    age           just sent; pushes end after 24 h                E-69
          ok    devices       p1 (mobile) is offline, p2 (mobile) is offline  E-64, E-65
          ok    mentions      nobody                                          E-46 to E-48
          STOP  quiet hours   22:00-08:00; it was 23:30:00 in Asia/Shanghai   E-21, E-30 to E-36

          Would push: from 2024-06-04T00:00:00Z (2024-06-04 08:00 in Asia/Shanghai); the force flag; \
          without u1's own quiet hours; and 2 more.
          Would not help: a mention of u1; the level all, set by u1 for g1; a push token for each \
          device.
          none/quietHours/app

          u1 is no recipient (there is no conversation g9 in the settings).
          Message m1 in g9, 2024-06-03T08:00:00Z (2024-06-03 16:00 in Asia/Shanghai)

          STOP  conversation  there is no conversation g9 in the settings  decision-rules §4

          no recipient

          """)
      let pushed = try place.run(
        ["explain"] + Self.world
          + ["--messages", "messages.ndjson", "--message", "m2", "--user", "u1"])
      #expect(pushed.lines.first == "Push for u1, to p1. Pushed: no level set anywhere.")
      #expect(pushed.lines.last == "push/allowed/default")
    }
  }

  @Test func explainGivesTheSameAsJSON() throws {
    try withWorkplace { place in
      let run = try place.run(Self.explain + ["u1", "--json"])
      let found = try run.lines.map {
        try JSONDecoder().decode(Explained.self, from: Data($0.utf8))
      }
      #expect(found.map(\.conversation) == ["g1", "g9"])
      #expect(found.map(\.at) == [1_717_428_600_000, 1_717_401_600_000])
      #expect(
        found.map(\.decision) == [
          Explained.Answer(action: "none", reason: "quietHours", scope: "app", devices: nil), nil,
        ])
      #expect(found.map { $0.steps.map(\.decides).filter { $0 }.count } == [1, 1])
      #expect(found.map { $0.steps.map(\.stops).filter { $0 }.count } == [1, 1])
      #expect(found.first?.steps.last?.scope == "app")
      #expect(found.flatMap(\.steps).map(\.rule).filter { !isRule($0) } == [])
      #expect(
        found.map { $0.alternatives.prefix(3).map { $0.changes.map(\.field) } } == [
          [["at"], ["mentions"], ["force"]], [],
        ])
      #expect(found.first?.alternatives.first?.changes.first?.at == 1_717_459_200_000)
      #expect(try place.run(Self.explain + ["u1"]).lines.contains(found.first?.advice[0] ?? ""))
      #expect(found.map(\.timeZone) == ["Asia/Shanghai", "Asia/Shanghai"])
      let pushed = try place.run(
        ["explain"] + Self.world
          + ["--messages", "messages.ndjson", "--message", "m2", "--user", "u2", "--json"])
      let answer = try JSONDecoder().decode(Explained.self, from: Data(pushed.output.utf8)).decision
      #expect(
        answer
          == Explained.Answer(action: "push", reason: "allowed", scope: "app", devices: ["default"])
      )
    }
  }

  @Test func nextChangeSaysWhenAndWhat() throws {
    try withWorkplace { place in
      let noon = "2024-06-03T12:00:00Z"
      let runs = try [
        ["u1", "--at", noon], ["u1", "--at", "1717423200000"], ["u1", "--at", noon, "--json"],
        ["u3", "--at", noon], ["u3", "--at", "5", "--json"],
        ["u1", "--at", noon, "--mention"], ["u1", "--at", "2024-06-03T12:00"],
      ].map { try place.run(Self.nextChange + $0) }
      #expect(
        runs.map(\.output) == [
          """
          at    2024-06-03T12:00:00Z (2024-06-03 20:00 in Asia/Shanghai): push to p1. Pushed: no \
          level set anywhere.
          from  2024-06-03T14:00:00Z (2024-06-03 22:00 in Asia/Shanghai): no push. Stopped by the \
          user's quiet hours.\n
          """,
          """
          at    2024-06-03T14:00:00Z (2024-06-03 22:00 in Asia/Shanghai): no push. Stopped by the \
          user's quiet hours.
          from  2024-06-04T00:00:00Z (2024-06-04 08:00 in Asia/Shanghai): push to p1. Pushed: no \
          level set anywhere.\n
          """,
          """
          {"after":{"action":"none","reason":"quietHours","scope":"app"},"at":1717423200000,\
          "before":{"action":"push","devices":["p1"],"reason":"allowed","scope":"default"},\
          "time":"2024-06-03T14:00:00Z"}\n
          """,
          """
          at    2024-06-03T12:00:00Z (2024-06-03 20:00 in Asia/Shanghai): push to default. Pushed: \
          no level set anywhere.
          That stays so until settings or presence change.\n
          """,
          """
          {"before":{"action":"push","devices":["default"],"reason":"allowed","scope":"default"}}\n
          """,
          runs[0].output, runs[0].output,
        ])
      let day = try place.run(Self.nextChange + ["u1", "--at", "2024-06-03"])
      #expect(day.output.hasPrefix("at    2024-06-03T00:00:00Z (2024-06-03 08:00 in "))
      #expect(Set(runs.map(\.status)) == [0])
      #expect(Set(runs.map(\.errors)) == [""])
      let now = try place.run(Self.nextChange + ["u1"])
      #expect(now.output.hasPrefix("now   20") && now.lines.count == 2)
    }
  }

  @Test func whatIsNotThereIsSaid() throws {
    try withWorkplace { place in
      let runs = try [
        Self.explain + ["u7"],
        ["explain"] + Self.world
          + ["--messages", "messages.ndjson", "--message", "m7", "--user", "u1"],
        Self.nextChange + ["u7", "--at", "5"],
        ["next-change"] + Self.world + ["--conversation", "g7", "--user", "u1", "--at", "5"],
      ].map { try place.run($0) }
      #expect(
        runs.map(\.errors) == [
          "push-fanout: there is no user \"u7\"\n",
          "push-fanout: no message in messages.ndjson has the id \"m7\"\n",
          "push-fanout: there is no user \"u7\"\n",
          "push-fanout: there is no conversation \"g7\"\n",
        ])
      #expect(Set(runs.map(\.status)) == [1])
      #expect(Set(runs.map(\.output)) == [""])
    }
  }

  @Test func checkPrintsEveryProblemInOrder() throws {
    try withWorkplace { place in
      try place.write(
        [
          #"{"kind":"member","conversation":"t1","user":"u2","since":5}"#, "nonsense",
          #"{"kind":"user","id":"u1","level":3}"#,
          #"{"kind":"conversation","id":"t1","type":"thread","parent":"g1"}"#,
          #"{"kind":"user","id":"u4","levels":{}}"#, "", #"{"kind":"user","id":"u4""#,
        ], as: "more.ndjson")
      try place.write(["id,level", "u5", "u6,all", "u\"7,"], as: "users.csv")
      try place.write(["conversation,at", "g1,x", "g1,5,6", "g1,6"], as: "m.csv")
      let run = try place.run(
        "check", "m.csv", "messages.ndjson", "users.csv", "more.ndjson", "world.ndjson")
      let warnings = [
        "messages.ndjson: warning: 1 conversation that the settings do not have: g9 (line 3)",
        "messages.ndjson: warning: 1 sender that the settings do not have: u9 (line 1)",
        "messages.ndjson:2: warning: the instant is earlier than that of the message before",
      ]
      #expect(
        run.lines == [
          #"more.ndjson:1: "since" is not allowed in "t1", a thread: its recipients are its parent's"#,
          "more.ndjson:2: the line is not JSON",
          #"more.ndjson:3: "level": 3 is not a level; the levels are -1, 0, 1, 2, 4 and 5"#,
          #"more.ndjson:5: "levels" belongs to rongcloud, but the rules are easemob"#,
          "more.ndjson:7: the JSON ends too early; the line was cut off",
          "users.csv:2: 1 cells in a row of 2 columns",
          "users.csv:4: a misplaced quote; quote the whole cell and double its quotes",
          #"m.csv:2: "at": x is not an instant; give Unix milliseconds, 0 to 9007199254740991, "#
            + "or an RFC 3339 time with an offset or Z",
          "m.csv:3: 3 cells in a row of 2 columns",
          #"m.csv:4: warning: "at": 6 is 1970-01-01, before 2000"#,
        ] + warnings + [#"settings: warning: "since": 5 is 1970-01-01, before 2000 (u2 in t1)"#])
      // The rows lack columns, which an import and a file beside take differently.
      let note =
        "users.csv: has no column of quiet hours, timeZone, mutedUntil: imported into a store, its "
        + "rows leave what is stored; beside records of a settings.ndjson, they remove it"
      #expect(run.errorLines == [note, "5 files, 21 records, 9 problems, 5 warnings"])
      #expect(run.status == 1)

      let clean = try place.run("check", "messages.ndjson", "world.ndjson")
      #expect(clean.lines == warnings)
      #expect(clean.errorLines == ["2 files, 9 records, 0 problems, 3 warnings"])
      #expect(clean.status == 0)
      let strict = try place.run("check", "--strict", "messages.ndjson", "world.ndjson")
      #expect(strict.lines == warnings)
      #expect(strict.status == 1)
      #expect(try place.run("check", "--strict", "world.ndjson").status == 0)
    }
  }

  @Test func checkWarnsOfWhatIsProbablyAMistake() throws {
    try withWorkplace { place in
      let members = ["ann", "bob", "cai", "dee", "fay"].map {
        #"{"kind":"member","conversation":"team","user":"\#($0)","mutedUntil":1717428600}"#
      }
      try place.write(
        [
          #"{"kind":"user","id":"ann","mutedUntil":1717428600}"#, #"{"kind":"user","id":"bob"}"#,
        ] + members, as: "team.ndjson")
      try place.write(
        [
          "conversation,at,sender,mentions", "team,1717428600,ann,", "team,1717428600123456,ann,",
          "team,5,bot,", "taem,1717428600000,bot,", "x,2024-06-03T15:30:01Z,robot,",
          "y,2024-06-03T15:30:02Z,third,", "z,2024-06-03T15:30:03Z,fourth,nobody",
          #"team,2024-06-03T15:30:00Z,ann,"ann,fay""#, "team,2024-06-03T15:30:00Z,ann,ann; fay",
          "team,2024-06-03T15:30:04Z,ann,Fay;FAY", "team,2124-06-03T15:30:04Z,ann,",
        ], as: "messages.csv")
      try place.write(["ts,conversation,user,online", "1717428600,team,ann,1"], as: "presence.csv")
      try place.write(
        [#"{"id":"m","conversation":"later","at":1717428600000,"sender":"new"}"#],
        as: "others.ndjson")
      try place.write(
        [#"{"kind":"member","conversation":"later","user":"new","at":1717428600}"#],
        as: "changes.ndjson")
      let seconds = "1717428600 is 1970-01-20; are these seconds? 1717428600000 is 2024-06-03"
      let run = try place.run(
        "check", "team.ndjson", "messages.csv", "presence.csv", "others.ndjson", "changes.ndjson")
      let expected = """
        changes.ndjson:1: warning: "at": \(seconds)
        messages.csv:2: warning: "at": \(seconds)
        messages.csv:3: warning: "at": 1717428600123456 is in the year 56,393; are these \
        microseconds? 1717428600123 is 2024-06-03
        messages.csv:4: warning: "at": 5 is 1970-01-01, before 2000
        messages.csv:9: warning: "mentions": "ann,fay" is one user, whom the settings do not have; \
        lists are separated by ;
        messages.csv:10: warning: "mentions": " fay" with a blank is not "fay"
        messages.csv:12: warning: "at": 4873102204000 is 2124-06-03, more than ten years ahead
        messages.csv: warning: 4 conversations that the settings do not have: taem (line 5), x (line \
        6), y (line 7) and 1 more
        messages.csv: warning: 4 senders that the settings do not have: bot (line 4), robot (line 6), \
        third (line 7) and 1 more
        messages.csv: warning: 1 mentioned user that the settings do not have: nobody (line 8)
        messages.csv:4: warning: the instant is earlier than that of the message before; so is 1 \
        later one
        presence.csv:2: warning: "at": \(seconds)
        team.ndjson: warning: "mutedUntil": \(seconds) (ann)
        team.ndjson: warning: "mutedUntil": \(seconds) (ann in team, bob in team, cai in team and 2 \
        more)

        """
      #expect(run.output == expected)
      #expect(run.status == 0)
      // Nothing is unknown without settings.
      let alone = try place.run("check", "others.ndjson")
      #expect(alone.output == "" && alone.status == 0)
    }
  }

  @Test func idsThatASpreadsheetHasRoundedAreNamed() throws {
    try withWorkplace { place in
      let ids = ["1.23457E+18", "1,5E+20", "9E+15", "1.23457E18", "E+18", "a1E+18", "1.2.E+"]
      try place.write(["id"] + ids.map { $0.contains(",") ? "\"\($0)\"" : $0 }, as: "users.csv")
      try place.write(
        ["conversation,at,sender", "1.23457E+18,1717428600000,7.1E+17"], as: "messages.csv")
      let text = "a spreadsheet has rounded such ids, so that several are one; export them as text"
      let run = try place.run("check", "users.csv", "messages.csv")
      let found = run.lines.filter { $0.contains("rounded") }
      #expect(
        found == [
          "messages.csv: warning: 1.23457E+18 and 1 more: \(text)",
          "users.csv: warning: 1,5E+20 and 2 more: \(text)",
        ])
      #expect(run.status == 0)
    }
  }

  @Test func ofEqualProblemsTheFirstArePrinted() throws {
    try withWorkplace { place in
      var rows: [String] = ["conversation,at,sender"]
      for number in 1...100_000 { rows.append("team,\(number)x,") }
      rows += ["team", "team,1717428600,"]
      try place.write(rows, as: "messages.csv")
      try place.write([#"{"kind":"user","id":"ann"}"#], as: "a.ndjson")
      let run = try place.run("check", "messages.csv", "a.ndjson")
      #expect(run.lines.count == 24)
      #expect(
        run.lines[0] == #"messages.csv:2: "at": 1x is not an instant; give Unix milliseconds, "#
          + "0 to 9007199254740991, or an RFC 3339 time with an offset or Z")
      #expect(run.lines[20] == "messages.csv:100002: 1 cells in a row of 3 columns")
      #expect(run.lines[21] == "… and 99,980 more like \(run.lines[0]); --all shows them")
      #expect(run.errorLines == ["2 files, 100,003 records, 100,001 problems, 2 warnings"])
      let all = try place.run("check", "--all", "messages.csv", "a.ndjson")
      #expect(all.lines.count == 100_003)
      #expect(run.status == 1 && all.status == 1)
    }
  }

  @Test func checkSaysWhatIsWrongWithAFileItself() throws {
    try withWorkplace { place in
      try place.shell(
        "mkdir d.csv; : >e.ndjson; : >e.csv; gzip -c world.ndjson >w.gz; echo x >y.txt; echo PAR1 >z.parquet"
      )
      let names = [
        "none.ndjson", "none.csv", "d.csv", "e.ndjson", "e.csv", "y.txt", "w.gz", "z.parquet",
      ]
      let run = try place.run(["check"] + names)
      let kind =
        "is neither NDJSON nor CSV by its name; it must end in .ndjson, .jsonl, .json or .csv, "
        + "with or without .gz"
      #expect(
        run.lines.sorted() == [
          "d.csv: is a directory; name a file",
          "e.csv:1: has no header; the first line of CSV names the columns",
          "e.ndjson:1: the file is empty", "none.csv: cannot be opened: No such file or directory",
          "none.ndjson: cannot be opened: No such file or directory", "w.gz: \(kind)",
          "y.txt: \(kind)",
          "z.parquet:1: Parquet is read by the Python package: python -m push_fanout evaluate "
            + "--help",
        ])
      #expect(run.status == 1)
    }
  }
}
