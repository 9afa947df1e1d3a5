import PushFiles
import PushModel
import Testing

/// Goal: a settings line that is not understood is refused with its place and what is wrong with
/// it, word for word. Here is what one line alone can get wrong.
@Suite struct SettingsProblemTests {
  /// Lines of settings.ndjson, and `LINE: what is wrong`.
  typealias Case = (lines: [String], problem: String)

  /// Expects that every case comes out as it says, and shows those that do not.
  static func expect(
    _ cases: [Case], sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let wrong = try withFolder { folder in
      try cases.compactMap { test in
        let found = try folder.problem(test.lines)
        return found == test.problem ? nil : "\(test.lines): \(found) instead of \(test.problem)"
      }
    }
    #expect(wrong == [], sourceLocation: sourceLocation)
  }

  @Test func aLineIsAJSONObject() throws {
    let truncated = "1: the JSON ends too early; the line was cut off"
    let notObject = "1: the line is not a JSON object"
    let cases: [Case] = [
      ([#"{"kind":"user","id":"u1""#], truncated),
      ([#"{"kind":"user","id":"u1"#], truncated),
      ([#"{"kind":"user","id":"#], truncated),
      ([#"{"kind":"user","devices":[{"id":"p1"}"#], truncated),
      (["", "{"], "2" + truncated.dropFirst()),
      (["nonsense"], "1: the line is not JSON"),
      ([#"{"kind":"user","id":"u1",}"#], "1: the line is not JSON"),
      ([#"{"kind":"user","id":"u1"} {}"#], "1: the line is not JSON"),
      ([#"{'kind':'user','id':'u1'}"#], "1: the line is not JSON"),
      ([#"{"kind":"user","id":"u1"}}"#], "1: the line is not JSON"),
      ([#"{"kind":"user","id":"\ud800"}"#], "1: the line is not JSON"),
      ([#"{"kind":"user","id":"u1","mutedUntil":01}"#], "1: the line is not JSON"),
      (["", "[1,2]"], "2" + notObject.dropFirst()), (["42"], notObject), (["null"], notObject),
      ([#""u1""#], notObject),
      (
        [
          #"{"kind":"user","id":"#
            + String(repeating: "[", count: 2000) + String(repeating: "]", count: 2000) + "}"
        ],
        "1: the JSON is nested too deeply"
      ),
      // A byte order mark is taken at the beginning alone.
      (["\u{FEFF}\u{FEFF}{\"kind\":\"user\",\"id\":\"u1\"}"], "1: the line is not JSON"),
      (["", "\u{FEFF}{\"kind\":\"user\",\"id\":\"u1\"}"], "2: the line is not JSON"),
      ([], "1: the file is empty"), (["", " \t", "\r"], "1: the file is empty"),
    ]
    try Self.expect(cases)
  }

  @Test func aLineIsUTF8() throws {
    let found = try withFolder { folder in
      try [
        [0xFF], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xC3, 0xA9],
      ].map { (bytes: [UInt8]) in
        let line = #"{"kind":"user","id":"#.utf8 + Array("\"".utf8) + bytes + Array("\"}".utf8)
        let path = try folder.write(Array("\n".utf8) + line, as: "world.ndjson")
        return folder.problem(SettingsPaths(settings: [path]))
      }
    }
    #expect(
      found.map { $0.prefix { $0 != ";" } }
        == Array(repeating: "world.ndjson:2: the line is not UTF-8", count: 5) + ["loaded"])
  }

  @Test func aKeyOccursOnceInAnObject() throws {
    let many = (0..<30).map { #""k\#($0)":0"# }.joined(separator: ",")
    let cases: [Case] = [
      ([#"{"kind":"user","id":"u1","id":"u1"}"#], #"1: the key "id" is repeated in one object"#),
      (
        [#"{"kind":"user","id":"u1","i\u0064":"u1"}"#],
        #"1: the key "id" is repeated in one object"#
      ),
      (
        [#"{"kind":"user","id":"u1","level":null,"level":"all"}"#],
        #"1: the key "level" is repeated in one object"#
      ),
      (
        [#"{"kind":"user","id":"u1","quietHours":{"start":"","end":"","start":""}}"#],
        #"1: the key "start" is repeated in one object"#
      ),
      (
        [#"{"kind":"user","id":"u1","devices":[{"id":"p1"},{"id":"p2","id":"p3"}]}"#],
        #"1: the key "id" is repeated in one object"#
      ),
      (
        [#"{"kind":"user","id":"u1","x":{\#(many),"k17":1}}"#],
        #"1: the key "k17" is repeated in one object"#
      ),
      ([#"{"kind":"user","id":"u1","x":{\#(many)}}"#], #"1: unknown field "x""#),
      ([#"{"kind":"user","id":"u1","devices":[{"id":"p1"},{"id":"p2"}]}"#], "loaded"),
    ]
    try Self.expect(cases)
  }

  @Test func kindsAndFieldsAreKnown() throws {
    let kinds = "the kinds are app, user, conversation and member"
    let types =
      "private, group, thread, discussion, customerService, system, ultraGroup, room"
    let cases: [Case] = [
      ([#"{"kind":"group","id":"g1"}"#], #"1: unknown kind "group"; \#(kinds)"#),
      ([#"{"kind":"User","id":"u1"}"#], #"1: unknown kind "User"; \#(kinds)"#),
      ([#"{"kind":"a\nb"}"#], #"1: unknown kind "a\nb"; \#(kinds)"#),
      ([#"{"kind":5}"#], #"1: "kind" must be a string"#),
      ([#"{"id":"u1"}"#], #"1: the field "kind" is missing"#),
      ([#"{"kind":null,"id":"u1"}"#], #"1: the field "kind" is missing"#),
      ([#"{"kind":"user","id":"u1","color":"red"}"#], #"1: unknown field "color""#),
      ([#"{"kind":"app","rules":"easemob","color":1}"#], #"1: unknown field "color""#),
      ([#"{"kind":"app","options":{"color":1}}"#], #"1: unknown field "options.color""#),
      (
        [#"{"kind":"conversation","id":"g1","label":"x"}"#],
        #"1: unknown field "label"; did you mean "level"?"#
      ),
      ([#"{"kind":"member","conversation":"g1","user":"u1","x":1}"#], #"1: unknown field "x""#),
      (
        [#"{"kind":"user","id":"u1","devices":[{"id":"p1","os":"x"}]}"#],
        #"1: unknown field "devices.os""#
      ),
      (
        [#"{"kind":"user","id":"u1","quietHours":{"begin":"8:00"}}"#],
        #"1: unknown field "quietHours.begin""#
      ),
      (
        [#"{"kind":"user","id":"u1","localNotification":{"x":true}}"#],
        #"1: unknown field "localNotification.x""#
      ),
      ([#"{"kind":"user","id":"u1","ID":"u1"}"#], #"1: unknown field "ID"; did you mean "id"?"#),
      ([#"{"kind":"conversation","id":"g1","parent":"g0"}"#], #"1: unknown field "parent""#),
      ([#"{"kind":"conversation","id":"g1","level":"all"}"#], #"1: unknown field "level""#),
      ([#"{"kind":"conversation","id":"g1","channels":{}}"#], #"1: unknown field "channels""#),
      (
        [#"{"kind":"conversation","id":"g1","type":"team"}"#],
        #"1: "type" cannot be "team"; it is one of \#(types)"#
      ),
      (
        [
          #"{"kind":"app","rules":"rongcloud"}"#,
          #"{"kind":"user","id":"u1","levels":{"group":"direct"}}"#,
        ],
        #"2: "levels.group" cannot be "direct"; it is one of default, all, mention, mentionUsers, mentionAll, none"#
      ),
      (
        [#"{"kind":"app","rules":"both"}"#],
        #"1: "rules" cannot be "both"; it is one of easemob, rongcloud, open"#
      ),
      (
        [#"{"kind":"user","id":"u1","devices":[{"id":"p1","type":"tv"}]}"#],
        #"1: "devices.type" cannot be "tv"; it is one of mobile, desktop, web"#
      ),
      (
        [#"{"kind":"user","id":"u1","devices":[{"id":"p1","state":"on"}]}"#],
        #"1: "devices.state" cannot be "on"; it is one of "#
          + "foreground, background, offline, loggedOut, kicked"
      ),
    ]
    try Self.expect(cases)
  }

  @Test func fieldsThatMustBeThereAre() throws {
    let cases: [Case] = [
      ([#"{"kind":"user"}"#], #"1: the field "id" is missing"#),
      ([#"{"kind":"user","id":null}"#], #"1: the field "id" is missing"#),
      ([#"{"kind":"conversation","type":"group"}"#], #"1: the field "id" is missing"#),
      ([#"{"kind":"member","user":"u1"}"#], #"1: the field "conversation" is missing"#),
      ([#"{"kind":"member","conversation":"g1"}"#], #"1: the field "user" is missing"#),
      (
        [#"{"kind":"conversation","id":"t1","type":"thread"}"#],
        #"1: the field "parent" is missing"#
      ),
      (
        [#"{"kind":"user","id":"u1","devices":[{"type":"web"}]}"#],
        #"1: the field "devices.id" is missing"#
      ),
      (
        [#"{"kind":"user","id":"u1","quietHours":{"end":"8:00"}}"#],
        #"1: the field "quietHours.start" is missing"#
      ),
      (
        [#"{"kind":"user","id":"u1","quietHours":{"start":"8:00"}}"#],
        #"1: the field "quietHours.end" is missing"#
      ),
      (
        [#"{"kind":"user","id":"u1","quietHours":{"start":"08:00:00","level":"none"}}"#],
        #"1: the field "quietHours.spanMinutes" is missing"#
      ),
      ([#"{"kind":"user","id":""}"#], #"1: "id" must not be empty"#),
      (
        [#"{"kind":"member","conversation":"","user":"u1"}"#],
        #"1: "conversation" must not be empty"#
      ),
      (
        [#"{"kind":"user","id":"u1","devices":[{"id":""}]}"#],
        #"1: "devices.id" must not be empty"#
      ),
      (
        [#"{"kind":"user","id":"u1","devices":[{"id":"p1"},{"id":"p1"}]}"#],
        #"1: the device "p1" is listed twice"#
      ),
    ]
    try Self.expect(cases)
  }

  /// Senders are checked beside other files, by the rules of these; alone, by those of any.
  @Test func sendersAreChecked() throws {
    try withFolder { folder in
      let senders = try folder.write(
        [
          #"{"kind":"sender","platform":"fcm","project":"p"}"#,
          #"{"kind":"sender","platform":"apns","topic":"t","category":"messageType"}"#,
          #"{"kind":"sender","platform":"fcm","project":"q"}"#,
        ], as: "s.ndjson")
      let world = try folder.write([#"{"kind":"app","rules":"easemob"}"#], as: "w.ndjson")
      let twice = "s.ndjson:3: a second sender of fcm without a notifier"
      let checker = FileChecker([senders, world])
      #expect(
        checker.problems.map { folder.short($0) } == [
          #"s.ndjson:2: "category" belongs to rongcloud, but the rules are easemob"#, twice,
        ])
      #expect(checker.senders == [senders] && checker.recordCount == 4)
      #expect(FileChecker([senders]).problems.map { folder.short($0) } == [twice])
    }
  }
}
