import Foundation
import PushModel
import TestSupport
import Testing

@testable import PushImport

/// Goal: posts of Mattermost are what section 2 says.
@Suite struct MattermostPostTests {
  private static let people = [
    Line.town, Line.user("dee"), Line.user("ann"), Line.user("b.c-d_"),
    Line.user("out", in: nil),
  ]

  /// What the messages say behind `at`, of posts with these texts.
  private func said(
    _ posts: [String], _ people: [String] = people, in importer: Importer = Importer()
  ) throws -> [String] {
    try importer.mattermost(people + posts).messages.map {
      String($0[$0.range(of: "\"at\":5")!.upperBound...].dropLast())
    }
  }

  private func ofTexts(_ texts: [String]) throws -> [String] {
    try said(texts.map { Line.post($0) })
  }

  /// I-26. Restates mention_parser_standard_test.go.
  @Test func mentions() throws {
    let ann = #","mentions":["ann"]"#
    let cases: [(text: String, says: String)] = [
      ("hello", ""), ("@ann", ann), ("@Ann hi @ann", ann), ("hi,@ann.", ann), ("(@ann)!", ann),
      ("@ann.:-_", ann), ("...@ann", ann), (":@ann:", ""), (":@ann", ann), ("x@ann", ""),
      ("x.@ann", ann), ("x:@ann-", ann), ("x.@ann_", ""),
      ("@ann/@dee", #","mentions":["ann","dee"]"#),
      ("@b.c-d_", #","mentions":["b.c-d_"]"#), ("@b.c-d_.", #","mentions":["b.c-d_"]"#), ("@b", ""),
      ("@out", ""), ("@", ""), ("@.", ""), ("é@ann", ""), ("@anné", ""), ("“@ann”", ann),
      ("@channel", #","mentionsAll":true"#), ("@ALL.", #","mentionsAll":true"#), ("@here", ""),
      ("@ann @all", ann + #","mentionsAll":true"#), ("@channels", ""), ("²@ann", ""),
      ("…@ann", ann),
    ]
    let found = try ofTexts(cases.map(\.text))
    #expect(zip(cases, found).filter { $0.says != $1 }.map { "\($0.text): \($1)" } == [])
  }

  /// I-26: Markdown's code is left out, and what stands on both sides of it is no word.
  @Test func codeIsLeftOut() throws {
    let ann = #","mentions":["ann"]"#
    let cases: [(text: String, says: String)] = [
      ("`@ann`", ""), ("`@ann", ann), ("``@ann` @dee``", ""), ("`x` @ann `y`", ann),
      (#"\\`@ann` "#, ann), (#"```\n@ann\n```"#, ""), (#"```\n@ann"#, ""),
      (#"~~~ text\n@ann\n~~~~\n@dee"#, #","mentions":["dee"]"#),
      (#"~~~~\n@ann\n~~~\n@dee"#, ""), (#"    ```\n@ann"#, ann), (#"```x`\n@ann"#, ann),
      (#"`x\n\n@ann`"#, ann), ("@`x`ann", ""), (#"   ```\n@dee\n   ```\n@ann"#, ann),
    ]
    let found = try ofTexts(cases.map(\.text))
    #expect(zip(cases, found).filter { $0.says != $1 }.map { "\($0.text): \($1)" } == [])
  }

  /// I-26: attachments, and direct channels of two.
  @Test func attachments() throws {
    let attachments =
      #"[{"pretext":"@ann","text":"@dee","title":"@out","fields":[{"value":"@all"},{"value":7}]},8]"#
    let found = try said(
      [
        Line.post("hi", #","props":{"attachments":\#(attachments)}"#),
        Line.post("hi", #","props":{"attachments":"@ann"}"#),
        Line.direct("dee", "ann"), Line.direct("dee", "ann", "b.c-d_"),
        Line.directPost("@ann @all", "dee", "ann"),
        Line.directPost("@ann @all", "dee", "ann", "b.c-d_"),
      ])
    #expect(
      found == [
        #","mentions":["ann","dee"],"mentionsAll":true"#, "", "",
        #","mentions":["ann"],"mentionsAll":true"#,
      ])
  }

  /// I-26: the limit counts the members; groups are told by an option.
  @Test func limitAndGroups() throws {
    let posts = ["@all", "@Team", "@team.", "@nobody"].map { Line.post($0) }
    let groups = #"[{"name":"team","members":["ann","dee","out","ghost","ann"]}]"#
    let result = try Importer().mattermost(Self.people + posts) { options, folder in
      options.mentionLimit = 3
      options.groups = try folder.write(Array(groups.utf8), as: "groups")
    }
    #expect(
      result.messages.map { $0.dropFirst($0.range(of: "\"at\":5")!.upperBound.utf16Offset(in: $0)) }
        == ["}", #","mentions":["ann"]}"#, #","mentions":["ann"]}"#, "}"])
    #expect(
      result.kinds == ["notInExport 4 4", "tooManyForChannelMention 1 1", "unknownMention 1 1"])
  }

  /// I-27.
  @Test func propsOfPosts() throws {
    let posts = [
      Line.post("@ann", #","type":"system_join_channel""#),
      Line.post("a", #","props":{"from_webhook":"true"}"#),
      Line.post("a", #","props":{"from_webhook":true}"#),
      Line.post("a", #","props":{"force_notification":"x"}"#),
      Line.post("a", #","props":{"force_notification":""}"#),
      Line.post("a", #","type":"custom_x""#),
    ]
    let result = try Importer().mattermost(Self.people + posts)
    let start = #""conversation":"t/c""#
    #expect(
      result.messages == [
        #"{"id":"6",\#(start),"sender":"dee","at":5,"silent":true}"#,
        #"{"id":"7",\#(start),"at":5}"#, #"{"id":"8",\#(start),"sender":"dee","at":5}"#,
        #"{"id":"9",\#(start),"sender":"dee","at":5,"force":true}"#,
        #"{"id":"10",\#(start),"sender":"dee","at":5}"#,
        #"{"id":"11",\#(start),"sender":"dee","at":5}"#,
      ])
    #expect(result.kinds == ["forceNotification 1 1", "notInExport 4 4", "systemPost 1 1"])
  }

  private static func thread(_ more: String, _ replies: String...) -> String {
    let all = replies.map { "{\($0)}" }.joined(separator: ",")
    return Line.post("root", #","replies":[\#(all)]\#(more)"#)
  }

  /// I-28, threads that are collapsed.
  @Test func collapsedThreads() throws {
    let followers =
      #","thread_followers":[{"user":"ann"},{"user":"out"},{"user":"ann"},{"user":"ghost"}]"#
    let result = try Importer().mattermost(
      Self.people + [
        Self.thread(followers, Line.body("@all", "ann", 7), Line.body("b", "dee", 6)),
        Self.thread(""),
      ])
    #expect(
      result.settings.filter { $0.contains("#") } == [
        #"{"kind":"conversation","id":"t/c#6","type":"thread","parent":"t/c"}"#,
        #"{"kind":"member","conversation":"t/c#6","user":"ann","follow":true}"#,
      ])
    #expect(
      result.messages == [
        #"{"id":"6","conversation":"t/c","sender":"dee","at":5}"#,
        #"{"id":"7","conversation":"t/c","sender":"dee","at":5}"#,
        #"{"id":"6.2","conversation":"t/c#6","sender":"dee","at":6,"replyTo":"6"}"#,
        #"{"id":"6.1","conversation":"t/c#6","sender":"ann","at":7,"mentionsAll":true,"replyTo":"6"}"#,
      ])
    #expect(result.kinds == ["channelMentionInThread 1 1", "notInExport 4 4"])
  }

  /// I-28, threads that are not.
  @Test func openThreads() throws {
    let people = [
      Line.town, Line.user("dee", #""comments":"any""#), Line.user("ann", #""comments":"any""#),
      Line.user("ben", #""comments":"root""#),
    ]
    let reply = Line.body("b", "ann", 6)
    let result = try Importer().mattermost(
      people + [
        Self.thread(#","thread_followers":[{"user":"ben"}]"#, reply, Line.body("c", "ben", 7)),
        Self.thread(#","props":{"from_webhook":"true"}"#, reply),
      ]
    ) { options, _ in options.collapsesThreads = false }
    #expect(
      result.members.filter { $0.contains("#") } == [
        #"{"t/c#5","dee"}"#, #"{"t/c#5","ann"}"#, #"{"t/c#6","ann"}"#,
      ])
    #expect(
      result.messages.filter { $0.contains("#") } == [
        #"{"id":"5.1","conversation":"t/c#5","sender":"ann","at":6,"replyTo":"5","replyToUser":"dee"}"#,
        #"{"id":"6.1","conversation":"t/c#6","sender":"ann","at":6,"replyTo":"6"}"#,
        #"{"id":"5.2","conversation":"t/c#5","sender":"ben","at":7,"replyTo":"5","replyToUser":"dee"}"#,
      ])
  }

  /// I-7, I-8, O-20.
  @Test func textsAndLimits() throws {
    let people = [
      Line.town, #"{"type":"channel","channel":{"team":"t","name":"d"}}"#,
      Line.user("dee", #""mention_keys":"deploy,on call""#),
      Line.user("ann", #""mention_keys":"DEPLOY""#),
      Line.user("out", in: nil),
    ]
    let other = Line.post("x").replacing(#""channel":"c""#, with: #""channel":"d""#)
    let long = String(repeating: "x", count: 65_535) + "é"
    let posts = [Line.post(#"a `b` \"deploy\""#), Line.post(long), other]
    #expect(
      try said(posts, people) == [
        #","text":"a   \"deploy\"""#, ",\"text\":\"\(String(repeating: "x", count: 65_535))\"", "",
      ])
    var importer = Importer()
    importer.isWithoutTexts = true
    let texts = ["we Deploy", "Oncall", "redeploy", "deploy on-call deploy"].map { Line.post($0) }
    #expect(
      try said(texts, people, in: importer) == [
        #","text":"deploy""#, "", "", #","text":"deploy""#,
      ])
  }

  /// I-8.
  @Test func manyMentions() throws {
    let names = (0..<10_001).map { "u\($0)" }
    let people = [Line.town] + names.map { Line.user($0) }
    let text = names.map { "@\($0)" }.joined(separator: " ")
    let result = try Importer().mattermost(people + [Line.post(text, by: "u0")])
    #expect(result.messages[0].hasSuffix(#""u9998","u9999"]}"#))
    #expect(result.kinds == ["mentionsDropped 1 1", "notInExport 10001 10001"])
  }

  /// I-4: what is written in a channel that the export does not have.
  @Test func unknownRooms() throws {
    let result = try Importer().mattermost([
      Line.user("dee"), Line.post("x"), Line.directPost("x", "dee", "ann"),
    ])
    #expect(result.messages == [])
    #expect(result.kinds == ["notInExport 1 1", "unknownRoom 3 1"])
  }

  /// I-1: by `at`, then by the place in the input.
  @Test func messagesAreSorted() throws {
    let posts = [7, 5, 7, 6].map { Line.post("x", at: $0) }
    for runSize in [1, 100, 1 << 20] {
      var importer = Importer()
      importer.runSize = runSize
      let result = try importer.mattermost(Self.people + posts)
      #expect(
        result.messages.map { $0.prefix(9) } == [
          #"{"id":"7""#, #"{"id":"9""#, #"{"id":"6""#, #"{"id":"8""#,
        ])
    }
  }
}
