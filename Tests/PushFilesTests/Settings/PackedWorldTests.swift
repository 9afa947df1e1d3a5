import PushFanout
import PushFiles
import PushModel
import Testing

/// Goal: the engine loaded from files has the same settings as the values loaded from them, whatever
/// replaces what, in one file or over several (formats.md, "settings.ndjson" and "CSV").
@Suite struct PackedWorldTests {
  /// Files of a world: settings, users and members.
  private struct Files {
    var settings: [[String]] = []
    var users: [[String]] = []
    var members: [[String]] = []
  }

  /// The world in files, which both loaders have to read alike.
  private func world(
    _ files: Files, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> World {
    try withFolder { folder in
      let write = { (files: [[String]], name: String, kind: String) in
        try files.enumerated().map { try folder.write($1, as: "\(name)\($0).\(kind)") }
      }
      let paths = SettingsPaths(
        settings: try write(files.settings, "w", "ndjson"),
        users: try write(files.users, "u", "csv"), members: try write(files.members, "m", "csv"))
      return try folder.world(paths, sourceLocation: sourceLocation)
    }
  }

  private static let rongcloud =
    #"{"kind":"app","rules":"rongcloud","timeZone":"Asia/Shanghai","level":4}"#
  private static let full =
    #"{"kind":"user","id":"u1","level":"none","mutedUntil":9,"timeZone":"Asia/Tokyo","#
    + #""quietHours":{"start":"22:00","end":"8:00"},"#
    + #""devices":[{"id":"p1","notifier":"apns"},{"id":"p2","state":"kicked","token":false}]}"#
  private static let fullMember =
    #"{"kind":"member","conversation":"g1","user":"u1","level":"none","mutedUntil":7,"since":5}"#

  @Test func aLaterRecordReplacesTheWholeEarlierOne() throws {
    let member = #"{"kind":"member","conversation":"g1","user":"u1","mutedUntil":6}"#
    let bare = [
      #"{"kind":"user","id":"u1"}"#, #"{"kind":"member","conversation":"g1","user":"u1"}"#,
    ]
    let empty = #"{"kind":"user","id":"u1","devices":[]}"#
    let one = #"{"kind":"user","id":"u1","devices":[{"id":"p3","backgroundSince":0}]}"#
    let full = [Self.full, Self.fullMember]
    let orders: [[String]] = [
      full + bare, bare + full, full + [empty, member], full + [one], [one] + full,
      [empty, one, member], full + bare + [one, Self.fullMember, member], full + full,
    ]
    for lines in orders {
      let inOne = try world(Files(settings: [lines]))
      let inMany = try world(Files(settings: lines.map { [$0] }))
      #expect(inOne == inMany, "\(lines)")
    }
    let found = try world(Files(settings: [full + bare]))
    #expect(found.users.map(\.settings) == [UserSettings()])
    #expect(found.conversations.map(\.members) == [["u1": MemberSettings()]])
  }

  @Test func membersComeInAnyOrder() throws {
    let order = [5, 3, 8, 1, 8, 5, 9, 0, 3, 1]
    let lines = order.enumerated().flatMap { place, user in
      ["g1", "g2"].map {
        #"{"kind":"member","conversation":"\#($0)","user":"u\#(user)","since":\#(place),"#
          + #""level":"\#(place % 2 == 0 ? "all" : "none")"}"#
      }
    }
    let found = try world(Files(settings: [lines]))
    #expect(found.users.map(\.id.text) == ["u5", "u3", "u8", "u1", "u9", "u0"])
    #expect(found.conversations.map { $0.members["u3"]?.since.milliseconds } == [8, 8])

    let rows = order.enumerated().map { "g\($0 % 3),u\($1),\($0)" }
    let more = ["g1,u0,4", "g0,u7,", "g1,u0,6"]
    let header = ["conversation,user,since"]
    _ = try world(
      Files(
        settings: [[#"{"kind":"user","id":"u7"}"#] + lines],
        members: [header + rows, header + more, header + rows.reversed()]))
  }

  @Test func rowsReplaceWhatTheyCanSay() throws {
    let users = ["id,level,quietStart,quietEnd,timeZone,mutedUntil"]
    let files = Files(
      settings: [[Self.full, Self.fullMember], [#"{"kind":"user","id":"u2","level":"all"}"#]],
      users: [
        users + ["u3,none,,,,8", "u1,all,,,,", "u2,,1:00,2:00,Asia/Seoul,4"],
        users + ["u3,,,,,", "u4,mention,,,,", "u2,none,1:00,2:00,,"], ["id", "u2", "u5"],
      ],
      members: [
        ["conversation,user,level,mutedUntil,since", "g1,u1,,,", "g1,u3,all,4,3", "g2,u1,none,,"],
        ["conversation,user", "g1,u3", "g2,u6"],
      ])
    let found = try world(files)
    let u1 = found.users.first { $0.id == "u1" }?.settings
    #expect(u1?.level == .all)
    #expect(u1?.quietHours == nil)
    #expect(u1?.devices?.map(\.id) == ["p1", "p2"])
    #expect(found.users.first { $0.id == "u2" }?.settings == UserSettings())
    #expect(found.conversations.first?.members["u3"] == MemberSettings())
  }

  @Test func rongCloudsRowsKeepTheChannels() throws {
    let member = { (user: String, rest: String) in
      #"{"kind":"member","conversation":"x","user":"\#(user)"\#(rest)}"#
    }
    let settings = [
      Self.rongcloud,
      #"{"kind":"conversation","id":"x","type":"ultraGroup","level":4,"channels":{"c1":-1,"":2}}"#,
      #"{"kind":"user","id":"u1","levels":{"group":1,"ultraGroup":"mentionAll"},"quietHours":"#
        + #"{"start":"22:00:05","spanMinutes":600,"level":1,"timeZone":"Asia/Tokyo"},"#
        + #""pushWhenDesktopOnline":true,"#
        + #""localNotification":{"informationMissing":true,"handledByApp":true}}"#,
      member("u1", #","level":5,"channels":{"c1":"none","c2":0}"#),
      member("u2", #","channels":{"c1":"all"}"#), member("u2", ""),
      member("u3", #","since":4,"channels":{"":"mention"}"#), member("u4", ""),
    ]
    let files = Files(
      settings: [settings],
      users: [["id,quietStart,quietSpanMinutes,quietLevel", "u1,08:00:00,60,none", "u5,,,"]],
      members: [
        ["conversation,user,level,since", "x,u1,-1,", "x,u2,1,9", "x,u3,,", "x,u5,4,"],
        ["conversation,user", "x,u1", "x,u6", "g1,u1"],
      ])
    let found = try world(files)
    let members = found.conversations.first { $0.id == "x" }?.members
    #expect(members?["u1"]?.channels["c1"] == .blocked)
    #expect(members?["u1"]?.level == .unset)
    #expect(members?["u2"]?.channels == [:])
    #expect(members?["u3"] == MemberSettings(channels: ["": .mention]))
    let u1 = found.users.first { $0.id == "u1" }?.settings
    #expect(u1?.levels[.ultraGroup] == .mentionAll)
    #expect(u1?.localHandledByApp == true)
    // The same records twice say nothing new, and the app's line may come last.
    #expect(try world(Files(settings: [settings + settings.dropFirst()])).sorted.app == found.app)
    _ = try world(Files(settings: [Array(settings.dropFirst()), [Self.rongcloud]]))
    _ = try world(
      Files(settings: [settings.reversed()], users: files.users, members: files.members))
  }

  @Test func theAppMayComeLast() throws {
    let lines = [
      Self.full, Self.fullMember,
      #"{"kind":"user","id":"u2","quietHours":{"start":"0:0","#
        + #""end":"0:0"}}"#,
      #"{"kind":"app","timeZone":"Asia/Tokyo","devicePolicy":"anyOffline","#
        + #""options":{"zeroZeroMeans":"allDay"}}"#,
    ]
    let last = try world(Files(settings: [lines]))
    #expect(last == (try world(Files(settings: [[lines[3]] + lines[..<3]]))))
    #expect(last.app.timeZone == "Asia/Tokyo")
  }

  @Test func threadsHaveTheirParents() throws {
    let lines = [
      #"{"kind":"conversation","id":"t1","type":"thread","parent":"g1"}"#,
      #"{"kind":"member","conversation":"t1","user":"u1","level":"none","mutedUntil":4}"#,
      #"{"kind":"conversation","id":"t2","type":"thread","parent":"g2"}"#,
      #"{"kind":"member","conversation":"g1","user":"u2"}"#,
      #"{"kind":"member","conversation":"g1","user":"u1"}"#,
      #"{"kind":"conversation","id":"g2"}"#,
      #"{"kind":"conversation","id":"p","type":"private"}"#,
    ]
    let found = try world(Files(settings: [lines]))
    #expect(found.conversations.first { $0.id == "t2" }?.settings?.parent == "g2")
    let back = try world(Files(settings: [lines.reversed()]))
    #expect(back.conversations.map(\.id.text).sorted() == ["g1", "g2", "p", "t1", "t2"])
    // What was a thread is a group, and the other way round.
    _ = try world(
      Files(settings: [lines, [#"{"kind":"conversation","id":"t1","type":"room"}"#]]))
    _ = try world(
      Files(settings: [lines, [#"{"kind":"conversation","id":"p","type":"thread","parent":"g2"}"#]])
    )
  }

  @Test func idsAreKeptAsTheyAre() throws {
    let ids = ["é", "e\\u0301", "😀", "a\\nb", "A", "a", String(repeating: "x", count: 300)]
    let lines = ids.flatMap { id in
      [
        #"{"kind":"user","id":"\#(id)","devices":[{"id":"\#(id)"}]}"#,
        #"{"kind":"member","conversation":"\#(id)","user":"\#(id)","level":"none"}"#,
      ]
    }
    #expect(try world(Files(settings: [lines])).users.count == ids.count)
  }
}
