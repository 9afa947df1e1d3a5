import PushModel
import TestSupport
import Testing

/// Goal: the first and the last instant there are, and those beyond, stop no command.
@Suite struct ExtremeInstantTests {
  private static let last = Instant.maximumMilliseconds

  /// Settings whose windows, mutes, memberships and graces end where time does.
  private static func settings(_ rules: RuleSet) -> [String] {
    let app = #"{"kind":"app","rules":"\#(rules.rawValue)","timeZone":"Asia/Shanghai"}"#
    let member = #""kind":"member","conversation":"g1","user""#
    switch rules {
    case .easemob:
      return [
        app,
        #"{"kind":"user","id":"u1","quietHours":{"start":"00:00","end":"23:59"},"#
          + #""mutedUntil":\#(last)}"#,
        #"{"kind":"user","id":"u2","quietHours":{"start":"22:00","end":"8:00"}}"#,
        #"{\#(member):"u1","since":0,"mutedUntil":\#(last)}"#,
        #"{\#(member):"u2","since":\#(last)}"#, #"{\#(member):"u3","mutedUntil":0}"#,
      ]
    case .rongcloud, .open:
      let background = #""devices":[{"id":"p","state":"background","backgroundSince""#
      return [
        app,
        #"{"kind":"user","id":"u1","quietHours":{"start":"00:00:00","spanMinutes":1439,"#
          + #""level":"none"},\#(background):\#(last)}]}"#,
        #"{"kind":"user","id":"u2","quietHours":{"start":"22:00:00","spanMinutes":600,"#
          + #""level":"mention"},\#(background):0}]}"#,
        #"{\#(member):"u1","since":0}"#, #"{\#(member):"u2","since":\#(last)}"#,
        #"{\#(member):"u3"}"#,
      ]
    }
  }

  @Test(arguments: RuleSet.vendors, [0, last - 86_400_000, last - 1, last])
  func commandsAnswer(rules: RuleSet, at: Int64) throws {
    try withWorkplace { place in
      try place.write(Self.settings(rules), as: "s.ndjson")
      let message = #""conversation":"g1","at":\#(at),"sender""#
      try place.write(
        [
          #"{"id":"m0",\#(message):"x"}"#, #"{"id":"m1","sentAt":0,\#(message):"x"}"#,
          #"{"id":"m2","sentAt":\#(Self.last),\#(message):"u2","mentions":["u1"]}"#,
        ], as: "m.ndjson")
      let files = "--settings s.ndjson --messages m.ndjson"
      var commands = [
        "evaluate \(files)", "evaluate --engine reference \(files)",
        "replay \(files) --hold --held h.csv -o r.json", "report r.json -o r.html",
        "compare \(files) --b app.timeZone=UTC -o c.json", "report c.json -o c.html",
        "check s.ndjson m.ndjson", "store import --store st --settings s.ndjson",
        "settings get --store st --user u1",
      ]
      for user in ["u1", "u2", "u3"] {
        commands.append("explain \(files) --message m0 --user \(user)")
        commands.append(
          "next-change --settings s.ndjson --user \(user) --conversation g1 --at \(at)")
      }
      let writing = "--store st --user u1 --at \(at)"
      switch rules {
      case .easemob: commands.append("settings set --minutes 10080 \(writing)")
      case .rongcloud, .open:
        commands.append("settings set --type group --level 5 \(writing)")
        commands.append("settings device state background --device p \(writing)")
      }
      commands += [
        "settings list --store st --user u1", "settings events --store st --after 0",
        "store check --store st", "store stats --store st", "store export --store st",
        "evaluate --store st --messages m.ndjson",
      ]
      var failures: [String] = []
      for command in commands {
        let run = try place.run(command.split(separator: " ").map(String.init))
        if run.status != 0 { failures.append("\(command): \(run.status) \(run.errors)") }
      }
      #expect(failures == [])
    }
  }

  @Test(arguments: ["-1", "9007199254740992", "9223372036854775808", "1e300"])
  func instantsOutsideOfTheRangeAreRefused(at: String) throws {
    try withWorkplace { place in
      try place.write(Self.settings(.easemob), as: "s.ndjson")
      try place.write([#"{"id":"m","conversation":"g1","at":\#(at),"sender":"x"}"#], as: "m.ndjson")
      try place.write(["ts,conversation,user,online", "\(at),g1,u1,1"], as: "p.csv")
      try place.write(
        [#"{"kind":"member","conversation":"g1","user":"u1","since":\#(at)}"#], as: "t.ndjson")
      try place.write([#"{"id":"m","conversation":"g1","at":1,"sender":"x"}"#], as: "ok.ndjson")
      let commands = [
        "evaluate --settings s.ndjson --messages m.ndjson",
        "replay --settings s.ndjson --messages ok.ndjson --presence p.csv", "check t.ndjson",
        "store import --store st --settings t.ndjson",
        "next-change --settings s.ndjson --user u1 --conversation g1 --at=\(at)",
      ]
      let runs = try commands.map { try place.run($0.split(separator: " ").map(String.init)) }
      #expect(runs.map(\.status) == [1, 1, 1, 1, 2])
      #expect(runs.map(\.isCrash) == [false, false, false, false, false])
    }
  }
}
