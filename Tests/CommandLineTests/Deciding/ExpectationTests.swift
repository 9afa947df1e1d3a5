import Foundation
import PushModel
import Testing

/// Goal: `test` says of each expectation whether it holds, and `init` makes a chat of which all hold.
@Suite struct ExpectationTests {
  private static let world = ["--settings", "settings.ndjson", "--messages", "messages.ndjson"]

  private static func writeWorld(_ place: Workplace) throws {
    try place.write(
      [
        #"{"kind":"app","rules":"easemob"}"#, #"{"kind":"user","id":"ann","level":"mention"}"#,
        #"{"kind":"user","id":"bob","devices":[{"id":"p1","token":true},{"id":"p2","token":true}]}"#,
        #"{"kind":"member","conversation":"g1","user":"ann"}"#,
        #"{"kind":"member","conversation":"g1","user":"bob"}"#,
      ], as: "settings.ndjson")
    try place.write(
      [
        #"{"id":"m1","conversation":"g1","sender":"eve","at":1717387200000}"#,
        #"{"id":"m2","conversation":"g2","sender":"eve","at":1717387200000}"#,
        #"{"id":"m3","conversation":"g1","sender":"ann","at":1717387200000}"#,
        #"{"id":"m3","conversation":"g1","sender":"bob","at":1717387200000}"#,
      ], as: "messages.ndjson")
  }

  private static func results(_ lines: [String], _ more: String...) throws -> Run {
    try withWorkplace { place in
      try writeWorld(place)
      try place.write(lines, as: "e.ndjson")
      return try place.run(["test", "e.ndjson"] + world + more)
    }
  }

  @Test func anyPartOfADecisionIsExpected() throws {
    let run = try Self.results([
      #"{"message":"m1","user":"ann","expect":{"action":"none"}}"#,
      #"{"message":"m1","user":"ann","expect":{"reason":"notMentioned"}}"#,
      "", #"{"message":"m1","user":"ann","expect":{"scope":"app"},"id":"a","rule":"b"}"#,
      #"{"message":"m1","user":"bob","expect":{"devices":["p2","p1"]}}"#,
      #"{"message":"m1","user":"bob","expect":{"action":"push","reason":"allowed","scope":"default","devices":["p1","p2"]}}"#,
      #"{"message":{"id":"x","conversation":"g1","at":0,"sender":"bob"},"expect":{"action":"none"}}"#,
      #"{"message":{"id":"x","conversation":"g1","at":0,"sender":"bob"},"user":"bob","expect":{"action":"none"}}"#,
      #"{"message":{"id":"x","conversation":"c","at":0},"settings":[{"kind":"app","rules":"open","level":"none"},{"kind":"member","conversation":"c","user":"u, \"1\""}],"expect":{"reason":"levelNone"}}"#,
    ])
    #expect(run.status == 0)
    #expect(run.output == "")
    #expect(run.errors == "8 of 8 expectations hold\n")
  }

