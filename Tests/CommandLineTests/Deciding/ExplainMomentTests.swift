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
        // Behind the answer and the message.
        return run.lines[2]
      }
      _ = try place.run("store", "import", "--store", "s", "--settings", "world.ndjson")
      #expect(
        try first().contains(
          /^Settings as of now; since 20.*, changed after .*: all of them imported/))
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
      #expect(line.contains(", changed after the message 4 times, at last: quietHours of u1 at "))
      #expect(
        line.hasPrefix(
          "Settings as of now; since 2024-06-04T12:00:00Z (2024-06-04 20:00 in Asia/Shanghai), "))
      #expect(
        line.contains(
          "; userLevel of u1 at 2024-06-04T12:00:00Z (2024-06-04 20:00 in Asia/Shanghai) (default "
            + "-> mention); userLevel of u1 at "))
      #expect(line.hasSuffix("; devices changed once after the message."))
      _ = try place.run("store", "compact", "--store", "s", "--keep-entries", "1")
      #expect(try first().contains("; what was changed before 20"))
    }
  }

  /// Ends of mutes and beginnings of memberships are where the user is, too.
  @Test func instantsOfSettingsAreInBothZones() throws {
    try withWorkplace { place in
      let end = #""mutedUntil":"2024-06-03T06:00:00Z"}"#
      let later = #"{"kind":"member","conversation":"g1","user":"u3","since":1735689600000}"#
      try place.write(
        SmallWorld.settings.dropLast() + [#"{"kind":"user","id":"u9","# + end, later]
          + [#"{"kind":"member","conversation":"g1","user":"u9"}"#], as: "world.ndjson")
      let base = ["explain"] + world + ["--messages", "messages.ndjson", "--message", "m2"]
      let answers = try ["u9", "u3"].map { try place.run(base + ["--user", $0]).lines.first }
      #expect(
        answers == [
          "No push for u9. Stopped by the mute of all conversations until "
            + "2024-06-03T06:00:00Z (2024-06-03 14:00 in Asia/Shanghai).",
          "u3 is no recipient (joins at 2025-01-01T00:00:00Z (2025-01-01 08:00 in Asia/Shanghai), "
            + "after this message).",
        ])
    }
  }

  /// What the phrase of an outcome says is not said again.
  @Test func nothingIsSaidTwice() throws {
    try withWorkplace { place in
      try VendorWorld.easemob.write(to: place)
      let base = [
        "explain", "--settings", "vendor.ndjson", "--messages", "all.ndjson", "--message",
      ]
      let answers = try [("m8", "u1"), ("m6", "u2"), ("m2", "u6")].map { message, user in
        try place.run(base + [message, "--user", user]).lines.first
      }
      #expect(
        answers == [
          "No push for u1. Never pushed: a chat room.",
          "No push for u2. Never pushed: the sender asked for silence.",
          "No push for u6. No device: all had been kicked.",
        ])
    }
  }

  /// On a pseudo-terminal the answer is bold and what stops is red, unless `NO_COLOR` is set; and
  /// messages to unknown conversations are counted once.
  @Test func terminalsHaveColour() throws {
    try withWorkplace { place in
      func screen(_ words: String, _ environment: String = "NO_COLOR= TERM=xterm") throws -> String
      {
        try place.shell(
          "\(environment) script -qec \"$0 \(words)\" /dev/null </dev/null"
        ).output
      }
      let explain =
        "explain --settings world.ndjson --messages messages.ndjson --message m1 --user u1"
      let shown = try screen(explain)
      #expect(shown.hasPrefix("\u{1B}[1mNo push for u1."), "\(shown)")
      #expect(shown.contains("\u{1B}[1;31mSTOP  quiet hours"))
      for environment in ["NO_COLOR=1 TERM=xterm", "TERM=dumb"] {
        let plain = try screen(explain, environment)
        #expect(plain.hasPrefix("No push for u1.") && !plain.contains("\u{1B}"), "\(plain)")
      }
      let summary = try screen("evaluate --settings world.ndjson --messages messages.ndjson")
      #expect(summary.ranges(of: "unknown conversations").count == 1, "\(summary)")
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
