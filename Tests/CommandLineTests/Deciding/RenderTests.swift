import Foundation
import Testing

/// Goal: `render` prints what pushes say for exactly those whom `evaluate` pushes to, and
/// `explain --content` where the words come from.
@Suite struct RenderTests {
  private static let settings =
    SmallWorld.settings + [
      #"{"kind":"user","id":"u3","display":{"style":"messageSummary","template":"mine"},"#
        + #""remarks":{"u9":"Nina"}}"#,
      #"{"kind":"user","id":"u9","display":{"name":"N."}}"#,
    ]
  private static let messages = [
    #"{"id":"m1","conversation":"g1","sender":"u9","at":"2024-06-03T12:00:00+08:00","#
      + #""text":"hello","mentions":["u2"]}"#,
    #"{"id":"m2","conversation":"g1","sender":"u3","at":"2024-06-03T12:00:01+08:00","#
      + #""text":"\"hi\"","ext":{"em_push_template":{"name":"gone"}}}"#,
    #"{"id":"m3","conversation":"g1","sender":"u9","at":"2024-06-03T12:00:02+08:00","#
      + #""silent":true}"#,
  ]
  private static let templates = [
    #"{"kind":"template","name":"mine","title":"{$dynamicFrom}","content":"{$msg}!"}"#
  ]
  private static let files = [
    "--settings", "world.ndjson", "--templates", "templates.ndjson", "--messages",
    "messages.ndjson",
  ]

  private func withWorld<Result>(_ body: (Workplace) throws -> Result) throws -> Result {
    try withWorkplace { place in
      try place.write(Self.settings, as: "world.ndjson")
      try place.write(Self.messages, as: "messages.ndjson")
      try place.write(Self.templates, as: "templates.ndjson")
      return try body(place)
    }
  }