  @Test func whatDiffersIsExplained() throws {
    let run = try Self.results([
      #"{"message":"m1","user":"ann","expect":{"action":"push"},"id":"ann is told","rule":"a b"}"#,
      #"{"message":"m1","user":"bob","expect":{"action":"push","devices":["p1"]}}"#,
      #"{"message":{"id":"x","conversation":"g1","at":0,"sender":"bob"},"user":"bob","expect":{"reason":"muted","scope":"app"}}"#,
    ])
    #expect(run.status == 1)
    #expect(
      run.output == """
        e.ndjson:1: ann is told, a b
          expected  push
          got       none, reason notMentioned, scope app
          No push for ann. Stopped, no mention: the user's own level admits mentions \
        only (it mentions nobody).
          push-fanout explain --settings settings.ndjson --messages messages.ndjson --message m1 \
        --user ann
        e.ndjson:2: m1 for bob
          expected  push, to p1
          got       push, reason allowed, scope default, to p1, p2
          Push for bob, to p1, p2. Pushed: no level set anywhere.
          push-fanout explain --settings settings.ndjson --messages messages.ndjson --message m1 \
        --user bob
        e.ndjson:3: x for bob
          expected  reason muted, scope app
          got       not a recipient
          bob is no recipient (bob sent it).

        """)
    #expect(run.errors == "0 of 3 expectations hold\n")
  }

  /// A misspelt id would be a `none` for ever.
  @Test func whatCannotBeDecidedIsSaid() throws {
    let run = try Self.results([
      #"{"message":"m1","user":"bobb","expect":{"action":"none"}}"#,
      #"{"message":"m2","user":"bob","expect":{"action":"none"}}"#,
      #"{"message":"m3","user":"bob","expect":{"action":"none"}}"#,
      #"{"message":"m4","user":"bob","expect":{"action":"none"}}"#,
      #"{"message":"m1","expect":{"action":"none"}}"#,
      #"{"message":"m1","user":"bob"}"#,
      #"{"message":"m1","user":"bob","expects":{"action":"none"}}"#,
      #"{"user":"bob","expect":{"action":"none"}}"#,
      #"{"message":7,"expect":{"action":"none"}}"#,
      #"{"message":"m1","user":"bob","expect":{"action":"pusk"}}"#,
      #"{"message":{"id":"x","conversation":"g1"},"user":"bob","expect":{"action":"none"}}"#,
      #"{"message":"m1","settings":[{"kind":"app"},{"kind":"usr"}],"expect":{"action":"none"}}"#,
      #"{"message":"m1","settings":["app"],"expect":{"action":"none"}}"#,
      "{",
    ])
    #expect(run.status == 1)
    #expect(
      run.output == """
        e.ndjson:1: m1 for bobb
          there is no user "bobb"; did you mean "bob"?
        e.ndjson:2: m2 for bob
          there is no conversation "g2"
        e.ndjson:3: line 3
          2 messages have the id "m3"
        e.ndjson:4: line 4
          no message has the id "m4"; --messages FILE names those that are read
        e.ndjson:5: line 5
          the message has 2 recipients; name the user
        e.ndjson:6: line 6
          nothing is expected; --update writes what is decided
        e.ndjson:7: line 7
          unknown field "expects"; did you mean "expect"?
        e.ndjson:8: line 8
          the field "message" is missing
        e.ndjson:9: line 9
          "message" must be a message, or the id of one
        e.ndjson:10: line 10
          "expect.action" cannot be "pusk"; did you mean push? It is one of push, local, none
        e.ndjson:11: line 11
          "message": the field "at" is missing
        e.ndjson:12: line 12
          record 2 of "settings": unknown kind "usr"; the kinds are app, user, conversation and member
        e.ndjson:13: line 13
          "settings" must be an array of records
        e.ndjson:14: line 14
          the JSON ends too early; the line was cut off

        """)
    #expect(run.errors == "0 of 14 expectations hold\n")
  }

  /// Only what is expected changes, in the way in which the line is written.
  @Test func anUpdateWritesWhatIsDecided() throws {
    let lines = [
      "\u{FEFF}" + #"{"message":"m1","user":"ann","expect":{"action":"push"}}"#,
      #"{ "message": "m1", "expect": { "action": "push", "scope" : null, "devices": [] } , "user": "bob" } "#,
      "", #"{"message":"m1","user":"bob","expect":{"scope":"default"}}"#,
      #"{"message":"m1","user":"ann","expect":null,"id":"\"expect\":{"}"# + "\r",
      #"{"message": "m1","user": "bob"}"#,
      #"{"message":{"id":"x","conversation":"g1","at":0,"sender":"bob"},"user":"bob"}"#,
      #"{"message":"m1","user":"gone"}"#,
    ]
    try withWorkplace { place in
      try Self.writeWorld(place)
      try place.write(lines, as: "e.ndjson")
      let run = try place.run(["test", "e.ndjson", "--update"] + Self.world)
      #expect(run.status == 1)
      #expect(
        run.output
          == "e.ndjson:8: m1 for gone\n  there is no user \"gone\"\n")
      #expect(run.errors == "5 expectations updated\n6 of 7 expectations hold\n")
      let updated = try place.read("e.ndjson").utf8.split(
        separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      #expect(
        updated.map { String(decoding: Array($0), as: UTF8.self) } == [
          "\u{FEFF}" + #"{"message":"m1","user":"ann","expect":{"action":"none"}}"#,
          #"{ "message": "m1", "expect": {"action": "push", "devices": ["p1", "p2"]} , "user": "bob" } "#,
          "", lines[3],
          #"{"message":"m1","user":"ann","expect":{"action":"none","reason":"notMentioned","scope":"app"},"id":"\"expect\":{"}"#
            + "\r",
          #"{"message": "m1","user": "bob", "expect": {"action": "push", "reason": "allowed", "scope": "default", "devices": ["p1", "p2"]}}"#,
          #"{"message":{"id":"x","conversation":"g1","at":0,"sender":"bob"},"user":"bob","expect":{"action":"none"}}"#,
          lines[7], "",
        ])
      let again = try place.run(["test", "e.ndjson"] + Self.world)
      #expect(again.errors == "6 of 7 expectations hold\n")
    }
  }

  private static let three = [
    #"{"message":"m1","user":"ann","expect":{"action":"none"},"id":"a<b & \"c\""}"#,
    #"{"message":"m1","user":"ann","expect":{"action":"push"},"id":"d"}"#,
    #"{"message":"m9","user":"ann","expect":{"action":"push"},"id":"e\u0000"}"#,
  ]

  @Test func theXMLOfJUnit() throws {
    let run = try Self.results(Self.three, "--format", "junit")
    #expect(run.status == 1)
    let answer =
      "No push for ann. Stopped, no mention: the user's own level admits mentions only "
      + "(it mentions nobody)."
    let problem = "no message has the id &quot;m9&quot;; --messages FILE names those that are read"
    #expect(
      run.output == """
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="push-fanout test" tests="3" failures="1" errors="1">
          <testsuite name="e.ndjson" tests="3" failures="1" errors="1">
            <testcase classname="e.ndjson" name="a&lt;b &amp; &quot;c&quot;" file="e.ndjson" line="1"/>
            <testcase classname="e.ndjson" name="d" file="e.ndjson" line="2">
              <failure message="\(answer)">e.ndjson:2: d
          expected  push
          got       none, reason notMentioned, scope app
          \(answer)</failure>
            </testcase>
            <testcase classname="e.ndjson" name="e\u{FFFD}" file="e.ndjson" line="3">
              <error message="\(problem)">e.ndjson:3: e\\u0000
          \(problem)</error>
            </testcase>
          </testsuite>
        </testsuites>

        """)
  }

  @Test func anObjectForEachExpectation() throws {
    let run = try Self.results(Self.three, "--format", "json")
    #expect(run.status == 1)
    #expect(
      run.lines == [
        #"{"expected":{"action":"none"},"file":"e.ndjson","got":{"action":"none","reason":"notMentioned","scope":"app"},"holds":true,"label":"a<b & \"c\"","line":1,"message":"m1","user":"ann"}"#,
        #"{"answer":"No push for ann. Stopped, no mention: the user's own level admits mentions only (it mentions nobody).","expected":{"action":"push"},"file":"e.ndjson","got":{"action":"none","reason":"notMentioned","scope":"app"},"holds":false,"label":"d","line":2,"message":"m1","user":"ann"}"#,
        #"{"expected":{"action":"push"},"file":"e.ndjson","holds":false,"label":"e\u0000","line":3,"problem":"no message has the id \"m9\"; --messages FILE names those that are read","user":"ann"}"#,
      ])
  }

  @Test(arguments: [
    (["-", "--update"], "--update writes into files of text; - is none."),
    (["e.ndjson.gz", "--update"], "--update writes into files of text; e.ndjson.gz is packed."),
    (
      ["e.ndjson", "--messages", "m.ndjson"],
      "--messages goes with --settings, --members or --store."
    ),
  ])
  func wrongUsage(arguments: [String], problem: String) throws {
    try withWorkplace { place in
      let run = try place.run(["test"] + arguments)
      #expect(run.status == 2)
      #expect(run.errorLines.first == "Error: \(problem)")
    }
  }

  /// Over a store, with an output file, which a failure does not keep from being written.
  @Test func aStoreIsTestedToo() throws {
    try withWorkplace { place in
      try Self.writeWorld(place)
      try place.write(
        [#"{"message":"m1","user":"ann","expect":{"action":"push"}}"#], as: "e.ndjson")
      _ = try place.run("store", "import", "--store", "s.db", "--settings", "settings.ndjson", "-q")
      let run = try place.run([
        "test", "e.ndjson", "--store", "s.db", "--messages", "messages.ndjson", "--output", "o.txt",
      ])
      #expect(run.status == 1)
      #expect(run.output == "")
      #expect(
        try place.read("o.txt").split(separator: "\n").last
          == "  push-fanout explain --store s.db --messages messages.ndjson --message m1 --user ann"
      )
    }
  }

  @Test func anEmptyFileIsNoSuccess() throws {
    let run = try Self.results([""])
    #expect(run.status == 1)
    #expect(run.errors == "push-fanout: the files have no expectations\n")
  }

  // MARK: init

  @Test(arguments: RuleSet.allCases.map(\.rawValue))
  func whatIsMadeHolds(rules: String) throws {
    try withWorkplace { place in
      let made = try place.run("init", "--rules", rules, "chat")
      #expect(made.status == 0)
      let chat = Workplace(url: place.url.appending(path: "chat"))
      #expect(
        chat.names() == ["README.md", "expectations.ndjson", "messages.ndjson", "settings.ndjson"])
      let check = try chat.run("check", "--strict", "settings.ndjson", "messages.ndjson")
      #expect(check.status == 0 && check.output == "", "\(check.output)")
      for name in chat.names() {
        let text = try chat.read(name)
        #expect(text.hasSuffix("\n") && !text.hasSuffix("\n\n"), "\(name)")
      }
      #expect(try chat.read("settings.ndjson").contains("\"rules\":\"\(rules)\""))
      #expect(try chat.read("settings.ndjson").matches(of: /"kind":"user"/).count == 5)
      #expect(try chat.read("messages.ndjson").split(separator: "\n").count == 8)
      let test = try chat.run(["test", "expectations.ndjson"] + Self.world)
      #expect(test.status == 0 && test.output == "", "\(test.output)")

      // Each message is expected to be decided, and its explanation has only words of the README.
      let readme = try chat.read("README.md")
      let words = Set(readme.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init))
      var explained: Set<String> = []
      var missing: Set<String> = []
      for line in try chat.read("expectations.ndjson").split(separator: "\n") {
        let fields = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        let message = try #require(fields?["message"] as? String)
        let user = try #require(fields?["user"] as? String)
        explained.insert(message)
        let run = try chat.run(
          ["explain", "--json", "--message", message, "--user", user] + Self.world)
        let answer = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
        let steps = answer?["steps"] as? [[String: Any]] ?? []
        let decision = answer?["decision"] as? [String: Any] ?? [:]
        let terms =
          steps.compactMap { $0["subject"] as? String }
          + ["action", "reason", "scope"].compactMap { decision[$0] as? String }
        #expect(!steps.isEmpty)
        for term in terms.flatMap({ $0.lowercased().split(separator: " ") })
        where !words.contains(String(term)) && !words.contains("\(term)s") {
          missing.insert(String(term))
        }
      }
      #expect(explained.count == 8)
      #expect(missing == [])
      // Its commands run.
      for command in readme.matches(of: /`(push-fanout [^`]+)`/) {
        let words = command.output.1.split(separator: " ").dropFirst().map(String.init)
        #expect(try chat.run(words).status == 0, "\(command.output.1)")
      }
      #expect(readme.split(separator: "\n").count <= 10)
    }
  }

  @Test func aFolderThatIsThereStays() throws {
    try withWorkplace { place in
      try place.write(["mine"], as: "chat")
      let run = try place.run("init", "chat")
      #expect(run.status == 1)
      #expect(
        run.errors
          == "push-fanout: cannot write chat: there is something of that name; name another\n")
      #expect(try place.read("chat") == "mine\n")
    }
  }
}
