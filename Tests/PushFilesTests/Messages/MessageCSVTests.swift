import PushFiles
import PushModel
import TestSupport
import Testing

/// Goal: rows of messages.csv become what they say, and without a column of ids a message has the
/// number of its record, whatever is wrong with the records before it.
@Suite struct MessageCSVTests {
  private func read(
    _ lines: [String], rules: RuleSet = .easemob, _ show: (Message) -> String = { $0.id.text }
  ) throws -> [String] {
    try withFolder { folder in
      try folder.write(lines, as: "m.csv")
      return folder.results("m.csv", rules: rules, show)
    }
  }

  /// The columns have no effect on a decision, but say whether a message is a reply.
  @Test func repliesAreTold() throws {
    let replies = try withFolder { folder in
      let csv = try folder.write(
        [
          "at,conversation,reply,replyTo", "1,g,1,", "2,g,,u", "3,g,,", "4,g,0,", "5,g,true,u",
          "6,g,x,",
        ],
        as: "m.csv")
      let fields = [
        #","reply":true"#, #","replyTo":"u""#, "", #","reply":false,"replyTo":null"#,
        #","reply":1,"replyTo":{}"#, #","replyTo":"""#,
      ]
      let ndjson = try folder.write(
        fields.map { #"{"id":"m","conversation":"g","at":5\#($0)}"# }, as: "m.ndjson")
      return try [csv, ndjson].map { path in
        let reader = try MessageReader(path: path, rules: .easemob)
        var replies: [Bool] = []
        while try reader.next() != nil { replies.append(reader.isReply) }
        return replies
      }
    }
    #expect(
      replies == [
        [true, true, false, false, true, false], [true, true, false, false, false, false],
      ])
  }

  /// Open rules' limit (O-20) holds in both forms.
  @Test(arguments: [RuleSet.open, .easemob]) func mentionsAreCounted(rules: RuleSet) throws {
    let found = try [10_000, 10_001].flatMap { count in
      let users = (0..<count).map { "u\($0)" }
      return try withFolder { folder in
        try folder.write(
          ["id,conversation,at,mentions", "m,g,5,\(users.joined(separator: ";"))"], as: "m.csv")
        try folder.write(
          [#"{"id":"m","conversation":"g","at":5,"mentions":\#(users)}"#], as: "m.ndjson")
        return ["m.csv", "m.ndjson"].flatMap { name in
          folder.results(name, rules: rules) { "\($0.mentions?.count ?? 0)" }
        }
      }
    }
    let refused = #""mentions": 10001 mentioned users; at most 10000 are allowed"#
    #expect(
      found == ["10000", "10000"]
        + (rules == .open
          ? ["m.csv:2: \(refused)", "m.ndjson:1: \(refused)"] : ["10001", "10001"]))
  }

  @Test func listsOfUsersAreRead() throws {
    let files = [
      ["source,user", "a,u1", ",u2", "b,u1"], ["user"], ["source", "a"],
      ["user", "u1", "", "\"\""],
      ["user,id", "u1,x"],
    ]
    let found = try withFolder { folder in
      try files.map { lines in
        let path = try folder.write(lines, as: "users.csv")
        do throws(FileProblem) {
          return try UserListReader.read(path: path).map(\.text).sorted().joined(separator: " ")
        } catch {
          return folder.short(error)
        }
      }
    }
    #expect(
      found == [
        "u1 u2", "", #"users.csv:1: the column "user" is missing"#,
        #"users.csv:4: the field "user" is missing"#,
        #"users.csv:1: unknown column "id"; lists of users have user, source"#,
      ])
  }

  @Test func everyColumnIsRead() throws {
    let found = try withFolder { folder in
      let easemob = try folder.write(
        [
          "at,conversation,id,sender,sentAt,mentions,mentionsAll,force,silent,body,reply,replyTo",
          "5,g1,m1,u9,1970-01-01T00:00:00.003Z,u1;;u2;,1,true,0,command,x,y", "5,g1,m2,,,;,,,,,,",
        ], as: "easemob.csv")
      let rongcloud = try folder.write(
        [
          "id,conversation,at,channel,isMentioned,pushContent,persisted,backlog",
          "m1,g1,5,c1,false,\"a,b\",0,1", "m2,g1,5,,,,,",
        ], as: "rongcloud.csv")
      return try [(easemob, RuleSet.easemob), (rongcloud, .rongcloud)].flatMap { path, rules in
        let reader = try MessageReader(path: path, rules: rules)
        return [try reader.next(), try reader.next(), try reader.next()]
      }
    }
    let message = { (id: Identifier) in
      Message(id: id, conversation: "g1", at: Instant(milliseconds: 5))
    }
    var first = message("m1")
    first.sender = "u9"
    first.sentAt = Instant(milliseconds: 3)
    first.mentions = ["u1", "u2"]
    first.mentionsAll = true
    first.force = true
    first.silent = false
    first.body = .command
    var second = message("m2")
    second.mentions = []
    var third = message("m1")
    third.channel = "c1"
    third.isMentioned = false
    third.pushContent = "a,b"
    third.persisted = false
    third.backlog = true
    #expect(found == [first, second, nil, third, message("m2"), nil])
  }

  @Test func booleansHaveFourForms() throws {
    let cells = ["1", "true", "0", "false", "", "TRUE", "yes", " 1", "2"]
    let rows = ["id,conversation,at,silent"] + cells.map { "m,g1,5,\($0)" }
    let found = try read(rows) { $0.silent.map { "\($0)" } ?? "absent" }
    #expect(
      found == ["true", "true", "false", "false", "absent"]
        + cells.dropFirst(5).enumerated().map {
          let advice = $1 == "TRUE" ? "did you mean true? It" : "it"
          return #"m.csv:\#($0 + 7): "silent" cannot be "\#($1)"; "#
            + "\(advice) is one of 1, 0, true, false"
        })
  }

