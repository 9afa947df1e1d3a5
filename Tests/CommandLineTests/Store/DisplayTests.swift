import Foundation
import Testing

/// Goal: a store says what pushes say as its files do, and `settings display` sets it.
@Suite struct DisplayTests {
  private static let world = [
    #"{"kind":"app","rules":"easemob"}"#,
    #"{"kind":"user","id":"u1","display":{"name":"A","style":"messageSummary","language":"fr","#
      + #""template":"tpl","offlineMessages":3},"remarks":{"u9":"Nina","u2":""}}"#,
    #"{"kind":"user","id":"u2","display":{"style":"messageSummary"}}"#,
    #"{"kind":"user","id":"u9","display":{"name":"N\u0000"}}"#,
    #"{"kind":"conversation","id":"g1","type":"group","name":"Friends"}"#,
    #"{"kind":"member","conversation":"g1","user":"u1"}"#,
    #"{"kind":"member","conversation":"g1","user":"u2"}"#,
    #"{"kind":"member","conversation":"g1","user":"u9","nickname":"Nick"}"#,
  ]
  private static let messages = [
    #"{"id":"m1","conversation":"g1","sender":"u9","at":1717401600000,"text":"hi","#
      + #""translations":{"fr":"salut"}}"#
  ]

  @Test func aStoreSaysWhatItsFilesSay() throws {
    try withWorkplace { place in
      try place.write(Self.world, as: "world.ndjson")
      try place.write(Self.messages, as: "messages.ndjson")
      let made = try place.run("store", "import", "--store", "s", "--settings", "world.ndjson")
      #expect(made.status == 0)
      for command in ["render", "explain --content --message m1 --user u1"] {
        let found = try ["--store s", "--settings world.ndjson"].map {
          try place.shell("\"$0\" \(command) \($0) --messages messages.ndjson")
        }
        #expect(found.map(\.status) == [0, 0])
        // Over a store, explain says of when the settings are.
        let lines = found[0].lines.filter { !$0.hasPrefix("Settings as of now; ") }
        #expect(lines == found[1].lines)
        #expect(found[0].output.contains("Nina: salut"))
      }
      // An export says it all again, in the same bytes when it is imported and exported once more.
      let export = try place.run("store", "export", "--store", "s", "--output", "out.ndjson")
      #expect(export.status == 0)
      let lines = try place.read("out.ndjson").split(separator: "\n").dropFirst().map(String.init)
      #expect(
        lines.prefix(3) == [
          #"{"kind":"user","id":"u1","display":{"name":"A","style":"messageSummary","#
            + #""language":"fr","template":"tpl","offlineMessages":3},"#
            + #""remarks":{"u2":"","u9":"Nina"}}"#,
          #"{"kind":"user","id":"u2","display":{"style":"messageSummary"}}"#,
          #"{"kind":"user","id":"u9","display":{"name":"N\u0000"}}"#,
        ])
      #expect(lines.contains(Self.world[4]) && lines.contains(Self.world[7]))
      _ = try place.run("store", "import", "--store", "t", "--settings", "out.ndjson")
      let again = try place.run("store", "export", "--store", "t")
      #expect(try again.output == place.read("out.ndjson"))
      let checked = try place.run("check", "out.ndjson", "messages.ndjson")
      #expect(checked.status == 0)
    }
  }

  /// A thread's sender is called as in the thread, else as in its group, from files and a store.
  @Test func nicknamesInThreadsAreThoseOfTheirGroup() throws {
    let world =
      Self.world + [
        #"{"kind":"conversation","id":"t1","type":"thread","parent":"g1"}"#,
        #"{"kind":"conversation","id":"t2","type":"thread","parent":"g1"}"#,
        #"{"kind":"conversation","id":"t3","type":"thread","parent":"g1"}"#,
        #"{"kind":"member","conversation":"t2","user":"u9","nickname":"Other"}"#,
        #"{"kind":"member","conversation":"t3","user":"u9","nickname":""}"#,
      ]
    let messages = ["t1", "t2", "t3"].map {
      #"{"id":"\#($0)","conversation":"\#($0)","sender":"u9","at":1717401600000,"text":"hi"}"#
    }
    try withWorkplace { place in
      try place.write(world, as: "world.ndjson")
      try place.write(messages, as: "messages.ndjson")
      _ = try place.run("store", "import", "--store", "s", "--settings", "world.ndjson")
      let bodies = try ["--store s", "--settings world.ndjson"].map { source in
        try place.shell("\"$0\" render \(source) --messages messages.ndjson --user u2").lines
          .compactMap { $0.firstMatch(of: /"body":"([^"]*)"/)?.output.1 }
      }
      let expected: [Substring] = ["Nick: hi", "Other: hi", "Nick: hi"]
      #expect(bodies == [expected, expected])
    }
  }

  /// Ids that look the same are two, in the order of their bytes; nothing of it reaches a terminal.
  @Test func remarksArePrintedAsTheyAre() throws {
    try withWorkplace { place in
      _ = try place.run("store", "import", "--store", "s", "--settings", "world.ndjson")
      let display = ["settings", "display", "--store", "s", "--user", "u1"]
      let (composed, decomposed) = ("\u{E9}", "e\u{301}")
      let set = try place.run(
        display + [
          "--name", "A\n\"\u{1b}[2J", "--remark", "\(composed)=one", "--remark",
          "\(decomposed)=two",
        ])
      let text = #"u1: name A\n"\u001b[2J, calls \#(decomposed) two, calls \#(composed) one"# + "\n"
      #expect(Array(set.output.utf8) == Array(text.utf8))
      let escaped = try place.run(
        ["settings", "display", "--store", "s", "--user", "u2", "--remark", #"a\=b\\c\d=Nina=\="#])
      #expect(escaped.output == #"u2: calls a=b\c\d Nina=\="# + "\n")
      let json = try place.run(display + ["--json"])
      let line =
        #"{"display":{"name":"A\n\"\u001b[2J","offlineMessages":1},"#
        + #""remarks":{"\#(decomposed)":"two","\#(composed)":"one"},"user":"u1"}"# + "\n"
      #expect(Array(json.output.utf8) == Array(line.utf8))
    }
  }

  @Test func displaySettingsAreSetAndPrinted() throws {
    try withWorkplace { place in
      _ = try place.run("store", "import", "--store", "s", "--settings", "world.ndjson")
      let display = { (arguments: [String]) in
        try place.run(["settings", "display", "--store", "s", "--user", "u1"] + arguments)
      }
      #expect(try display([]).output == "u1: nothing set\n")
      let set = try display([
        "--name", "Ann", "--style", "messageSummary", "--language", "zh-Hans", "--template", "t_1",
        "--remark", "u9=Nina=x", "--remark", "u2=Bob", "--offline-messages", "4",
      ])
      #expect(set.status == 0)
      #expect(
        set.output
          == "u1: name Ann, style messageSummary, language zh-Hans, template t_1, "
          + "offline messages 4, calls u2 Bob, calls u9 Nina=x\n")
      let cleared = try display([
        "--name", "", "--style", "default", "--language", "", "--template", "", "--remark", "u2=",
        "--offline-messages", "1", "--json",
      ])
      #expect(
        cleared.output
          == #"{"display":{"offlineMessages":1},"remarks":{"u9":"Nina=x"},"user":"u1"}"# + "\n")
      let events = try place.run(
        "settings", "events", "--store", "s", "--user", "u1", "--json")
      #expect(events.lines.filter { $0.contains(#""change":"display""#) }.count == 13)
      for wrong in [
        ["--language", "français"], ["--template", "a b"], ["--remark", "u9"],
        ["--remark", "=x"], ["--remark", #"u9\=x"#], ["--style", "loud"],
        ["--offline-messages", "2147483648"],
      ] {
        #expect(try display(wrong).status == 2, "\(wrong)")
      }
    }
  }

  /// Under open rules, which have no other content of pushes (O-10).
  @Test func aConversationsNameIsShown() throws {
    try withWorkplace { place in
      let world = [
        #"{"kind":"app","rules":"open"}"#,
        #"{"kind":"conversation","id":"c1","type":"group","name":"Küche"}"#,
        #"{"kind":"member","conversation":"c1","user":"u1"}"#,
      ]
      try place.write(world, as: "world.ndjson")
      try place.write(
        [#"{"id":"m1","conversation":"c1","at":1717387200000}"#], as: "messages.ndjson")
      _ = try place.run(
        "store", "import", "--store", "s.db", "--settings", "world.ndjson", "-q")
      let exported = try place.run("store", "export", "--store", "s.db")
      #expect(exported.lines.contains(world[1]))
      for source in [["--settings", "world.ndjson"], ["--store", "s.db"]] {
        let input = source + ["--messages", "messages.ndjson"]
        let explain = ["explain"] + input + ["--message", "m1", "--user", "u1"]
        #expect(
          try place.run(explain).lines.contains("Message m1 in c1 (Küche), 2024-06-03T04:00:00Z"))
        #expect(
          try place.run(explain + ["--json"]).output.contains(#""conversationName":"Küche""#))
        #expect(try place.run(["replay"] + input + ["--json"]).output.contains(#""name":"Küche""#))
      }
      try place.write(
        [world[1].replacing("Küche", with: String(repeating: "ü", count: 129)), world[0]],
        as: "long.ndjson")
      #expect(
        try place.run("check", "long.ndjson").output
          == "long.ndjson:1: \"name\": 258 bytes is not in 1...256\n")
    }
  }
}
