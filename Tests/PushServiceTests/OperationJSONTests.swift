import Foundation
import PushFiles
import PushModel
import PushStore
import PushStoreService
import TestSupport
import Testing

/// Goal: each operation is read from JSON and written as the same JSON; whatever else is refused in
/// words that say what there is; the documents list exactly these operations and fields.
@Suite struct OperationJSONTests {
  /// Each of the 39 operations that requests may have, with all of its fields: what a stranger with
  /// a key of the scope write may call is what stands here.
  private static let lines = [
    #"{"op":"setSilentModeForAll","end":"8:0","level":"mention","minutes":5,"start":"22:0","#
      + #""user":"u"}"#,
    #"{"op":"setSilentModeForConversation","conversation":"g","level":"none","minutes":0,"#
      + #""user":"u"}"#,
    #"{"op":"clearRemindTypeForConversation","conversation":"g","user":"u"}"#,
    #"{"op":"updatePushServiceForGroups","conversations":["g","é\n/"],"noPush":true,"user":"u"}"#,
    #"{"op":"updatePushServiceForUsers","conversations":[],"noPush":false,"user":"u"}"#,
    #"{"op":"setPreferredNotificationLanguage","language":"zh-Hans","user":"u"}"#,
    #"{"op":"updatePushDisplayName","name":"","user":"u"}"#,
    #"{"op":"setPushTemplate","name":"t","user":"u"}"#,
    #"{"op":"setConversationNotificationLevel","conversation":"g","level":"mentionUsers","#
      + #""user":"u"}"#,
    #"{"op":"setConversationChannelNotificationLevel","channel":"","conversation":"g","#
      + #""level":"mentionAll","user":"u"}"#,
    #"{"op":"setConversationTypeNotificationLevel","level":"all","type":"group","user":"u"}"#,
    #"{"op":"setNotificationQuietHours","level":"default","spanMinutes":600,"#
      + #""start":"22:00:00","timeZone":"Asia/Tokyo","user":"u"}"#,
    #"{"op":"removeNotificationQuietHours","user":"u"}"#,
    #"{"op":"setUltraGroupConversationDefaultNotificationLevel","conversation":"g","#
      + #""level":"all"}"#,
    #"{"op":"setUltraGroupConversationChannelDefaultNotificationLevel","channel":"c","#
      + #""conversation":"g","level":"all"}"#,
    #"{"op":"setPushReceiveStatus","receive":true,"user":"u"}"#,
    #"{"op":"setLevel","conversation":"g","level":["plain","role"],"user":"u"}"#,
    #"{"op":"setDefaultLevel","conversation":"g","level":"mentions"}"#,
    #"{"op":"muteUntil","conversation":"g","mutedUntil":9007199254740991,"user":"u"}"#,
    #"{"op":"setMutedAllow","allow":"direct","user":"u"}"#,
    #"{"op":"setAllowForce","allowForce":false,"user":"u"}"#,
    #"{"op":"addQuietWindow","allow":["me"],"days":["mon","sun"],"end":"7:0","start":"22:0","#
      + #""user":"u"}"#,
    #"{"op":"removeQuietWindow","position":1,"user":"u"}"#,
    #"{"op":"clearQuietWindows","keepsNone":true,"user":"u"}"#,
    #"{"op":"addKeyword","keyword":"on call","user":"u"}"#,
    #"{"op":"removeKeyword","keyword":"é\n/","user":"u"}"#,
    #"{"op":"addSender","list":"important","other":"boss","user":"u"}"#,
    #"{"op":"removeSender","list":"blocked","other":"bot","user":"u"}"#,
    #"{"op":"setImportant","conversation":"g","important":true,"user":"u"}"#,
    #"{"op":"setFollow","conversation":"t","follow":false,"user":"u"}"#,
    #"{"op":"setRoles","conversation":"g","roles":["oncall","design"],"user":"u"}"#,
    #"{"op":"setTimeZone","timeZone":"UTC","user":"e\u0301"}"#,
    #"{"op":"addMember","conversation":"g","user":"u"}"#,
    #"{"op":"removeMember","conversation":"g","user":"u"}"#,
    #"{"op":"removeUser","user":"u"}"#,
    #"{"op":"removeConversation","conversation":"g"}"#,
    #"{"op":"bindToken","device":"p","fid":"f","notifier":"","platform":"fcm","token":"t","type":"desktop","user":"u"}"#,
    #"{"op":"unbindToken","device":"p","user":"u"}"#,
    #"{"op":"setDeviceState","device":"p","state":"kicked","user":"u"}"#,
  ]

