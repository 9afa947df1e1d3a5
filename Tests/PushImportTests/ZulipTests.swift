import Foundation
import PushModel
import TestSupport
import Testing

@testable import PushImport

/// Goal: rows of Zulip are what section 3 says.
@Suite struct ZulipTests {
  /// Rows of one table each: `"TABLE": [ROWS]`.
  struct Export {
    var users: [String] = []
    var subscriptions: [String] = []
    var topics: [String] = []
    var muted: [String] = []
    var others: [(table: String, rows: [String])] = []
    var messages: [String] = []
    var flags: [String] = []

    static let recipients = [(1, 10), (1, 11), (1, 12), (2, 5), (2, 6), (3, 70), (3, 71)]

    var realm: String {
      var tables = [
        ("zerver_userprofile", users),
        ("zerver_stream", [#"{"id":5}"#, #"{"id":6}"#]),
        (
          "zerver_recipient",
          Self.recipients.map { #"{"id":\#(100 + $0.1),"type":\#($0.0),"type_id":\#($0.1)}"# }
        ),
        ("zerver_subscription", subscriptions), ("zerver_usertopic", topics),
        ("zerver_muteduser", muted),
      ]
      tables += others.map { ($0.table, $0.rows) }
      return Self.text(tables)
    }

    static func text(_ tables: [(String, [String])]) -> String {
      "{\n"
        + tables.map { "\"\($0.0)\": [\n\($0.1.joined(separator: ",\n"))\n]" }
        .joined(separator: ",\n") + "\n}\n"
    }

    func imported(_ importer: Importer = Importer()) throws -> Imported {
      try importer.zulip([
        "realm.json": realm,
        "messages-000001.json": Self.text([
          ("zerver_message", messages), ("zerver_usermessage", flags),
        ]),
      ])
    }
  }

  static func user(_ id: Int, _ more: String = "") -> String { #"{"id":\#(id)\#(more)}"# }
  static func row(_ user: Int, _ recipient: Int, _ more: String = "") -> String {
    #"{"user_profile":\#(user),"recipient":\#(100 + recipient)\#(more)}"#
  }
  static func topic(_ user: Int, _ name: String, _ policy: Int) -> String {
    #"{"user_profile":\#(user),"stream":5,"topic_name":"\#(name)","visibility_policy":\#(policy)}"#
  }
  static func message(_ id: Int, _ sender: Int, _ recipient: Int, _ topic: String = "t") -> String {
    #"{"id":\#(id),"sender":\#(sender),"recipient":\#(100 + recipient),"subject":"\#(topic)","date_sent":\#(id).0006}"#
  }
  static func flag(_ message: Int, _ user: Int, _ mask: Int) -> String {
    #"{"message":\#(message),"user_profile":\#(user),"flags_mask":\#(mask)}"#
  }

  private static let named = #"["private","me","role","reply","keyword","sender"]"#
  private static let forEver = #""mutedUntil":9007199254740991"#

  /// I-31, I-9. Restates test_notification_data.py.
  @Test func levelsOfPeople() throws {
    let settings = [
      "", #","enable_offline_push_notifications":false"#,
      #","enable_stream_push_notifications":true"#,
      #","enable_stream_push_notifications":true,"enable_offline_push_notifications":false"#,
      #","wildcard_mentions_notify":false"#,
      #","enable_followed_topic_push_notifications":false"#,
      #","wildcard_mentions_notify":null,"timezone":"Europe/Berlin","enable_online_push_notifications":false"#,
      #","timezone":"Mars/Base""#, #","is_bot":true,"timezone":"Europe/Berlin""#,
      #","is_active":false"#,
    ]
    var export = Export()
    export.users = settings.enumerated().map { Self.user($0, $1) }
    let result = try export.imported()
    let allow = #""mutedAllow":\#(Self.named)"#
    let all = #"["thread","plain","me","role","everyone","reply","keyword","sender"]"#
    #expect(
      result.people == [
        #"{"0","level":"mentions",\#(allow)}"#, #"{"1","level":["thread"]}"#,
        #"{"2","level":"all",\#(allow)}"#, #"{"3","level":\#(all)}"#,
        #"{"4","level":["private","thread","me","role","reply","keyword","sender"],\#(allow)}"#,
        #"{"5","level":["private","me","role","everyone","reply","keyword","sender"],\#(allow)}"#,
        #"{"6","level":"mentions",\#(allow),"timeZone":"Europe/Berlin"}"#,
        #"{"7","level":"mentions",\#(allow)}"#, #"{"8","devices":[]}"#,
        #"{"9","level":"mentions",\#(allow)}"#,
      ])
    #expect(
      result.kinds == ["bot 1 1", "inactiveUser 1 1", "quietWhileOnline 1 1", "unknownValue 1 1"])
  }

  /// I-32, I-8.
  @Test func blockedPeopleAndAlertWords() throws {
    var export = Export()
    export.users = [Self.user(10), Self.user(11)]
    export.muted =
      [#"{"user_profile_id":10,"muted_user_id":77}"#]
      + (0..<501).map { #"{"user_profile":11,"muted_user":\#($0)}"# }
    export.others = [("zerver_alertword", [#"{"user_profile":10,"word":"tea"}"#])]
    let result = try export.imported()
    #expect(result.people[0].hasSuffix(#""blockedSenders":["77"]}"#))
    #expect(result.people[1].hasSuffix(#""498","499"]}"#))
    #expect(result.kinds == ["alertWord 1 1", "sendersDropped 1 1"])
  }

  /// I-33, I-30. Restates RecipientInfoTest.test_stream_recipient_info.
  @Test func memberships() throws {
    var export = Export()
    export.users = [10, 11, 12].map { Self.user($0) } + [Self.user(13, #","is_active":false"#)]
    export.subscriptions = [
      Self.row(10, 5), Self.row(11, 5, #","push_notifications":true"#),
      Self.row(12, 5, #","wildcard_mentions_notify":false,"is_muted":true"#), Self.row(13, 5),
      Self.row(10, 6, #","active":false"#), Self.row(10, 10), Self.row(12, 70), Self.row(10, 70),
      Self.row(13, 70), #"{"user_profile":10,"recipient_id":999}"#, Self.row(44, 5),
    ]
    export.messages = [
      Self.message(1, 11, 10), Self.message(2, 10, 11), Self.message(3, 12, 12),
      Self.message(4, 11, 70), Self.message(5, 11, 71), Self.message(6, 11, 899),
      Self.message(7, 99, 10),
    ]
    let result = try export.imported()
    #expect(
      result.settings.filter { $0.contains("\"conversation\",") }.map {
        $0.split(separator: "\"")[7]
      }
        == ["stream/5", "stream/6", "dm/10,12,13", "dm/10,11", "dm/12", "dm/10,99"])
    #expect(
      result.members == [
        #"{"dm/10,12,13","10"}"#, #"{"dm/10,12,13","12"}"#, #"{"stream/5","10"}"#,
        #"{"stream/5","11","level":"all"}"#,
        #"{"stream/5","12","level":["private","thread","me","role","reply","keyword","sender"],\#(Self.forEver)}"#,
        #"{"dm/10,11","10"}"#, #"{"dm/10,11","11"}"#, #"{"dm/12","12"}"#, #"{"dm/10,99","10"}"#,
      ])
    #expect(
      result.messages
        == [
          #"{"id":"1","conversation":"dm/10,11","sender":"11","at":1001}"#,
          #"{"id":"2","conversation":"dm/10,11","sender":"10","at":2001}"#,
          #"{"id":"3","conversation":"dm/12","sender":"12","at":3001}"#,
          #"{"id":"4","conversation":"dm/10,12,13","sender":"11","at":4001}"#,
          #"{"id":"7","conversation":"dm/10,99","sender":"99","at":7001}"#,
        ])
    #expect(result.kinds == ["inactiveUser 1 1", "unknownRecipient 5 1"])
  }

  /// I-34. Restates test_end_to_end_missedmessage_hook.
  @Test func topics() throws {
    var export = Export()
    export.users = [Self.user(10), Self.user(11), Self.user(12)]
    export.subscriptions = [Self.row(10, 5), Self.row(11, 5, #","is_muted":true"#)]
    export.topics = [
      Self.topic(10, "Tea", 1), Self.topic(11, "TEA", 2), Self.topic(10, "news", 3),
      Self.topic(11, "News", 3), Self.topic(10, "none", 0), Self.topic(12, "not a subscriber", 1),
      Self.topic(10, "new", 4),
    ]
    export.messages = [
      Self.message(1, 10, 5, "tea"), Self.message(2, 10, 5, "NEWS"), Self.message(3, 10, 5, "none"),
    ]
    let result = try export.imported()
    #expect(
      result.settings.filter { $0.contains("thread\"") && $0.contains("parent") } == [
        #"{"kind":"conversation","id":"stream/5#Tea","type":"thread","parent":"stream/5"}"#,
        #"{"kind":"conversation","id":"stream/5#news","type":"thread","parent":"stream/5"}"#,
      ])
    let all = #"["private","thread","plain","me","role","everyone","reply","keyword","sender"]"#
    #expect(all.count > 0)
    #expect(
      result.members.filter { $0.contains("#") } == [
        #"{"stream/5#Tea","10",\#(Self.forEver),"follow":false}"#,
        #"{"stream/5#Tea","11","level":["private","me","role","everyone","reply","keyword","sender"],"follow":false}"#,
        #"{"stream/5#news","10","level":"all","follow":true}"#,
        #"{"stream/5#news","11","level":"all","follow":true}"#,
      ])
    #expect(
      result.messages.map { $0.split(separator: "\"")[7] } == [
        "stream/5#Tea", "stream/5#news", "stream/5",
      ])
    #expect(result.kinds == ["unknownValue 1 1"])
  }

  /// I-35.
  @Test func mentions() throws {
    var export = Export()
    export.users =
      (10...16).map { Self.user($0) } + [Self.user(17, #","wildcard_mentions_notify":false"#)]
    export.subscriptions =
      [10, 11, 12, 17].map { Self.row($0, 5) }
      + [13, 14].map { Self.row($0, 5, #","is_muted":true"#) }
    export.topics = [
      Self.topic(12, "t", 1), Self.topic(14, "t", 2), Self.topic(17, "t", 3),
      Self.topic(13, "u", 3),
    ]
    export.messages =
      (1...4).map { Self.message($0, 10, 5) } + [
        Self.message(5, 10, 5, "u"), Self.message(6, 10, 10),
      ]
    export.flags =
      [
        // Personal: the sender, and who is no subscriber, are none.
        Self.flag(1, 11, 8), Self.flag(1, 10, 8), Self.flag(1, 15, 8), Self.flag(1, 12, 9),
        Self.flag(2, 15, 16), Self.flag(2, 11, 24), Self.flag(99, 11, 8), Self.flag(6, 11, 8),
      ] + (10...17).flatMap { [Self.flag(3, $0, 32), Self.flag(4, $0, 0), Self.flag(5, $0, 32)] }
    let result = try export.imported()
    #expect(
      result.messages.map { $0.split(separator: "001").last.map(String.init) } == [
        #","mentions":["11","12"]}"#, #","mentions":["11"],"mentionsAll":true}"#,
        #","mentions":["11","14","17"]}"#, "}", #","mentions":["11","12","13"]}"#, "}",
      ])
    #expect(result.kinds == ["topicWildcard 6 5"])
  }

  /// I-8.
  @Test func manyMentions() throws {
    var export = Export()
    export.users = (0...10_001).map { Self.user($0) }
    export.subscriptions = (0...10_001).map { Self.row($0, 5) }
    export.messages = [Self.message(1, 0, 5)]
    export.flags = (0...10_001).map { Self.flag(1, $0, 8) }
    let result = try export.imported()
    #expect(result.messages[0].hasSuffix(#""9999","10000"]}"#))
    #expect(result.kinds == ["mentionsDropped 1 0"])
  }

  /// I-36.
  @Test func editedMessages() throws {
    var export = Export()
    export.users = [Self.user(10)]
    export.messages = [
      Self.message(1, 10, 5).replacing("}", with: #","last_edit_time":1717400000.5}"#),
      Self.message(2, 10, 5).replacing("}", with: #","last_edit_time":null}"#),
    ]
    let result = try export.imported()
    #expect(result.kinds == ["editedMessage 1 1"])
    #expect(result.report.counts.values.first?.examples == ["messages-000001.json:3"])
  }

  /// I-4, I-6: other tables, bots of other organizations, mirrors.
  @Test func otherTables() throws {
    var export = Export()
    export.others = [
      ("zerver_userprofile_crossrealm", [#"{"id":3,"email":"x","recipient_id":3}"#]),
      ("zerver_userprofile_mirrordummy", [Self.user(4)]), ("zerver_new", ["1", "[]", "\"x\""]),
    ]
    export.messages = [Self.message(1, 3, 10)]
    let result = try export.imported()
    #expect(result.kinds == ["bot 1 0", "inactiveUser 1 0", "unknownRecipient 1 0"])
    #expect(try Importer().zulip(["realm.json": "{\"a\": 5, \"b\": {}}"]).settings.count == 1)
  }

  /// I-1: files are read by their numbers, whatever their names' order is.
  @Test func filesAreInTheOrderOfTheirNumbers() throws {
    var export = Export()
    export.users = [Self.user(10)]
    let one = Self.message(1, 10, 5).replacing("1.0006", with: "9")
    let two = Self.message(2, 10, 5).replacing("2.0006", with: "9")
    let result = try Importer().zulip([
      "realm.json": export.realm, "messages-10.json": Export.text([("zerver_message", [one])]),
      "messages-9.json": Export.text([("zerver_message", [two])]),
    ])
    #expect(result.messages.map { $0.prefix(9) } == [#"{"id":"2""#, #"{"id":"1""#])
  }
}
