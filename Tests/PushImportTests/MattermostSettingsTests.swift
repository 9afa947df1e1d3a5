import Foundation
import TestSupport
import Testing

@testable import PushImport

/// Goal: settings of Mattermost are what section 2 says.
@Suite struct MattermostSettingsTests {
  private func importing(
    _ lines: [String], collapsed: Bool = true, users: String? = nil, statuses: String? = nil,
    members: String? = nil
  ) throws -> Imported {
    try Importer().mattermost(lines) { options, folder in
      options.collapsesThreads = collapsed
      options.users = try users.map { try folder.write(Array($0.utf8), as: "users") }
      options.statuses = try statuses.map { try folder.write(Array($0.utf8), as: "statuses") }
      options.members = try members.map { try folder.write(Array($0.utf8), as: "members") }
    }
  }

  /// I-20.
  @Test func idsAreNames() throws {
    let result = try importing([
      Line.town, Line.user("eva"), Line.user("ann", in: nil), Line.direct("eva", "ann"),
      Line.direct("eva"),
    ])
    #expect(
      result.settings.filter { $0.contains("\"conversation\",") || $0.contains("\"member\"") } == [
        #"{"kind":"conversation","id":"t/c","type":"group"}"#,
        #"{"kind":"conversation","id":"@ann,eva","type":"private"}"#,
        #"{"kind":"conversation","id":"@eva","type":"private"}"#,
        #"{"kind":"member","conversation":"t/c","user":"eva"}"#,
        #"{"kind":"member","conversation":"@ann,eva","user":"eva"}"#,
        #"{"kind":"member","conversation":"@ann,eva","user":"ann"}"#,
        #"{"kind":"member","conversation":"@eva","user":"eva"}"#,
      ])
  }

  /// I-21, and I-9 in the record of the app.
  @Test(arguments: [(true, "followers"), (false, "everyone")])
  func theAppSaysWhetherThreadsAreCollapsed(collapsed: Bool, word: String) throws {
    let result = try importing([], collapsed: collapsed)
    #expect(
      result.settings == [
        #"{"kind":"app","rules":"open","timeZone":"UTC","options":{"threadPlain":"\#(word)","#
          + #""expireSeconds":86400,"presenceSeconds":90}}"#
      ])
  }

  /// I-22, I-9. Restates TestDoesNotifyPropsAllowPushNotification and notification.go.
  @Test func levelsOfPeople() throws {
    let lines = [
      Line.user("a", #""mobile":"none""#, in: nil), Line.user("b", #""mobile":"all""#, in: nil),
      Line.user("c", #""mobile":"mention","channel":"true""#, in: nil),
      Line.user("d", #""mobile":"mention","channel":"false""#, in: nil),
      Line.user("e", "", in: nil),
      Line.user("f", #""channel":"true","comments":"root""#, in: nil),
      Line.user("g", #""channel":"true","comments":"any""#, in: nil),
      Line.user("h", #""channel":"true","comments":"never""#, in: nil),
    ]
    let without = #"["private","thread","me","role","reply","keyword","sender"]"#
    #expect(
      try importing(lines).people == [
        #"{"a","level":"none"}"#, #"{"b","level":"all"}"#, #"{"c","level":"mentions"}"#,
        #"{"d","level":\#(without)}"#, #"{"e","level":\#(without)}"#, #"{"f","level":"mentions"}"#,
        #"{"g","level":"mentions"}"#, #"{"h","level":"mentions"}"#,
      ])
    let never = #"["private","me","role","everyone","keyword","sender"]"#
    let root = #"["private","me","role","everyone","reply","keyword","sender"]"#
    #expect(
      try importing(Array(lines.suffix(3)), collapsed: false).people == [
        #"{"f","level":\#(root)}"#, #"{"g","level":"mentions"}"#, #"{"h","level":\#(never)}"#,
      ])
  }

  /// I-22: of people whose `push_threads` is known, only all has threads.
  @Test func levelsOfThreads() throws {
    let users = ["all", "mention"].map {
      #"{"username":"\#($0)","notify_props":{"push":"mention","push_threads":"\#($0)"}}"#
    }
    let lines = [Line.user("all", in: nil), Line.user("mention", in: nil)]
    let result = try importing(lines, users: users.joined(separator: "\n"))
    #expect(
      result.people == [
        #"{"all","level":["private","thread","me","role","reply","keyword","sender"]}"#,
        #"{"mention","level":["private","me","role","reply","keyword","sender"]}"#,
      ])
  }

  /// I-23.
  @Test func membershipsSayWhatDiffers() throws {
    let props = #""mobile":"mention","channel":"true""#
    let members = [
      #""mobile":"default","mark_unread":"all""#, #""mobile":"all""#, #""mobile":"none""#,
      #""mobile":"mention""#, #""mark_unread":"mention""#,
      #""mark_unread":"mention","ignore_channel_mentions":"off""#,
      #""ignore_channel_mentions":"on""#, #""mobile":"mention","ignore_channel_mentions":"on""#,
    ]
    let lines = members.enumerated().map { Line.user("u\($0)", props, in: $1) }
    let forEver = #""mutedUntil":9007199254740991"#
    let users = #"["private","thread","me","role","reply","keyword","sender"]"#
    #expect(
      try importing([Line.town] + lines).members == [
        #"{"t/c","u0"}"#, #"{"t/c","u1","level":"all"}"#, #"{"t/c","u2","level":"none"}"#,
        #"{"t/c","u3","level":["private","me","role","everyone","reply","keyword","sender"]}"#,
        #"{"t/c","u4","level":\#(users),\#(forEver)}"#, #"{"t/c","u5",\#(forEver)}"#,
        #"{"t/c","u6","level":\#(users)}"#,
        #"{"t/c","u7","level":["private","me","role","reply","keyword","sender"]}"#,
      ])
  }

  /// I-23: of three and more, a level of mentions has no private; `push_threads` of a member counts.
  @Test func directChannels() throws {
    let people = ["a", "b", "c"].map { Line.user($0, in: nil) }
    let props = #"{"username":"c","notify_props":{"mobile":"mention"}}"#
    func direct(_ others: String) -> String {
      #"{"type":"direct_channel","direct_channel":{"participants":[\#(others),\#(props)]}}"#
    }
    let result = try importing(
      people + [
        direct(#"{"username":"a"}"#), direct(#"{"username":"a"},{"username":"b"}"#),
        #"{"type":"direct_channel","direct_channel":{"members":["a","b"]}}"#,
      ])
    #expect(
      result.members == [
        #"{"@a,c","a"}"#,
        #"{"@a,c","c","level":["private","me","role","reply","keyword","sender"]}"#,
        #"{"@a,b,c","a"}"#, #"{"@a,b,c","b"}"#,
        #"{"@a,b,c","c","level":["me","role","reply","keyword","sender"]}"#, #"{"@a,b","a"}"#,
        #"{"@a,b","b"}"#,
      ])
  }

  /// I-23: an overlay replaces keys, not the whole.
  @Test func overlaysOfMembers() throws {
    let rows = [
      #"{"team":"t","channel":"c","username":"a","notify_props":{"push_threads":"all"}}"#,
      #"{"team":"t","channel":"c","username":"b","notify_props":{"push":"default"}}"#,
      #"{"team":null,"channel":"a__b","username":"a","notify_props":{"push":"none"}}"#,
    ]
    let result = try importing(
      [
        Line.town, Line.user("a", in: #""mobile":"mention""#),
        Line.user("b", in: #""mobile":"all""#),
      ],
      members: "[\(rows.joined(separator: ",\n"))]")
    #expect(
      result.members == [
        #"{"t/c","a","level":["private","thread","me","role","reply","keyword","sender"]}"#,
        #"{"t/c","b"}"#,
      ])
  }

  /// I-24, I-8. Restates mention_keywords_test.go.
  @Test func keywords() throws {
    let many = (1...60).map { "k\($0)" }.joined(separator: ",")
    let long = String(repeating: "x", count: 65)
    let result = try importing(
      [
        Line.user("ann", #""mention_keys":" deploy , ,@ann,ann,C++,on-call,_,\#(long)""#, in: nil),
        Line.user("ben", #""mention_keys":"\#(many)""#, in: nil),
        Line.user("cai", "", in: nil), Line.user("dee", "", in: nil),
      ],
      users: #"[{"username":"cai","first_name":"Cai","notify_props":{"first_name":"true"}},"#
        + #"{"username":"dee","first_name":"Dee Ann","notify_props":{"first_name":"true"}}]"#)
    #expect(result.people[0].hasSuffix(#""keywords":["deploy","ann","on-call","_"]}"#))
    #expect(result.people[1].hasSuffix(#""k49","k50"]}"#))
    #expect(result.people[2].hasSuffix(#""keywords":["Cai"]}"#))
    #expect(!result.people[3].contains("keywords"))
    #expect(
      result.kinds == [
        "keywordDropped 11 2", "keywordInexact 2 2", "keywordNeverMatches 2 2", "notInExport 2 2",
      ])
  }

  /// I-25.
  @Test func zonesAndStatuses() throws {
    let zones = [
      #""useAutomaticTimezone":"true","automaticTimezone":"Europe/Berlin","manualTimezone":"UTC""#,
      #""useAutomaticTimezone":"false","automaticTimezone":"Europe/Berlin","manualTimezone":"Asia/Tokyo""#,
      #""useAutomaticTimezone":"true","automaticTimezone":"""#,
      #""useAutomaticTimezone":"true","automaticTimezone":"Mars/Base""#,
    ]
    let users = zones.enumerated().map {
      #"{"id":"i\#($0)","username":"u\#($0)","notify_props":{"push":"all","push_status":"away"},"timezone":{\#($1)}}"#
    }
    let statuses = [
      #"{"user_id":"i0","status":"dnd","dnd_end_time":1717400000}"#,
      #"{"user_id":"i1","status":"dnd","dnd_end_time":0}"#, #"{"user_id":"i2","status":"ooo"}"#,
      #"{"user_id":"i3","status":"away"}"#, #"{"user_id":"gone","status":"dnd"}"#,
    ]
    let result = try importing(
      (0...3).map { Line.user("u\($0)", #""mobile_push_status":"offline""#, in: nil) },
      users: users.joined(separator: "\n"), statuses: statuses.joined(separator: "\n"))
    #expect(
      result.people == [
        #"{"u0","level":"all","mutedUntil":1717400000000,"timeZone":"Europe/Berlin"}"#,
        #"{"u1","level":"all","mutedUntil":9007199254740991,"timeZone":"Asia/Tokyo"}"#,
        #"{"u2","level":"all","mutedUntil":9007199254740991}"#, #"{"u3","level":"all"}"#,
      ])
    #expect(result.kinds == ["pushStatus:away 4 4", "unknownValue 1 1"])
  }

  /// I-6, I-29.
  @Test func whoGetsNothing() throws {
    let result = try importing([
      #"{"type":"channel","channel":{"team":"t","name":"old","deleted_at":5}}"#, Line.town,
      Line.user("ann", "", in: "", #","delete_at":9"#),
      #"{"type":"user","user":{"username":"ben","teams":[{"name":"t","channels":[{"name":"old"},{"name":"c"}]}]}}"#,
      #"{"type":"bot","bot":{"username":"robo","owner":"ben"}}"#, Line.direct("ben", "robo", "who"),
      Line.post("hi", by: "ann"), Line.post("hi", by: "robo"),
    ])
    #expect(result.members == [#"{"t/c","ben"}"#, #"{"@ben,robo,who","ben"}"#])
    #expect(
      result.kinds == [
        "archivedChannel 1 0", "bot 1 0", "deactivatedUser 1 1", "notInExport 1 1",
        "unknownRecipient 1 0",
      ])
    #expect(try result.pushes() == [])
    #expect(result.messages.count == 2)
  }

  /// I-4: later records of a person take the place of earlier ones.
  @Test func repeatedPeople() throws {
    let result = try importing([
      Line.town, Line.user("ann", #""mobile":"all""#), Line.user("ben", in: nil),
      Line.user("ann", #""mobile":"none""#, in: #""mobile":"all""#),
    ])
    #expect(result.people[0] == #"{"ann","level":"none"}"#)
    #expect(result.members == [#"{"t/c","ann","level":"all"}"#])
    #expect(result.report.records.users == 2)
  }

  /// I-4.
  @Test func unknownThingsArePassedOver() throws {
    let result = try importing([
      #"{"type":"version","version":9,"info":{"new":1}}"#, #"{"type":"poll","poll":{"x":[1]}}"#,
      Line.town,
      Line.user(
        "ann",
        #""mobile":"whenever","comments":"x","channel":"y","new":"z","mobile_push_status":"?""#,
        in: #""mobile":"x","mark_unread":"y","ignore_channel_mentions":"z","new":"w""#,
        #","new":[1,2]"#),
    ])
    #expect(
      result.people + result.members == [
        #"{"ann","level":["private","thread","me","role","reply","keyword","sender"]}"#,
        #"{"t/c","ann"}"#,
      ])
    #expect(result.kinds == ["notInExport 1 1", "unknownRecord 1 0", "unknownValue 7 1"])
  }
}
