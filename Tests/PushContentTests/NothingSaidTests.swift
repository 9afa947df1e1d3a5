import PushContent
import PushRules
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
