import PushFiles
import PushModel
import Testing

/// Goal: records of settings.ndjson become the settings that they say, in any order and spelling,
/// and what is not said has its default.
@Suite struct RecordTests {
  private func world(_ lines: [String]) throws -> World {
    try withFolder { folder in
      try folder.world(SettingsPaths(settings: [folder.write(lines, as: "w.ndjson")]))
    }
  }

  private func user(_ change: (inout UserSettings) throws -> Void) rethrows -> UserSettings {
    var user = UserSettings()
    try change(&user)
    return user
  }

  /// A program may set what the rule set has not: a file says what it has, and can be read.
  @Test(arguments: RuleSet.allCases)
  func whatIsWrittenIsWhatTheRuleSetHas(rules: RuleSet) throws {
    var app = AppSettings(
      rules: rules, timeZone: "Asia/Tokyo", devicePolicy: .anyOffline, advancedPush: false,
      level: .mention, messageNotification: false)
    app.quietHours = .windows(.none)
    let user = user {
      $0.level = .mention
      $0.levels[.group] = .mention
      $0.mutedUntil = Instant(milliseconds: 5)
      ($0.pushWhenDesktopOnline, $0.localInformationMissing) = (true, true)
      ($0.mutedAllow, $0.allowForce) = (.mentionsMe, false)
      ($0.keywords, $0.importantSenders, $0.blockedSenders) = (["k"], ["i"], ["b"])
      $0.devices = [
        Device(
          id: "d", state: .background, notifier: "n", backgroundSince: Instant(milliseconds: 6),
          seenAt: Instant(milliseconds: 7))
      ]
    }
    var member = MemberSettings(level: .mention)
    (member.isImportant, member.roles) = (true, ["r"])
    member.mutedUntil = Instant(milliseconds: 8)
    member.channels = ["c": .mention]
    let group = ConversationSettings(level: .mention, channels: ["c": .mention])
    let hours: [QuietHours] = [
      .windows(.none),
      .interval(try QuietInterval(startHour: 1, startMinute: 2, endHour: 3, endMinute: 4)),
      .span(try QuietSpan(hour: 1, minute: 2, second: 3, spanMinutes: 4, level: .mention)),
    ]
    for quietHours in hours {
      var user = user
      user.quietHours = quietHours
      let lines = [
        SettingsEncoder.app(app), SettingsEncoder.user("u", user, rules),
        SettingsEncoder.conversation("g", group, rules),
        SettingsEncoder.member("u", of: "g", .group, member, rules),
      ]
      // The reader refuses a field that its rule set has not.
      let found = try world(lines.map { String(decoding: $0, as: UTF8.self) })
      #expect(found.users.count == 1 && found.app.rules == rules)
      #expect(found.users[0].settings.keywords == (rules == .open ? ["k"] : []))
    }
  }