  @Test func withoutIdsMessagesAreNumbered() throws {
    let found = try read([
      "conversation,at", "g1,5", "", "g1,6", "g1", ",7", "g1,x", "\"g\"1,5", "\"g\n1\",8", "g1,9",
    ])
    let stray = "a misplaced quote; quote the whole cell and double its quotes"
    #expect(
      found == [
        "1", "2", "m.csv:5: 1 cells in a row of 2 columns",
        #"m.csv:6: the field "conversation" is missing"#,
        #"m.csv:7: "at": x is not an instant; give Unix milliseconds, 0 to 9007199254740991, "#
          + "or an RFC 3339 time with an offset or Z", "m.csv:8: \(stray)", "7", "8",
      ])
  }

  @Test func idsAreNeededWhereThereIsAColumn() throws {
    let found = try read(["id,conversation,at", "m1,g1,5", ",g1,5", "m1,g1,"])
    #expect(
      found == [
        "m1", #"m.csv:3: the field "id" is missing"#, #"m.csv:4: the field "at" is missing"#,
      ])
  }

  @Test func columnsOfTheOtherRulesMayOnlyBeEmpty() throws {
    let header = "conversation,at,force,channel,isMentioned,pushContent,persisted,backlog"
    let rows =
      [header, "g1,5,,,,,,", "g1,5,0,,,,,", "g1,5,,c,,,,", "g1,5,,,0,,,", "g1,5,,,,x,,"]
      + ["g1,5,,,,,0,", "g1,5,,,,,,0"]
    let foreign = "belongs to rongcloud, but the rules are easemob"
    #expect(
      try read(rows) == [
        "1", "2", #"m.csv:4: "channel" \#(foreign)"#, #"m.csv:5: "isMentioned" \#(foreign)"#,
        #"m.csv:6: "pushContent" \#(foreign)"#, #"m.csv:7: "persisted" \#(foreign)"#,
        #"m.csv:8: "backlog" \#(foreign)"#,
      ])
    #expect(
      try read(rows, rules: .rongcloud) == [
        "1", #"m.csv:3: "force" belongs to easemob, but the rules are rongcloud"#, "3", "4", "5",
        "6", "7",
      ])
  }

  /// Quotes around each cell of a file change nothing.
  @Test(arguments: seeds(Array(1...60)))
  func rowsAreTheSameWithQuotes(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let cells = ["", "g", "m1", "é", "5", "12345678901234", "x y", "\t", "1970-01-01T00:00:00Z"]
    var text = "id,conversation,at\n"
    for row in 0..<Int.random(in: 0..<40, using: &random) {
      switch Int.random(in: 0..<8, using: &random) {
      case 0: break
      case 1:
        let count = Int.random(in: 1...5, using: &random)
        text += (0..<count).map { _ in random.pick(cells) }.joined(separator: ",")
      case 2: text += "m\(row),g,\(random.pick(cells))"
      default: text += "m\(row),g\(row % 3),\(row)"
      }
      text += random.oneIn(5) ? "\r\n" : "\n"
    }
    var bytes = Array(text.utf8)
    if bytes.count > 20, random.oneIn(6) {
      let index = Int.random(in: 20..<bytes.count, using: &random)
      if bytes[index] != 0x0A { bytes[index] = 0xFF }
    }
    let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
    let quoted = lines.map { line -> [UInt8] in
      let row = line.last == 0x0D ? line.dropLast() : line
      let cells = row.split(separator: 0x2C, omittingEmptySubsequences: false)
      if row.isEmpty { return Array(line) }
      let text = cells.map { [0x22] + Array($0) + [0x22] }.joined(separator: [0x2C])
      return Array(text) + Array(line[row.endIndex...])
    }
    let found = try withFolder { folder in
      try [bytes, Array(quoted.joined(separator: [0x0A]))].map { bytes in
        try folder.write(bytes, as: "m.csv")
        return folder.results("m.csv", rules: .easemob) {
          "\($0.id) \($0.conversation) \($0.at.milliseconds)"
        }
      }
    }
    #expect(found[0] == found[1])
  }

  @Test func filesAndHeadersAreChecked() throws {
    let headers = ["", "conversation", "conversation,at,color", "at,conversation,at"]
    let known =
      "messages have id, conversation, channel, sender, at, sentAt, mentions, mentionsAll, "
      + "isMentioned, force, silent, body, pushContent, persisted, backlog, reply, replyTo"
    #expect(
      try headers.map { try read([$0, "x,y,z"]) } == [
        [
          "m.csv:1: unknown columns \"x\", \"y\", \"z\"; \(known); read it with --columns "
            + "conversation=NAME,at=NAME,'ignore=*'"
        ], [#"m.csv:1: the column "at" is missing"#],
        [
          "m.csv:1: unknown column \"color\"; \(known); leave it out with --columns ignore=color"
        ], [#"m.csv:1: the column "at" is repeated"#],
      ])
    #expect(try read(["conversation,at"]) == [])
    let files = try withFolder { folder in
      try folder.write([""], as: "empty.ndjson")
      try folder.write([""], as: "empty.csv")
      return ["empty.ndjson", "empty.csv", "none.ndjson", ""].flatMap { folder.messages($0) }
    }
    #expect(
      files == [
        "empty.csv:1: has no header; the first line of CSV names the columns",
        "none.ndjson: cannot be opened: No such file or directory",
        "FOLDER: is a directory; name a file",
      ])
  }
}