  private static func read(_ line: String, _ rules: RuleSet = .rongcloud) throws
    -> SettingsOperation
  {
    try SettingsOperation(try JSONObject(Array(line.utf8)), rules)
  }

  /// Why a line is refused.
  private static func refusal(_ line: String, _ rules: RuleSet = .easemob) -> String {
    do { return "accepted: \(try read(line, rules))" } catch { return "\(error)" }
  }

  /// The fields of each operation, as far as a line has them.
  private static func fields() throws -> [(name: String, fields: Set<String>)] {
    try lines.map { line in
      let object = try JSONObject(Array(line.utf8))
      return (try #require(try object.text("op")), Set(object.names).subtracting(["op"]))
    }
  }

  @Test func `Each operation is written as it was read, with all of its fields`() throws {
    #expect(try Self.fields().map(\.name) == SettingsOperation.served)
    for line in Self.lines {
      let operation = try Self.read(line)
      let written = try operation.json()
      #expect(written == line.replacing(#"\u0301"#, with: "\u{301}"))
      #expect(try Self.read(written) == operation)
      // What the refusal of another field lists is all that the operation has.
      let all = try JSONObject(Array(line.utf8)).names
      #expect(
        Self.refusal(line.dropLast() + #","another":1}"#, .rongcloud)
          == "the operation has no field \"another\"; it has \(all)")
    }
  }

  @Test func `Operations that no request has are written under their names`() throws {
    let operations: [SettingsOperation] = [
      .setNoDisturbing(user: "u", startHour: 22, endHour: 8),
      .setConversationNotificationStatus(user: "u", conversation: "g", doNotDisturb: true),
      .setAdvancedPush(isOn: false), .setDevicePolicy(policy: .anyOffline),
      .setTemplate(name: "t", content: "{$msg}"), .removeTemplate(name: "t"),
      .setAppKeyLevel(level: .blocked), .setAppLevel(level: .direct),
      .setMessageNotification(isOn: true),
      .updatePushDisplayStyle(user: "u", style: nil),
      .setRemark(user: "u", other: "v", remark: "Vera"), .setOfflineMessages(user: "u", count: 3),
      .kickDevice(user: "u", device: "p"),
      .logOutDevice(user: "u", device: "p", keepsToken: true),
      .removeDevice(user: "u", device: "p"),
    ]
    let others = SettingsOperation.names.filter { !SettingsOperation.served.contains($0) }
    #expect(operations.map(\.name) == others)
    for operation in operations {
      #expect(try operation.json().hasPrefix("{\"op\":\"\(operation.name)\",\""))
      #expect(
        Self.refusal(try operation.json()).hasPrefix("there is no operation \(operation.name)"))
    }
    #expect(
      try operations[4].json() == #"{"op":"setTemplate","content":"{$msg}","name":"t"}"#)
  }

