import PushFanout
import PushReplay
import PushRules
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
    } else {
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

  @Test(arguments: [
    ("everyone.level=loud", "a level under easemob is one of default, all, mention, none"),
    ("everyone.levels.group=all", "users under easemob have the fields level, quietHours"),
    ("everyone.quietHours=25:00-07:00", "quiet hours are like 23:00-07:00, or none"),
    ("everyone.quietHours=23-7", "quiet hours are like 23:00-07:00, or none"),
    ("everyone.quietHours=", "quiet hours are like 23:00-07:00, or none"),
    ("app.devicePolicy=some", "a device policy is one of allOffline, anyOffline"),
    ("app.advancedPush=1", "say true or false"),
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
