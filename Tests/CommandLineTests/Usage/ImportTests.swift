import Foundation
import TestSupport
import Testing

/// Goal: `import` gives a folder that every command reads, or none and says why.
@Suite struct ImportTests {
  private static let lines = [
    #"{"type":"channel","channel":{"team":"t","name":"c"}}"#,
    #"{"type":"user","user":{"username":"ann","notify_props":{"mobile":"all"},"#
      + #""teams":[{"name":"t","channels":[{"name":"c"}]}]}}"#,
    #"{"type":"post","post":{"team":"t","channel":"c","user":"ben","message":"hi","create_at":5}}"#,
  ]

  @Test func worldsAreRead() throws {
    try withWorkplace { place in
      try place.write(Self.lines, as: "e.jsonl")
      // An empty folder may be there.
      try FileManager.default.createDirectory(
        atPath: place.path("w"), withIntermediateDirectories: false)
      let run = try place.run("import", "mattermost", "e.jsonl", "--output", "w")
      #expect(run.status == 0 && run.output == "")
      #expect(
        run.errorLines.dropLast() == [
          "1 user, 1 conversation, 1 membership, 0 threads, 1 message",
          "settings are those of the moment of the export, also for old messages",
          "notInExport: 1, 1 person: first names, push_threads, time zones and statuses are not in "
            + "the export: give --api-users and --api-statuses",
        ])
      #expect(run.errorLines.last?.hasSuffix(" s; ids of people are their user names") == true)
      let decided = try place.run(
        "evaluate", "--settings", "w/settings.ndjson", "--messages", "w/messages.ndjson",
        "--format",
        "pushlist")
      #expect(decided.output == "{\"message\":\"3\",\"push\":[\"ann\"]}\n")
      #expect(
        try place.run("store", "import", "--store", "s", "--settings", "w/settings.ndjson").status
          == 0)
    }
  }

  @Test func statusesAndOutputs() throws {
    try withWorkplace { place in
      try place.write(Self.lines, as: "e.jsonl")
      try place.write(Self.lines.dropLast() + ["{"], as: "bad.jsonl")
      try place.write(["00"], as: "short.key")
      try FileManager.default.createDirectory(
        atPath: place.path("full/x"), withIntermediateDirectories: true)
      let before = place.names()
      let cases: [(arguments: String, status: Int32, message: String)] = [
        ("mattermost bad.jsonl --output w", 1, "bad.jsonl:3: the JSON text is cut off"),
        ("mattermost none --output w", 1, "none: it cannot be opened: No such file or directory"),
        ("zulip e.jsonl --output w", 1, "e.jsonl: it is neither a folder nor an archive"),
        (
          "mattermost e.jsonl --output full", 1,
          "push-fanout: cannot write full: there is something of that name; name another"
        ),
        (
          "mattermost e.jsonl --output w --hash-ids short.key", 1,
          "push-fanout: short.key: the key is not 32 hexadecimal digits; openssl rand -hex 16 makes one"
        ),
        (
          "mattermost e.jsonl --output w --api-statuses e.jsonl", 2,
          "Error: --api-statuses needs --api-users, which has the names of ids."
        ),
        (
          "mattermost e.jsonl --output e.jsonl", 2,
          "Error: --output e.jsonl and <export> e.jsonl are the same file; write somewhere else"
        ),
      ]
      for (arguments, status, message) in cases {
        let run = try place.run(["import"] + arguments.split(separator: " ").map(String.init))
        #expect([run.errorLines.first ?? "", "\(run.status)"] == [message, "\(status)"])
      }
      #expect(place.names() == before)
      // The files are written, and the status says what was counted.
      let strict = try place.run(
        "import", "mattermost", "e.jsonl", "--output", "w", "--strict", "-q")
      #expect(strict.status == 1 && strict.errors == "")
      #expect(FileManager.default.fileExists(atPath: place.path("w/report.json")))
    }
  }

  /// Interrupted, or on a full disk, an import leaves nothing.
  @Test func nothingIsLeft() throws {
    try withWorkplace { place in
      try place.write(Self.lines, as: "e.jsonl")
      // A pipe that nobody writes to: the import waits for it.
      try place.shell("mkfifo pipe")
      let before = place.names()
      let run = try place.run(["import", "mattermost", "pipe", "--output", "w"]) { process in
        waits(while: { process.isRunning }) { place.names() != before }
        _ = try? place.shell("kill -TERM \(process.processIdentifier)")
      }
      #expect(run.errorLines == ["push-fanout: interrupted; no output was written"])
      #expect(place.names() == before)
      let posts = (0..<20_000).map { _ in Self.lines[2] }
      try place.write(Array(Self.lines.dropLast()) + posts, as: "large.jsonl")
      let full = try place.shell(
        "ulimit -f 100; \"$0\" import mattermost large.jsonl --output w -q")
      #expect(full.status == 1 && full.errors.contains("File too large"), "\(full.errors)")
      #expect(place.names() == (before + ["large.jsonl"]).sorted())
    }
  }
}
