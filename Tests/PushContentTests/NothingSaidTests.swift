import PushContent
import PushModel
import Testing

/// Goal: a text without a character says nothing, wherever it stands.
@Suite struct NothingSaidTests {
  /// The sender of an empty nickname is called as one without: by the id, in the files too.
  @Test func anEmptyNicknameIsNone() throws {
    var bodies: [String] = []
    for name in [#""display":{"name":""}"#, #""display":{"name":"","style":"messageSummary"}"#] {
      for rules in ["easemob", "rongcloud"] {
        let world = ContentWorld(
          settings: [
            #"{"kind":"app","rules":"\#(rules)"}"#, #"{"kind":"user","id":"u9",\#(name)}"#,
            #"{"kind":"user","id":"u1","display":{"style":"messageSummary"}}"#,
            #"{"kind":"conversation","id":"c1","type":"private"}"#,
            #"{"kind":"conversation","id":"g1","type":"group"}"#,
            #"{"kind":"member","conversation":"c1","user":"u1"}"#,
            #"{"kind":"member","conversation":"g1","user":"u1"}"#,
          ],
          messages: ["c1", "g1"].map {
            #"{"id":"m","conversation":"\#($0)","sender":"u9","at":1,"text":"hi"}"#
          })
        bodies += try world.shown().map { "\($0.push.content.title)/\($0.push.content.body)" }
      }
    }
    let once = ["您有一条新消息/u9: hi", "您有一条新消息/u9: hi", "u9/hi", "/u9: hi"]
    #expect(bodies == once + once)
    let template = try render(
      MessageContent(text: "hi"),
      templates: [("default", "{$fromNickname}", "{$dynamicFrom}: {$msg}")]
    ) { directory in
      var display = RecipientDisplay()
      display.name = ""
      directory.setUser("u9", display)
    }
    #expect([template.content.title, template.content.body] == ["u9", "u9: hi"])
  }

  private static let blanks = [
    " ", "\t\r\n", "\u{A0}\u{3000}\u{2028}", "\u{200B}", "\u{200D}\u{FEFF} \u{2060}",
    "\u{0}\u{7F}\u{85}",
    "\u{AD}\u{202E}\u{3164}\u{FE0F}",
  ]

  /// A body that shows nothing is the vendor's words, from wherever it comes, and never the text that
  /// it stands over; the title stays.
  @Test(arguments: blanks)
  func aBlankBodyIsTheVendorsWords(_ blank: String) throws {
    let summary = { (directory: inout ContentDirectory) in
      var display = RecipientDisplay()
      display.style = .messageSummary
      directory.setUser("u1", display)
    }
    var own = MessageContent(text: "secret")
    own.push.title = "title"
    own.push.content = blank
    var argument = MessageContent(text: "secret")
    argument.template.name = "t"
    argument.template.contentArguments = [blank]
    let easemob = try [
      render(own, summary), render(argument, templates: [("t", "T", "{0}")], summary),
      render(MessageContent(text: blank), sender: nil, summary),
    ]
    var found = easemob.map { "\($0.content.title)|\($0.content.body)|\($0.content.notes)" }
    let plain = Message(id: "m", conversation: "c1", at: .zero, sender: "u9")
    var pushContent = plain
    pushContent.pushContent = blank
    var mentioning = Message(id: "m", conversation: "g1", at: .zero, sender: "u9")
    mentioning.mentions = ["u1"]
    mentioning.pushContent = "secret"
    var mentioned = MessageContent(text: "secret")
    mentioned.mentionedContent = blank
    var directory = ContentDirectory()
    directory.setConversation("c1", kind: .private)
    let renderer = ContentRenderer(rules: .rongcloud, directory: directory)
    for (message, content) in [
      (pushContent, MessageContent(text: "secret")), (plain, MessageContent(text: blank)),
      (mentioning, mentioned),
    ] {
      for form in [PayloadForm.push, .local] {
        let words = renderer.render(message, content, for: ["u1"], as: form)[0].content
        found.append("\(words.title)|\(words.body)|\(words.notes)")
      }
    }
    let note = { (source: String) in
      "[\(source): the body shows no character; the vendor's words stand there]"
    }
    let hidden = "您收到了一条通知"
    #expect(
      found == [
        "title|请点击查看|" + note("message"), "T|请点击查看|" + note("senderTemplate"),
        "您有一条新消息|请点击查看|" + note("displayStyle"),
        "u9|\(hidden)|" + note("message"), "u9|\(hidden)|" + note("message"),
        "u9|\(hidden)|" + note("displayStyle"), "u9|\(hidden)|" + note("displayStyle"),
        "|\(hidden)|" + note("mentionedContent"), "|\(hidden)|" + note("mentionedContent"),
      ])
  }

  /// What shows one character is shown as it was written, with what is around it.
  @Test(arguments: [" . ", "\u{200B}a", "\u{2800}", "\u{301}", "👨‍👩‍👧", "\u{FFFC}"])
  func aBodyThatShowsSomethingIsShown(_ body: String) throws {
    var content = MessageContent()
    content.push.content = body
    let push = try render(content)
    #expect(push.content.body.unicodeScalars.elementsEqual(body.unicodeScalars))
    #expect(push.content.notes == [])
  }

  /// Where the words come from is explained by the source that the vendor's words belong to.
  @Test func aBlankBodyIsExplained() {
    var content = MessageContent(text: "secret")
    content.push.title = "title"
    content.push.content = " "
    let message = Message(id: "m", conversation: "g1", at: .zero, sender: "u9")
    let explained = ContentRenderer(rules: .easemob).explain(message, content, for: "u1")
    let gives = explained.steps.flatMap { step in step.gives.map { "\(step.source) \($0)" } }
    #expect(gives == ["message title", "displayStyle body"])
    #expect(explained.push.text.contains(#""title":"title","body":"请点击查看""#))
  }

  /// An empty translation hides nothing: the next shorter tag counts, a longer one, the original.
  @Test func anEmptyTranslationIsNone() throws {
    let worlds: [(translations: [String: String], preferred: String)] = [
      (["fr": ""], "fr"), (["fr-CA": "", "fr": "salut"], "fr-CA"),
      (["fr": "", "de": "hallo"], "fr"), (["pt": "", "pt-AO": "", "pt-BR": "oi"], "pt"),
      (["pt": "olá", "pt-BR": ""], "pt"),
    ]
    let found = try worlds.map { translations, preferred in
      var content = MessageContent(text: "hi")
      for (tag, text) in translations { content.translations[LanguageTag(tag)!] = text }
      let push = try render(content) { directory in
        var display = RecipientDisplay()
        display.style = .messageSummary
        display.language = LanguageTag(preferred)
        directory.setUser("u1", display)
      }
      return "\(push.content.body) \(push.content.notes)"
    }
    #expect(
      found == [
        "u9: hi []", "u9: salut [shown in fr]", "u9: hi [not translated into fr]",
        "u9: oi [shown in pt-BR]", "u9: olá [shown in pt]",
      ])
  }
}
