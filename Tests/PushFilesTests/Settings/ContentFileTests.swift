import PushContent
import PushFiles
import PushModel
import Testing

/// Goal: what files say of how pushes look is read when somebody asks for it, with a problem for
/// every mistake, and passed over when nobody does.
@Suite struct ContentFileTests {
  private static let app = #"{"kind":"app","rules":"easemob"}"#
  private static let rongcloud = #"{"kind":"app","rules":"rongcloud"}"#

  private func display(_ lines: [String]) throws -> Result<ContentDirectory, FileProblem> {
    try withFolder { folder in
      let path = try folder.write(lines, as: "world.ndjson")
      do throws(FileProblem) {
        var settings = FanoutSettings()
        return .success(
          try SettingsLoader.load(
            SettingsPaths(settings: [path]), into: &settings, LoadOptions(readsContent: true)
          ).content)
      } catch {
        return .failure(error)
      }
    }
  }

  @Test func displaySettingsAreRead() throws {
    let directory = try display([
      Self.app,
      #"{"kind":"user","id":"u1","display":{"name":"Ann","style":"messageSummary","#
        + #""language":"zh-Hans","template":"tpl_1","offlineMessages":3},"remarks":{"u2":"Bob"}}"#,
      #"{"kind":"user","id":"u2","remarks":{"u1":"x"},"display":{"name":""}}"#,
      #"{"kind":"user","id":"u3"}"#,
      #"{"kind":"member","conversation":"g1","user":"u1","nickname":"Annie"}"#,
      #"{"kind":"user","id":"u4","display":{"name":"gone"},"remarks":{"u1":"gone"}}"#,
      #"{"kind":"user","id":"u4"}"#,
    ]).get()
    var ann = RecipientDisplay()
    ann.name = "Ann"
    ann.style = .messageSummary
    ann.language = LanguageTag("zh-Hans")
    ann.template = "tpl_1"
    ann.offlineMessages = 3
    ann.remarks = ["u2": "Bob"]
    #expect(directory.user("u1") == ann)
    #expect(directory.user("u2").remarks == ["u1": "x"])
    #expect(directory.user("u2").name == "")
    #expect(directory.user("u3") == RecipientDisplay())
    // A later record replaces the whole earlier one.
    #expect(directory.user("u4") == RecipientDisplay())
    #expect(directory.nickname(of: "u1", in: "g1") == "Annie")
  }

