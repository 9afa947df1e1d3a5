import Foundation
import PushContent
import PushModel
import TestSupport
import Testing

/// Goal: the display style of whoever has set none is the one that docs/formats.md names.
@Suite struct DocumentedStyleTests {
  private static func payload(_ rules: RuleSet, _ style: DisplayStyle?) -> String {
    var directory = ContentDirectory()
    var display = RecipientDisplay()
    display.style = style
    directory.setUser("u1", display)
    let message = Message(id: "m1", conversation: "g1", at: .zero, sender: "u9")
    let renderer = ContentRenderer(rules: rules, directory: directory)
    return renderer.render(message, MessageContent(text: "hi"), for: ["u1"])[0].text
  }

  @Test(arguments: [RuleSet.easemob, .rongcloud])
  func theDefaultIsTheDocumentedOne(_ rules: RuleSet) throws {
    let formats = Repository.root.appending(path: "docs/formats.md")
    let text = try String(contentsOf: formats, encoding: .utf8)
    let pattern = #/`style` .*, default (\w+) \(easemob\), (\w+) \(rongcloud\)/#
    let defaults = try #require(text.firstMatch(of: pattern))
    let name = rules == .easemob ? defaults.1 : defaults.2
    let documented = try #require(DisplayStyle(rawValue: String(name)))
    let alike = DisplayStyle.allCases.filter {
      Self.payload(rules, $0) == Self.payload(rules, nil)
    }
    #expect(alike == [documented])
  }
}
