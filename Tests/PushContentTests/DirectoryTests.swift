import PushModel
import Testing

@testable import PushContent

/// Goal: what people have set is found again, and languages by their rule.
@Suite struct DirectoryTests {
  @Test func whatIsSetIsThere() {
    var directory = ContentDirectory()
    var display = RecipientDisplay()
    display.name = "Ann"
    display.style = .messageSummary
    display.language = LanguageTag("zh-Hans")
    display.template = "tpl"
    display.offlineMessages = 3
    display.remarks = ["u2": "two", "u3": "three"]
    directory.setUser("u1", display)
    #expect(directory.user("u1") == display)
    #expect(directory.user("u2") == RecipientDisplay())
    #expect(directory.remarks(of: "u2").count == 1)
    // Setting again replaces all of it.
    display.remarks = ["u3": "drei"]
    display.name = nil
    directory.setUser("u1", display)
    #expect(directory.user("u1") == display)
    #expect(directory.remarks(of: "u2").isEmpty)
    directory.setUser("u1", RecipientDisplay())
    #expect(directory.user("u1") == RecipientDisplay())
    #expect(directory.pushName(of: "u1") == "u1")
  }

  /// Ids are compared by their characters, not by what they look like.
  @Test func idsAreExact() {
    var directory = ContentDirectory()
    var display = RecipientDisplay()
    display.remarks = ["e\u{301}": "decomposed"]
    directory.setUser("u1", display)
    #expect(directory.remarks(of: "é").isEmpty)
    directory.setNickname("nick", of: "é", in: "g")
    #expect(directory.nickname(of: "e\u{301}", in: "g") == nil)
    #expect(directory.nickname(of: "é", in: "g") == "nick")
  }

  @Test(arguments: [
    ("en", true), ("zh-Hans-CN", true), ("pt_BR", true), ("EU", true), ("x-private", true),
    ("i-klingon", true), ("es-419", true), ("", false), ("1a", false), ("en-", false),
    ("-en", false),
    ("en--us", false), ("englishes", false), ("français", false), ("en us", false), ("e/n", false),
  ])
  func tags(_ text: String, _ isTag: Bool) {
    #expect((LanguageTag(text) != nil) == isTag)
  }

  @Test(arguments: [
    ("fr", "fr"), ("FR", "fr"), ("fr-CA", "fr"), ("fr_CA", "fr"), ("zh-Hant-TW", "zh-Hant"),
    ("zh-Hans-x-a", "zh-Hans"), ("zh", "zh-Hans"), ("zh-TW", nil), ("pt", "pt-BR"), ("pt-PT", nil),
    ("de", nil), ("f", nil), ("zh-Han", nil),
  ])
  func translations(_ preferred: String, _ expected: String?) throws {
    let tags = ["fr", "zh-Hant", "zh-Hans", "pt-BR"]
    let texts = Dictionary(uniqueKeysWithValues: tags.map { (LanguageTag($0)!, $0) })
    let found = texts.text(in: try #require(LanguageTag(preferred)))
    #expect(found?.text == expected)
  }
}
