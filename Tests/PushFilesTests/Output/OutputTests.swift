import Foundation
import PushFiles
import PushModel
import Testing

/// Goal: decisions are written in each format byte for byte, and an output file appears under its
/// name complete or not at all.
@Suite struct OutputTests {
  /// A message and who gets what.
  typealias Decided = (message: Message, decisions: [(user: Identifier, decision: Decision)])

  private static let push = Decision(Outcome(.push, .allowed, .default), devices: ["p1", "p2"])
  private static let quiet = Decision(Outcome(.suppress, .quietHours, .app))
  private static let room = Decision(Outcome(.suppress, .chatRoom))
  private static let local = Decision(Outcome(.local, .allowed, .appKey), devices: ["p3"])

  private static func message(_ id: String, in conversation: String = "g1") -> Message {
    Message(id: Identifier(id), conversation: Identifier(conversation), at: .zero)
  }

  private func write(
    _ messages: [Decided], as format: DecisionFormat, showsDevices: Bool = false,
    summaryAsJSON: Bool = true
  ) throws -> String {
    try withFolder { folder in
      let output = try OutputFile(path: folder.path("out"))
      let writer = try FanoutWriter(
        output, format: format, showsDevices: showsDevices, summaryAsJSON: summaryAsJSON)
      for (message, decisions) in messages { try writer.write(message, decisions) }
      try writer.finish()
      try output.finish()
      return try folder.read("out")
    }
  }

  private static let run: [Decided] = [
    (message("m1"), [("u1", push), ("u2", quiet), ("u3", push)]), (message("m2"), []),
    (message("m3", in: "g\"2"), [("u4", room), ("u5", local)]),
  ]

