import PushContent
import PushModel
import Testing

/// Goal: texts that look the same and are written otherwise stay what they are. Swift calls "é" and
/// "e\u{301}" equal, and would let one stand for the other.
@Suite struct ExactTextTests {
  private static let composed = "Jos\u{E9}"
  private static let decomposed = "Jose\u{301}"

  private static func name(_ number: Int) -> String { number % 2 == 0 ? composed : decomposed }

  /// Everybody sees the remark as it was written, on any number of threads and whoever is there.
  @Test(arguments: [RuleSet.easemob, .rongcloud])
  func remarksAreSeenAsTheyWereWritten(_ rules: RuleSet) {
    var directory = ContentDirectory()
    let people = (0..<9_001).map { Identifier("user\($0)") }
    for (number, person) in people.enumerated() {
      var display = RecipientDisplay()
      display.style = .messageSummary
      display.remarks = ["u9": Self.name(number)]
      directory.setUser(person, display)
    }
    let renderer = ContentRenderer(rules: rules, directory: directory)
    let message = Message(id: "m1", conversation: "g1", at: .zero, sender: "u9")
    let bodies = { (recipients: [Identifier], threads: Int) in
      renderer.render(message, MessageContent(text: "hi"), for: recipients, threads: threads)
        .map { Array($0.content.body.utf8) }
    }
    let expected = people.indices.map { Array("\(Self.name($0)): hi".utf8) }
    let found = [bodies(people, 1), bodies(people, 2), bodies(people, 4)]
    #expect(found == [expected, expected, expected])
    let alone = people.prefix(4).map { bodies([$0], 1)[0] }
    #expect(alone == Array(expected.prefix(4)))
  }

  /// A name that only looks like a template's is none: a Kelvin sign is no K.
  @Test func namesOfTemplatesAreExact() throws {
    var content = MessageContent()
    content.template.name = "\u{212A}"
    let push = try render(content, templates: [("K", "title", "body of K")])
    let found = [push.content.body] + push.content.notes.map { "\($0)" }
    #expect(
      found == ["请点击查看", "senderTemplate: there is no template \"\u{212A}\""])
  }

  /// A directory gives back what was set, also when somebody before has set what looks the same.
  @Test func settingsAreGivenBackAsTheyWereWritten() {
    var directory = ContentDirectory()
    let languages = ["zh-hans", "ZH-HANS", "zh_hans", "zh-Hans"]
    let templates = ["K", "\u{212A}", Self.composed, Self.decomposed]
    for (number, (language, template)) in zip(languages, templates).enumerated() {
      var display = RecipientDisplay()
      display.language = LanguageTag(language)
      display.template = template
      directory.setUser(Identifier("u\(number)"), display)
    }
    let found = languages.indices.map { directory.user(Identifier("u\($0)")) }
    #expect(found.map { $0.language?.text } == languages)
    #expect(found.map { Array(($0.template ?? "").utf8) } == templates.map { Array($0.utf8) })
  }
}
