import Foundation
import TestSupport
import Testing

/// Goal: `generate` writes a folder that the other commands read, says what it made, and leaves
/// nothing when it does not come to its end.
@Suite struct GenerateTests {
  private static let inputs = ["messages.ndjson", "world.ndjson"]
  private static let small = ["generate", "--users", "500", "--output", "out"]

  @Test(arguments: ["easemob", "rongcloud"], ["csv", "ndjson"])
  func otherCommandsReadIt(rules: String, format: String) throws {
    try withWorkplace { place in
      let run = try place.run(
        Self.small + [
          "--rules", rules, "--format", format, "--mention-level-share", "0",
          "--none-level-share", "0",
        ])
      #expect(run.status == 0)
      #expect(run.output == "")
      #expect(run.errorLines.count == 1)
      let said = try #require(run.errorLines.first)
      #expect(said.hasPrefix("seed 1: 500 users, 100 rooms, "))
      #expect(said.contains(" memberships, 500 messages, "))
      let names = try place.shell("ls out").lines
      let files = format == "csv" ? ["members.csv", "messages.csv"] : ["messages.ndjson"]
      #expect(
        names == ["changes.ndjson"] + files + ["presence.csv", "settings.ndjson"]
          + (format == "csv" ? ["users.csv"] : [])
      )
      #expect(place.names() == ["messages.ndjson", "out", "world.ndjson"])
      let checked = try place.run(
        ["check"] + names.map { "out/\($0)" })
      #expect(checked.status == 0, "\(checked.output)")
      var arguments = [
        "evaluate", "--settings", "out/settings.ndjson", "--messages", "out/messages.\(format)",
        "--format", "counts",
      ]
      if format == "csv" {
        arguments += ["--users", "out/users.csv", "--members", "out/members.csv"]
      }
      let packed = try place.run(arguments)
      let reference = try place.run(arguments + ["--engine", "reference"])
      #expect(packed.status == 0)
      #expect(packed.lines.count == 500)
      #expect(packed.output == reference.output)
      let replay = try place.run(
        ["replay", "--presence", "out/presence.csv", "--changes", "out/changes.ndjson"]
          + arguments.dropFirst().filter { $0 != "--format" && $0 != "counts" })
      #expect(replay.status == 0, "\(replay.errors)")
      #expect(replay.output.contains("online"))
    }
  }

  /// Worlds of open rules are NDJSON, without presence.
  @Test func otherCommandsReadOpenRules() throws {
    try withWorkplace { place in
      let run = try place.run(Self.small + ["--rules", "open", "--text", "--changes", "0.5"])
      #expect(run.status == 0, "\(run.errors)")
      let names = try place.shell("ls out").lines
      #expect(names == ["changes.ndjson", "messages.ndjson", "settings.ndjson"])
      let checked = try place.run(["check"] + names.map { "out/\($0)" })
      #expect(checked.status == 0, "\(checked.output)")
      let files = ["--settings", "out/settings.ndjson", "--messages", "out/messages.ndjson"]
      let packed = try place.run(["evaluate"] + files + ["--format", "counts"])
      let reference = try place.run(
        ["evaluate"] + files + ["--format", "counts", "--engine", "reference"])
      #expect(packed.status == 0, "\(packed.errors)")
      #expect(packed.lines.count == 500)
      #expect(packed.output == reference.output)
      let replay = try place.run(["replay", "--changes", "out/changes.ndjson"] + files)
      #expect(replay.status == 0, "\(replay.errors)")
    }
  }

  @Test func openRulesAndOthersAreToldApart() throws {
    try withWorkplace { place in
      let csv = try place.run(Self.small + ["--rules", "open", "--format", "csv"])
      #expect(csv.status == 2)
      #expect(
        csv.errors.contains(
          "--rules open needs --format ndjson: CSV has no lists of classes, roles, keywords, senders, "
            + "threads' records and texts."))
      let other = try place.run(Self.small + ["--keyword-share", "0.5"])
      #expect(other.status == 2)
      #expect(other.errors.contains("--keyword-share needs --rules open."))
      let first = try place.run(
        Self.small + ["--rules", "open", "--rates", "1", "--role-share", "0.5"])
      #expect(first.errors.contains("--role-share needs --rates 2."))
      #expect(place.names() == ["messages.ndjson", "world.ndjson"])
    }
  }

  @Test func theSameFlagsGiveTheSameBytes() throws {
    try withWorkplace { place in
      let flags = [
        "generate", "--users", "3000", "--memberships", "9000", "--rate", "0.05", "--like", "zulip",
        "--start", "2024-02-28T12:00:00+08:00", "--duration", "36h",
      ]
      for (name, extra) in [
        ("a", ["--threads", "1"]), ("b", ["--threads", "2"]), ("c", ["--threads", "7"]),
        ("d", ["--seed", "2"]),
      ] {
        #expect(try place.run(flags + extra + ["-o", name]).status == 0)
      }
      let same = try place.shell("diff -r a b && diff -r a c && echo same")
      #expect(same.output == "same\n")
      #expect(try place.shell("diff -q a/members.csv d/members.csv").status == 1)
      // The first instant, and as many messages as the rate and the time give.
      let presence = try place.read("a/presence.csv").split(separator: "\n")
      #expect(presence.prefix(2).last?.hasPrefix("1709092800000,,u") == true)
      #expect(try place.shell("wc -l <a/messages.csv").output == "6481\n")
      #expect(try place.shell("wc -l <a/members.csv").output == "9001\n")
    }
  }

  @Test func flagsReachTheirKnobs() throws {
    try withWorkplace { place in
      // Each changes a world, alone.
      let flags =
        [
          ["--rooms", "77"], ["--median-size", "9"], ["--size-exponent", "3"],
          ["--size-max", "20"],
          ["--giants", "70,60"], ["--top-joiners-share", "0.8"], ["--join-share", "0.4"],
          ["--start", "1767571200001"], ["--duration", "20h"], ["--messages", "99"],
          ["--rate", "0.01"], ["--hour-ratio", "20"], ["--activity-sd", "2"],
          ["--never-post-share", "0.1"], ["--sender-exponent", "2"], ["--burst-exponent", "1.5"],
          ["--burst-max", "2"], ["--burst-gap", "7"], ["--same-sender-share", "0.9"],
          ["--mention-share", "0.6"], ["--mention-counts", "0,0,1"], ["--recent-share", "0"],
          ["--day-share", "0.5"], ["--small-all-share", "0.5"], ["--quiet-share", "0.2"],
          ["--silent-share", "0.3"], ["--quiet-start", "02:00"], ["--quiet-start-sd", "1"],
          ["--quiet-length", "60"], ["--quiet-length-sd", "300"], ["--mention-level-share", "0.5"],
          ["--none-level-share", "0.5"], ["--mute-shares", "0.7,0.7,0.7,0.7"],
          ["--muters", "0.99"],
          ["--mute-mention-share", "0"], ["--all-level-share", "0.8"], ["--devices"],
          ["--devices", "--android-share", "1"], ["--devices", "--android-push", "0"],
          ["--devices", "--ios-push", "0"], ["--online-share", "0.3"], ["--no-presence"],
          ["--session-minutes", "1,2,3"], ["--seed", "9"], ["--rules", "rongcloud"],
          ["--rules", "rongcloud", "--quiet-mention-share", "1"], ["--format", "ndjson"],
          ["--like", "gitter"], ["--like", "telegram"], ["--like", "zulip"], ["--like", "irc"],
          ["--giants", "1100", "--rooms", "1"], ["--rates", "1"], ["--like", "family"],
          ["--join-days", "3"], ["--join-burst-share", "1"], ["--shared-zone", "1"],
          ["--start", "2026-01-03T00:00:00Z", "--duration", "3d"],
          ["--start", "2026-01-03T00:00:00Z", "--duration", "3d", "--weekend-ratio", "0.1"],
          ["--day-deviation", "3"], ["--active-shares", "0.1,0.2,0.4,0.8,1"],
          ["--reply-share", "0"],
          ["--format", "ndjson", "--text"], ["--quiet-writing-share", "0"], ["--changes", "1"],
          ["--changes", "0"], ["--sender-online-share", "0.5"], ["--visit-minutes", "60"],
          ["--giants", "1100", "--rooms", "1", "--big-all-share", "1"], ["--rules", "open"],
          ["--rules", "open", "--text"],
          ["--rules", "open", "--text", "--keyword-text-share", "1"],
        ]
        + [
          "--keyword-share", "--important-sender-share", "--blocked-sender-share",
          "--muted-user-share", "--class-level-share", "--role-share", "--important-share",
          "--role-mention-share", "--thread-share", "--quiet-weekday-share",
        ].map { ["--rules", "open", $0, "0.9"] }
      let sums = try ([[]] + flags).map { flag in
        let run = try place.shell(
          """
          "$0" generate --users 1200 --output w \(flag.joined(separator: " ")) && cat w/* | cksum
          rm -r w
          """)
        return run.output.isEmpty ? "\(flag): \(run.errors)" : run.output
      }
      let equal = Dictionary(grouping: zip(sums, [[]] + flags), by: \.0).values
        .filter { $0.count > 1 }.map { $0.map(\.1) }
      #expect(equal == [])
      #expect(sums.filter { $0.hasPrefix("[") } == [])
    }
  }

  /// The sums of whole folders, which no later version may change.
  @Test func theFirstRatesGiveTheirBytesForEver() throws {
    try withWorkplace { place in
      let rows: [(flags: String, sum: String)] = [
        ("", "2893232917 133251"),
        (
          "--rules rongcloud --like zulip --devices --duration 7d --messages 2000",
          "3727091724 658632"
        ),
        (
          "--format ndjson --memberships 3000 --rate 0.05 --like irc "
            + "--start 2024-02-28T12:00:00+08:00 --duration 36h", "1009643860 824424"
        ),
        (
          "--format ndjson --rules rongcloud --online-share 0.5 --join-share 0.6",
          "138822674 1025902"
        ),
        ("--like gitter --seed 9 --threads 2", "538859046 172918"),
        ("--like telegram", "854443987 132725"),
      ]
      let found = try rows.map { row in
        try place.shell(
          """
          "$0" generate --rates 1 --users 1500 --output w \(row.flags) && cat w/* | cksum
          rm -r w
          """
        ).output
      }
      #expect(found == rows.map { $0.sum + "\n" })
    }
  }

  @Test func whatIsThereIsRefusedAndStays() throws {
    try withWorkplace { place in
      try place.shell("mkdir folder; echo a >folder/users.csv; echo b >file; ln -s none link")
      let before = place.names()
      for name in ["folder", "folder/", "file", "link", "/dev/null"] {
        let run = try place.run("generate", "--output", name)
        let shown = name == "folder/" ? "folder" : name
        #expect(
          run.errors
            == "push-fanout: cannot write \(shown): there is something of that name; name another\n"
        )
        #expect(run.status == 1)
      }
      let missing = try place.run("generate", "--output", "none/out")
      #expect(missing.errors == "push-fanout: cannot write none/out: No such file or directory\n")
      #expect(missing.status == 1)
      #expect(place.names() == before)
      #expect(try place.shell("cat folder/* file").lines == ["a", "b"])
    }
  }

  /// A limit on the size of files stands for a full disk.
  @Test func aFullDiskLeavesNothing() throws {
    try withWorkplace { place in
      let run = try place.shell(
        "trap '' XFSZ; ulimit -f 100; \"$0\" generate --users 20000 --output out")
      #expect(run.status == 1)
      #expect(
        run.errors.hasPrefix("push-fanout: cannot write out.")
          && run.errors.hasSuffix("users.csv: File too large\n"))
      #expect(place.names() == Self.inputs)
    }
  }

  @Test(arguments: ["INT", "TERM", "HUP"], ["users.csv", "members.csv", "messages.csv"])
  func anInterruptedRunLeavesNothing(signal: String, file: String) throws {
    try withWorkplace { place in
      var isAtWork = false
      let arguments = [
        "generate", "--output", "out", "--no-presence", "--users",
        file == "users.csv" ? "10000000" : "1000", "--memberships",
        file == "members.csv" ? "100000000" : "1000", "--messages",
        file == "messages.csv" ? "100000000" : "1000",
      ]
      let run = try place.run(arguments) { process in
        isAtWork = waits(while: { process.isRunning }) {
          let found = try? place.shell("find out.* -name '\(file).*' -size +0").output
          return found?.isEmpty == false
        }
        _ = try? place.shell("kill -\(signal) \(process.processIdentifier)")
      }
      #expect(isAtWork)
      #expect(
        run.errorLines == ["push-fanout: interrupted; no output was written"])
      #expect(run.status == 1)
      #expect(place.names() == Self.inputs)
    }
  }

  @Test func wrongFlagsAreSaid() throws {
    try withWorkplace { place in
      let rows: [(flags: [String], error: String)] = [
        (["--users", "0"], "Error: --users 0 is not in 1...100000000."),
        (["--users", "x"], "Error: The value 'x' is invalid for '--users <count>'"),
        (["--quiet-share", "1.5"], "Error: --quiet-share 1.5 is not in 0...1."),
        (["--mention-share=-1"], "Error: --mention-share -1 is not in 0...1."),
        (
          ["--quiet-share", "0.6", "--silent-share", "0.6"],
          "Error: --quiet-share and silent-share are more than 1 together."
        ),
        (
          ["--rooms", "5", "--memberships", "9"],
          "Error: --rooms and memberships exclude each other: give one."
        ),
        (
          ["--users", "100", "--giants", "101"],
          "Error: --giants: a room of 101 has more members than there are users (100)."
        ),
        (["--giants", "5,"], "Error: The value '5,' is invalid for '--giants <list>'"),
        (["--mute-shares", "0.1"], "Error: --mute-shares takes 4 numbers with commas between."),
        (["--duration", "1w"], "Error: The value '1w' is invalid for '--duration <time>'"),
        (["--duration", "1s"], "Error: --duration 1000 ms is not in 1m...3660d."),
        (["--start", "now"], "Error: The value 'now' is invalid for '--start <instant>'"),
        (["--quiet-start", "24:00"], "Error: The value '24:00' is invalid for '--quiet-start"),
        (["--rate", "1", "--messages", "1"], "Error: --rate goes without --messages."),
        (["--rate", "1e300"], "Error: --rate 1e+300 is not a rate of 0...10000000000 messages"),
        (["--rate=nan"], "Error: --rate nan is not a rate of 0...10000000000 messages in all."),
        (["--threads", "0"], "Error: --threads 0 is not 1...1024."),
        (["--like", "irk"], "Error: The value 'irk' is invalid for '--like <like>'"),
        (["--rules", "acme"], "Error: The value 'acme' is invalid for '--rules <rules>'"),
        (["--format", "xml"], "Error: The value 'xml' is invalid for '--format <format>'"),
        (
          ["--quiet-share", "0.8", "--silent-share", "0.4"],
          "Error: --quiet-share and silent-share are more than 1 together."
        ),
        (["--text"], "Error: --text needs --format ndjson: CSV has no texts."),
        (["--rates", "1", "--shared-zone", "1"], "Error: --shared-zone needs --rates 2."),
        (["--rates", "1", "--changes", "1"], "Error: --changes needs --rates 2."),
        (["--rates", "3"], "Error: The value '3' is invalid for '--rates <rates>'"),
        (["--weekend-ratio", "0"], "Error: --weekend-ratio 0 is not in 0.01...10."),
        (["--frobnicate"], "Error: Unknown option '--frobnicate'"),
      ]
      let runs = try rows.map { try place.run(["generate", "--output", "out"] + $0.flags) }
      let wrong = zip(runs, rows).filter { run, row in
        run.status != 2 || run.output != "" || !run.errors.hasPrefix(row.error)
      }
      #expect(wrong.map { "\($1.flags): \($0.status) \($0.errors)" } == [])
      // What depends on the whole world is found when it is made.
      let steep = try place.run("generate", "--output", "out", "--hour-ratio", "100")
      #expect(steep.status == 1)
      #expect(steep.errors.hasPrefix("push-fanout: hour-ratio 100 is more than the "))
      let none = try place.run("generate")
      #expect(none.errors.hasPrefix("Error: Missing expected argument '--output <folder>'"))
      #expect(none.status == 2)
      #expect(place.names() == Self.inputs)
    }
  }
}
