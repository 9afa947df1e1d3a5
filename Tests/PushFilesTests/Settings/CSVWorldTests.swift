import PushFiles
import PushModel
import Testing

/// Goal: users.csv and members.csv say the same as records of settings.ndjson, and what they cannot
/// say comes from the settings.ndjson beside them.
@Suite struct CSVWorldTests {
  /// A world of settings lines and CSV rows; each file only when it has lines.
  private func load(
    _ settings: [String], users: [String] = [], members: [String] = []
  ) throws -> (world: World?, problem: String) {
    try withFolder { folder in
      let write = { (lines: [String], name: String) in
        lines.isEmpty ? [] : [try folder.write(lines, as: name)]
      }
      let paths = SettingsPaths(
        settings: try write(settings, "w.ndjson"), users: try write(users, "users.csv"),
        members: try write(members, "members.csv"))
      let problem = folder.problem(paths)
      return (problem == "loaded" ? try folder.world(paths) : nil, problem)
    }
  }

  private static let rongcloud = #"{"kind":"app","rules":"rongcloud"}"#

  @Test func easemobsRowsSayWhatRecordsSay() throws {
    let rows = try load(
      [],
      users: [
        "id,level,quietStart,quietEnd,timeZone,mutedUntil", "u1,none,22:00,8:0,Asia/Tokyo,5",
        "u2,,,,,", "u3,AT,0:0,00:00,,2024-06-03T08:00:00Z",
      ],
      members: [
        "conversation,user,level,mutedUntil,since", "g1,u1,mention,7,8", "g1,u4,,,", "g2,u2,ALL,,0",
      ])
    let records = try load([
      #"{"kind":"user","id":"u1","level":"none","quietHours":{"start":"22:00","end":"8:0"},"#
        + #""timeZone":"Asia/Tokyo","mutedUntil":5}"#,
      #"{"kind":"user","id":"u2"}"#,
      #"{"kind":"user","id":"u3","level":"mention","quietHours":{"start":"0:0","end":"0:0"},"#
        + #""mutedUntil":1717401600000}"#,
      #"{"kind":"member","conversation":"g1","user":"u1","level":"mention","#
        + #""mutedUntil":7,"since":8}"#,
      #"{"kind":"member","conversation":"g1","user":"u4"}"#,
      #"{"kind":"member","conversation":"g2","user":"u2","level":"all"}"#,
    ])
    #expect(rows.problem == "loaded")
    #expect(rows.world == records.world)
  }

  @Test func rongCloudsRowsSayWhatRecordsSay() throws {
    let rows = try load(
      [Self.rongcloud],
      users: [
        "id,timeZone,quietStart,quietSpanMinutes,quietLevel,quietTimeZone",
        "u1,Asia/Tokyo,22:00:05,600,none,Europe/Berlin", "u2,,08:00:00,0,1,", "u3,,,,,",
      ], members: ["user,conversation,level", "u1,g1,4", "u2,g1,mentionUsers", "u3,g1,-1"])
    let records = try load([
      Self.rongcloud,
      #"{"kind":"user","id":"u1","timeZone":"Asia/Tokyo","quietHours":{"start":"22:00:05","#
        + #""spanMinutes":600,"level":"none","timeZone":"Europe/Berlin"}}"#,
      #"{"kind":"user","id":"u2"}"#, #"{"kind":"user","id":"u3"}"#,
      #"{"kind":"member","conversation":"g1","user":"u1","level":"mentionAll"}"#,
      #"{"kind":"member","conversation":"g1","user":"u2","level":2}"#,
      #"{"kind":"member","conversation":"g1","user":"u3","level":"all"}"#,
    ])
    #expect(rows.problem == "loaded")
    #expect(rows.world == records.world)
  }

