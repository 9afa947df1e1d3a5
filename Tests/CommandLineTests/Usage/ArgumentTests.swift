import Foundation
import PushModel
import PushStore
import TestSupport
import Testing

/// Goal: arguments are taken as their bytes are or refused, and what people are called cannot write
/// on somebody's terminal.
@Suite struct ArgumentTests {
  /// Repaired, two such ids would be one.
  @Test func anArgumentThatIsNotUTF8IsRefused() throws {
    try SettingsTests.withStore(.easemob) { place in
      let scripts = [
        (#"settings set --store app.store --user "$(printf 'u\377')" --level all"#, #"u\xff"#),
        (#"settings get --store app.store --user="$(printf 'u\303')""#, #"--user=u\xc3"#),
        (
          #"store export --store app.store --output "$(printf 'a\355\240\200')""#, #"a\xed\xa0\x80"#
        ),
        (#"check "$(printf 'w\200')""#, #"w\x80"#),
      ]
      let before = place.names()
      for (script, shown) in scripts {
        let run = try place.shell("\"$0\" \(script)")
        #expect(
          run.errors
            == "Error: the argument \(shown) is not UTF-8; ids and names of files have to be\n")
        #expect(run.status == 2 && run.output == "")
      }
      #expect(place.names() == before)
      let events = try SettingsTests.run("events", in: place)
      #expect(!events.output.contains("\u{FFFD}") && !events.output.contains("userLevel"))
    }
  }

  /// `-` is standard output, where results go without the option.
  @Test func anOutputMayBeADash() throws {
    try withWorkplace { place in
      let evaluate = SmallWorld.evaluate + ["--format", "csv"]
      let expected = try place.run(evaluate)
      for output in [["-o", "-"], ["--output", "-"], ["--output=-"]] {
        let run = try place.run(evaluate + output)
        #expect(run.output == expected.output && run.status == 0, "\(output)")
      }
      #expect(place.names() == ["messages.ndjson", "world.ndjson"])
    }
  }

  /// A required option that is mistyped is missing, and that is not what has to be said.
  @Test(arguments: [
    (["evaluate", "--settings", "world.ndjson", "--mesages", "m"], "--mesages", "--messages"),
    (["evaluate", "--settings", "world.ndjson", "--mesages=m"], "--mesages", "--messages"),
    (["settings", "get", "--stor", "s", "--user", "u"], "--stor", "--store"),
    (
      ["explain", "--settings", "world.ndjson", "--messages", "m", "--usr", "u"], "--usr", "--user"
    ),
  ])
  func aMistypedRequiredOptionIsGuessed(
    _ arguments: [String], given: String, meant: String
  ) throws {
    let run = try withWorkplace { try $0.run(arguments) }
    #expect(run.errorLines.first == "Error: Unknown option '\(given)'. Did you mean '\(meant)'?")
    #expect(run.status == 2)
  }

  /// Groups of Telegram have such ids.
  @Test func idsMayBeginWithADash() throws {
    try withWorkplace { place in
      try place.write(
        ["conversation,user", "-100123,-5", "-100123,-u", "-100123,--json"], as: "members.csv")
      try place.write(["id,conversation,at", "-1,-100123,5", "-2,-100123,6"], as: "m.csv")
      let files = ["--members", "members.csv", "--messages", "m.csv"]
      for user in ["-5", "-u"] {
        let explain = ["explain"] + files + ["--message", "-1", "--json"]
        let runs = try [["--user", user], ["--user=\(user)"]].map { try place.run(explain + $0) }
        #expect(runs.map(\.status) == [0, 0], "\(runs[0].errors)")
        #expect(runs[0].output == runs[1].output && runs[0].output.contains("\"\(user)\""))
      }
      let rows = ["evaluate"] + files + ["--format", "csv"]
      let some = try place.run(rows + ["--user=--json", "--user", "-5", "--message=-2"])
      #expect(some.lines.dropFirst().map { String($0.prefix(8)) } == ["-2,-5,pu", "-2,--jso"])
      let next = try place.run(
        "next-change", "--members", "members.csv", "--user", "-5", "--conversation", "-100123",
        "--at", "5")
      #expect(next.status == 0 && next.errors == "")
      // Options of one letter stay options.
      let written = try place.run(rows + ["--devices", "-o", "out"])
      #expect(
        written.errors == "Error: --devices goes with --format ndjson.\n" + written.errorLines[1]
          + "\n")
      let threads = try place.run(rows + ["--threads", "-1"])
      #expect(threads.errorLines.first == "Error: --threads -1 is not 1...1024.")
    }
  }

  /// Every option that can be typed with one dash is known where values are told from options.
  @Test func optionsOfOneLetterAreKnown() throws {
    let help = try withWorkplace { try $0.run("--experimental-dump-help").output }
    let short = help.matches(of: /"kind" : "short",\s+"name" : "(.)"/).map(\.output.1)
    #expect(!short.isEmpty)
    try withWorkplace { place in
      for letter in Set(short) {
        let runs = try [["-\(letter)"], ["--json", "-\(letter)"]].map {
          try place.run(["evaluate"] + $0)
        }
        #expect(runs[0].errors == runs[1].errors && runs[0].output == runs[1].output, "\(letter)")
      }
    }
  }

  /// What errors and help say of options is about options that there are.
  @Test func optionsThatAreNamedExist() throws {
    let help = try withWorkplace { try $0.run("--experimental-dump-help").output }
    let names = help.matches(of: /"kind" : "long",\s+"name" : "([^"]+)"/).map(\.output.1)
    // `serve` becomes the server, which has keys.
    let known = Set(names.map(String.init)).union(["help", "version", "keys"])
    #expect(known.count > 100)
    let folder = Repository.root.appending(path: "Sources/Command")
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    var unknown: [String] = []
    for case let file as URL in try #require(files) where file.pathExtension == "swift" {
      let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      for line in lines where !line.contains(/^\s*\/\//) {
        for match in line.matches(of: /(^|[^-\w])--([a-z][a-z-]*[a-z])/)
        where !known.contains(String(match.output.2)) {
          unknown.append("\(file.lastPathComponent): --\(match.output.2)")
        }
      }
    }
    #expect(unknown == [])
  }

  /// What starts an escape sequence, moves the cursor, ends a line or turns the direction.
  private static let hostile = "\u{1B}[2J\u{9B}1m\r\n\u{8}\u{202E}\u{2028}x"
  private static let shown = #"\u001b[2J\u009b1m\r\n\b\u202e\u2028x"#

  /// Whether anything but ends of lines could steer a terminal.
  private static func steers(_ text: String) -> Bool {
    text.unicodeScalars.contains { scalar in
      scalar != "\n"
        && (scalar.properties.generalCategory == .control || scalar == "\u{2028}"
          || scalar == "\u{202E}")
    }
  }

  private static func withHostileStore(
    _ rules: RuleSet, _ body: (Workplace) throws -> Void
  ) throws {
    try withWorkplace { place in
      let id = Identifier(hostile)
      let store = try SettingsStore(place.path("app.store"), .create, threads: 1)
      try store.write(at: .zero, from: id) { write in
        try write.setApp(AppSettings(rules: rules))
        let kind: ConversationKind = rules == .easemob ? .group : .ultraGroup
        try write.setConversation(id, ConversationSettings(kind: kind))
        try write.setMember(id, of: id, MemberSettings(level: .blocked))
        try write.bindToken(ofDevice: id, notifier: id, of: id)
        if rules == .rongcloud {
          try write.setNotificationLevel(.blocked, of: id, in: id, channel: id)
          try write.setDefaultLevel(.mention, ofUltraGroup: id, channel: id)
        } else {
          try write.updatePushDisplayName(hostile, of: id)
          try write.setRemark(hostile, for: id, by: id)
        }
      }
      try store.close()
      var message: [UInt8] = Array(#"{"id":"#.utf8)
      for (place, name) in ["", #","conversation":"#, #","mentions":["#].enumerated() {
        message += Array(name.utf8)
        message.appendJSON(hostile)
        if place == 2 { message.append(UInt8(ascii: "]")) }
      }
      try place.write(
        [String(decoding: message, as: UTF8.self) + #","at":1717401600000}"#],
        as: "messages.ndjson")
      try body(place)
    }
  }

  @Test(arguments: RuleSet.vendors)
  func idsCannotSteerATerminal(rules: RuleSet) throws {
    let id = Self.hostile
    let user = ["--user", id]
    let inGroup = user + ["--conversation", id]
    let settings: [[String]] =
      [
        ["get"] + user, ["get"] + inGroup, ["list"] + user, ["blocked"] + user, ["events"],
        ["device", "list"] + user, ["display"] + user,
        ["set"] + inGroup + ["--level", "none"], ["clear"] + inGroup,
      ]
      + (rules == .easemob
        ? [["get"] + user + ["--batch", id]]
        : [
          ["get"] + inGroup + ["--channel", id], ["get"] + inGroup + ["--legacy"],
          ["defaults", "--conversation", id, "--channel", id],
        ])
    let files = ["--messages", "messages.ndjson"]
    let others: [[String]] = [
      ["explain"] + files + ["--message", id] + user,
      ["explain", "--content"] + files + ["--message", id] + user,
      ["next-change", "--at", "5"] + inGroup, ["replay", "--hold"] + files,
      ["compare", "--b", "app.timeZone=UTC"] + files, ["evaluate", "--format", "summary"] + files,
      ["store", "check"], ["store", "stats"],
    ]
    try Self.withHostileStore(rules) { place in
      var named = 0
      for arguments in settings.map({ ["settings"] + $0 }) + others {
        let run = try place.run(arguments + ["--store", "app.store"])
        #expect(run.status == 0, "\(arguments): \(run.errors)")
        #expect(!Self.steers(run.output) && !Self.steers(run.errors), "\(arguments)")
        if run.output.contains(Self.shown) { named += 1 }
      }
      #expect(named >= 10)
      // Messages of errors too, each of them one line.
      for arguments in [
        ["settings", "get", "--conversation", "x" + id] + user,
        ["settings", "get", "--frob" + id] + user,
        ["explain", "--message", "x" + id] + files + user,
      ] {
        let run = try place.run(arguments + ["--store", "app.store"])
        #expect(run.status > 0 && !Self.steers(run.errors), "\(arguments): \(run.errors)")
        #expect(run.errors.contains(Self.shown), "\(arguments): \(run.errors)")
      }
    }
  }
}