  @Test func everybodyWhoGetsAPushHasALine() throws {
    try withWorld { place in
      let run = try place.run(["render"] + Self.files)
      #expect(run.status == 0)
      #expect(
        run.errorLines == [
          "3 messages, 4 payloads",
          #"push-fanout: 1 payload: senderTemplate: there is no template "gone""#,
        ])
      let banner =
        #"{"aps":{"alert":{"title":"您有一条新消息","body":"请点击查看"},"badge":1,"#
        + #""sound":"default"}"#
      #expect(
        run.lines == [
          #"{"message":"m1","user":"u1","action":"push","payload":\#(banner),"#
            + #""f":"u9","t":"u1","g":"g1","m":"m1"}}"#,
          #"{"message":"m1","user":"u2","action":"push","payload":\#(banner),"#
            + #""f":"u9","t":"u2","g":"g1","m":"m1"}}"#,
          #"{"message":"m1","user":"u3","action":"push","payload":{"aps":{"alert":{"title":"Nina","#
            + #""body":"hello!"},"badge":1,"sound":"default"},"f":"u9","t":"u3","g":"g1","m":"m1"}}"#,
          #"{"message":"m2","user":"u1","action":"push","payload":\#(banner),"#
            + #""f":"u3","t":"u1","g":"g1","m":"m2"}}"#,
        ])
      // The same for one message and one user, on one thread, into a file.
      let one = try place.run(
        ["render"] + Self.files
          + ["--message", "m1", "--user", "u3", "--threads", "1", "--output", "out.ndjson"])
      #expect(one.status == 0 && one.output == "")
      #expect(try place.read("out.ndjson") == run.lines[2] + "\n")
    }
  }

  /// Requests, their options and what is wrong with them; the cases are those of `RequestTests`.
  @Test func requestsAreMadeForDevices() throws {
    try withWorld { place in
      let device = #"{"id":"p1","platform":"apns","token":"ab12"},{"id":"a1","platform":"fcm"}"#
      try place.write(
        Self.settings + [#"{"kind":"user","id":"u1","devices":[\#(device)]}"#], as: "world.ndjson")
      try place.write(
        [#"{"kind":"sender","platform":"apns","topic":"t"}"#], as: "senders.ndjson")
      let asked = ["render"] + Self.files + ["--senders", "senders.ndjson", "--user", "u1"]
      let run = try place.run(asked + ["--platform", "apns", "fcm"])
      #expect(run.status == 1 && run.lines.count == 4)
      #expect(
        run.lines[0].hasPrefix(
          #"{"message":"m1","user":"u1","device":"p1","platform":"apns","#
            + #""url":"https://api.push.apple.com/3/device/ab12","headers":{"apns-topic":"t","#))
      #expect(
        run.lines[1]
          == #"{"message":"m1","user":"u1","device":"a1","platform":"fcm","problem":"noSender"}"#)
      #expect(
        run.errorLines == [
          "3 messages, 4 requests",
          #"push-fanout: 1 payload: senderTemplate: there is no template "gone""#,
          "push-fanout: requests with a problem: 2",
        ])
      let one = try place.run(asked + ["--platform", "apns", "--threads", "1"])
      #expect(one.status == 0 && one.lines == [run.lines[0], run.lines[2]])
      let shared = try place.run(
        asked + ["--platform", "apns", "--share-bodies", "--output", "out.ndjson"])
      #expect(shared.status == 0)
      let lines = try place.read("out.ndjson").split(separator: "\n")
      #expect(lines.count == 4 && lines[2].hasPrefix(#"{"bodyId":1,"body":{"aps":"#))
      for wrong in [["--senders", "senders.ndjson"], ["--share-bodies"], ["--platform", "apns"]] {
        #expect(try place.run(["render"] + Self.files + wrong).status == 2)
      }
      let typed = try place.run(asked + ["--platform", "hms"])
      #expect(typed.status == 2 && typed.errors.contains("apns"))
    }
  }

  /// What is rendered changes nothing of what is decided: under both vendors' rules.
  @Test(arguments: [VendorWorld.easemob, .rongcloud])
  func theRecipientsAreThoseOfEvaluate(_ world: VendorWorld) throws {
    try withWorkplace { place in
      try place.write(world.settings, as: "world.ndjson")
      try place.write(world.messages, as: "messages.ndjson")
      let files = ["--settings", "world.ndjson", "--messages", "messages.ndjson"]
      let rows = { (arguments: [String]) in
        try place.run(arguments).lines.compactMap { line -> [String]? in
          let row = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
          let fields = ["message", "user", "action"].compactMap { row?[$0] as? String }
          return fields.last == "none" ? nil : fields
        }
      }
      let (decided, rendered) = try (
        rows(["evaluate", "--format", "ndjson"] + files), rows(["render"] + files)
      )
      #expect(!decided.isEmpty)
      #expect(decided == rendered)
      let actions = Set(rendered.map { $0[2] })
      #expect(actions == (world.rules == "rongcloud" ? ["push", "local"] : ["push"]))
    }
  }

  @Test func explainSaysWhereTheWordsComeFrom() throws {
    try withWorld { place in
      let run = try place.run(
        ["explain"] + Self.files + ["--message", "m1", "--user", "u3", "--content"])
      #expect(run.status == 0)
      let words = run.lines.drop { !$0.hasPrefix("words") }
      #expect(
        Array(words) == [
          "words, from the highest source to the lowest",
          "   directedTemplate   not set",
          "   senderTemplate     not set",
          "-> recipientTemplate  \"mine\": gives title and body",
          "   message            not set",
          "   defaultTemplate    no template \"detail\"",
          "   displayStyle       messageSummary",
          "title: Nina",
          "body: hello!",
          "payload, 114 bytes",
          #"{"aps":{"alert":{"title":"Nina","body":"hello!"},"badge":1,"sound":"default"},"#
            + #""f":"u9","t":"u3","g":"g1","m":"m1"}"#,
        ])
      let json = try place.run(
        ["explain"] + Self.files + ["--message", "m2", "--user", "u1", "--content", "--json"])
      let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8))
      let content = (object as? [String: Any])?["content"] as? [String: Any]
      #expect(content?["bodySource"] as? String == "displayStyle")
      #expect(
        content?["notes"] as? [String] == [#"senderTemplate: there is no template "gone""#])
      // Nothing is said of words when nothing is pushed, or nobody asks.
      let silent = try place.run(
        ["explain"] + Self.files + ["--message", "m3", "--user", "u1", "--content"])
      #expect(silent.lines.last == "none/silentMessage")
      let files = Array(Self.files.dropLast(4)) + Self.files.suffix(2)
      let plain = try place.run(["explain"] + files + ["--message", "m1", "--user", "u3"])
      #expect(!plain.output.contains("words"))
    }
  }

  /// A payload without room is replaced, told, and makes the exit status 1; nobody is left out.
  @Test func whatHasNoRoomIsReplaced() throws {
    try withWorld { place in
      let long = String(repeating: "x", count: 5000)
      try place.write(
        [
          #"{"id":"m1","conversation":"g1","sender":"u9","at":"2024-06-03T12:00:00+08:00","#
            + #""ext":{"em_apns_ext":{"extern":"\#(long)"}}}"#
        ], as: "messages.ndjson")
      let run = try place.run(["render"] + Self.files)
      #expect(run.status == 1)
      #expect(
        run.errorLines == [
          "1 message, 2 payloads",
          "push-fanout: payloads replaced by the vendor's plainest words: 2",
        ])
      let problems = try run.lines.map { line in
        let row = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        return row?["problem"] as? String
      }
      // The shortest body is "…", and of the one with a template her "!".
      #expect(
        problems == [
          "the payload has 5135 bytes with the shortest body, of at most 4096",
          "the payload has 5116 bytes with the shortest body, of at most 4096",
        ])
    }
  }

  /// Templates and arguments that are missing are counted, in the order in which they were met; of
  /// more than ten the rest together.
  @Test func whatIsMissingIsCounted() throws {
    try withWorld { place in
      let message = { (id: Int, template: String) in
        #"{"id":"m\#(id)","conversation":"g1","sender":"u9","at":"2024-06-03T12:00:00+08:00","#
          + #""text":"hi","translations":{"fr":"salut"},"ext":{"em_push_template":\#(template)}}"#
      }
      try place.write(
        [
          #"{"kind":"template","name":"mine","title":"{0}","content":"{3}!"}"#,
          #"{"kind":"template","name":"empty","title":"","content":"{0}"}"#,
        ], as: "templates.ndjson")
      try place.write(
        [
          message(1, #"{"name":"K\n\u001b[2J"}"#), message(2, #"{"name":"empty"}"#),
          message(3, #"{"name":"K\n\u001b[2J","title_args":["t"]}"#),
        ], as: "messages.ndjson")
      let few = try place.run(["render"] + Self.files + ["--threads", "3"])
      #expect(few.status == 0)
      #expect(
        few.errorLines == [
          "3 messages, 6 payloads",
          #"push-fanout: 4 payloads: senderTemplate: there is no template "K\n\u001b[2J""#,
          "push-fanout: 2 payloads: recipientTemplate: the title has no argument {0}",
          "push-fanout: 3 payloads: recipientTemplate: the body has no argument {3}",
          "push-fanout: 2 payloads: senderTemplate: the template \"empty\" comes out empty",
        ])
      let long = String(repeating: "x", count: 10_000)
      try place.write(
        (1...14).map { message($0, #"{"name":"gone\#($0)\#(long)"}"#) }, as: "messages.ndjson")
      let many = try place.run(["render"] + Self.files + ["--user", "u1"])
      #expect(many.status == 0)
      #expect(many.errorLines.count == 12 && many.errorLines.allSatisfy { $0.utf8.count < 250 })
      #expect(
        many.errorLines.last
          == "push-fanout: 4 payloads: other notes; explain --content shows them")
    }
  }

  /// Names and words of strangers make no lines of their own, and do not reach the terminal.
  @Test func explainShowsControlCharactersAsText() throws {
    try withWorld { place in
      let forged = #"x\nbody: forged\u001b[2J\u0085\u009b\u2028\u202e\u007f"#
      try place.write(
        [
          #"{"id":"m1","conversation":"g1","sender":"u9","at":"2024-06-03T12:00:00+08:00","ext":"#
            + #"{"em_push_template":{"name":"\#(forged)"},"#
            + #""em_apns_ext":{"em_push_title":"\#(forged)","em_alert_subTitle":"\#(forged)","#
            + #""em_push_content":"\#(forged)"}}}"#
        ], as: "messages.ndjson")
      let run = try place.run(
        ["explain"] + Self.files + ["--message", "m1", "--user", "u1", "--content"])
      let words = run.lines.drop { !$0.hasPrefix("words") }
      #expect(
        Array(words.dropLast(2)) == [
          "words, from the highest source to the lowest",
          "   directedTemplate   not set",
          "   senderTemplate     \"\(forged)\", which does not exist",
          "   recipientTemplate  not set",
          "-> message            title and content: gives title and body",
          "   defaultTemplate    no template \"default\"",
          "   displayStyle       simpleBanner",
          "note: senderTemplate: there is no template \"\(forged)\"",
          "title: \(forged)",
          "subtitle: \(forged)",
          "body: \(forged)",
        ])
      let isPlain = run.output.unicodeScalars.allSatisfy { scalar in
        let isControl =
          scalar.properties.generalCategory == .control
          || scalar.properties.generalCategory == .format || scalar == "\u{2028}"
        return scalar == "\n" || !isControl
      }
      #expect(isPlain)
    }
  }

  @Test func whatCannotBeAskedFor() throws {
    try withWorld { place in
      let typo = try place.run(["render"] + Self.files + ["--user", "typo"])
      #expect(typo.status == 1)
      #expect(
        typo.errorLines == [
          #"push-fanout: there is no user "typo""#
        ])
      let missing = try place.run(["render"] + Self.files + ["--message", "m9"])
      #expect(missing.status == 1)
      #expect(
        missing.errorLines
          == [#"push-fanout: no message in messages.ndjson has the id "m9""#])
      let threads = try place.run(["render"] + Self.files + ["--threads", "0"])
      #expect(threads.status == 2)
      let templates = try place.run(
        ["explain"] + Self.files + ["--message", "m1", "--user", "u1"])
      #expect(templates.status == 2)
      #expect(templates.errors.contains("--templates goes with --content."))
      // A bad template stops the run, and nothing is left under the output's name.
      try place.write(
        [#"{"kind":"template","name":"a","content":"{$who}"}"#], as: "templates.ndjson")
      let bad = try place.run(["render"] + Self.files + ["--output", "out.ndjson"])
      #expect(bad.status == 1)
      #expect(
        bad.errorLines == [
          #"templates.ndjson:1: "a": {$who} is not an argument; the arguments are "#
            + "{$dynamicFrom}, {$fromNickname}, {$msg} and {0} to {999}; "
            + #"as text it is \{$who}, in JSON \\{$who}"#
        ])
      #expect(!place.names().contains { $0.hasPrefix("out") })
      // So does a bad message, in the middle.
      try place.write(Self.templates, as: "templates.ndjson")
      try place.write(Self.messages + [#"{"id":"m4"}"#], as: "messages.ndjson")
      let broken = try place.run(["render"] + Self.files + ["--output", "out.ndjson"])
      #expect(broken.status == 1)
      #expect(
        broken.errorLines == [#"messages.ndjson:4: the field "conversation" is missing"#])
      #expect(!place.names().contains { $0.hasPrefix("out") })
      try place.write([#"{"kind":"app","rules":"rongcloud"}"#], as: "world.ndjson")
      let rongcloud = try place.run(["render"] + Self.files)
      #expect(
        rongcloud.errorLines == [
          "push-fanout: --templates belongs to easemob, but the rules are rongcloud"
        ])
    }
  }
}