  /// Addresses are read with what requests need beside them, and written when they are asked for.
  @Test(arguments: [RuleSet.easemob, .rongcloud])
  func devicesHaveAddresses(rules: RuleSet) throws {
    let app = #"{"kind":"app","rules":"\#(rules.rawValue)"}"#
    let fields =
      #"{"id":"p1","token":"ab12","notifier":"n","platform":"apns"},{"id":"p2"},"#
      + #"{"id":"a1","token":false,"platform":"fcm","fid":"f~!"}"#
    let line = #"{"kind":"user","id":"u1","devices":[\#(fields)]}"#
    let directory = try display([
      app, #"{"kind":"user","id":"u2","devices":[{"id":"p1","token":"gone"}]}"#, line,
      #"{"kind":"user","id":"u2","devices":[{"id":"p1"}]}"#,
    ]).get()
    let devices = [
      Device(id: "p1", notifier: "n", address: try DeviceAddress(platform: .apns, token: "ab12")),
      Device(id: "p2"),
      Device(id: "a1", hasToken: false, address: try DeviceAddress(platform: .fcm, fid: "f~!")),
    ]
    #expect(directory.devices(of: "u1") == devices)
    #expect(directory.devices(of: "u2").isEmpty)
    var user = UserSettings()
    user.devices = devices
    let written = { (tokens: Bool) in
      String(
        decoding: SettingsEncoder.user("u1", user, rules, withTokens: tokens), as: UTF8.self)
    }
    #expect(written(true) == line + "\n")
    let hidden = line.replacing(#""ab12""#, with: "true").replacing(#","fid":"f~!""#, with: "")
    #expect(written(false) == hidden + "\n")
  }

  @Test func mistakesInDisplaySettings() throws {
    let user = { (fields: String) in #"{"kind":"user","id":"u1",\#(fields)}"# }
    let cases: [(String, String)] = [
      (user(#""display":1"#), #""display" must be an object"#),
      (user(#""display":{"name":1}"#), #""display.name" must be a string"#),
      (
        user(#""display":{"style":"loud"}"#),
        #""display.style" cannot be "loud"; it is one of simpleBanner, messageSummary"#
      ),
      (
        user(#""display":{"language":"français"}"#),
        #""display.language": "français" is not a language tag, like en or zh-Hans"#
      ),
      (
        user(#""display":{"template":"a b"}"#),
        #""display.template": "a b" is not a template name: a name has 1 to 64 of the characters "#
          + "A-Z, a-z, 0-9 and _"
      ),
      (
        user(#""display":{"offlineMessages":-1}"#),
        #""display.offlineMessages": -1 is not in 0...2147483647"#
      ),
      (user(#""display":{"colour":"red"}"#), #"unknown field "display.colour""#),
      (user(#""remarks":["u2"]"#), #""remarks" must be an object"#),
      (user(#""remarks":{"":"x"}"#), #""remarks" must not be empty"#),
      (user(#""remarks":{"u2":2}"#), #""remarks.u2" must be a string"#),
      (
        #"{"kind":"member","conversation":"g1","user":"u1","nickname":1}"#,
        #""nickname" must be a string"#
      ),
      (#"{"kind":"conversation","id":"g1","name":true}"#, #""name" must be a string"#),
    ]
    let found = try cases.map { line, _ in
      switch try display([Self.app, line]) {
      case .success: "no problem"
      case .failure(let problem): "\(problem.line ?? 0): \(problem.problem)"
      }
    }
    #expect(found == cases.map { "2: " + $0.1 })
    // Who only decides is not asked for them.
    let decided = try withFolder { folder in
      try cases.compactMap { line, _ in
        try folder.problem([Self.app, line, #"{"kind":"nothing"}"#])
      }
    }
    #expect(
      decided
        == cases.map { _ in
          #"3: unknown kind "nothing"; the kinds are app, user, conversation and member"#
        })
  }

  @Test func whatIsEasemobsIsNotSaidUnderRongCloud() throws {
    let cases = [
      #"{"kind":"user","id":"u1","display":{"template":"t"}}"#: #""display.template""#,
      #"{"kind":"user","id":"u1","display":{"language":"en"}}"#: #""display.language""#,
      #"{"kind":"member","conversation":"g1","user":"u1","nickname":"x"}"#: #""nickname""#,
    ]
    for (line, field) in cases {
      guard case .failure(let problem) = try display([Self.rongcloud, line]) else {
        Issue.record("\(line) is accepted")
        continue
      }
      #expect(
        "\(problem.problem)" == "\(field) belongs to easemob, but the rules are rongcloud")
    }
    let fine = #"{"kind":"user","id":"u1","display":{"style":"simpleBanner","name":"A"}}"#
    #expect(try display([Self.rongcloud, fine]).get().user("u1").style == .simpleBanner)
  }

  @Test func templatesAreRead() throws {
    try withFolder { folder in
      let path = try folder.write(
        [
          #"{"kind":"template","name":"default","title":"","content":"{$msg}"}"#, "",
          #"{"name":"t_2","content":"{0}","kind":"template"}"#,
          // As the vendor's console and REST interface call them.
          #"{"kind":"template","name":"t4","title_pattern":"{0}","content_pattern":"\\{2024}"}"#,
        ], as: "t.ndjson")
      let more = try folder.write(
        [#"{"kind":"template","name":"t3","content":"c"}"#], as: "more.ndjson.gz-not.ndjson")
      let catalog = try TemplateReader.load([path, more])
      #expect(catalog.count == 4)
      #expect(
        try catalog["default"] == PushTemplate(name: "default", title: "", content: "{$msg}"))
      #expect(
        try catalog["t4"] == PushTemplate(name: "t4", title: "{0}", content: #"\{2024}"#))
    }
  }

  @Test func mistakesInTemplates() throws {
    let template = { (fields: String) in #"{"kind":"template",\#(fields)}"# }
    let cases: [(String, String)] = [
      ("nonsense", "the line is not JSON"),
      (#"{"name":"a","content":"c"}"#, #"the field "kind" is missing"#),
      (
        #"{"kind":"user","id":"u1"}"#,
        #"the kind "user" does not belong into a file of templates; its kind is template"#
      ),
      (template(#""content":"c""#), #"the field "name" is missing"#),
      (template(#""name":"a""#), #"the field "content" is missing"#),
      (template(#""name":"a","content":"""#), #""a": the template "a" has no content"#),
      (template(#""name":"a","content":1"#), #""content" must be a string"#),
      (template(#""name":"a","content":"c","title":[]"#), #""title" must be a string"#),
      (template(#""name":"a","content":"c","body":"b""#), #"unknown field "body""#),
      (
        template(#""name":"a-b","content":"c""#),
        #""a-b": "a-b" is not a template name: a name has 1 to 64 of the characters A-Z, a-z, 0-9 "#
          + "and _"
      ),
      (
        template(#""name":"a","content":"{$nick}""#),
        #""a": {$nick} is not an argument; the arguments are {$dynamicFrom}, {$fromNickname}, "#
          + #"{$msg} and {0} to {999}; as text it is \{$nick}, in JSON \\{$nick}"#
      ),
      (
        template(#""name":"a","content":"c","title":"{1000}""#),
        #""a": {1000} is not in {0} to {999}; as text it is \{1000}, in JSON \\{1000}"#
      ),
      (
        template(#""name":"a","content":"\\\\{0}""#),
        #""a": several backslashes before {0}: one makes it text, and a backslash that is to "#
          + "stand before what is filled in must be filled in itself"
      ),
      (
        template(#""name":"a","title":"t","title_pattern":"t","content":"c""#),
        #""title" and "title_pattern" are the same field; give one of them"#
      ),
      (
        template(#""name":"a","content_pattern":"c","content":"c""#),
        #""content" and "content_pattern" are the same field; give one of them"#
      ),
      (template(#""name":"a","content_pattern":1"#), #""content_pattern" must be a string"#),
      (template(#""name":"first","content":"again""#), #""first": a second template "first""#),
    ]
    try withFolder { folder in
      let first = #"{"kind":"template","name":"first","content":"c"}"#
      let found = try cases.map { line, _ in
        let path = try folder.write([first, line], as: "t.ndjson")
        do throws(FileProblem) {
          return "\(try TemplateReader.load([path]).count) templates"
        } catch {
          return folder.short(error)
        }
      }
      #expect(found == cases.map { "t.ndjson:2: " + $0.1 })
      // All of them in one file.
      let path = try folder.write([first] + cases.map(\.0), as: "all.ndjson")
      let (catalog, problems, _) = TemplateReader.check([path])
      let lines: [Int] = problems.compactMap(\.line)
      let expected: [Int] = cases.indices.map { $0 + 2 }
      #expect(catalog.count == 1)
      #expect(lines == expected)
      let empty = try folder.write([""], as: "empty.ndjson")
      let (_, nothing, _) = TemplateReader.check([empty, folder.path("absent.ndjson")])
      #expect(
        nothing.map { folder.short($0) } == [
          "empty.ndjson:1: the file is empty",
          "absent.ndjson: cannot be opened: No such file or directory",
        ])
    }
  }

  @Test func contentOfMessagesIsRead() throws {
    try withFolder { folder in
      let apns =
        #""em_push_title":"T","em_alert_subTitle":"S","em_push_content":"C","em_push_badge":5,"#
        + #""em_push_sound":"s","em_push_mutable_content":"yes","em_push_content_available":1,"#
        + #""em_push_category":"k","thread_id":"t","extern":[1]"#
      let push =
        #""title":"t","content":"c","custom":{"a":1},"group_user_nickname":"n""#
      let template =
        #""name":"tpl","title_args":["a",1],"content_args":["b"],"directed_template":"#
        + #"{"target":["u1"],"name":"d","title_args":["x"],"content_args":["y"]}"#
      let line = """
        {"id":"m","conversation":"g","at":1,"text":"Hi","translations":{"fr":"Salut"},"ext":\
        {"em_apns_ext":{\(apns)},"em_push_ext":{\(push)},"em_push_template":{\(template)}}}
        """
      let path = try folder.write([line], as: "m.ndjson")
      var expected = MessageContent(text: "Hi")
      expected.translations = [LanguageTag("fr")!: "Salut"]
      expected.apns.title = "T"
      expected.apns.subtitle = "S"
      expected.apns.content = "C"
      expected.apns.badge = 5
      expected.apns.sound = "s"
      expected.apns.isMutable = true
      expected.apns.isContentAvailable = true
      expected.apns.category = "k"
      expected.apns.threadID = "t"
      expected.apns.extra = .array([.integer(1)])
      expected.push.title = "t"
      expected.push.content = "c"
      expected.push.custom = .object(["a": .integer(1)])
      expected.push.groupNickname = "n"
      expected.template.name = "tpl"
      // What is no string is an empty one, so that the others keep their places.
      expected.template.titleArguments = ["a", ""]
      expected.template.contentArguments = ["b"]
      var directed = MessageContent.TemplateUse.Directed(name: "d")
      directed.targets = ["u1"]
      directed.titleArguments = ["x"]
      directed.contentArguments = ["y"]
      expected.template.directed = directed
      let reader = try MessageReader(path: path, rules: .easemob)
      let found = try reader.nextWithContent()?.content
      #expect(found == expected)
      #expect(try reader.nextWithContent() == nil)
    }
  }

  /// A badge that no settings could have is ignored, as a wrongly typed one is.
  @Test func badgesOfMessagesHaveTheLimitOfSettings() throws {
    let badges = [
      "0", "2147483647", "2147483648", "4294967295", "-1", "1.5", "\"1\"", "3.0", "3e0", "0.3e1",
      "0.0", "2147483647.0", "2147483648.0", "3.5", "-1.0", "1e400", "9223372036854775808",
    ]
    try withFolder { folder in
      let lines = badges.map {
        #"{"id":"m","conversation":"g","at":1,"ext":{"em_apns_ext":{"em_push_badge":\#($0)}}}"#
      }
      let reader = try MessageReader(path: folder.write(lines, as: "m.ndjson"), rules: .easemob)
      var found: [UInt32?] = []
      while let next = try reader.nextWithContent() { found.append(next.content.apns.badge) }
      #expect(
        found == [
          0, 2_147_483_647, nil, nil, nil, nil, nil, 3, 3, 3,
          0, 2_147_483_647, nil, nil, nil, nil, nil,
        ])
    }
  }

  @Test func mistakesInContentOfMessages() throws {
    let message = { (fields: String) in #"{"id":"m","conversation":"g","at":1,\#(fields)}"# }
    let cases: [(RuleSet, String, String?)] = [
      (.easemob, #""text":1"#, #""text" must be a string"#),
      (.easemob, #""translations":"fr""#, #""translations" must be an object"#),
      (.easemob, #""translations":{"fr":1}"#, #""translations.fr" must be a string"#),
      (
        .easemob, #""translations":{"f r":"x"}"#,
        #""translations.f r": "f r" is not a language tag, like en or zh-Hans"#
      ),
      (.easemob, #""translations":{"fr":"x","FR":"y"}"#, #"the language "FR" is repeated"#),
      (.rongcloud, #""pushTitle":1"#, #""pushTitle" must be a string"#),
      (.rongcloud, #""mentionedContent":1"#, #""mentionedContent" must be a string"#),
      (.rongcloud, #""objectName":1"#, #""objectName" must be a string"#),
      (.rongcloud, #""pushData":{}"#, #""pushData" must be a string"#),
      (.easemob, #""ext":{"em_apns_ext":{"em_push_title":1}}"#, nil),
    ]
    try withFolder { folder in
      for (rules, fields, problem) in cases {
        let path = try folder.write([message(fields)], as: "m.ndjson")
        let reader = try MessageReader(path: path, rules: rules)
        var found: String?
        do throws(FileProblem) { _ = try reader.nextWithContent() } catch {
          found = folder.short(error)
        }
        #expect(found == problem.map { "m.ndjson:1: " + $0 }, "\(fields)")
        // Who only decides is not asked for them.
        #expect(folder.messages("m.ndjson", rules: rules) == ["m"])
      }
      try folder.write([message(#""translations":{}"#)], as: "e.ndjson")
      #expect(
        folder.messages("e.ndjson", rules: .rongcloud) == [
          #"e.ndjson:1: "translations" belongs to easemob, but the rules are rongcloud"#
        ])
      try folder.write([message(#""mentionedContent":"x""#)], as: "r.ndjson")
      #expect(
        folder.messages("r.ndjson", rules: .easemob) == [
          #"r.ndjson:1: "mentionedContent" belongs to rongcloud, but the rules are easemob"#
        ])
    }
  }

  @Test func allOfItIsChecked() throws {
    try withFolder { folder in
      let paths = [
        try folder.write(
          [#"{"kind":"template","name":"t","content":"{$x}"}"#], as: "t.ndjson"),
        try folder.write(
          [Self.app, #"{"kind":"user","id":"u1","display":{"style":1}}"#], as: "w.ndjson"),
        try folder.write(
          [#"{"id":"m","conversation":"g","at":1,"text":[]}"#], as: "m.ndjson"),
        try folder.write(
          ["ts,user,online", "5,u1,1", "x,u1,1", "4,u1,0", "6,u1,2"], as: "p.csv"),
        try folder.write(
          [
            #"{"kind":"user","id":"u1","level":"none","at":7}"#,
            #"{"kind":"user","id":"u1","level":"all","at":6}"#,
            #"{"kind":"user","id":"u1","level":"all"}"#,
            #"{"kind":"app","rules":"rongcloud","at":8}"#,
            #"{"kind":"user","id":"u1","level":"all","at":9}"#,
          ], as: "c.ndjson"),
      ]
      let checker = FileChecker(paths)
      #expect(checker.templates.map { folder.short($0) } == ["t.ndjson"])
      #expect(
        checker.problems.map { folder.short($0) } == [
          #"w.ndjson:2: "display.style" must be a string"#,
          #"t.ndjson:1: "t": {$x} is not an argument; the arguments are {$dynamicFrom}, "#
            + #"{$fromNickname}, {$msg} and {0} to {999}; as text it is \{$x}, in JSON \\{$x}"#,
          #"m.ndjson:1: "text" must be a string"#,
          #"p.csv:3: "ts": x is not an instant; give Unix milliseconds, 0 to 9007199254740991, "#
            + "or an RFC 3339 time with an offset or Z",
          "p.csv:4: the instant is earlier than that of the row before",
          #"p.csv:5: "online" cannot be "2"; it is one of 1, 0, true, false"#,
          "c.ndjson:2: the instant is earlier than that of the change before",
          #"c.ndjson:3: the field "at" is missing"#,
          "c.ndjson:4: the rules cannot change; they are easemob",
        ])
      #expect(checker.changes.map { folder.short($0) } == ["c.ndjson"])
      #expect(checker.recordCount == 9)
    }
  }
}
