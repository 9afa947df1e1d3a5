import Foundation
import PushReplay
import TestSupport
import Testing

/// Goal: `replay` prints and writes what was replayed, paces it, says clearly what is wrong with any
/// input, and leaves nothing partial when it is interrupted.
@Suite struct ReplayTests {
  /// In the order of time: at noon from u3 to u2, and at night from outside.
  static let messages = [SmallWorld.messages[1], SmallWorld.messages[0]]
  static let replay = ["replay", "--settings", "world.ndjson", "--messages", "sorted.ndjson"]
  static let presence = [
    "ts,conversation,user,online", "2024-06-03T00:00:00Z,g1,u3,1", "2024-06-03T09:00:00Z,g1,u3,0",
    "2024-06-03T09:00:00Z,g1,u2,1",
  ]

  private func withReplay<Result>(_ body: (Workplace) throws -> Result) throws -> Result {
    try withWorkplace { place in
      try place.write(Self.messages, as: "sorted.ndjson")
      try place.write(Self.presence, as: "presence.csv")
      return try body(place)
    }
  }

  private func result(_ text: String) throws -> ReplayResult {
    try JSONDecoder().decode(ReplayResult.self, from: Data(text.utf8))
  }

  @Test func theSummaryIsForPeople() throws {
    try withReplay { place in
      let short = try place.run(Self.replay)
      let first = try #require(short.lines.first)
      #expect(first.hasSuffix(" Busiest minute: 2 pushes, 2024-06-03 04:00 UTC."), "\(first)")
      let run = try place.run(Self.replay + ["--per-person"])
      #expect(run.status == 0)
      #expect(
        Array(run.lines.prefix(10)) == [
          "3 pushes to 3 people. Nobody had more than 1 push that day. Busiest minute: 2 pushes, "
            + "2024-06-03 04:00 UTC.",
          "messages                        2", "conversations                   1",
          "decisions                       5", "pushes                          3    60.0 %",
          "from             2024-06-03T04:00:00Z", "to               2024-06-03T15:30:00Z",
          "most pushes to                pushes   days  most from                 share",
          "u1                                 1      1  g1                      100.0 %",
          "u2                                 1      1  g1                      100.0 %",
        ])
      #expect(
        run.lines.contains(
          "what the first got: push-fanout replay --settings world.ndjson --messages sorted.ndjson "
            + "--follow-user u1"))
      #expect(run.lines.contains("means of a day; hours of the day in Asia/Shanghai"))
      let hours = run.lines.map { $0.split(separator: " ").joined(separator: " ") }
      #expect(hours.contains("hour days messages decisions pushes push rate"))
      #expect(hours.contains("12 1 1 2 2 100.0 %") && hours.contains("11 0 0 0 0 -"))
      #expect(run.errorLines.count == 1)
      #expect(run.errors.hasPrefix("2 messages, 5 decisions, 3 pushed, "))
      #expect(
        place.names() == ["messages.ndjson", "presence.csv", "sorted.ndjson", "world.ndjson"])
    }
  }

  @Test func theResultIsOneObjectInFilesAndOnOutput() throws {
    try withReplay { place in
      let run = try place.run(
        Self.replay + [
          "--presence", "presence.csv", "--hold", "--json", "--output", "result.json",
          "--time-zone", "UTC",
        ])
      #expect(run.status == 0)
      let file = try place.read("result.json")
      #expect(file == run.output.trimmingCharacters(in: .newlines))
      let result = try result(file)
      #expect(result.pushFanoutReplay == 1)
      #expect([result.rules, result.timeZone] == ["easemob", "UTC"])
      #expect((result.messages, result.decisions, result.presenceRows) == (2, 5, 3))
      // At noon u3 writes; at night u1 sleeps, u2 is online, u3 was.
      #expect(
        result.outcomes.map { "\($0.action)/\($0.reason) \($0.count)" } == [
          "none/online 1", "none/quietHours 1", "push/allowed 1", "push/allowed 2",
        ])
      #expect(result.hold?.held == 1)
      // 8:00 in Shanghai.
      #expect(result.hold?.minutes?.released == [0, 1])
      #expect(result.hold?.releasePeak?.at == 1_717_459_200_000)
      #expect(
        result.hold?.windowsEnd == [WindowEnd(zone: "Asia/Shanghai", time: "08:00", users: 1)])
      #expect((result.cost?.seconds ?? 0) > 0 && (result.cost?.loadingSeconds ?? 0) > 0)
    }
  }

  @Test func peopleAreListed() throws {
    try withReplay { place in
      try place.write([#"{"kind":"user","id":"u1","level":"none"}"#], as: "more.ndjson")
      let run = try place.run(
        Self.replay + ["--settings", "more.ndjson", "--people", "people.csv", "--json"])
      #expect(run.status == 0, "\(run.errors)")
      #expect(
        try place.read("people.csv")
          == "user,days,pushes,neverReachedBy\nu1,1,0,levelNone\nu2,1,1,\nu3,1,1,\n")
      let people = try #require(try result(run.output).people)
      #expect(people.neverReached == 1 && people.pushes.classes == [1, 2, 0, 0, 0, 0, 0, 0, 0])
    }
  }

  @Test func whoGetsMostIsNamed() throws {
    try withReplay { place in
      let run = try place.run(
        Self.replay + ["--top", "1", "--from", "2024-06-03", "--json", "--output", "a.json"])
      #expect(run.status == 0, "\(run.errors)")
      let top = try #require(try result(run.output).top)
      #expect(
        top.people == [TopPerson(id: "u1", pushes: 1, days: 1, conversation: "g1", share: 1)])
      #expect(top.senders.map { "\($0.id) \($0.pushes)" } == ["u3 2"])
      let follow = try #require(top.follow)
      // The command is one that works.
      let shown = try place.shell(
        "\"$0\" \(follow.trimmingPrefix("push-fanout ")) \(top.people[0].id)")
      #expect(shown.lines.first?.hasPrefix("u1: 2 messages, 1 pushed ") == true, "\(shown.errors)")
      let page = try place.run("report", "a.json").output
      #expect(page.contains("The first 1 of 3 people who got one have"))
      #expect(page.contains("\(follow) u1</code>"))
      let text = try place.run(Self.replay + ["--top", "2"])
      let rows = text.lines.map { $0.split(separator: " ").joined(separator: " ") }
      #expect(rows.contains("u2 1 1 g1 100.0 %") && rows.contains("u3 1 2 2 100.0 %"), "\(rows)")
      #expect(!rows.contains("u3 1 1 g1 100.0 %"))
      let tables = text.lines.prefix { !$0.hasPrefix("busiest") }
      #expect(tables.allSatisfy { $0.count <= 80 || $0.contains(": ") }, "\(text.output)")
      let plain = try place.run(Self.replay + ["--json"])
      #expect(try result(plain.output).top == nil)
      let none = try place.run(Self.replay + ["--per-person", "--top", "0", "--json"])
      #expect(try result(none.output).top == nil)
      let input = try place.shell(
        "cat sorted.ndjson | \"$0\" replay --settings world.ndjson --messages - --top 1 --json")
      #expect(try result(input.output).top?.follow == nil)
      let wrong = try place.run(Self.replay + ["--top", "-1"])
      #expect(wrong.status == 2 && wrong.errors.hasPrefix("Error: --top -1 is negative."))
    }
  }

  @Test func conversationsHaveTheNamesOfTheSettings() throws {
    try withReplay { place in
      try place.write([#"{"kind":"conversation","id":"g1","name":"Friends"}"#], as: "more.ndjson")
      let settings = ["--settings", "world.ndjson", "more.ndjson"]
      let run = try place.run(
        ["replay"] + settings + ["--messages", "sorted.ndjson", "--json"])
      let compared = try place.run(
        ["compare"] + settings
          + ["--messages", "sorted.ndjson", "--b", "unset.level=none", "--json"])
      #expect(run.status == 0 && compared.status == 0, "\(run.errors)\(compared.errors)")
      let names = [
        try result(run.output).conversationTable.map { [$0.id, $0.name ?? ""] },
        try JSONDecoder().decode(CompareResult.self, from: Data(compared.output.utf8))
          .conversationTable.map { [$0.id, $0.name ?? ""] },
      ]
      #expect(names.allSatisfy { $0.contains(["g1", "Friends"]) }, "\(names)")
    }
  }

  @Test func followingAndLimits() throws {
    try withReplay { place in
      let run = try place.run(
        Self.replay + [
          "--follow-user", "u1", "--rate-limit", "1/s", "--json", "--output", "result.json",
        ])
      #expect(run.status == 0, "\(run.errors)")
      let result = try result(run.output)
      // By day it gets a push, by night it sleeps.
      #expect(
        result.follow?.messages.map { "\($0.id) \($0.outcome?.reason ?? "") \($0.sender ?? "")" }
          == ["m2 allowed u3", "m1 quietHours u9"])
      var limit = RateLimitResult(perSecond: 1)
      limit.most = 2
      (limit.secondsOver, limit.minutesOver, limit.delayed) = (1, 1, 1)
      (limit.backlogs, limit.backlogSeconds) = (1, 1)
      let noon = try #require(result.first)
      limit.longest = Backlog(from: noon, seconds: 1, waiting: 1, at: noon)
      limit.worst = limit.longest
      #expect(result.rateLimit == limit)
      let page = try place.run("report", "result.json", "--price-per-million", "2 EUR")
      #expect(page.status == 0, "\(page.errors)")
      for words in [
        "<h1>What became of messages: u1</h1>",
        "u1: 2 messages, 1 pushed (50.0\u{A0}%); 1 quiet hours.",
        "push-fanout explain --settings world.ndjson --messages sorted.ndjson --user u1 --message m1",
      ] { #expect(page.output.contains(words), "\(words)") }
      #expect(!page.output.contains("Costs at"))
      let text = try place.run(Self.replay + ["--follow-user", "u1"])
      #expect(text.lines.first == "u1: 2 messages, 1 pushed (50.0\u{A0}%); 1 quiet hours.")
      let rows = text.lines.map { $0.split(separator: " ").joined(separator: " ") }
      #expect(
        rows.suffix(4) == [
          "at message conversation from mentions outcome",
          "2024-06-03T04:00:00Z m2 g1 u3 - push/allowed/default",
          "2024-06-03T15:30:00Z m1 g1 u9 - none/quietHours/app",
          "why, rule by rule: push-fanout explain --settings world.ndjson --messages sorted.ndjson "
            + "--user u1 --message MESSAGE",
        ], "\(rows)")
      // Nothing about everybody.
      #expect(!text.output.contains("busiest") && !text.output.contains("decisions"))
      let room = try place.run(Self.replay + ["--follow-conversation", "g1"])
      #expect(
        room.lines.first
          == "g1: 2 messages, 5 decisions, 3 pushed (60.0\u{A0}%); 1 not mentioned, 1 quiet hours.",
        "\(room.lines)")
      let costs = try place.run(Self.replay + ["--rate-limit", "1/s", "--output", "all.json"])
      #expect(costs.status == 0)
      let priced = try place.run("report", "all.json", "--price-per-million", "2 EUR")
      for words in [
        "Costs at 2.00 EUR a million pushes", "&lt;\u{A0}0.0001 EUR",
        "The limit of 1 a second is exceeded in 1 second",
      ] { #expect(priced.output.contains(words), "\(words)") }
      let wrong: [([String], Int32, String)] = [
        (Self.replay + ["--follow-user", "u7"], 1, "there is no user \"u7\""),
        (Self.replay + ["--follow-conversation", "g7"], 1, "there is no conversation \"g7\""),
        (Self.replay + ["--rate-limit", "5"], 2, "'5'"),
        (["report", "result.json", "--price-per-million", "free"], 2, "'free'"),
      ]
      for (arguments, status, words) in wrong {
        let run = try place.run(arguments)
        #expect(run.status == status && run.errors.contains(words), "\(run.errors)")
      }
    }
  }

  @Test func changesAndStores() throws {
    try withReplay { place in
      try place.write(
        [#"{"kind":"user","id":"u2","level":"none","at":"2024-06-03T12:00:00+08:00"}"#],
        as: "changes.ndjson")
      let files = try place.run(Self.replay + ["--changes", "changes.ndjson", "--json"])
      #expect(files.status == 0)
      let changed = try result(files.output)
      #expect(changed.settingsChanges == 1)
      let levelNone = changed.outcomes.first { $0.reason == "levelNone" }
      #expect(levelNone?.count == 2)
      let made = try place.run(
        "store", "import", "--store", "app.store", "--settings", "world.ndjson")
      #expect(made.status == 0, "\(made.errors)")
      let store = try place.run(
        "replay", "--store", "app.store", "--messages", "sorted.ndjson", "--changes",
        "changes.ndjson", "--json")
      var stored = try result(store.output)
      var expected = changed
      stored.cost = nil
      expected.cost = nil
      for place in stored.peaks.indices { stored.peaks[place].decidingSeconds = nil }
      for place in expected.peaks.indices { expected.peaks[place].decidingSeconds = nil }
      #expect(stored == expected)
      // The store itself stays as it was.
      let again = try place.run("evaluate", "--store", "app.store", "--messages", "sorted.ndjson")
      let before = try place.run(
        "evaluate", "--settings", "world.ndjson", "--messages", "sorted.ndjson")
      #expect(again.output == before.output)
    }
  }

  @Test func theHeldAreListed() throws {
    try withReplay { place in
      for name in ["held.csv", "held.ndjson"] {
        let run = try place.run(
          Self.replay + ["--presence", "presence.csv", "--held", name, "--json"])
        #expect(run.status == 0)
        #expect(try result(run.output).hold?.held == 1)
      }
      #expect(
        try place.read("held.csv") == """
          message,user,reason,scope,at,pushAt
          m1,u1,quietHours,app,1717428600000,1717459200000

          """)
      #expect(
        try place.read("held.ndjson")
          == #"{"message":"m1","user":"u1","reason":"quietHours","scope":"app","#
          + #""at":1717428600000,"pushAt":1717459200000}"# + "\n")
      let before = place.names()
      let full = try place.run(Self.replay + ["--held", "/dev/full", "-o", "out"])
      #expect(full.errors == "push-fanout: cannot write /dev/full: No space left on device\n")
      let same = try place.run(Self.replay + ["--held", "out", "-o", "out"])
      #expect(same.errors.hasPrefix("Error: --held out and --output out are the same file;"))
      #expect([full.status, same.status] == [1, 2])
      #expect(place.names() == before)
    }
  }

  @Test func badInputStopsTheRun() throws {
    try withReplay { place in
      try place.write(Self.messages.reversed(), as: "unsorted.ndjson")
      try place.write(SmallWorld.messages.reversed(), as: "unknown.ndjson")
      try place.write(Self.presence + ["2024-06-03T10:00:00Z,g7,u1,1"], as: "stranger.csv")
      try place.write([#"{"kind":"user","id":"u1"}"#], as: "changes.ndjson")
      try place.shell("gzip -c sorted.ndjson | head -c 60 >cut.ndjson.gz")
      let rows: [(arguments: [String], error: String)] = [
        (
          ["--messages", "unsorted.ndjson"],
          "unsorted.ndjson:2: the instant is earlier than that of the message before"
        ),
        (
          ["--messages", "unknown.ndjson"],
          #"unknown.ndjson:1: there is no conversation "g9" in the settings"#
        ),
        (
          ["--messages", "cut.ndjson.gz"],
          "cut.ndjson.gz:1: the gzip data ends too early; the file was cut off"
        ),
        (
          ["--messages", "sorted.ndjson", "--presence", "stranger.csv"],
          #"stranger.csv:5: there is no conversation "g7" in the settings"#
        ),
        (
          ["--messages", "sorted.ndjson", "--changes", "changes.ndjson"],
          #"changes.ndjson:1: the field "at" is missing"#
        ),
        (
          ["--messages", "sorted.ndjson", "--time-zone", "Nowhere"],
          "push-fanout: \"Nowhere\" is not a time zone; give an IANA name"
        ),
      ]
      let before = place.names()
      let runs = try rows.map {
        try place.run(["replay", "--settings", "world.ndjson", "-o", "out"] + $0.arguments)
      }
      #expect(runs.map(\.errors) == rows.map { $0.error + "\n" })
      #expect(Set(runs.map(\.status)) == [1])
      #expect(Set(runs.map(\.output)) == [""])
      #expect(place.names() == before)
    }
  }

  @Test func badLinesAreLeftOutOnRequest() throws {
    try withReplay { place in
      try place.write(
        [Self.messages[0], "nonsense", SmallWorld.messages[2], Self.messages[1]], as: "bad.ndjson")
      let run = try place.run(
        "replay", "--settings", "world.ndjson", "--messages", "bad.ndjson", "--skip-invalid",
        "--json")
      #expect(run.status == 1)
      let result = try result(run.output)
      #expect((result.messages, result.skippedLines) == (2, 2))
      #expect(
        Array(run.errorLines.prefix(3)) == [
          "bad.ndjson:2: the line is not JSON",
          #"bad.ndjson:3: there is no conversation "g9" in the settings"#,
          "push-fanout: bad lines left out: 2",
        ])
    }
  }

  @Test func aClockPacesIt() throws {
    try withReplay { place in
      // Eleven and a half hours in about 0.4 s.
      let start = ContinuousClock.now
      let run = try place.run(Self.replay + ["--speed", "100000x", "--json"])
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      #expect(run.status == 0)
      #expect(seconds > 0.41, "\(seconds)")
      let result = try result(run.output)
      #expect(result.messages == 2)
      let speeds = ["0x", "-1x", "fast", "60", "infx", "nanx", "1e-300x", "0.0000009x"]
      let usage = try speeds.map {
        try place.run(Self.replay + ["--speed", $0]).status
      }
      #expect(usage == speeds.map { _ in 2 })
    }
  }

  @Test func anInterruptionSaysWhatWasDone() throws {
    try withReplay { place in
      let before = place.names()
      func interrupted(after seconds: Double) throws -> Run {
        try place.run(Self.replay + ["--speed", "1x", "-o", "out"]) { process in
          waits { place.names().contains { $0.hasSuffix(".part") } }
          Thread.sleep(forTimeInterval: seconds)
          process.interrupt()
        }
      }
      // The first message is decided soon, the second eleven hours later.
      var seconds = 0.5
      var run = try interrupted(after: seconds)
      while seconds < 60, !run.errors.contains("replayed 1 ") {
        seconds *= 2
        run = try interrupted(after: seconds)
      }
      #expect(run.status == 1)
      #expect(run.output == "")
      #expect(
        run.errorLines == [
          "push-fanout: interrupted; replayed 1 message, 2 decisions, 2 pushed; "
            + "no output was written"
        ])
      #expect(place.names() == before)
    }
  }
}