  @Test func `What is no operation is refused with what there is`() throws {
    let names = SettingsOperation.served.sorted()
    for (line, wanted) in [
      ("{}", "the field op is missing"),
      (#"{"op":"mute"}"#, "there is no operation mute; there are \(names)"),
      (#"{"op":"setSilentModeForAll"}"#, "the field user is missing"),
      (
        #"{"op":"setSilentModeForAll","user":"u"}"#,
        "nothing to set: send level, minutes, or start and end"
      ),
      (#"{"op":"setSilentModeForAll","user":"u","start":"1:0"}"#, "the field end is missing"),
      (
        #"{"op":"setSilentModeForAll","user":"u","minutes":10081}"#,
        "\(SettingsWriteError.durationMinutesOutOfRange(10_081))"
      ),
      (
        #"{"op":"setSilentModeForConversation","user":"u","conversation":"g"}"#,
        "nothing to set: send level, minutes"
      ),
      (
        #"{"op":"setSilentModeForConversation","user":"u","conversation":"g","level":"loud"}"#,
        #"there is no level loud; there are ["default", "all", "mention", "none"]"#
      ),
      (
        #"{"op":"setSilentModeForAll","user":"u","level":1}"#,
        "\(FileProblem.Problem.wrongType("level", expected: "a string"))"
      ),
      (
        #"{"op":"setPreferredNotificationLanguage","user":"u","language":"-"}"#,
        #""language" - is not a language tag, like zh-Hans"#
      ),
      (
        #"{"op":"setDeviceState","user":"u","device":"p","state":"on"}"#,
        "there is no state on; there are \(Device.State.allCases.map(\.rawValue))"
      ),
    ] {
      let found = Self.refusal(line)
      #expect(found.replacing("\"", with: "") == wanted.replacing("\"", with: ""), "\(line)")
    }
    for (line, wanted) in [
      (
        #"{"op":"setLevel","user":"u","level":"loud"}"#,
        "there is no level loud; there are [all, mentions, direct, none], and lists of classes"
      ),
      (
        #"{"op":"setLevel","user":"u","level":["me","all"]}"#,
        "\(SettingsWriteError.unknownClass("all"))"
      ),
      (
        #"{"op":"setMutedAllow","user":"u","allow":["me","me"]}"#,
        "\(SettingsWriteError.repeatedClass("me"))"
      ),
      (
        #"{"op":"muteUntil","user":"u","mutedUntil":-1}"#,
        "mutedUntil -1 is not in 0...9007199254740991"
      ),
      (
        #"{"op":"addQuietWindow","user":"u","start":"24:0","end":"7:0"}"#,
        "\(SettingsWriteError.hourOutOfRange(24))"
      ),
      (
        #"{"op":"addQuietWindow","user":"u","start":"2:0","end":"7:0","days":[]}"#,
        "\(SettingsWriteError.noDays)"
      ),
      (
        #"{"op":"addSender","user":"u","other":"v","list":"loved"}"#,
        "there is no list loved; there are [important, blocked]"
      ),
    ] {
      let found = Self.refusal(line, .open)
      #expect(found.replacing("\"", with: "") == wanted.replacing("\"", with: ""), "\(line)")
    }
    // What is left out is unset.
    #expect(try Self.read(#"{"op":"setLevel","user":"u"}"#, .open) == .setLevel(user: "u"))
    #expect(
      try Self.read(#"{"op":"setFollow","user":"u","conversation":"t"}"#, .open)
        == .setFollow(user: "u", conversation: "t"))
    // Under RongCloud a level may be a number.
    let line = #"{"op":"setConversationNotificationLevel","user":"u","conversation":"g","level":"#
    #expect(
      try Self.read(line + "5}")
        == .setConversationNotificationLevel(user: "u", conversation: "g", level: .blocked))
    #expect(Self.refusal(line + "7}", .rongcloud) == "\(SettingsWriteError.unknownLevel(7))")
  }

  @Test func `The documents list the operations and their fields`() throws {
    let wanted = try Self.fields()
    let page = try String(
      contentsOf: Repository.root.appending(path: "docs/service.md"), encoding: .utf8)
    let rows = page.matches(
      of: /\n\| (Easemob|RongCloud|open|all) \| `(?<name>\w+)` \| (?<fields>.*) \|/)
    #expect(rows.map { String($0.output.name) } == wanted.map(\.name))
    for (row, operation) in zip(rows, wanted) {
      let fields = row.output.fields.matches(of: /`(\w+)`/).map { String($0.output.1) }
      #expect(Set(fields) == operation.fields, "\(operation.name)")
    }
    let document = try JSONSerialization.jsonObject(
      with: Data(
        contentsOf: Repository.root.appending(path: "Server/Sources/PushServer/openapi.json")))
    var value: Any? = document
    for key in [
      "paths", "/v1/settings", "post", "requestBody", "content", "application/json", "schema",
      "properties",
    ] {
      value = (value as? [String: Any])?[key]
    }
    let properties = try #require(value as? [String: [String: Any]])
    #expect(properties["op"]?["enum"] as? [String] == wanted.map(\.name))
    #expect(Set(properties.keys) == wanted.reduce(["op"]) { $0.union($1.fields) })
  }
}