  @Test func everyFormatHasItsForm() throws {
    #expect(
      try write(Self.run, as: .ndjson) == """
        {"message":"m1","user":"u1","action":"push","reason":"allowed","scope":"default"}
        {"message":"m1","user":"u2","action":"none","reason":"quietHours","scope":"app"}
        {"message":"m1","user":"u3","action":"push","reason":"allowed","scope":"default"}
        {"message":"m3","user":"u4","action":"none","reason":"chatRoom"}
        {"message":"m3","user":"u5","action":"local","reason":"allowed","scope":"appKey"}\n
        """)
    #expect(
      try write([Self.run[2]], as: .ndjson, showsDevices: true) == """
        {"message":"m3","user":"u4","action":"none","reason":"chatRoom"}
        {"message":"m3","user":"u5","action":"local","reason":"allowed","scope":"appKey",\
        "devices":["p3"]}\n
        """)
    #expect(
      try write(Self.run, as: .csv) == """
        message,user,action,reason,scope
        m1,u1,push,allowed,default
        m1,u2,none,quietHours,app
        m1,u3,push,allowed,default
        m3,u4,none,chatRoom,
        m3,u5,local,allowed,appKey\n
        """)
    #expect(
      try write(Self.run, as: .counts) == #"""
        {"message":"m1","conversation":"g1","recipients":3,"counts":{"none/quietHours/app":1,\#
        "push/allowed/default":2}}
        {"message":"m2","conversation":"g1","recipients":0,"counts":{}}
        {"message":"m3","conversation":"g\"2","recipients":2,"counts":{"local/allowed/appKey":1,\#
        "none/chatRoom":1}}\#n
        """#)
    #expect(
      try write(Self.run, as: .pushlist) == """
        {"message":"m1","push":["u1","u3"]}
        {"message":"m2","push":[]}
        {"message":"m3","push":[]}\n
        """)
  }

  @Test func theSummaryIsATableOrAnObject() throws {
    #expect(
      try write(Self.run, as: .summary, summaryAsJSON: true) == """
        {"messages":3,"decisions":5,"counts":{"local/allowed/appKey":1,"none/chatRoom":1,\
        "none/quietHours/app":1,"push/allowed/default":2}}\n
        """)
    let many = { (decision: Decision, count: Int) in
      Array(repeating: (user: "u" as Identifier, decision: decision), count: count)
    }
    let rows = many(Self.quiet, 12_345) + many(Self.push, 100) + [("u2", Self.local)]
    #expect(
      try write([(Self.message("m"), rows)] + Self.run[2...], as: .summary, summaryAsJSON: false)
        == """
        messages                2
        decisions          12,448
        pushes                100  0.8 %
        local                   2  < 0.1 %

        action  reason             scope                    count     share
        none    quietHours         app                     12,345    99.2 %
        push    allowed            default                    100     0.8 %
        local   allowed            appKey                       2   < 0.1 %
        none    chatRoom           -                            1   < 0.1 %\n
        """)
    #expect(
      try write([], as: .summary, summaryAsJSON: true) == #"""
        {"messages":0,"decisions":0,"counts":{}}\#n
        """#)
    #expect(
      try write([(Self.message("m"), [])], as: .summary, summaryAsJSON: false) == """
        messages                1
        decisions               0
        pushes                  0  -

        action  reason             scope                    count     share\n
        """)
  }

  private static let texts: [(text: String, json: String, csv: String)] = [
    ("u1", "u1", "u1"), ("é e\u{301} 你 😀", "é e\u{301} 你 😀", "é e\u{301} 你 😀"),
    ("a\"b", #"a\"b"#, #""a""b""#), ("a\\b/", #"a\\b/"#, #"a\b/"#), ("a,b", "a,b", "\"a,b\""),
    ("a\nb", #"a\nb"#, "\"a\nb\""), ("a\r\tb", #"a\r\tb"#, "\"a\r\tb\""),
    ("\u{8}\u{C}\u{0}\u{1B}\u{1F}", #"\b\f\u0000\u001b\u001f"#, "\u{8}\u{C}\u{0}\u{1B}\u{1F}"),
    ("\u{7F}\u{2028}", "\u{7F}\u{2028}", "\u{7F}\u{2028}"), (" a ;", " a ;", " a ;"),
    ("\"", #"\""#, "\"\"\"\""),
  ]

  @Test func textIsEscapedOrQuoted() throws {
    let decision = Decision(Outcome(.push, .allowed, .app), devices: ["d\"1", "d\n2"])
    let found = try Self.texts.map { row in
      let decided: [Decided] = [(Self.message(row.text), [(Identifier(row.text), decision)])]
      return try [DecisionFormat.ndjson, .csv, .pushlist].map {
        try write(decided, as: $0, showsDevices: true)
      }
    }
    #expect(
      found
        == Self.texts.map { row in
          [
            #"{"message":"\#(row.json)","user":"\#(row.json)","action":"push","reason":"allowed","#
              + #""scope":"app","devices":["d\"1","d\n2"]}"# + "\n",
            "message,user,action,reason,scope\n\(row.csv),\(row.csv),push,allowed,app\n",
            #"{"message":"\#(row.json)","push":["\#(row.json)"]}"# + "\n",
          ]
        })
  }

  @Test func jsonRowsAreReadBackAsTheyWere() throws {
    let ids = Self.texts.map(\.text)
    let text = try write(
      [(Self.message("m"), ids.map { (Identifier($0), Self.quiet) })], as: .ndjson)
    let read = try text.split(separator: "\n").map { line in
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String]
      return Identifier(try #require(object?["user"]))
    }
    #expect(read == ids.map { Identifier($0) })
  }

  /// Formats write outcomes by their codes.
  @Test(arguments: DecisionFormat.allCases)
  func anOutcomeThatNoRuleGivesIsRefused(format: DecisionFormat) throws {
    let decision = Decision(Outcome(.push, .online))
    let error = #expect(throws: OutputProblem.self) {
      try write([(Self.message("m1"), [("u1", decision)])], as: format)
    }
    #expect(
      error?.description
        == "cannot write the decision of m1 for u1: no rule gives push/online")
  }

  @Test func totalsAddUp() throws {
    try withFolder { folder in
      let writer = try FanoutWriter(OutputFile(path: folder.path("out")), format: .counts)
      for (message, decisions) in Self.run { try writer.write(message, decisions) }
      #expect(writer.messageCount == 3)
      #expect(writer.totals.total == 5)
      #expect(writer.totals.total(of: .push) == 2)
      #expect(writer.totals[Self.room.outcome] == 1)
    }
  }
}
