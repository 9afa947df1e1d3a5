import PushFanout
import PushFiles
import PushModel
import QuietTime
import TestSupport
import Testing

/// Goal: CSV of messages that comes from elsewhere is read as it is: other delimiters, names and
/// local times, each exactly defined.
@Suite struct ExportTests {
  /// What is read of a file: of each message what `show` says, or what is wrong.
  private func read(
    _ text: String, _ options: MessageOptions, _ show: (Message) -> String = { "\($0.id)" }
  ) throws -> [String] {
    try withFolder { folder in
      let path = try folder.write(text.utf8, as: "m.csv")
      var found: [String] = []
      do throws(FileProblem) {
        let reader = try MessageReader(path: path, rules: .easemob, options)
        while true {
          do throws(FileProblem) {
            guard let message = try reader.next() else { return found }
            found.append(show(message))
          } catch {
            found.append(folder.short(error))
            if !error.isOfOneLine { return found }
          }
        }
      } catch { return found + [folder.short(error)] }
    }
  }

  /// The text with two characters exchanged.
  private func exchanged(_ text: String, _ first: Character, _ second: Character) -> String {
    String(text.map { $0 == first ? second : $0 == second ? first : $0 })
  }

  /// With another delimiter a file is the file in which the two are exchanged.
  @Test(arguments: seeds(Array(1...30))) func everyDelimiterIsLikeTheComma(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for delimiter in [";", "\t", "|", " ", "~"] as [Character] {
      var options = MessageOptions()
      options.delimiter = delimiter.asciiValue ?? 0
      var text = "id,conversation,at\n"
      // Now and then more than is read at a time, most of it line feeds that end no row.
      let feeds = String(repeating: "\n", count: 500)
      if seed <= 2 {
        text += (0..<1500).map { "m\($0),\"\(delimiter)\(feeds)\",5\n" }.joined()
      }
      for _ in 0..<random.pick([3, 40, 400]) {
        for _ in 0..<random.pick([1, 1, 2]) {
          text += random.pick(["m", "a long id of a message", "\"\(delimiter),\"", "\"a\"\"\n\""])
        }
        text += random.pick([
          ",g,5", ",\"g,\",\"6\"", ",g\(delimiter),7", ",g", "\r,g,8", "\"x,g,9",
        ])
        text += random.pick(["\n", "\r\n", "\n\n"])
      }
      let expected = try read(text, MessageOptions()) { "\($0.id)/\($0.conversation)" }
      let found = try read(exchanged(text, ",", delimiter), options) {
        exchanged("\($0.id)/\($0.conversation)", ",", delimiter)
      }
      #expect(found == expected, "seed \(seed), \(delimiter)")
    }
  }

  @Test func listsMayHaveCommasWhereCellsHaveNot() throws {
    var options = MessageOptions()
    options.delimiter = UInt8(ascii: ";")
    let text = """
      conversation;at;mentions
      g;1;bob,cai
      g;2;" bob ; cai,, dee "
      g;3;
      g;4; , 

      """
    let show = { (message: Message) in "\(message.mentions?.map(\.text) ?? ["-"])" }
    #expect(
      try read(text, options, show) == [
        #"["bob", "cai"]"#, #"["bob", "cai", "dee"]"#, #"["-"]"#, "[]",
      ])
    let usual = "conversation,at,mentions\ng,1,\"bob,cai\"\ng,2,bob; cai\n"
    #expect(
      try read(usual, MessageOptions(), show) == [#"["bob,cai"]"#, #"["bob", " cai"]"#])
  }

