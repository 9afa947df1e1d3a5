import Foundation
import PushContent
import PushModel
import Testing

/// Goal: of Easemob's five sources of words the highest that is there counts, in all 32 subsets of
/// them, and for title and body each by itself.
@Suite struct PriorityTests {
  /// The sources by their bits, from the lowest.
  static let names = ["style", "default", "message", "recipient", "sender"]

  struct Subset {
    let bits: Int

    func has(_ source: String) -> Bool { bits >> names.firstIndex(of: source)! & 1 == 1 }

    var label: String {
      let there = names.filter { has($0) }
      return there.isEmpty ? "none" : there.joined(separator: " + ")
    }
  }

  /// Each source's words name it. `style` stands for a summary instead of the banner, which is
  /// always there.
  static func push(_ subset: Subset) throws -> RenderedPush {
    var content = MessageContent(text: "text")
    if subset.has("message") {
      content.apns.title = "title of message"
      content.apns.content = "body of message"
    }
    if subset.has("sender") { content.template.name = "sender" }
    var templates: [(name: String, title: String, content: String)] = []
    for (source, name) in [
      ("default", subset.has("style") ? "detail" : "default"), ("recipient", "recipient"),
      ("sender", "sender"),
    ] where subset.has(source) {
      templates.append((name, "title of \(source)", "body of \(source)"))
    }
    return try render(content, templates: templates) { directory in
      var display = RecipientDisplay()
      if subset.has("style") { display.style = .messageSummary }
      if subset.has("recipient") { display.template = "recipient" }
      directory.setUser("u1", display)
    }
  }

  @Test func allSubsetsAreThoseOfTheGolden() throws {
    let url = GoldenTests.folder.appending(path: "easemob-priorities.golden")
    let stored = try String(contentsOf: url, encoding: .utf8)
    let fresh = try (0..<32).map { bits in
      let subset = Subset(bits: bits)
      let push = try Self.push(subset)
      return """
        # \(subset.label)
        title: \(push.content.title) [\(push.content.titleSource)]
        body: \(push.content.body) [\(push.content.bodySource)]
        \(push.text)

        """
    }.joined()
    if ProcessInfo.processInfo.environment["PUSH_UPDATE_GOLDEN"] != nil {
      try fresh.write(to: url, atomically: true, encoding: .utf8)
    }
    #expect(fresh == stored, "GoldenTests says how to update it")
  }

  @Test func theHighestSourceCounts() throws {
    for bits in 0..<32 {
      let subset = Subset(bits: bits)
      let push = try Self.push(subset)
      let highest = Self.names.last { $0 != "style" && subset.has($0) }
      let banner = subset.has("style") ? "u9: text" : "请点击查看"
      #expect(push.content.body == highest.map { "body of \($0)" } ?? banner, "\(subset.label)")
      #expect(
        push.content.title == highest.map { "title of \($0)" } ?? "您有一条新消息",
        "\(subset.label)")
    }
  }

  /// The message's own title and content are two: what one of them leaves is the next source's.
  @Test(arguments: [true, false])
  func titleAndContentOfAMessageCountEachByItself(hasTitle: Bool) throws {
    var content = MessageContent(text: "text")
    if hasTitle { content.push.title = "own" } else { content.push.content = "own" }
    let push = try render(content, templates: [("default", "title", "content")])
    #expect(push.content.title == (hasTitle ? "own" : "title"))
    #expect(push.content.body == (hasTitle ? "content" : "own"))
    #expect(push.content.titleSource == (hasTitle ? .message : .defaultTemplate))
    #expect(push.content.bodySource == (hasTitle ? .defaultTemplate : .message))
  }

  /// A name that does not exist leads to the next lower source, whatever that is, and says so.
  @Test func aTemplateThatDoesNotExistLeadsToTheNextSource() throws {
    var content = MessageContent(text: "text")
    content.template.name = "gone"
    var directed = MessageContent.TemplateUse.Directed(name: "gone_too")
    directed.targets = ["u1"]
    content.template.directed = directed
    let push = try render(content, templates: [("default", "title", "content")]) {
      var display = RecipientDisplay()
      display.template = "gone_as_well"
      $0.setUser("u1", display)
    }
    #expect(push.content.body == "content")
    #expect(
      push.content.notes == [
        .templateMissing(.directedTemplate, name: "gone_too"),
        .templateMissing(.senderTemplate, name: "gone"),
        .templateMissing(.recipientTemplate, name: "gone_as_well"),
      ])
    #expect(push.problem == nil)
  }

  /// What language a text is in is noted where the text is shown, and nowhere else.
  @Test func aTranslationIsNotedWhereItIsShown() throws {
    let show = {
      (
        style: DisplayStyle, language: String, template: (title: String, content: String)?,
        own: Bool
      )
      in
      var content = MessageContent(text: "hi")
      content.translations[LanguageTag("fr")!] = "salut"
      content.template.contentArguments = ["{$msg}"]
      if own { content.push.content = "own" }
      let templates = template.map { [(name: "mine", title: $0.title, content: $0.content)] } ?? []
      let push = try render(content, templates: templates) { directory in
        var display = RecipientDisplay()
        display.style = style
        display.language = LanguageTag(language)
        display.template = template.map { _ in "mine" }
        directory.setUser("u1", display)
      }
      return push.content.notes.map { "\($0)" }.joined(separator: ", ")
    }
    let found = try [
      show(.simpleBanner, "fr", nil, false), show(.messageSummary, "fr", nil, false),
      show(.messageSummary, "de", nil, false), show(.messageSummary, "fr", nil, true),
      show(.simpleBanner, "fr", ("", "fixed"), false),
      show(.simpleBanner, "fr", ("{$msg}", "fixed"), true),
      show(.simpleBanner, "fr", ("{$msg}", "{$msg}"), false),
      show(.simpleBanner, "de", ("", "{0}"), false),
      // A template that comes out empty shows nothing of it.
      show(.simpleBanner, "fr", ("{$msg}", "{7}"), false),
    ]
    #expect(
      found == [
        "", "shown in fr", "not translated into de", "", "", "shown in fr", "shown in fr",
        "not translated into de", "recipientTemplate: the template \"mine\" comes out empty",
      ])
  }

  /// Under RongCloud: what those see whom the message mentions, else its push content, else its
  /// text.
  @Test func rongCloudsSourcesInAllSubsets() throws {
    for bits in 0..<8 {
      var content = MessageContent(text: bits & 1 == 1 ? "text" : nil)
      var message = Message(id: "m1", conversation: "g1", at: .zero, sender: "u9")
      if bits & 2 == 2 { message.pushContent = "push content" }
      if bits & 4 == 4 {
        content.mentionedContent = "mentioned"
        message.mentions = ["u1"]
      }
      let push = ContentRenderer(rules: .rongcloud).render(message, content, for: ["u1"])[0]
      let expected = ["您收到了一条通知", "u9: text", "push content", "push content"]
      #expect(push.content.body == (bits & 4 == 4 ? "mentioned" : expected[bits]), "\(bits)")
    }
  }
}
