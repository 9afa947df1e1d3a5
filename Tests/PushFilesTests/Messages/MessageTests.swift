import PushFiles
import PushModel
import Testing

/// Goal: messages become what they say, `ext` included, and a line that is not understood is
/// refused and can be passed over.
@Suite struct MessageTests {
  private static let start = #""id":"m1","conversation":"g1","at":5"#

  /// Messages from lines that have the required fields and one more.
  private func messages(_ fields: [String], rules: RuleSet = .easemob) throws -> [Message] {
    try withFolder { folder in
      let lines = fields.map { "{\(Self.start),\($0)}" }
      let reader = try MessageReader(
        path: folder.write(lines, as: "m.ndjson"), rules: rules)
      return try fields.map { _ in try #require(try reader.next()) }
    }
  }

  private func message(_ change: (inout Message) -> Void = { _ in }) -> Message {
    var message = Message(id: "m1", conversation: "g1", at: Instant(milliseconds: 5))
    change(&message)
    return message
  }

  @Test func fieldsBecomeWhatTheySay() throws {
    let both = try messages([
      #""sender":"u9","mentions":["u1","\u00e9"],"mentionsAll":true,"silent":false"#,
      #""body":"custom","sentAt":"1970-01-01T00:00:00.003Z","reply":1,"replyTo":{}"#,
      #""mentions":[],"mentionsAll":null,"ext":null"#,
    ])
    #expect(
      both == [
        message {
          $0.sender = "u9"
          $0.mentions = ["u1", "\u{E9}"]
          $0.mentionsAll = true
          $0.silent = false
        },
        message {
          $0.body = .custom
          $0.sentAt = Instant(milliseconds: 3)
        }, message { $0.mentions = [] },
      ])
    let rongcloud = try messages(
      [
        #""channel":"c1","isMentioned":false,"pushContent":"x","persisted":false,"backlog":true"#,
        #""channel":"","pushContent":"","sentAt":3"#,
      ], rules: .rongcloud)
    #expect(
      rongcloud == [
        message {
          $0.channel = "c1"
          $0.isMentioned = false
          $0.pushContent = "x"
          $0.persisted = false
          $0.backlog = true
        }, message { $0.sentAt = Instant(milliseconds: 3) },
      ])
  }

  @Test func aTypedFilterHasTheFourKeys() throws {
    let found = try messages([
      #""force":true,"onlineOnly":true,"filter":{"accept_device_id":["p1"],"#
        + #""ignore_device_id":["p2","p3"],"accept_notifier_name":["n1"],"#
        + #""ignore_notifier_name":[]}"#, #""filter":{}"#,
    ])
    var filter = DeviceFilter()
    filter.acceptDeviceIDs = ["p1"]
    filter.ignoreDeviceIDs = ["p2", "p3"]
    filter.acceptNotifierNames = ["n1"]
    #expect(
      found == [
        message {
          $0.force = true
          $0.onlineOnly = true
          $0.filter = filter
        }, message { $0.filter = DeviceFilter() },
      ])
  }

  @Test func truthInExtHasItsForms() throws {  // E-45
    let yes = ["true", "1", "1.0", "1e0", "\"1\"", "\"true\"", "\"TRUE\"", "\"YES\"", "\"yEs\""]
    let no = [
      "false", "0", "2", "-1", "1.5", "\"0\"", "\"\"", "\"no\"", "\" true\"", "\"1.0\"", "\"y\"",
      "\"on\"", "null", "[]", "[true]", "{}", "1e400", String(repeating: "1", count: 40),
    ]
    let forced = try messages((yes + no).map { #""ext":{"em_force_notification":\#($0)}"# })
    let ignored = try messages((yes + no).map { #""ext":{"em_ignore_notification":\#($0)}"# })
    let expected = yes.map { _ in true } + no.map { _ in false }
    #expect(forced.map(\.ext.force) == expected)
    #expect(ignored.map(\.ext.ignore) == expected)
    #expect(Set(forced.map(\.ext.ignore) + ignored.map(\.ext.force)) == [false])
    // A number beside it that fits no machine number changes nothing.
    let big = ["1e400", "-1e999", String(repeating: "9", count: 30)]
    let beside = try messages(
      big.flatMap { big in
        ["1", "1.0", "1.0e0", "0.01e2", "10e-1"].map {
          #""ext":{"x":[\#(big)],"em_force_notification":\#($0),"y":"\#(big)"}"#
        }
      })
    #expect(beside.map(\.ext.force) == beside.map { _ in true })
  }

  @Test func mentionsInExtHaveTheirForms() throws {  // E-46, E-48
    let forms: [(json: String, list: EasemobExtension.AtList)] = [
      ("\"all\"", .text("all")), ("\"ALL\"", .text("ALL")), ("\"u1\"", .text("u1")),
      ("\"\"", .text("")), ("[]", .ids([])), (#"["u1","U2"]"#, .ids(["u1", "U2"])),
      (#"["all"]"#, .ids(["all"])),
      (#"["u1",2,null,["u3"],{"a":"u4"},true,"u5"]"#, .ids(["u1", "u5"])),
      ("null", .absent), ("true", .unreadable), ("1", .unreadable), (#"{"u1":1}"#, .unreadable),
    ]
    let top = try messages(forms.map { #""ext":{"em_at_list":\#($0.json)}"# })
    let legacy = try messages(
      forms.map { #""ext":{"em_apns_ext":{"x":1,"em_at_list":\#($0.json)}}"# })
    #expect(top.map(\.ext.atList) == forms.map(\.list))
    #expect(legacy.map(\.ext.legacyAtList) == forms.map(\.list))
    #expect(Set(top.map(\.ext.legacyAtList) + legacy.map(\.ext.atList)) == [.absent])
    let odd = try messages([#""ext":{"em_apns_ext":["em_at_list"]}"#, #""ext":{"em_apns_ext":5}"#])
    #expect(odd == [message(), message()])
  }

  @Test func whatIsWrongInExtIsIgnored() throws {
    var filter = DeviceFilter()
    filter.acceptDeviceIDs = ["p1", "p2"]
    filter.ignoreNotifierNames = ["n1"]
    let found = try messages([
      #""ext":{"em_push_filter":{"accept_device_id":["p1",5,"p2"],"ignore_device_id":"p3","#
        + #""accept_notifier_name":null,"ignore_notifier_name":["n1"],"other":[1]}}"#,
      #""ext":{"em_push_filter":["p1"]}"#, #""ext":{"em_push_filter":"p1","own":{"a":[1e400]}}"#,
      #""ext":{"n":1e400,"m":-123456789012345678901234567890,"s":"1e400 \" 12"}"#, #""ext":{}"#,
    ])
    #expect(
      found == [message { $0.ext.filter = filter }] + Array(repeating: message(), count: 4))
  }

  @Test func typedFieldsStandBesideExt() throws {
    let ext = #""ext":{"em_at_list":["u1"],"em_force_notification":1,"em_ignore_notification":1}"#
    let found = try messages([ext + #","force":false,"silent":false,"mentions":[]"#, ext])
    let read = message {
      $0.ext.atList = .ids(["u1"])
      $0.ext.force = true
      $0.ext.ignore = true
    }
    var typed = read
    typed.force = false
    typed.silent = false
    typed.mentions = []
    #expect(found == [typed, read])
  }

  @Test func whatIsNotUnderstoodIsRefused() throws {
    let rows: [(line: String, problem: String)] = [
      (#"{"conversation":"g1","at":5}"#, #"the field "id" is missing"#),
      (#"{"id":"m1","at":5}"#, #"the field "conversation" is missing"#),
      (#"{"id":"m1","conversation":"g1"}"#, #"the field "at" is missing"#),
      (#"{"id":"m1","conversation":"g1","at":null}"#, #"the field "at" is missing"#),
      (#"{"id":1,"conversation":"g1","at":5}"#, #""id" must be a string"#),
      (#"{\#(Self.start),"sender":""}"#, #""sender" must not be empty"#),
      (#"{\#(Self.start),"mentions":["u1",""]}"#, #""mentions" must not be empty"#),
      (#"{\#(Self.start),"mentions":"all"}"#, #""mentions" must be an array of strings"#),
      (#"{\#(Self.start),"mentions":["u1",2]}"#, #""mentions" must be an array of strings"#),
      (#"{\#(Self.start),"mentions":["u1",null]}"#, #""mentions" must be an array of strings"#),
      (#"{\#(Self.start),"silent":1}"#, #""silent" must be true or false"#),
      (
        #"{\#(Self.start),"body":"image"}"#,
        #""body" cannot be "image"; it is one of text, command, status, custom"#
      ),
      (#"{\#(Self.start),"ext":"x"}"#, #""ext" must be an object"#),
      (#"{\#(Self.start),"filter":[]}"#, #""filter" must be an object"#),
      (#"{\#(Self.start),"filter":{"device":[]}}"#, #"unknown field "filter.device""#),
      (
        #"{\#(Self.start),"filter":{"accept_device_id":"p1"}}"#,
        #""filter.accept_device_id" must be an array of strings"#
      ),
      (#"{\#(Self.start),"kind":"message"}"#, #"unknown field "kind""#),
      (#"{\#(Self.start),"id":"m2"}"#, #"the key "id" is repeated in one object"#),
      (#"{\#(Self.start),"ext":{"a":1,"\u0061":2}}"#, #"the key "a" is repeated in one object"#),
      (#"{\#(Self.start)"#, "the JSON ends too early; the line was cut off"),
      ("[]", "the line is not a JSON object"), ("m1", "the line is not JSON"),
    ]
    let lines = rows.map(\.line) + ["{\(Self.start)}"]
    let found = try withFolder { folder in
      try folder.write(lines, as: "m.ndjson")
      return folder.messages("m.ndjson")
    }
    #expect(found == rows.enumerated().map { "m.ndjson:\($0 + 1): \($1.problem)" } + ["m1"])
  }

  @Test func fieldsOfTheOtherRulesAreRefused() throws {
    let rongcloud = [
      #""channel":"""#, #""isMentioned":true"#, #""pushContent":"""#, #""persisted":true"#,
      #""backlog":false"#,
    ]
    let easemob = [#""force":false"#, #""onlineOnly":false"#, #""filter":{}"#, #""ext":{}"#]
    let found = try withFolder { folder in
      try folder.write((rongcloud + easemob).map { "{\(Self.start),\($0)}" }, as: "m.ndjson")
      return (folder.messages("m.ndjson"), folder.messages("m.ndjson", rules: .rongcloud))
    }
    let say = { (fields: [String], first: Int, rules: RuleSet) in
      fields.enumerated().map { place, field in
        "m.ndjson:\(first + place): \(field.split(separator: ":")[0]) belongs to \(rules.rawValue), "
          + "but the rules are \(otherRules(rules).rawValue)"
      }
    }
    #expect(found.0 == say(rongcloud, 1, .rongcloud) + easemob.map { _ in "m1" })
    #expect(found.1 == rongcloud.map { _ in "m1" } + say(easemob, rongcloud.count + 1, .easemob))
  }
}

/// The vendor that is not `rules`.
private func otherRules(_ rules: RuleSet) -> RuleSet { rules == .easemob ? .rongcloud : .easemob }
