import PushFanout
@testable import PushReplay
import PushModel
import TestSupport
import Testing

/// Goal: what is written on a command line changes the settings that it names and no others, or is
/// refused with what is wrong.
@Suite struct WhatIfTests {
  private static func fanout(_ rules: RuleSet) throws -> Fanout {
    var settings = FanoutSettings(app: AppSettings(rules: rules, timeZone: "Asia/Tokyo"))
    var set = UserSettings()
    if rules == .easemob {
      set.level = .blocked
      set.quietHours = .interval(
        try QuietInterval(startHour: 1, startMinute: 0, endHour: 2, endMinute: 0))
    } else if rules == .rongcloud {
      set.levels[.group] = .blocked
    }
    set.timeZone = "Europe/Berlin"
    settings.setUser("set", set)
    settings.setUser("new", UserSettings())
    settings.setMember("named", of: "g")
    return try Fanout(settings, threads: 1)
  }

  private static func changed(_ rules: RuleSet, _ texts: String...) throws -> Fanout {
    let fanout = try fanout(rules)
    for text in texts { try WhatIf(text).apply(to: fanout) }
    return fanout
  }

  private static let night = try! QuietInterval(
    startHour: 23, startMinute: 0, endHour: 7, endMinute: 30)

  @Test func levels() throws {
    let all = try Self.changed(.easemob, "everyone.level=mention")
    #expect(["set", "new", "named"].map { all.user($0)?.level } == [.mention, .mention, .mention])
    #expect(all.user("set")?.timeZone == "Europe/Berlin")
    let unset = try Self.changed(.easemob, "unset.level=mention")
    #expect(
      ["set", "new", "named"].map { unset.user($0)?.level } == [.blocked, .mention, .mention])
    let typed = try Self.changed(.rongcloud, "unset.levels.group=mentionUsers")
    #expect(
      ["set", "new"].map { typed.user($0)?.levels[.group] } == [.blocked, .mentionUsers])
  }

  /// The spellings and numbers that files take, and no others.
  @Test(arguments: [
    (RuleSet.easemob, "AT", NotificationLevel?.some(.mention)), (.easemob, "NONE", .blocked),
    (.easemob, "MentionOnly", .mention), (.easemob, "1", nil), (.easemob, "mentionAll", nil),
    (.rongcloud, "4", .mentionAll), (.rongcloud, "-1", .all), (.rongcloud, "AT", nil),
    (.rongcloud, "3", nil), (.rongcloud, "+4", nil),
  ])
  func spelledLevels(rules: RuleSet, text: String, level: NotificationLevel?) throws {
    let field = rules == .easemob ? "level" : "levels.group"
    let change = "everyone.\(field)=\(text)"
    guard let level else {
      #expect(throws: WhatIf.Problem.self) { try Self.changed(rules, change) }
      return
    }
    let user = try #require(try Self.changed(rules, change).user("new"))
    #expect((rules == .easemob ? user.level : user.levels[.group]) == level)
  }

  @Test func quietHours() throws {
    let all = try Self.changed(.easemob, "everyone.quietHours=23:00-07:30")
    #expect(
      ["set", "new"].map { all.user($0)?.quietHours }
        == [.interval(Self.night), .interval(Self.night)])
    let unset = try Self.changed(.easemob, "unset.quietHours=23:00-07:30")
    #expect(unset.user("new")?.quietHours == .interval(Self.night))
    #expect(unset.user("set")?.quietHours != .interval(Self.night))
    #expect(try Self.changed(.easemob, "everyone.quietHours=none").user("set")?.quietHours == nil)
    let span = try QuietSpan(hour: 23, minute: 0, second: 0, spanMinutes: 510, level: .blocked)
    #expect(
      try Self.changed(.rongcloud, "everyone.quietHours=23:00-07:30").user("new")?.quietHours
        == .span(span))
  }

  /// Levels of open rules, as they are typed: words, and lists of classes (O-2).
  @Test(arguments: [
    ("mentions", NotificationLevel(.mentions)), ("direct", NotificationLevel(.direct)),
    ("none", .blocked), ("me,reply", NotificationLevel([.mentionsMe, .reply])),
    ("plain", NotificationLevel(.plain)), ("default", .unset),
  ])
  func levelsOfOpenRules(text: String, level: NotificationLevel) throws {
    let fanout = try Self.changed(
      .open, "everyone.level=\(text)", "app.level=\(text)", "room=g.everyone.level=\(text)")
    #expect(fanout.user("new")?.level == level && fanout.app.level == level)
    #expect(fanout.member("named", of: "g")?.level == level)
    #expect(WhatIf("unset.level=\(text)").mistake == nil)
  }

  @Test(arguments: ["mention", "me,me", "me,", "me,none", "4", "ALL", "[]", "me, reply"])
  func noLevelsOfOpenRules(text: String) throws {
    var found = ""
    do { _ = try Self.changed(.open, "unset.level=\(text)") } catch { found = "\(error)" }
    let meant = ["mention": "; did you mean mentions?", "ALL": "; did you mean all?"][text] ?? ""
    #expect(
      found == "unset.level=\(text): a level under open is one of all, mentions, direct, none, "
        + "default, or of classes with commas between: plain, me, everyone, role, thread, private, "
        + "reply, keyword, sender" + meant)
  }

  /// No quiet hours are none at all, also where the app has some (O-11).
  @Test func noQuietHoursByOpenRules() throws {
    let window = QuietHours.windows(
      try QuietWindows([QuietWindows.Window(start: "23:00", end: "7:30")]))
    let none = QuietHours.windows(.none)
    func hours(_ texts: String...) throws -> [QuietHours?] {
      let fanout = try Self.fanout(.open)
      try fanout.update { (update) throws(FanoutError) in
        try update.updateUser("set") { $0.quietHours = window }
        try update.updateUser("named") { $0.quietHours = none }
      }
      for text in texts { try WhatIf(text).apply(to: fanout) }
      return ["set", "named", "new"].map { fanout.user($0)?.quietHours }
    }
    #expect(try hours("everyone.quietHours=none") == [none, none, none])
    #expect(try hours("unset.quietHours=none") == [window, none, none])
    #expect(try hours("unset.quietHours=23:00-7:30") == [window, none, window])
    #expect(
      try hours("everyone.quietHours=23:00-7:30", "everyone.quietHours=none")
        == [none, none, none])
    #expect(WhatIf("everyone.quietHours=none").words == "no quiet hours for everyone")
  }

  @Test func listsInWords() {
    #expect(
      ["unset.level=me,reply", "everyone.level=direct", "room=g.unset.level=keyword"]
        .map { WhatIf($0).words } == [
          "me, reply only by default", "direct messages only for everyone",
          "keyword only by default in g",
        ])
  }

  /// Without settings, what every rule set that has the field takes; with them, what theirs does.
  @Test func whatIsWrongIsSaidOfEachRuleSet() throws {
    let fields =
      "users under easemob have the fields level, quietHours; users under rongcloud have the fields "
      + "levels.TYPE, quietHours; users under open have the fields level, quietHours"
    #expect(WhatIf("unset.quiet=none").mistake == "no change; \(fields)")
    #expect(
      WhatIf("everyone.levels.group=loud").mistake == "no change: a level under rongcloud is one "
        + "of default, all, mention, mentionUsers, mentionAll, none")
    #expect(
      WhatIf("app.level=mee").mistake?.hasSuffix("reply, keyword, sender; did you mean me?")
        == true)
    #expect(
      WhatIf("option.expireSeconds=x").mistake
        == "no change: easemob has no option expireSeconds with "
        + "that value; open has no option expireSeconds with that value")
    for (text, reason) in [
      ("unset.quiet=none", "users under open have the fields level, quietHours"),
      ("app.devicePolicy=anyOffline", "an app under open has no field devicePolicy"),
    ] {
      var found = ""
      do { _ = try Self.changed(.open, text) } catch { found = "\(error)" }
      #expect(found == "\(text): \(reason)")
    }
  }

  @Test func aWindowKeepsItsOwnZone() throws {
    let fanout = try Self.fanout(.rongcloud)
    let old = try QuietSpan(
      hour: 1, minute: 0, second: 0, spanMinutes: 5, level: .mention, timeZone: "Asia/Tokyo")
    try fanout.update { (update) throws(FanoutError) in
      try update.updateUser("set") { $0.quietHours = .span(old) }
    }
    try WhatIf("everyone.quietHours=23:00-07:30").apply(to: fanout)
    let wanted = try ["Asia/Tokyo", nil].map { zone in
      QuietHours.span(
        try QuietSpan(
          hour: 23, minute: 0, second: 0, spanMinutes: 510, level: .blocked, timeZone: zone))
    }
    #expect(["set", "new"].map { fanout.user($0)?.quietHours } == wanted)
    var found = ""
    do { try WhatIf("everyone.quietHours=08:00-08:00").apply(to: fanout) } catch {
      found = "\(error)"
    }
    #expect(
      found == "everyone.quietHours=08:00-08:00: "
        + "start and end of quiet hours must differ under rongcloud")
    let allDay = try QuietInterval(startHour: 8, startMinute: 0, endHour: 8, endMinute: 0)
    let easemob = try Self.changed(.easemob, "everyone.quietHours=08:00-08:00")
    #expect(easemob.user("new")?.quietHours == .interval(allDay))
  }

  @Test func appsAndOptions() throws {
    let easemob = try Self.changed(
      .easemob, "app.devicePolicy=anyOffline", "app.advancedPush=false",
      "app.timeZone=Asia/Kolkata",
      "option.mentionBypassesDnd=true")
    var expected = AppSettings(rules: .easemob, timeZone: "Asia/Kolkata")
    expected.devicePolicy = .anyOffline
    expected.advancedPush = false
    expected.easemob.mentionBypassesDND = true
    #expect(easemob.app == expected)
    let rongcloud = try Self.changed(
      .rongcloud, "app.level=mention", "app.messageNotification=false")
    #expect(rongcloud.app.level == .mention && !rongcloud.app.messageNotification)
  }

  @Test func files() throws {
    let folder = ScratchFolder()
    let path = try folder.write(
      Array(
        """
        {"kind":"user","id":"set","level":"all"}
        {"kind":"member","conversation":"g","user":"late","level":"none"}

        """.utf8), as: "other.ndjson")
    let fanout = try Self.changed(.easemob, path)
    #expect(fanout.user("set")?.level == .all && fanout.user("set")?.timeZone == nil)
    #expect(fanout.member("late", of: "g")?.level == .blocked)
    #expect(fanout.member("named", of: "g") != nil)
    #expect(fanout.app.timeZone == "Asia/Tokyo")
  }

  /// What a file does to a world: what is wrong, or nothing.
  private static func problem(_ world: FanoutSettings, _ line: String) throws -> String {
    let folder = ScratchFolder()
    let path = try folder.write(Array((line + "\n").utf8), as: "other.ndjson")
    let fanout = try Fanout(world, threads: 1)
    let before = fanout.version
    do {
      try WhatIf(path).apply(to: fanout)
      return ""
    } catch {
      #expect(fanout.version == before)
      return "\(error)".split(separator: "other.ndjson:").last.map(String.init) ?? ""
    }
  }

  @Test func filesAreJudgedBesideTheWorld() throws {
    var easemob = FanoutSettings(app: AppSettings())
    easemob.setMember("u1", of: "g")
    easemob.setMember("late", of: "h", MemberSettings(since: Instant(milliseconds: 1)))
    easemob.setMember("other", of: "k")
    easemob.setConversation("t", ConversationSettings(kind: .thread, parent: "g"))
    var rongcloud = FanoutSettings(app: AppSettings(rules: .rongcloud))
    rongcloud.setConversation("u", ConversationSettings(kind: .ultraGroup))
    rongcloud.setMember("u1", of: "u", MemberSettings(channels: ["c": .all]))
    let rows: [(FanoutSettings, String, String)] = [
      (easemob, #"{"kind":"conversation","id":"n","type":"thread","parent":"g"}"#, ""),
      (easemob, #"{"kind":"member","conversation":"t","user":"u1","level":"none"}"#, ""),
      (
        easemob, #"{"kind":"member","conversation":"t","user":"x"}"#,
        #"1: "x" is not a member of "g", the thread's parent"#
      ),
      (
        easemob, #"{"kind":"member","conversation":"t","user":"u1","since":5}"#,
        #"1: "since" is not allowed in "t", a thread: its recipients are its parent's"#
      ),
      (
        easemob, #"{"kind":"conversation","id":"g","type":"room"}"#,
        #"1: "g" is the parent of the thread "t", so it must be a group"#
      ),
      (
        easemob, #"{"kind":"conversation","id":"n","type":"thread","parent":"x"}"#,
        #"1: the parent "x" is not a known conversation"#
      ),
      (
        easemob, #"{"kind":"conversation","id":"h","type":"thread","parent":"g"}"#,
        #"1: the record of the member "late" conflicts with it: "since" is not allowed in "h", "#
          + "a thread: its recipients are its parent's"
      ),
      (
        easemob, #"{"kind":"conversation","id":"k","type":"thread","parent":"g"}"#,
        #"1: the record of the member "other" conflicts with it: "other" is not a member of "g", "#
          + "the thread's parent"
      ),
      (
        easemob,
        #"{"kind":"conversation","id":"g","type":"room"}"# + "\n"
          + #"{"kind":"conversation","id":"t","type":"group"}"#, ""
      ),
      (rongcloud, #"{"kind":"member","conversation":"u","user":"x","channels":{"c":-1}}"#, ""),
      (
        rongcloud, #"{"kind":"member","conversation":"g","user":"x","channels":{"c":-1}}"#,
        #"1: "channels" is not allowed in "g", which is not an ultra group"#
      ),
      (
        rongcloud, #"{"kind":"conversation","id":"u","type":"group"}"#,
        #"1: the record of the member "u1" conflicts with it: "channels" is not allowed in "u", "#
          + "which is not an ultra group"
      ),
      (
        rongcloud,
        #"{"kind":"conversation","id":"u","type":"group"}"# + "\n"
          + #"{"kind":"member","conversation":"u","user":"u1"}"#, ""
      ),
    ]
    let found = try rows.map { try Self.problem($0.0, $0.1) }
    #expect(found == rows.map(\.2))
  }

  @Test func otherRulesForgetNothing() throws {
    let easemob = #"{"kind":"app","rules":"easemob"}"#
    let rongcloud = #"{"kind":"app","rules":"rongcloud"}"#
    func world(_ rules: RuleSet, _ change: (inout FanoutSettings) throws -> Void) rethrows
      -> FanoutSettings
    {
      var settings = FanoutSettings(app: AppSettings(rules: rules))
      settings.setMember("u", of: "g", MemberSettings(level: .mention))
      try change(&settings)
      return settings
    }
    func user(_ rules: RuleSet, _ change: (inout UserSettings) -> Void) -> FanoutSettings {
      world(rules) { $0.updateUser("u", change) }
    }
    func member(_ rules: RuleSet, _ member: MemberSettings) -> FanoutSettings {
      world(rules) { $0.setMember("u", of: "g", member) }
    }
    func room(_ id: Identifier, _ rules: RuleSet, _ room: ConversationSettings) -> FanoutSettings {
      world(rules) { $0.setConversation(id, room) }
    }
    let level = user(.easemob) { $0.level = .mention }
    let span = try QuietSpan(hour: 1, minute: 0, second: 0, spanMinutes: 5, level: .blocked)
    let night = QuietHours.interval(Self.night)
    let mute = MemberSettings(mutedUntil: Instant(milliseconds: 9))
    var important = MemberSettings()
    important.isImportant = true
    let (ofUser, ofMember) = (#" of the user "u""#, #" of the member "u" of "g""#)
    let rows: [(FanoutSettings, String, String)] = [
      (world(.easemob) { _ in }, rongcloud, ""), (world(.rongcloud) { _ in }, easemob, ""),
      (world(.open) { _ in }, easemob, ""), (level, easemob, ""),
      (level, rongcloud, #"the "level""# + ofUser),
      (level, rongcloud + "\n" + #"{"kind":"user","id":"u"}"#, ""),
      (user(.easemob) { $0.quietHours = night }, rongcloud, #"the "quietHours""# + ofUser),
      (member(.easemob, mute), rongcloud, #"the "mutedUntil""# + ofMember),
      (
        room("t", .easemob, ConversationSettings(kind: .thread, parent: "g")), rongcloud,
        #"the type thread of the conversation "t""#
      ),
      (user(.rongcloud) { $0.levels[.group] = .all }, easemob, #"the "levels""# + ofUser),
      (user(.rongcloud) { $0.quietHours = .span(span) }, easemob, #"the "quietHours""# + ofUser),
      (member(.rongcloud, .init(level: .mentionAll)), easemob, "the level mentionAll" + ofMember),
      (user(.open) { $0.allowForce = false }, easemob, #"the "allowForce""# + ofUser),
      (user(.open) { $0.level = NotificationLevel(.reply) }, easemob, "the level [reply]" + ofUser),
      (member(.open, important), easemob, #"the "important""# + ofMember),
      (room("g", .open, .init(level: .all)), easemob, #"the "level" of the conversation "g""#),
    ]
    let found = try rows.map { try Self.problem($0.0, $0.1) }
    let wanted = rows.map { world, _, what in
      let rules = world.app.rules
      return what.isEmpty
        ? ""
        : " \(what) belongs to \(rules.rawValue), but the rules are \(otherRules(rules).rawValue)"
    }
    #expect(found == wanted)
  }

  @Test func whatIsNeitherAChangeNorAFile() {
    let known = "a change begins with everyone., unset., app. or option."
    let rows: [(text: String, advice: String?)] = [
      ("unsett.level=mention", "did you mean unset.level=mention?"),
      ("everybody.level=none", "did you mean everyone.level=none?"),
      ("Everyone.Levels.Group=all=x", "did you mean everyone.levels.group=all=x?"),
      ("unset.quietHours", "did you mean unset.quietHours=VALUE?"),
      ("timeZone=UTC", "did you mean app.timeZone=UTC?"),
      ("options.mentionBypassesDnd=true", "did you mean option.mentionBypassesDnd=true?"),
      ("a=b", known), ("=", known), ("something.else=entirely", known),
      // A file that is not there says so itself; the others are changes, or files.
      ("nowhere.ndjson", nil), ("-", nil), ("/dev/null", nil), ("unset.levels.group=all", nil),
    ]
    #expect(
      rows.map { WhatIf($0.text).mistake }
        == rows.map { row in row.advice.map { "neither a change nor a file; \($0)" } })
  }

  @Test(arguments: [
    ("everyone.level=loud", "a level under easemob is one of default, all, mention, none"),
    ("everyone.levels.group=all", "users under easemob have the fields level, quietHours"),
    ("everyone.quietHours=25:00-07:00", "quiet hours are like 23:00-07:00, or none"),
    ("everyone.quietHours=23-7", "quiet hours are like 23:00-07:00, or none"),
    ("everyone.quietHours=", "quiet hours are like 23:00-07:00, or none"),
    ("app.devicePolicy=some", "a device policy is one of allOffline, anyOffline"),
    ("app.advancedPush=1", "use true or false"),
    ("app.level=all", "an app under easemob has no field level"),
    ("app.timeZone=Mars", "\"Mars\" is not a time zone"),
    ("option.nonsense=1", "easemob has no option nonsense with that value"),
  ])
  func whatIsRefused(text: String, reason: String) throws {
    let fanout = try Self.fanout(.easemob)
    let before = fanout.version
    var found: String?
    do { try WhatIf(text).apply(to: fanout) } catch { found = "\(error)" }
    #expect(found?.hasPrefix("\(text): ") ?? false)
    #expect(found?.contains(reason) ?? false, "\(found ?? "nothing")")
    #expect(fanout.version == before)
  }
}

/// The vendor that is not `rules`.
private func otherRules(_ rules: RuleSet) -> RuleSet { rules == .easemob ? .rongcloud : .easemob }