  @Test func aRowKeepsWhatItCannotSay() throws {
    let devices = #""devices":[{"id":"p1","state":"kicked"}]"#
    let rows = try load(
      [#"{"kind":"user","id":"u0"}"#, #"{"kind":"user","id":"u1","level":"none",\#(devices)}"#],
      users: ["id,timeZone", "u2,Asia/Tokyo", "u1,Asia/Seoul", "u1,"])
    let records = try load([
      #"{"kind":"user","id":"u0"}"#, #"{"kind":"user","id":"u1",\#(devices)}"#,
      #"{"kind":"user","id":"u2","timeZone":"Asia/Tokyo"}"#,
    ])
    #expect(rows.world != nil)
    #expect(rows.world == records.world)
  }

  /// Of open rules, which the engine refuses: the values alone.
  @Test func rowsKeepWhatTheyCannotSay() throws {
    let kept =
      #""quiet":[{"days":["mon"],"start":"22:00","end":"7:00","allow":["me"]}],"#
      + #""mutedAllow":["sender"],"allowForce":false,"keywords":["deploy"],"#
      + #""importantSenders":["a"],"blockedSenders":["b"],"devices":[{"id":"p","seenAt":5}]"#
    let member = { (id: String, rest: String) in
      #"{"kind":"member","conversation":"\#(id)","user":"u1"\#(rest)}"#
    }
    let settings = { (user: String, thread: String, group: String) in
      [
        #"{"kind":"app","rules":"open"}"#,
        #"{"kind":"conversation","id":"t","type":"thread","parent":"g"}"#,
        #"{"kind":"user","id":"u1",\#(kept)\#(user)}"#,
        member("t", #","follow":false\#(thread)"#),
        member("g", #","important":true,"roles":["oncall"]\#(group)"#),
        member("h", #","important":true,"level":"direct""#),
      ].joined(separator: "\n")
    }
    let load = { (settings: String, users: [String], members: [String]) in
      let bytes = [settings, users.joined(separator: "\n"), members.joined(separator: "\n")].map {
        [UInt8]($0.utf8)
      }
      let paths = SettingsPaths(
        settings: ["w"], users: users.isEmpty ? [] : ["u"], members: members.isEmpty ? [] : ["m"],
        contents: ["w": bytes[0], "u": bytes[1], "m": bytes[2]])
      return World(try SettingsLoader.load(paths))
    }
    let said = #","level":"none","mutedUntil":7"#
    let found = try load(
      settings(#","level":"all","timeZone":"Asia/Seoul""#, said, #","since":3"#),
      ["id,level,timeZone,mutedUntil", "u1,none,,7"],
      ["conversation,user,level,mutedUntil,since", "t,u1,,,", "g,u1,none,7,", "h,u1,direct,,"])
    #expect(try found == load(settings(said, "", said), [], []))
  }

  @Test func usersStandInTheOrderOfTheFiles() throws {
    let found = try load(
      [#"{"kind":"member","conversation":"g1","user":"s"}"#], users: ["id", "b", "a", "s"],
      members: ["conversation,user", "g1,c", "g1,a", "g1,s"])
    #expect(found.world?.users.map(\.id.text) == ["s", "b", "a", "c"])
  }

  @Test func whatIsWrongIsAtItsRow() throws {
    let users = "id,level,quietStart,quietEnd,timeZone,quietSpanMinutes,quietLevel"
    let thread = [
      #"{"kind":"conversation","id":"t1","type":"thread","parent":"g1"}"#,
      #"{"kind":"conversation","id":"g1"}"#,
    ]
    let foreign = "but the rules are rongcloud"
    let rows: [(settings: [String], users: [String], members: [String], problem: String)] = [
      (
        [], [users, "u1,,24:00,8:00,,,"], [],
        #"users.csv:2: "quietHours": hour 24 is not in 0...23"#
      ),
      (
        [], [users, "u1,,22:00,,,,"], [],
        #"users.csv:2: "quietHours": quiet hours need both a start and an end, "#
          + "or both empty for none"
      ),
      (
        [], [users, "u1,,,,Mars/Base,,"], [],
        #"users.csv:2: "timeZone": "Mars/Base" is not a time zone of the IANA database"#
      ),
      (
        [Self.rongcloud], [users, "u1,,22:00:00,,,1440,"], [],
        #"users.csv:2: "quietSpanMinutes": 1440 is not in 0...1439"#
      ),
      (
        [Self.rongcloud], [users, "u1,,22:00:00,,,x,"], [],
        #"users.csv:2: "quietSpanMinutes" must be a whole number"#
      ),
      (
        [Self.rongcloud], [users, "u1,,,,,60,"], [],
        #"users.csv:2: the field "quietStart" is missing"#
      ),
      (
        [Self.rongcloud], [users, "u1,,22:00:00,,,,none"], [],
        #"users.csv:2: the field "quietSpanMinutes" is missing"#
      ),
      (
        [Self.rongcloud], [users, "u1,all,,,,,"], [],
        #"users.csv:2: a user's "level" belongs to easemob, \#(foreign)"#
      ),
      (
        [Self.rongcloud], [users, "u1,,22:00,8:00,,,"], [],
        #"users.csv:2: "quietEnd" belongs to easemob, \#(foreign)"#
      ),
      (
        [], [users, "u1,,22:00:00,,,60,"], [],
        #"users.csv:2: "quietSpanMinutes" belongs to rongcloud, but the rules are easemob"#
      ),
      (
        [], [], ["conversation,user,level", "g1,u1,3"],
        #"members.csv:2: "level": 3 is not a level; the levels are -1, 0, 1, 2, 4 and 5"#
      ),
      (
        [], [], ["conversation,user,level", "g1,u1,01"],
        #"members.csv:2: "level" cannot be "01"; it is one of "#
          + "default, all, mention, none"
      ),
      (
        [Self.rongcloud], [], ["conversation,user,mutedUntil", "g1,u1,5"],
        #"members.csv:2: "mutedUntil" belongs to easemob, \#(foreign)"#
      ),
      (
        thread, [], ["conversation,user,since", "g1,u1,", "t1,u1,", "t1,u2,"],
        #"members.csv:4: "u2" is not a member of "g1", the thread's parent"#
      ),
      (
        thread, [], ["conversation,user,since", "g1,u1,", "t1,u1,5"],
        #"members.csv:3: "since" is not allowed in "t1", a thread: its recipients are its parent's"#
      ),
    ]
    let found = try rows.map {
      try load($0.settings, users: $0.users, members: $0.members).problem
    }
    #expect(found == rows.map(\.problem))
  }
}
