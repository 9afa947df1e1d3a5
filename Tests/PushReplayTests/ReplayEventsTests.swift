import Foundation
import PushFiles
import PushReplay
import PushModel
import TestSupport
import Testing

/// Goal: events come in the order of time from any number of files, and whatever is wrong with one is
/// said with its file and line, and not before everything ahead of it was given out.
@Suite struct ReplayEventsTests {
  /// A folder of files for one test.
  struct Folder {
    let url: URL

    @discardableResult func write(_ lines: [String], as name: String) throws -> String {
      let path = url.appending(path: name).path
      try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: path))
      return path
    }

    func path(_ name: String) -> String { url.appending(path: name).path }

    /// What comes, one text an event, or what stops it.
    func read(_ files: ReplayFiles, rules: RuleSet = .easemob, skips: Bool = false) -> [String] {
      var found: [String] = []
      do throws(FileProblem) {
        let events = try ReplayEvents(
          files, rules: rules,
          skipped: skips ? { found.append("left out: \(self.short($0))") } : nil
        )
        while let event = try events.next() { found.append(Self.text(event)) }
        if skips { found.append("\(events.skippedCount) left out") }
      } catch {
        found.append(short(error))
      }
      return found
    }

    func short(_ problem: FileProblem) -> String {
      "\(problem)".replacingOccurrences(of: url.path + "/", with: "")
    }

    static func text(_ event: ReplayEvent) -> String {
      let at = event.at.milliseconds
      switch event {
      case .message(let message): return "\(at) message \(message.id)"
      case .presence(let change): return "\(at) \(change.user) \(change.isOnline ? "on" : "off")"
      case .heartbeat(let heartbeat, _):
        return "\(at) \(heartbeat.user) \(heartbeat.device) \(heartbeat.state)"
      case .change(let change):
        switch change.record {
        case .app: return "\(at) app"
        case .user(let id, _): return "\(at) user \(id)"
        case .conversation(let id, _): return "\(at) conversation \(id)"
        case .member(let user, let conversation, _, _):
          return "\(at) member \(conversation) \(user)"
        }
      }
    }
  }

  static func withFolder<Result>(_ body: (Folder) throws -> Result) throws -> Result {
    try ScratchFolder.with { try body(Folder(url: $0)) }
  }

  static func message(_ id: String, _ at: Int) -> String {
    #"{"id":"\#(id)","conversation":"g","at":\#(at)}"#
  }

  @Test func whatIsReadTwiceMustBeTheSameBothTimes() throws {
    try Self.withFolder { folder in
      let lines = [1, 2].map { Self.message("m\($0)", $0) }
      let other = [Self.message("m1", 3)]
      let path = folder.path("m.ndjson")
      let rows = [(lines, lines), (lines, [lines[0]]), ([lines[0]], lines), (lines, other)]
      let found = try rows.map { first, second in
        // The first reader keeps the file that it has opened.
        let readers = try [(first, RuleSet.easemob), (second, .rongcloud)].map { lines, rules in
          try? FileManager.default.removeItem(atPath: path)
          try folder.write(lines, as: "m.ndjson")
          return try ReplayEvents(ReplayFiles(messages: [path]), rules: rules)
        }
        let pairs = ReplayEventPairs(readers[0], readers[1])
        var count = 0
        do throws(FileProblem) {
          while try pairs.next() != nil { count += 1 }
          return "\(count)"
        } catch {
          return "\(count), \(folder.short(error))"
        }
      }
      let changed = "m.ndjson: has changed while it was read"
      #expect(found == ["2", "1, \(changed)", "1, \(changed)", "0, \(changed)"])
    }
  }

  /// Heartbeats come at their `seenAt`, and without one with the line before; they are of open rules,
  /// which have no presence of users. A check says the same of their lines.
  @Test func heartbeatsAreOfOpenRules() throws {
    try Self.withFolder { folder in
      let beats = try folder.write(
        [
          #"{"user":"u","device":"default","state":"offline"}"#,
          #"{"user":"u","device":"default","state":"foreground","seenAt":5}"#,
          #"{"user":"u","device":"default","state":"background"}"#,
          #"{"user":"u","device":"default","state":"foreground","seenAt":4}"#,
        ], as: "p.ndjson")
      let rows = try folder.write(["ts,conversation,user,online", "5,g,u,1"], as: "p.csv")
      let messages = try folder.write([Self.message("m", 5)], as: "m.ndjson")
      func read(_ presence: String, _ rules: RuleSet) -> [String] {
        folder.read(
          ReplayFiles(messages: [messages], presence: [presence]), rules: rules, skips: true)
      }
      let late = "p.ndjson:4: the instant is earlier than that of the heartbeat before"
      #expect(
        read(beats, .open) == [
          "0 u default offline", "5 u default foreground", "5 u default background",
          "left out: \(late)", "5 message m", "1 left out",
        ])
      #expect(
        (read(beats, .easemob) + read(rows, .open)).map { $0.prefix { $0 != "," } } == [
          "p.ndjson:1: heartbeats are of open rules; under the rules easemob presence is of users: "
            + "give a file presence.csv of ts",
          "p.csv:1: rows say which users are online; under the rules open devices are: give "
            + "heartbeats",
        ])
      let world = try folder.write(
        [
          #"{"kind":"app","rules":"open"}"#,
          #"{"kind":"user","id":"u","devices":[{"id":"p"}]}"#,
        ], as: "s.ndjson")
      let unknown = #"the user "u" has no device "default" in the settings"#
      let found = FileChecker([beats, world]).problems.map { folder.short($0) }
      #expect(found == (1...4).map { "p.ndjson:\($0): \(unknown)" })
      #expect(FileChecker([beats]).problems.map { folder.short($0) } == [late])
    }
  }

  @Test func standardInputIsNamedOnce() throws {
    try Self.withFolder { folder in
      let path = try folder.write([Self.message("1", 1)], as: "m.ndjson")
      let found = [
        ReplayFiles(messages: ["-", "-"]), ReplayFiles(messages: ["-"], presence: ["-"]),
        ReplayFiles(messages: [path, path]),
      ].map { folder.read($0) }
      let refused = "-: is read twice; give a file that can be read again"
      #expect(found == [[refused], [refused], ["1 message 1", "1 message 1"]])
    }
  }

  @Test func filesAreMerged() throws {
    try Self.withFolder { folder in
      let files = ReplayFiles(
        messages: [
          try folder.write([Self.message("a", 5), Self.message("b", 9)], as: "a.ndjson"),
          try folder.write(["conversation,at", "g,5", "g,7"], as: "b.csv"),
        ],
        presence: [
          try folder.write(
            ["ts,conversation,user,online", "1,g,u1,1", "5,g,u1,0", "5,g,u2,true"], as: "p.csv")
        ],
        changes: [
          try folder.write(
            [
              #"{"kind":"member","conversation":"g","user":"u3","at":5}"#,
              #"{"at":"1970-01-01T00:00:00.007Z","kind":"app","timeZone":"Asia/Tokyo"}"#,
              #"{"kind":"user","id":"u1","at":8,"level":"none"}"#,
              #"{"kind":"conversation","id":"g","at":9}"#,
            ], as: "c.ndjson")
        ])
      let found = folder.read(files)
      #expect(
        found == [
          "1 u1 on", "5 member g u3", "5 u1 off", "5 u2 on", "5 message a", "5 message 1", "7 app",
          "7 message 2", "8 user u1", "9 conversation g", "9 message b",
        ])
    }
  }

  @Test func whatIsWrongHasItsLine() throws {
    try Self.withFolder { folder in
      let good = try folder.write([Self.message("a", 5)], as: "good.ndjson")
      let rows: [(lines: [String], name: String, kind: String, problem: String)] = [
        (
          [Self.message("a", 5), Self.message("b", 4)], "m.ndjson", "messages",
          "m.ndjson:2: the instant is earlier than that of the message before"
        ),
        (
          ["ts,conversation,user,online", "5,g,u,1", "4,g,u,0"], "p.csv", "presence",
          "p.csv:3: the instant is earlier than that of the row before"
        ),
        (
          ["ts,conversation,user,online", "5,g,u,yes"], "p.csv", "presence",
          #"p.csv:2: "online" cannot be "yes"; it is one of 1, 0, true, false"#
        ),
        (
          ["ts,conversation,user,online", "5,g,,1"], "p.csv", "presence",
          #"p.csv:2: the field "user" is missing"#
        ),
        (
          ["ts,conversation,user,online", "x,g,u,1"], "p.csv", "presence",
          "p.csv:2: \"ts\": x is not an instant; give Unix milliseconds, 0 to 9007199254740991, "
            + "or an RFC 3339 time with an offset or Z"
        ),
        (
          ["ts,conversation,user", "5,g,u"], "p.csv", "presence",
          #"p.csv:1: the column "online" is missing"#
        ),
        (
          [
            #"{"kind":"user","id":"u","at":7}"#, #"{"kind":"user","id":"u","at":6}"#,
          ], "c.ndjson", "changes",
          "c.ndjson:2: the instant is earlier than that of the change before"
        ),
        (
          [#"{"kind":"user","id":"u"}"#], "c.ndjson", "changes",
          #"c.ndjson:1: the field "at" is missing"#
        ),
        (
          [#"{"kind":"user","id":"u","at":7,"when":8}"#], "c.ndjson", "changes",
          #"c.ndjson:1: unknown field "when""#
        ),
        (
          [#"{"kind":"user","id":"u","at":7,"levels":{"group":"all"}}"#], "c.ndjson", "changes",
          #"c.ndjson:1: "levels" belongs to rongcloud, but the rules are easemob"#
        ),
        (
          [#"{"kind":"app","rules":"rongcloud","at":7}"#], "c.ndjson", "changes",
          "c.ndjson:1: the rules cannot change; they are easemob"
        ),
        ([""], "c.ndjson", "changes", "c.ndjson:1: the file is empty"),
      ]
      let found = try rows.map { row -> String? in
        let path = try folder.write(row.lines, as: row.name)
        var files = ReplayFiles(messages: [good])
        switch row.kind {
        case "messages": files.messages = [path]
        case "presence": files.presence = [path]
        default: files.changes = [path]
        }
        return folder.read(files).last
      }
      #expect(found == rows.map(\.problem))
      let missing = folder.read(ReplayFiles(messages: [good], presence: ["/none/p.csv"]))
      #expect(missing == ["/none/p.csv: cannot be opened: No such file or directory"])
    }
  }

  @Test func whatComesBeforeAProblemIsGivenOut() throws {
    try Self.withFolder { folder in
      let path = try folder.write(
        [Self.message("a", 5), "nonsense", Self.message("b", 3), Self.message("c", 5)],
        as: "m.ndjson")
      let stopped = folder.read(ReplayFiles(messages: [path]))
      #expect(stopped == ["5 message a", "m.ndjson:2: the line is not JSON"])
      let skipped = folder.read(ReplayFiles(messages: [path]), skips: true)
      #expect(
        skipped == [
          "5 message a", "left out: m.ndjson:2: the line is not JSON",
          "left out: m.ndjson:3: the instant is earlier than that of the message before",
          "5 message c", "2 left out",
        ])
    }
  }

  @Test func changesAndBrokenFilesAreNotLeftOut() throws {
    try Self.withFolder { folder in
      let good = try folder.write([Self.message("a", 5)], as: "good.ndjson")
      let bad = try folder.write(["nonsense"], as: "c.ndjson")
      let changes = folder.read(ReplayFiles(messages: [good], changes: [bad]), skips: true)
      #expect(changes == ["c.ndjson:1: the line is not JSON"])
      let packed = try folder.write([Self.message("a", 5)], as: "plain.ndjson.gz")
      let broken = folder.read(ReplayFiles(messages: [packed]), skips: true)
      #expect(
        broken == ["plain.ndjson.gz:1: is not gzip data, although its name ends in .gz"])
    }
  }
}
