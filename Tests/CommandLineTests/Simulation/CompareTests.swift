import Foundation
import FoundationXML
import PushReplay
import Testing

/// Goal: `compare` says what differs for people and programs, and what is wrong with what it is
/// asked.
@Suite struct CompareTests {
  private static let compare = [
    "compare", "--settings", "world.ndjson", "--messages", "sorted.ndjson",
  ]

  private func withMessages<Result>(_ body: (Workplace) throws -> Result) throws -> Result {
    try withWorkplace { place in
      try place.write(ReplayTests.messages, as: "sorted.ndjson")
      return try body(place)
    }
  }

  @Test func theTextIsForPeople() throws {
    try withMessages { place in
      let run = try place.run(Self.compare + ["--b", "everyone.level=none"])
      #expect(run.status == 0)
      let lines = run.lines.map { $0.split(separator: " ").joined(separator: " ") }
      #expect(
        Array(lines.prefix(8)) == [
          "No pushes for everyone: pushes \u{2212}100\u{A0}% (3 \u{2192} 0). 3 of 3 people get fewer, "
            + "3 of them none any more; mentions lost: 1.",
          "1 mention by name lost by 1 person: u2 1 in g1.", "A: as it is, easemob",
          "B: no pushes for everyone (everyone.level=none), easemob",
          "A B B - A",
          "messages 2 2 0", "decisions 5 5 0", "pushes 3 0 -3",
        ])
      #expect(lines.contains("0 to 5 members 3 0 -3 <- 100.0 % of the change"))
      #expect(lines.contains("median 1 0 -1"))
      #expect(lines.contains("A push more or less for 3 people: fewer 3"))
      #expect(lines.contains("lose most pushes each people"))
      #expect(lines.contains("u1, u2, u3 -1 3"))
      #expect(
        lines.contains(
          "3 people get no push at all any more; nobody gets a first one."))
      #expect(lines.contains("12 1 2 0 -2"))
      #expect(!lines.contains { $0.hasSuffix(" 0 0 0") })
      #expect(run.errors.hasPrefix("2 messages, 10 decisions, "))
    }
  }

  @Test func theResultIsOneObjectInFilesAndOnOutput() throws {
    try withMessages { place in
      let run = try place.run(
        Self.compare + [
          "--a", "unset.quietHours=none", "--b", "app.advancedPush=false", "--json", "--output",
          "result.json", "--top", "1",
        ])
      #expect(run.status == 0)
      let file = try place.read("result.json")
      #expect(file == run.output.trimmingCharacters(in: .newlines))
      let result = try JSONDecoder().decode(CompareResult.self, from: Data(file.utf8))
      #expect(result.pushFanoutCompare == CompareResult.format)
      #expect(result.a.what == ["unset.quietHours=none"])
      #expect(result.b.pushes == 5 && result.gained == 2 && result.lost == 0)
      #expect(result.users.gainers.count == 1 && result.week.count == 168)
      #expect(
        result.users.gains == [
          ComparedUsersStep(pushes: 1, users: 2, examples: ["u1", "u2"])
        ])
      #expect(result.a.name == "no quiet hours by default")
      #expect(result.pushesByLocalHour?.b.reduce(0, +) == 5)
      let named = try place.run(
        Self.compare + [
          "--b", "everyone.level=none", "--name-a", "Today", "--name-b", "Silence", "--json",
          "--output", "named.json",
        ])
      #expect(named.status == 0, "\(named.errors)")
      let page = try place.run("report", "named.json").output
      #expect(page.contains("<p class=\"answer\">Silence instead of Today: pushes \u{2212}100"))
      #expect(page.contains("A, Today") && page.contains("B, Silence"))
    }
  }

  @Test func conditionsAndPeople() throws {
    try withMessages { place in
      let change = "rooms>=3.room=g1.share=100%.unset.level=none"
      let run = try place.run(
        Self.compare + ["--b", change, "--people", "people.csv", "--json"])
      #expect(run.status == 0, "\(run.errors)")
      let result = try JSONDecoder().decode(CompareResult.self, from: Data(run.output.utf8))
      // u2 has a level of its own.
      #expect(result.b.reach == [ChangeReach(rooms: 1, members: 2)] && result.b.what == [change])
      #expect(result.mentionsLost == 0 && result.lost == 2)
      #expect(
        try place.read("people.csv")
          == "user,days,pushesA,pushesB\nu1,1,1,0\nu2,1,1,1\nu3,1,1,0\n")
      let unmet = try place.run(Self.compare + ["--b", "rooms>500.unset.level=none", "--json"])
      let none = try JSONDecoder().decode(CompareResult.self, from: Data(unmet.output.utf8))
      #expect(
        none.b.reach == [
          ChangeReach(unmet: "no room has more than 500 members (the largest: 3)")
        ])
      let words = "No room has more than 500 members (the largest: 3), so nothing changes."
      #expect(
        try place.run(Self.compare + ["--b", "rooms>500.unset.level=none"]).lines.first == words)
      try place.write([unmet.output], as: "unmet.json")
      let page = try place.run("report", "unmet.json").output
      #expect(page.contains("<p class=\"answer\">\(words)</p>"))
      #expect(!page.contains("Which rooms"))
      // Levels are not of the night.
      #expect(none.pushesByLocalHour == nil && !page.contains("recipient&#39;s clock"))
      let wrong = try place.run(Self.compare + ["--b", "rooms>many.unset.level=none"])
      #expect(
        wrong.errorLines.first
          == "Error: --b rooms>many.unset.level=none is neither a change nor a file; rooms>many: "
          + "rooms are compared with a number of members, like rooms>500")
      #expect(wrong.status == 2)
    }
  }

  /// What open rules lose, in text, JSON and page; by the classes of whom it is lost for (O-1).
  @Test func whatIsLostByOpenRules() throws {
    try withWorkplace { place in
      try place.write(
        [
          #"{"kind":"app","rules":"open"}"#,
          #"{"kind":"user","id":"u","keywords":["tea"],"importantSenders":["b"]}"#,
          #"{"kind":"member","conversation":"g","user":"u","roles":["cook"]}"#,
          #"{"kind":"member","conversation":"g","user":"v","roles":["cook"]}"#,
        ], as: "open.ndjson")
      try place.write(
        [
          #""sender":"a","mentions":["u"],"mentionsAll":true"#, #""sender":"a","mentionsAll":true"#,
          #""sender":"a","mentionsRoles":["cook"],"replyToUser":"v""#, #""sender":"a""#,
          #""sender":"b","text":"Tea!","mentions":["u"]"#,
        ].enumerated().map {
          #"{"id":"m\#($0)","conversation":"g","at":176400000000\#($0),\#($1)}"#
        }, as: "m.ndjson")
      let compare = ["compare", "--settings", "open.ndjson", "--messages", "m.ndjson", "--b"]
      let run = try place.run(compare + ["everyone.level=none", "--json"])
      let result = try JSONDecoder().decode(CompareResult.self, from: Data(run.output.utf8))
      #expect(result.lost == 10 && result.mentionsLost == 2 && result.everyoneMentionsLost == 3)
      var classes = LostClasses()
      (classes.role, classes.reply, classes.keyword, classes.sender) = (2, 1, 1, 1)
      #expect(result.classesLost == classes)
      let lost =
        "mentions lost: 2 by name, 3 of everyone; lost by class: role 2, reply 1, keyword 1, "
        + "sender 1."
      let text = try place.run(compare + ["everyone.level=none"])
      #expect(text.lines.first?.hasSuffix(lost) == true, "\(text.lines.first ?? "")")
      try place.write([run.output], as: "c.json")
      let page = try place.run("report", "c.json").output
      #expect(page.contains(lost))
      #expect(
        page.contains(
          "by <em>class</em> of the message for the recipient: role 2, reply 1, keyword 1, sender 1"
        ))
      try place.write([run.output.replacing("\"role\":2", with: "\"role\":11")], as: "bad.json")
      let bad = try place.run("report", "bad.json")
      #expect(bad.errors.hasPrefix("bad.json: classesLost.role: they add up to 11"))

      let direct = try place.run(compare + ["unset.level=me,reply", "app.level=me", "--json"])
      let kept = try JSONDecoder().decode(CompareResult.self, from: Data(direct.output.utf8))
      #expect(kept.lost == 7 && kept.mentionsLost == 0 && kept.classesLost?.role == 1)
      #expect(kept.b.name == "me, reply only by default, the app's level me")
    }
  }

  @Test func twoRuleSets() throws {
    try withMessages { place in
      try place.write([#"{"kind":"app","rules":"rongcloud"}"#], as: "rongcloud.ndjson")
      let refused = try place.run(Self.compare + ["--b", "rongcloud.ndjson"])
      #expect(
        refused.errors == "push-fanout: rongcloud.ndjson: the \"quietHours\" of the user \"u1\" "
          + "belongs to easemob, but the rules are rongcloud\n")
      try place.write(SmallWorld.settings.suffix(3) + [], as: "world.ndjson")
      let run = try place.run(Self.compare + ["--b", "rongcloud.ndjson"])
      #expect(run.status == 0, "\(run.errors)")
      #expect(run.lines[2] == "B: rongcloud.ndjson, rongcloud")
    }
  }

  @Test func whatIsReadTwiceMustBeReadableTwice() throws {
    try withMessages { place in
      try place.write([#"{"kind":"app","rules":"rongcloud"}"#], as: "rongcloud.ndjson")
      try place.write(
        [#"{"kind":"member","conversation":"g1","user":"u1"}"#], as: "members.ndjson")
      let rows = [
        ("--settings - --messages - --b everyone.level=none", "-: is read twice"),
        (
          "--settings members.ndjson --messages - --b rongcloud.ndjson", "-: is read twice"
        ),
        ("--settings world.ndjson --messages - --b -", "-: is read twice"),
        ("--settings - --messages sorted.ndjson --b everyone.level=none", "2 messages, 10 "),
        ("--settings world.ndjson --messages - --b everyone.level=none", "2 messages, 10 "),
        ("--settings world.ndjson --messages sorted.ndjson --b -", "2 messages, 10 "),
      ]
      let found = try rows.map { row in
        let input =
          row.0.hasSuffix("--b -")
          ? "members" : row.0.hasPrefix("--settings - ") ? "world" : "sorted"
        let run = try place.shell("cat \(input).ndjson | \"$0\" compare \(row.0)")
        return String(run.errors.prefix(row.1.count)) + " \(run.status)"
      }
      #expect(found == rows.map { $0.1 + ($0.1.contains("read") ? " 1" : " 0") })
    }
  }

  @Test func whatIsWrongIsSaid() throws {
    try withMessages { place in
      // There is such a level, but not under these rules.
      let level = try place.run(Self.compare + ["--b", "rooms.over=0.everyone.level=mentionAll"])
      #expect(
        level.errors == "push-fanout: rooms.over=0.everyone.level=mentionAll: "
          + "a level under easemob is one of default, all, mention, none\n")
      #expect(level.status == 1)
      let unknown = try place.run(Self.compare + ["--b", "everyone.level=loud"])
      let reasons = """
        a level under easemob is one of default, all, mention, none; a level under open is one of \
        all, mentions, direct, none, default, or of classes with commas between: plain, me, \
        everyone, role, thread, private, reply, keyword, sender
        """
      #expect(
        unknown.errorLines.first == "Error: --b everyone.level=loud is no change: \(reasons)")
      #expect(unknown.status == 2)
      let missing = try place.run(Self.compare + ["--b", "nowhere.ndjson"])
      #expect(missing.errors.hasPrefix("nowhere.ndjson: "))
      #expect(missing.status == 1)
      let mistyped = try place.run(Self.compare + ["--b", "unsett.level=mention"])
      #expect(
        mistyped.errorLines.first
          == "Error: --b unsett.level=mention is neither a change nor a file; "
          + "did you mean unset.level=mention?")
      #expect(mistyped.errorLines.count == 2 && mistyped.status == 2)
      // A file of that name is one.
      try place.write([#"{"kind":"user","id":"u2","level":"all"}"#], as: "unsett.level=mention")
      #expect(try place.run(Self.compare + ["--b", "unsett.level=mention"]).status == 0)
      #expect(try place.run(Self.compare).status == 2)
      try place.write(ReplayTests.messages.reversed(), as: "unsorted.ndjson")
      let unsorted = try place.run(
        "compare", "--settings", "world.ndjson", "--messages", "unsorted.ndjson", "--b",
        "everyone.level=none", "--output", "result.json")
      #expect(unsorted.errors.hasPrefix("unsorted.ndjson:2: "))
      #expect(unsorted.status == 1)
      #expect(!place.names().contains("result.json"))
    }
  }
}

/// Goal: a comparison's page is whole and says its numbers; one that contradicts itself is refused.
@Suite struct CompareReportTests {
  @Test func aComparisonBecomesAPage() throws {
    try withWorkplace { place in
      try place.write(ReplayTests.messages, as: "sorted.ndjson")
      let compared = try place.run(
        "compare", "--settings", "world.ndjson", "--messages", "sorted.ndjson", "--b",
        "everyone.level=none", "--output", "c.json")
      #expect(compared.status == 0)
      let run = try place.run("report", "c.json", "--title", "A & B", "--output", "c.html")
      #expect(run.status == 0 && run.output == "" && run.errors == "")
      let page = try place.read("c.html")
      #expect(page.contains("<h1>A &amp; B</h1>") && page.contains("everyone.level=none"))
      #expect(!page.contains("http://") || page.contains("http://www.w3.org"))
      for heading in ["At a glance", "Changed outcomes", "Who is affected most"] {
        #expect(page.contains(">\(heading)</h2>"))
      }
      #expect(XMLParser(data: Data(page.utf8)).parse())
      // The first sentence of the page is the answer.
      let start = try #require(page.range(of: "</h1>"))
      #expect(
        page[start.upperBound...].trimmingPrefix { $0.isNewline }.hasPrefix(
          "<p class=\"answer\">No pushes for everyone: pushes \u{2212}100\u{A0}% (3 \u{2192} 0). "
            + "3 of 3 people get fewer, 3 of them none any more; mentions lost: 1.</p>"))
      for heading in ["Pushes a person and day", "Rooms that change most"] {
        #expect(page.contains(">\(heading)</h2>"))
      }

      let text = try place.read("c.json")
      for (from, to, message) in [
        (#""changed":4"#, #""changed":5"#, "changes: they add up to 4, and the total is 5"),
        (#""gained":0"#, #""gained":-1"#, "is not 0"),
        (#""pushFanoutCompare":1"#, #""pushFanoutCompare":9"#, "the result's format is 9"),
      ] {
        let changed = text.replacing(
          from, with: to, maxReplacements: from.contains("gained") ? 1 : 9)
        #expect(changed != text, "\(from)")
        try Data(changed.utf8).write(to: place.url.appending(path: "bad.json"))
        let refused = try place.run("report", "bad.json", "--output", "bad.html")
        #expect(refused.status == 1)
        #expect(refused.errors.hasPrefix("bad.json: ") && refused.errors.contains(message))
        #expect(!place.names().contains("bad.html"))
      }
    }
  }

  @Test func whatContradictsItselfIsRefused() throws {
    let cases: [(path: String, value: Int, message: String)] = [
      ("conversations", 2, "conversationTable: has 1 rows where 2 belong"),
      ("a.decisions", -1, "the totals: -1 is not 0...9007199254740991"),
      ("conversationTable.0.gained", 1, "conversationTable.gained: they add up to 1, and the"),
      ("conversationTable.0.lost", 2, "conversationTable.lost: they add up to 2, and the total"),
      ("conversationTable.0.decisions", 1, "conversationTable[0]: has more pushes than decisions"),
      ("week.0.messages", 7, "week[0].days: is 0.0, and the hour has 7 messages"),
      ("week.12.messages", 7, "week, messages: they add up to 8, and the total is 2"),
      ("week.0.days", -1, "week[0].days: is -1.0, and the hour has 0 messages"),
      ("week.0.days", 12, "week.days: add up to"),
      ("users.losses.0.users", 4, "users.losses, users: they add up to 4, and there are 3"),
      ("users.losses.0.pushes", 2, "users.losses, pushes: they add up to 6, and there are 3"),
      ("users.fewer", 2, "users.losers: are 3, and there are 2 of them"),
      ("users.losers.0.gained", 1, "users.losers[0]: is none of them"),
      ("users.losers.0.lost", 5, "users, lost: they add up to 7, and there are 3 in all"),
      ("users.asMany", 9, "users: are more than pushes gained and lost"),
      ("cost.decidingSeconds", -1, "cost.decidingSeconds: -1.0 is not a duration"),
      ("last", 0, "last: is before the first message"),
      ("mentionsLost", 9, "mentionsLost and everyoneMentionsLost: they add up to 9"),
      ("people.a.classes.0", 1, "people.a.classes: they add up to 4, and the total is 3"),
      ("people.flow.1.0", 2, "people.flow[1]: they add up to 2, and the total is 3"),
      ("people.noneAnyMore", 4, "people, by what they get: they add up to 4"),
      ("people.b.most", -1, "people.b: the median, p90, p99 and the most are not in this"),
      ("b.reach.0.users", -1, "b.reach: -1 is not 0...9007199254740991"),
    ]
    try withWorkplace { place in
      try place.write(ReplayTests.messages, as: "sorted.ndjson")
      let compared = try place.run(
        "compare", "--settings", "world.ndjson", "--messages", "sorted.ndjson", "--b",
        "everyone.level=none", "--output", "c.json")
      #expect(compared.status == 0)
      let result = try JSONSerialization.jsonObject(with: Data(try place.read("c.json").utf8))
      let found = try cases.map { row in
        let path = row.path.split(separator: ".").map(String.init)
        let bad = Self.replacing(path[...], in: result, with: row.value)
        try JSONSerialization.data(withJSONObject: bad).write(
          to: place.url.appending(path: "bad.json"))
        let errors = try place.run("report", "bad.json", "--output", "bad.html").errors
        return String(errors.dropFirst("bad.json: ".count).prefix(row.message.count))
      }
      #expect(found == cases.map(\.message))
    }
  }

  /// JSON with another number at a path of keys and places.
  private static func replacing(_ path: ArraySlice<String>, in json: Any, with value: Int) -> Any {
    guard let key = path.first else { return value }
    let rest = path.dropFirst()
    if var object = json as? [String: Any] {
      object[key] = object[key].map { replacing(rest, in: $0, with: value) }
      return object
    }
    guard var list = json as? [Any], let place = Int(key) else { return json }
    list[place] = replacing(rest, in: list[place], with: value)
    return list
  }
}