  @Test func openRulesHaveNoAddresses() {
    for field in [#""platform":"apns""#, #""token":"t""#, #""fid":"f""#] {
      #expect(throws: FileProblem.self) {
        try world([
          #"{"kind":"app","rules":"open"}"#,
          #"{"kind":"user","id":"u1","devices":[{"id":"p1",\#(field)}]}"#,
        ])
      }
    }
  }

  @Test func easemobsRecordsSayEverything() throws {
    let found = try world([
      #"{"kind":"app","rules":"easemob","timeZone":"Asia/Shanghai","devicePolicy":"anyOffline","#
        + #""advancedPush":false,"options":{"zeroZeroMeans":"allDay","expireSeconds":60}}"#,
      #"{"kind":"user","id":"u1","level":"MentionOnly","quietHours":{"start":"22:0","end":"8:05"},"#
        + #""timeZone":"Europe/Berlin","mutedUntil":1764000000000,"devices":["#
        + #"{"id":"p1"},{"id":"p2","type":"web","state":"background","token":false,"#
        + #""notifier":"apns","backgroundSince":5}]}"#,
      #"{"kind":"conversation","id":"t1","type":"thread","parent":"g1"}"#,
      #"{"kind":"member","conversation":"g1","user":"u1","level":"NONE","mutedUntil":7,"since":8}"#,
    ])
    var app = AppSettings(
      rules: .easemob, timeZone: "Asia/Shanghai", devicePolicy: .anyOffline, advancedPush: false)
    app.easemob.zeroZeroMeans = .allDay
    app.easemob.expireSeconds = 60
    #expect(found.app == app)
    let u1 = try user {
      $0.level = .mention
      $0.quietHours = .interval(
        try QuietInterval(startHour: 22, startMinute: 0, endHour: 8, endMinute: 5))
      $0.timeZone = "Europe/Berlin"
      $0.mutedUntil = Instant(milliseconds: 1_764_000_000_000)
      $0.devices = [
        Device(id: "p1"),
        Device(
          id: "p2", kind: .web, state: .background, hasToken: false, notifier: "apns",
          backgroundSince: Instant(milliseconds: 5)),
      ]
    }
    #expect(found.users == [World.User(id: "u1", settings: u1)])
    let member = MemberSettings(
      level: .blocked, mutedUntil: Instant(milliseconds: 7), since: Instant(milliseconds: 8))
    #expect(
      found.conversations == [
        World.Conversation(
          id: "t1", settings: ConversationSettings(kind: .thread, parent: "g1"), members: [:]),
        World.Conversation(id: "g1", settings: ConversationSettings(), members: ["u1": member]),
      ])
  }

  @Test func rongCloudsRecordsSayEverything() throws {
    let found = try world([
      #"{"kind":"app","rules":"rongcloud","level":5,"messageNotification":false,"#
        + #""options":{"boundary":"closed"}}"#,
      #"{"kind":"user","id":"u1","levels":{"group":1,"ultraGroup":"mentionAll"},"quietHours":"#
        + #"{"start":"22:00:05","spanMinutes":600,"level":1,"timeZone":"Asia/Tokyo"},"#
        + #""pushWhenDesktopOnline":true,"#
        + #""localNotification":{"informationMissing":true,"handledByApp":true}}"#,
      #"{"kind":"conversation","id":"x","type":"ultraGroup","level":4,"channels":{"c1":-1,"":2}}"#,
      #"{"kind":"member","conversation":"x","user":"u1","level":0,"channels":{"c1":"none"}}"#,
    ])
    var app = AppSettings(rules: .rongcloud, level: .blocked, messageNotification: false)
    app.rongcloud.boundary = .closed
    #expect(found.app == app)
    let u1 = try user {
      $0.levels[.group] = .mention
      $0.levels[.ultraGroup] = .mentionAll
      $0.quietHours = .span(
        try QuietSpan(
          hour: 22, minute: 0, second: 5, spanMinutes: 600, level: .mention, timeZone: "Asia/Tokyo")
      )
      $0.pushWhenDesktopOnline = true
      $0.localInformationMissing = true
      $0.localHandledByApp = true
    }
    #expect(found.users == [World.User(id: "u1", settings: u1)])
    #expect(
      found.conversations == [
        World.Conversation(
          id: "x",
          settings: ConversationSettings(
            kind: .ultraGroup, level: .mentionAll, channels: ["c1": .all, "": .mentionUsers]),
          members: ["u1": MemberSettings(channels: ["c1": .blocked])])
      ])
  }

  @Test func nullIsAbsent() throws {
    let nulls = try world([
      #"{"kind":"app","rules":null,"timeZone":null,"level":null,"options":null}"#,
      #"{"kind":"user","id":"u1","level":null,"levels":null,"quietHours":null,"devices":null}"#,
      #"{"kind":"user","id":"u2","devices":[{"id":"p1","type":null,"state":null,"token":null}]}"#,
      #"{"kind":"conversation","id":"g1","type":null,"parent":null,"channels":null,"x":null}"#,
      #"{"kind":"member","conversation":"g1","user":"u1","since":null,"channels":null}"#,
    ])
    let absent = try world([
      #"{"kind":"app"}"#, #"{"kind":"user","id":"u1"}"#,
      #"{"kind":"user","id":"u2","devices":[{"id":"p1"}]}"#,
      #"{"kind":"conversation","id":"g1"}"#, #"{"kind":"member","conversation":"g1","user":"u1"}"#,
    ])
    #expect(nulls == absent)
    #expect(absent.app == AppSettings(rules: .easemob, timeZone: "UTC"))
  }

  @Test func devicesAndKindsHaveDefaults() throws {
    let found = try world([
      #"{"kind":"user","id":"u1"}"#, #"{"kind":"user","id":"u2","devices":[]}"#,
      #"{"kind":"member","conversation":"g1","user":"u3"}"#,
    ])
    #expect(
      found.users.map(\.settings.effectiveDevices) == [
        [Device(id: "default", kind: .mobile, state: .offline, hasToken: true)], [],
        [Device(id: "default")],
      ])
    #expect(found.conversations.map(\.settings) == [ConversationSettings(kind: .group)])
    #expect(
      found.users.map(\.settings) == [UserSettings(), found.users[1].settings, UserSettings()])
  }

  @Test func theOrderOfRecordsIsFree() throws {
    let lines = [
      #"{"kind":"app","rules":"easemob","timeZone":"Asia/Tokyo"}"#,
      #"{"kind":"user","id":"u1","level":"mention"}"#, #"{"kind":"user","id":"u2"}"#,
      #"{"kind":"conversation","id":"g1"}"#,
      #"{"kind":"conversation","id":"t1","type":"thread","parent":"g1"}"#,
      #"{"kind":"member","conversation":"g1","user":"u2","level":"none"}"#,
      #"{"kind":"member","conversation":"g1","user":"u1"}"#,
      #"{"kind":"member","conversation":"t1","user":"u1","level":"all"}"#,
    ]
    let expected = try world(lines).sorted
    let rotations = lines.indices.map { Array(lines[$0...] + lines[..<$0]) }
    let found = try (rotations + rotations.map { $0.reversed() }).map { try world($0).sorted }
    #expect(found == Array(repeating: expected, count: 2 * lines.count))
  }

  @Test func theSameKeyAgainReplacesTheWholeRecordAndKeepsItsPlace() throws {
    let found = try world([
      #"{"kind":"user","id":"u1","level":"none","timeZone":"Asia/Tokyo"}"#,
      #"{"kind":"member","conversation":"g1","user":"u2","level":"none","since":5}"#,
      #"{"kind":"member","conversation":"g1","user":"u1","mutedUntil":9}"#,
      #"{"kind":"conversation","id":"g2","type":"private"}"#,
      #"{"kind":"conversation","id":"g2","type":"room"}"#,
      #"{"kind":"member","conversation":"g1","user":"u2","mutedUntil":6}"#,
      #"{"kind":"user","id":"u1","level":"all"}"#,
    ])
    #expect(
      found.users == [
        World.User(id: "u1", settings: user { $0.level = .all }),
        World.User(id: "u2", settings: UserSettings()),
      ])
    let muted = { MemberSettings(mutedUntil: Instant(milliseconds: $0)) }
    #expect(
      found.conversations == [
        World.Conversation(
          id: "g1", settings: ConversationSettings(), members: ["u1": muted(9), "u2": muted(6)]),
        World.Conversation(id: "g2", settings: ConversationSettings(kind: .room), members: [:]),
      ])
  }

  @Test func idsAreComparedExactly() throws {
    let ids = ["\u{E9}", "e\u{301}", "U1", "u1", " u1", "u1 ", "\u{0}", "\u{1F600}"]
    let found = try world(
      ids.map { #"{"kind":"user","id":"\#($0.replacing("\u{0}", with: "\\u0000"))"}"# } + [
        #"{"kind":"user","id":"\u00e9","level":"none"}"#,
        #"{"kind":"user","id":"\ud83d\ude00","level":"all"}"#,
      ])
    #expect(found.users.map(\.id) == ids.map { Identifier($0) })
    #expect(
      found.users.map(\.settings.level) == [
        .blocked, .unset, .unset, .unset, .unset, .unset, .unset, .all,
      ])
  }

  @Test func blankLinesAndLineEndsAreFree() throws {
    let lines = [#"{"kind":"user","id":"u1"}"#, #"{"kind":"user","id":"u2"}"#]
    let found = try [
      lines, ["", lines[0], " \t ", "", lines[1], ""],
      [lines[0] + "\r", "\r", lines[1] + "\r", ""],
      [" \(lines[0]) ", "\t\(lines[1])"],
    ].map { try world($0).users.map(\.id.text) }
    #expect(found == Array(repeating: ["u1", "u2"], count: 4))
  }

  @Test func everyWindowIsItsOwn() throws {
    let ends = (0..<1440).map { "\($0 / 60):\($0 % 60)" }
    let found = try world(
      ends.enumerated().map {
        #"{"kind":"user","id":"\#($0)","quietHours":{"start":"22:00","end":"\#($1)"}}"#
      })
    let expected = try (0..<1440).map {
      QuietHours.interval(
        try QuietInterval(startHour: 22, startMinute: 0, endHour: $0 / 60, endMinute: $0 % 60))
    }
    #expect(found.users.map(\.settings.quietHours) == expected)
  }
}
