import Testing

@testable import push_fanout

/// Goal: an explanation says of when its settings are, and what is printed fits who reads it.
@Suite struct ExplainMomentTests {
  private let world = ["--settings", "world.ndjson"]

  /// The moment of the message, as a replay has it: u1 goes online before m2, and u2 has changed the
  /// level.
  @Test func explainTakesPresenceAndChanges() throws {
    try withWorkplace { place in
      try place.write(
        ["ts,conversation,user,online", "1717383600000,g1,u1,1"], as: "presence.csv")
      try place.write(
        [
          #"{"at":"2024-06-03T03:00:00Z","kind":"member","conversation":"g1","user":"u2","level":"none"}"#
        ], as: "changes.ndjson")
      // As of a replay, messages are sorted by time.
      try place.write([SmallWorld.messages[1], SmallWorld.messages[0]], as: "sorted.ndjson")
      let base = ["explain"] + world + ["--messages", "sorted.ndjson", "--message", "m2"]
      let runs = try [
        ["--user", "u1"], ["--user", "u1", "--presence", "presence.csv"],
        ["--user", "u2"], ["--user", "u2", "--changes", "changes.ndjson"],
      ].map { try place.run(base + $0) }
      #expect(runs.map(\.errors) == ["", "", "", ""])
      #expect(
        runs.map(\.lines.last) == [
          "push/allowed/default", "none/online", "push/allowed/app", "none/levelNone/conversation",
        ])
    }
  }

  /// A store has the settings of now: what its feed knows of later changes is said.
  @Test func explainSaysWhatTheFeedKnows() throws {
    try withWorkplace { place in
      func first() throws -> String {
        let run = try place.run(
          [
            "explain", "--store", "s", "--messages", "messages.ndjson", "--message", "m2", "--user",
            "u1",
          ])
        #expect(run.status == 0)
        return run.lines[2]
      }
      _ = try place.run("store", "import", "--store", "s", "--settings", "world.ndjson")
      #expect(
        try first().hasPrefix("Settings as of now; changed after the message, imported at 20"))
      for change in [
        ["--quiet-hours", "21:00-09:00"], ["--level", "mention"], ["--level", "all"],
      ] {
        let at = ["--at", "2024-06-04T12:00:00Z"]
        _ = try place.run(["settings", "set", "--store", "s", "--user", "u1"] + change + at)
      }
      _ = try place.run("settings", "set", "--store", "s", "--user", "u3", "--level", "none")
      _ = try place.run(
        "settings", "device", "kick", "--store", "s", "--user", "u1", "--device", "p1")
      let line = try first()
      #expect(line.contains("; changed 4 times after the message, at last quietHours of u1 at "))
      #expect(
        line.contains(
          "; userLevel of u1 at 2024-06-04T12:00:00Z (default -> mention); userLevel of u1 at "))
      #expect(line.hasSuffix("; devices changed once after the message."))
      _ = try place.run("store", "compact", "--store", "s", "--keep-entries", "1")
      #expect(try first().contains("; what was changed before 20"))
    }
  }

  @Test func nothingButResultsAndErrorsIsPrintedIfWanted() throws {
    try withWorkplace { place in
      try place.write([SmallWorld.messages[1]], as: "messages.ndjson")
      for command in [
        SmallWorld.evaluate, ["replay"] + SmallWorld.evaluate.dropFirst(),
        ["store", "import", "--store", "s", "--settings", "world.ndjson"],
        ["store", "export", "--store", "s"], ["generate", "--output", "w", "--users", "50"],
      ] {
        let run = try place.run(command + ["-q"])
        #expect(run.errors == "" && run.status == 0, "\(command)")
      }
      let run = try place.run(["evaluate", "-q", "--members", "gone.csv", "--messages", "gone.csv"])
      #expect(run.status == 1 && run.errorLines.count == 1 && run.errors.hasPrefix("gone.csv: "))
    }
  }

  @Test func linesAreFoldedAtBlanks() {
    let line = "STOP  quiet hours  23:00-07:00; it was 05:08:18 in Asia/Karachi"
    #expect(
      Terminal.folded(line, 40, indent: 6)
        == "STOP  quiet hours  23:00-07:00; it was\n      05:08:18 in Asia/Karachi")
    #expect(Terminal.folded(line, 80, indent: 6) == line)
    // A row gives up the blank before its last column first.
    let row = "ok    member  since always              §4"
    #expect(Terminal.narrowed(row, 42) == row)
    #expect(Terminal.narrowed(row, 36) == "ok    member  since always        §4")
    #expect(Terminal.narrowed(row, 20) == "ok    member  since always  §4")
    #expect(Terminal.narrowed(line, 40) == line)
    #expect(
      Terminal.fitted("{\"a\": 1, \"b\": 2}\none two three\n", 8)
        == "{\"a\": 1, \"b\": 2}\none two\n    three\n")
    let long = String(repeating: "x", count: 60)
    #expect(Terminal.folded("a " + long, 40, indent: 2) == "a\n  " + long)
  }
}