  @Test func columnsHaveOtherNames() throws {
    let text = "Sent, UTC;Group ID;at;Note\n5;g;old;x\n"
    func read(_ names: String) throws -> [String] {
      var options = MessageOptions()
      options.delimiter = UInt8(ascii: ";")
      options.columns = try ColumnNames(ofMessages: names)
      return try self.read(text, options) { "\($0.conversation) \($0.at.milliseconds)" }
    }
    let names = "at=Sent, UTC,conversation=Group ID"
    #expect(try read(names + ",ignore=at,ignore=Note") == ["g 5"])
    #expect(try read(names + ",ignore=*") == ["g 5"])
    // A column that is read by another name is unknown by its own.
    #expect(
      try #require(read(names).first).hasPrefix("m.csv:1: unknown columns \"at\", \"Note\"; "))
    #expect(
      try read(names + ",ignore=Notes").first
        == "m.csv:1: there is no column \"Notes\", which --columns names; did you mean \"Note\"? "
        + "The file has \"Sent, UTC\", \"Group ID\", \"at\", \"Note\"")
    for wrong in ["", "at", "at=", "=x", "at=a,at=b", "at=a,sender=a", "date=x"] {
      #expect(throws: ColumnNames.Mistake.self, "\(wrong)") {
        try ColumnNames(ofMessages: wrong)
      }
    }
  }

  @Test func localTimesHaveTheEarlierInstant() throws {
    var options = MessageOptions()
    options.zone = try ZoneTable(named: "Europe/Berlin")
    let rows = [
      ("2024-06-03 23:30:00", "2024-06-03T21:30:00Z"), ("2024/6/3 23:30", "2024-06-03T21:30:00Z"),
      ("2024-06-03T23:30:00.5", "2024-06-03T21:30:00.500Z"),
      ("2024-1-3 1:05", "2024-01-03T00:05:00Z"),
      // With an offset, or a number, nothing is local.
      ("2024-06-03T23:30:00+08:00", "2024-06-03T15:30:00Z"),
      ("1717428600000", "2024-06-03T15:30:00Z"),
      // Clocks go back from 03:00 to 02:00: the first of the two.
      ("2024-10-27 02:30", "2024-10-27T00:30:00Z"), ("2024-10-27 03:00", "2024-10-27T02:00:00Z"),
      ("2024-03-31 01:59:59", "2024-03-31T00:59:59Z"), ("2024-03-31 03:00", "2024-03-31T01:00:00Z"),
    ]
    let text = "conversation,at\n" + rows.map { "g,\($0.0)\n" }.joined()
    #expect(try read(text, options) { $0.at.rfc3339 } == rows.map(\.1))
    let skipped = "does not exist in Europe/Berlin, where clocks were put forward over it"
    let wrong = [
      "2024-03-31 02:30": #""at": 2024-03-31 02:30 \#(skipped)"#,
      "2024-03-31 02:00:00": #""at": 2024-03-31 02:00:00 \#(skipped)"#,
    ]
    for (time, problem) in wrong {
      #expect(try read("conversation,at\ng,\(time)\n", options) == ["m.csv:2: \(problem)"])
    }
    for time in [
      "2024-06-03", "2024-06-31 10:00", "2024-06-03 24:00", "03.06.2024 23:30", "2024-06/03 1:00",
      "2024-06-03 23:30:00 ", "2024-06-03 23:3", "24-06-03 23:30", "1969-12-31 23:00",
    ] {
      let found = try read("conversation,at\ng,\(time)\n", options)
      #expect(
        found.count == 1 && found[0].contains(#/is no time|is not an instant|is day first/#),
        "\(found)")
    }
    let none = try read("conversation,at\ng,2024-06-03 23:30:00\n", MessageOptions())
    #expect(none.count == 1 && none[0].contains("has no offset"))
  }

  /// In a file in order of time, the hour that occurs twice is read as what it is.
  @Test func aRepeatedHourIsReadByTheOrderOfRows() throws {
    var options = MessageOptions()
    options.zone = try ZoneTable(named: "America/New_York")
    func minutes(_ times: [String]) throws -> [String] {
      let rows = times.map { "g,2026-11-01 \($0)\n" }.joined()
      return try read("conversation,at\n" + rows, options) { String($0.at.rfc3339.dropFirst(11)) }
    }
    // Clocks go back at 2:00 to 1:00.
    #expect(
      try minutes(["00:59", "01:10", "01:50", "01:10", "01:10", "01:50:00.5", "02:00"])
        == [
          "04:59:00Z", "05:10:00Z", "05:50:00Z", "06:10:00Z", "06:10:00Z", "06:50:00.500Z",
          "07:00:00Z",
        ])
    // What goes back in no pass is not in order, and its times are the earlier ones from there on.
    #expect(
      try minutes(["03:00", "01:30", "01:10", "01:40"])
        == ["08:00:00Z", "05:30:00Z", "05:10:00Z", "05:40:00Z"])
    #expect(
      try minutes(["01:50", "01:30", "01:10", "01:20"])
        == ["05:50:00Z", "06:30:00Z", "05:10:00Z", "05:20:00Z"])
    // A message was sent before it came.
    let sent = "conversation,at,sentAt\ng,2026-11-01 02:10,2026-11-01 01:50\n"
    #expect(try read(sent, options) { $0.sentAt?.rfc3339 ?? "" } == ["2026-11-01T06:50:00Z"])
    let first = "conversation,at,sentAt\ng,2026-11-01 01:55,2026-11-01 01:50\n"
    #expect(try read(first, options) { $0.sentAt?.rfc3339 ?? "" } == ["2026-11-01T05:50:00Z"])
  }

  /// Excel's first line says what stands between cells.
  @Test func aLineThatNamesTheDelimiterIsPassedOver() throws {
    var options = MessageOptions()
    options.delimiter = UInt8(ascii: ";")
    let text = "sep=;\r\nid;conversation;at\r\n1;g;1\r\n"
    #expect(try read(text, options) { "\($0.conversation) \($0.at.milliseconds)" } == ["g 1"])
    #expect(
      try read("sep=,\nconversation,at\ng,1\n", MessageOptions()) { "\($0.conversation)" } == ["g"])
    #expect(
      try read(text, MessageOptions()) == [
        "m.csv:1: the header is separated by semicolons, columns by commas; read it with "
          + "--delimiter ';'"
      ])
  }

  @Test func timesThatAreNotReadNameTheOption() throws {
    var options = MessageOptions()
    func problem(_ time: String) throws -> String? {
      try read("conversation,at\ng,\(time)\n", options).first
    }
    #expect(
      try problem("2024-06-03 23:30")
        == "m.csv:2: \"at\": 2024-06-03 23:30 has no offset; say its time zone, like --zone "
        + "Europe/Berlin")
    options.zone = try ZoneTable(named: "Europe/Berlin")
    #expect(
      try problem("03.06.2024 23:30")
        == "m.csv:2: \"at\": 03.06.2024 23:30 is day first; with --zone write year first, or convert: "
        + "docs/bring-your-own-data.md")
    #expect(
      try problem("3 June 2024 23:30")
        == "m.csv:2: \"at\": 3 June 2024 23:30 is no time; give one like 2024-06-03 23:30:00 or "
        + "2024/6/3 23:30 (year first, 24 hours, in --zone), an RFC 3339 time, or Unix milliseconds"
    )
  }

  /// Everybody else has no decision, and theirs are what they were.
  @Test(arguments: RuleSet.allCases) func aSliceOfUsersDecidesAsBefore(rules: RuleSet) throws {
    for seed in seeds([1, 2, 3, 4, 5, 6]) {
      let world = RandomWorld(
        rules, seed: seed, userCount: 12, messageCount: 60,
        style: RandomWorld.Style(density: 70, isVaried: seed % 2 == 0))
      var settings = world.settings()
      let all = try Fanout(settings, threads: 1)
      let some = try Fanout(settings, threads: 1)
      var slice = MessageSlice()
      slice.users = Set(world.users.filter { settings.index(of: $0) != nil }.suffix(2))
      try slice.apply(to: some)
      try slice.apply(to: &settings)
      let values = try Fanout(settings, threads: 1)
      var decided = 0
      for message in world.messages {
        let full = all.decide(message)
        for fanout in [some, values] {
          let result = fanout.decide(message)
          #expect(result.memberCount == full.memberCount, "seed \(seed)")
          for user in world.users {
            let expected = slice.users.contains(user) ? full.outcome(of: user) : nil
            decided += expected == nil ? 0 : 1
            #expect(result.outcome(of: user) == expected, "seed \(seed), \(user), \(message)")
          }
        }
      }
      #expect(decided > 0, "seed \(seed)")
      slice.users.insert("nobody at all")
      #expect(throws: FanoutError.unknownUser("nobody at all")) { try slice.apply(to: some) }
    }
  }

  /// A night without traffic.
  @Test func anEmptyFileHasNoMessages() throws {
    try withFolder { folder in
      for name in ["m.ndjson", "m.jsonl", "m"] {
        for text in ["", "\n", " \n\n"] {
          try folder.write(text.utf8, as: name)
          #expect(folder.messages(name) == [], "\(name)")
        }
      }
      for text in ["conversation,at\n", "conversation,at"] {
        try folder.write(text.utf8, as: "m.csv")
        #expect(folder.messages("m.csv") == [])
      }
      for text in ["", "\n\n", "\u{FEFF}"] {
        try folder.write(text.utf8, as: "m.csv")
        #expect(
          folder.messages("m.csv") == [
            "m.csv:1: has no header; the first line of CSV names the columns"
          ])
      }
    }
  }
}
