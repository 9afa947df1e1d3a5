import PushFiles
import PushModel
import Testing

/// Goal: what is wrong between lines is reported at its own line, wherever the other line stands,
/// and of several problems the one of the earliest line.
@Suite struct SettingsRelationTests {
  typealias Case = SettingsProblemTests.Case

  private static let easemob = #"{"kind":"app","rules":"easemob"}"#
  private static let rongcloud = #"{"kind":"app","rules":"rongcloud"}"#

  /// Records that only RongCloud knows, and what they say that is RongCloud's.
  private static let rongCloudRecords: [(record: String, what: String)] = [
    (#"{"kind":"user","id":"u1","levels":{}}"#, #""levels""#),
    (#"{"kind":"user","id":"u1","pushWhenDesktopOnline":false}"#, #""pushWhenDesktopOnline""#),
    (#"{"kind":"user","id":"u1","localNotification":{}}"#, #""localNotification""#),
    (
      #"{"kind":"user","id":"u1","quietHours":{"start":"22:00:00","spanMinutes":60}}"#,
      #""quietHours.spanMinutes""#
    ),
    (
      #"{"kind":"member","conversation":"g1","user":"u1","level":-1}"#, #"the level -1 of "level""#
    ),
    (
      #"{"kind":"member","conversation":"g1","user":"u1","level":"mentionUsers"}"#,
      #"the level "mentionUsers" of "level""#
    ),
    (
      #"{"kind":"member","conversation":"g1","user":"u1","level":5}"#, #"the level 5 of "level""#
    ),
    (
      #"{"kind":"member","conversation":"g1","user":"u1","level":"mentionAll"}"#,
      #"the level "mentionAll" of "level""#
    ),
    (#"{"kind":"member","conversation":"g1","user":"u1","channels":{}}"#, #""channels""#),
    (#"{"kind":"conversation","id":"g1","type":"ultraGroup"}"#, "the conversation type ultraGroup"),
    (#"{"kind":"conversation","id":"g1","type":"discussion"}"#, "the conversation type discussion"),
    (#"{"kind":"conversation","id":"g1","type":"system"}"#, "the conversation type system"),
    (
      #"{"kind":"conversation","id":"g1","type":"customerService"}"#,
      "the conversation type customerService"
    ),
  ]

  /// Records that only Easemob knows, and what they say that is Easemob's.
  private static let easemobRecords: [(record: String, what: String)] =
    [
      (#"{"kind":"user","id":"u1","level":"all"}"#, #"a user's "level""#),
      (#"{"kind":"user","id":"u1","mutedUntil":0}"#, #""mutedUntil""#),
      (
        #"{"kind":"user","id":"u1","quietHours":{"start":"22:00","end":"8:00"}}"#,
        #""quietHours.end""#
      ),
      (#"{"kind":"member","conversation":"g1","user":"u1","mutedUntil":0}"#, #""mutedUntil""#),
      (
        #"{"kind":"conversation","id":"t1","type":"thread","parent":"g1"}"#,
        "the conversation type thread"
      ),
    ]
    + ["ALL", "All", "AT", "MentionOnly", "NONE", "DEFAULT"].map {
      (
        #"{"kind":"member","conversation":"g1","user":"u1","level":"\#($0)"}"#,
        #"the level "\#($0)" of "level""#
      )
    }

  @Test func aFieldOfTheOtherRulesIsRefusedWhereverTheAppStands() throws {
    let foreignToEasemob = Self.rongCloudRecords.flatMap { row -> [Case] in
      let problem = "\(row.what) belongs to rongcloud, but the rules are easemob"
      return [
        ([Self.easemob, row.record], "2: \(problem)"),
        ([row.record, Self.easemob], "1: \(problem)"),
        ([row.record], "1: \(problem)"), ([Self.rongcloud, row.record], "loaded"),
      ]
    }
    let foreignToRongCloud = Self.easemobRecords.flatMap { row -> [Case] in
      let problem = "\(row.what) belongs to easemob, but the rules are rongcloud"
      let group = #"{"kind":"conversation","id":"g1"}"#
      return [
        ([Self.rongcloud, row.record], "2: \(problem)"),
        ([row.record, Self.rongcloud], "1: \(problem)"), ([group, row.record], "loaded"),
      ]
    }
    // Channels need an ultra group, which the record alone does not give.
    let cases = (foreignToEasemob + foreignToRongCloud).filter {
      $0.problem != "loaded" || !$0.lines[1].contains("channels")
    }
    try SettingsProblemTests.expect(cases)
  }

  @Test func anAppSaysNothingOfTheOtherRules() throws {
    let easemob = "belongs to easemob, but the rules are rongcloud"
    let rongcloud = "belongs to rongcloud, but the rules are easemob"
    let cases: [Case] = [
      ([#"{"kind":"app","level":"all"}"#], #"1: the app's "level" \#(rongcloud)"#),
      (
        [#"{"kind":"app","messageNotification":true,"rules":"easemob"}"#],
        #"1: "messageNotification" \#(rongcloud)"#
      ),
      (
        [#"{"kind":"app","options":{"quietZero":"all"}}"#],
        #"1: the option "quietZero" \#(rongcloud)"#
      ),
      (
        [#"{"kind":"app","rules":"rongcloud","options":{"intervalEnd":"exclusive"}}"#],
        #"1: the option "intervalEnd" \#(easemob)"#
      ),
      (
        [#"{"kind":"app","devicePolicy":"allOffline","rules":"rongcloud"}"#],
        #"1: "devicePolicy" \#(easemob)"#
      ),
      (
        [#"{"kind":"app","advancedPush":true,"rules":"rongcloud"}"#],
        #"1: "advancedPush" \#(easemob)"#
      ),
      (
        [#"{"kind":"app","rules":"rongcloud","level":"NONE"}"#],
        #"1: the level "NONE" of "level" \#(easemob)"#
      ),
      ([Self.easemob, "", Self.easemob], "3: a second app; there is at most one"),
      ([Self.easemob, Self.rongcloud], "2: a second app; there is at most one"),
    ]
    try SettingsProblemTests.expect(cases)
  }

  @Test func aThreadStandsBelowAGroup() throws {
    let thread = #"{"kind":"conversation","id":"t1","type":"thread","parent":"g1"}"#
    let group = #"{"kind":"conversation","id":"g1"}"#
    let inGroup = #"{"kind":"member","conversation":"g1","user":"u1"}"#
    let inThread = #"{"kind":"member","conversation":"t1","user":"u1","level":"all"}"#
    let sinceInThread = #"{"kind":"member","conversation":"t1","user":"u1","since":0}"#
    let since = #""since" is not allowed in "t1", a thread: its recipients are its parent's"#
    let cases: [Case] = [
      ([thread], #"1: the parent "g1" is not a known conversation"#),
      ([thread, group], "loaded"), ([thread, inGroup], "loaded"),
      (
        [thread, #"{"kind":"conversation","id":"g1","type":"room"}"#],
        #"1: the parent "g1" is not a group"#
      ),
      (
        [#"{"kind":"conversation","id":"t1","type":"thread","parent":"t1"}"#],
        #"1: the parent "t1" is not a group"#
      ),
      ([group, thread, inThread], #"3: "u1" is not a member of "g1", the thread's parent"#),
      ([inThread, group, thread], #"1: "u1" is not a member of "g1", the thread's parent"#),
      ([inThread, thread, inGroup], "loaded"), ([inGroup, thread, inThread], "loaded"),
      ([inGroup, thread, sinceInThread], "3: \(since)"),
      ([sinceInThread, inGroup, thread], "1: \(since)"),
      // What a later record of the same key replaces is not judged.
      ([inGroup, thread, sinceInThread, inThread], "loaded"),
      ([thread, #"{"kind":"conversation","id":"t1"}"#], "loaded"),
    ]
    try SettingsProblemTests.expect(cases)
  }

  @Test func channelsBelongToUltraGroups() throws {
    let member = #"{"kind":"member","conversation":"g1","user":"u1","channels":{"c1":"all"}}"#
    let ultra = #"{"kind":"conversation","id":"g1","type":"ultraGroup"}"#
    let group = #"{"kind":"conversation","id":"g1","type":"group"}"#
    let problem = #""channels" is not allowed in "g1", which is not an ultra group"#
    let cases: [Case] = [
      ([Self.rongcloud, member], "2: \(problem)"),
      ([Self.rongcloud, group, member], "3: \(problem)"),
      ([Self.rongcloud, member, group], "2: \(problem)"),
      ([Self.rongcloud, ultra, member], "loaded"), ([member, ultra, Self.rongcloud], "loaded"),
      (
        [Self.rongcloud, #"{"kind":"conversation","id":"g1","type":"room","level":"all"}"#],
        #"2: unknown field "level""#
      ),
    ]
    try SettingsProblemTests.expect(cases)
  }

  @Test func aRecordThatWasReplacedIsNotJudged() throws {
    let group = #"{"kind":"conversation","id":"g1"}"#
    let member = #"{"kind":"member","conversation":"g1","user":"u1"}"#
    let channels = #"{"kind":"member","conversation":"g1","user":"u1","channels":{"c":"all"}}"#
    let thread = #"{"kind":"conversation","id":"t1","type":"thread","parent":"g1"}"#
    let plain = #"{"kind":"member","conversation":"t1","user":"u1"}"#
    let since = #"{"kind":"member","conversation":"t1","user":"u1","since":5}"#
    let inGroup = #""channels" is not allowed in "g1", which is not an ultra group"#
    let inThread = #""since" is not allowed in "t1", a thread: its recipients are its parent's"#
    try SettingsProblemTests.expect([
      ([Self.rongcloud, group, channels, member], "loaded"),
      ([Self.rongcloud, channels, group, member], "loaded"),
      ([Self.rongcloud, group, member, channels], "4: \(inGroup)"),
      ([group, thread, member, since, plain], "loaded"),
      ([since, plain, group, thread, member], "loaded"),
      ([group, thread, member, plain, since], "5: \(inThread)"),
    ])
  }

  @Test func theEarliestLineWins() throws {
    let bad = #"{"kind":"user","id":5}"#
    let foreign = #"{"kind":"user","id":"u1","levels":{}}"#
    let cases: [Case] = [
      ([Self.easemob, bad, "nonsense"], #"2: "id" must be a string"#),
      ([Self.easemob, "nonsense", bad], "2: the line is not JSON"),
      (
        [foreign, bad, Self.easemob],
        #"1: "levels" belongs to rongcloud, but the rules are easemob"#
      ),
      ([bad, foreign, Self.easemob], #"1: "id" must be a string"#),
      ([foreign, #"{"kind":"app","rules":5}"#], #"2: "rules" must be a string"#),
    ]
    try SettingsProblemTests.expect(cases)

    let found = try withFolder { folder in
      let good = try folder.write([#"{"kind":"user","id":"u1"}"#], as: "good.ndjson")
      let first = try folder.write(["", bad], as: "first.ndjson")
      let users = try folder.write(["id,level", "u1,loud"], as: "users.csv")
      let members = try folder.write(["conversation"], as: "members.csv")
      return [
        SettingsPaths(settings: [good, first], users: [users], members: [members]),
        SettingsPaths(settings: [good], users: [users], members: [members]),
        SettingsPaths(settings: [good], members: [members]),
        SettingsPaths(settings: [good, folder.path("none.ndjson"), first]),
        SettingsPaths(settings: [folder.path]),
      ].map { folder.problem($0) }
    }
    #expect(
      found == [
        #"first.ndjson:2: "id" must be a string"#,
        #"users.csv:2: "level" cannot be "loud"; it is one of "#
          + "default, all, mention, none",
        #"members.csv:1: the column "user" is missing"#,
        "none.ndjson: cannot be opened: No such file or directory",
        "FOLDER: is a directory; name a file",
      ])
  }
}
