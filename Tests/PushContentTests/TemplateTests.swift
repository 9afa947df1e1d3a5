import PushModel
import Testing

@testable import PushContent

/// Goal: templates mean what docs/content.md says, whatever strangers write into them.
@Suite struct TemplateTests {
  private func rendered(
    _ template: String, _ arguments: [String] = [], _ values: TemplateValues = TemplateValues()
  ) throws -> String {
    var text = LimitedText()
    _ = try TemplateText(template).append(
      to: &text, values, arguments.map { TemplateText(argument: $0) })
    return text.text.text
  }

  private static let values = TemplateValues(
    dynamicFrom: "dynamic", fromNickname: "nickname", msg: "text")

  @Test(arguments: [
    ("", ""), ("plain", "plain"), ("{0}", "a"), ("{1}{0}", "ba"), ("{0}{0}", "aa"), ("{00}", "a"),
    ("{0000000000000000000001}", "b"), ("{00000000000000000000}", "a"), ("x{000999}y", "xy"),
    ("{2}", ""), ("x{999}y", "xy"), ("{$msg}", "text"), ("{$fromNickname}", "nickname"),
    ("{$dynamicFrom}: {$msg}", "dynamic: text"), ("{", "{"), ("}", "}"), ("{}", "{}"),
    ("{$}", "{$}"), ("{$msg", "{$msg"), ("{0", "{0"), ("{ 0}", "{ 0}"), ("{a}", "{a}"),
    ("{-1}", "{-1}"), ("{{0}}", "{a}"), ("{{$msg}}", "{text}"), ("{$$msg}", "{$$msg}"),
    ("$msg", "$msg"), ("{$m{0}sg}", "{$masg}"), ("{0}{", "a{"), ("é{0}🙂", "éa🙂"),
  ])
  func placeholders(_ template: String, _ expected: String) throws {
    #expect(try rendered(template, ["a", "b"], Self.values) == expected)
  }

  /// One backslash makes text of what would be a placeholder, and is text everywhere else.
  @Test(arguments: [
    (#"\{2024}"#, "{2024}"), (#"\{0}"#, "{0}"), (#"\{$msg}"#, "{$msg}"), (#"\{$nick}"#, "{$nick}"),
    (#"in \{2024}: {0}\{1}{1}"#, "in {2024}: a{1}b"), (#"{0}\{0}"#, "a{0}"), (#"{\{0}}"#, "{{0}}"),
    (#"\"#, #"\"#), (#"\\"#, #"\\"#), (#"\n"#, #"\n"#), (#"\{"#, #"\{"#), (#"\{ 0}"#, #"\{ 0}"#),
    (#"\\{ 0}"#, #"\\{ 0}"#), (#"\{{0}"#, #"\{a"#), (#"\é{0}"#, #"\éa"#), (#"{0}\"#, #"a\"#),
    (#"\{0"#, #"\{0"#), (#"\{-1}"#, #"\{-1}"#),
  ])
  func aBackslashMakesTextOfAPlaceholder(_ template: String, _ expected: String) throws {
    #expect(try rendered(template, ["a", "b"], Self.values) == expected)
  }

  /// Strangers write arguments: a backslash in them is text, and stops nothing from being filled in.
  @Test func aBackslashInAnArgumentIsText() throws {
    let argument = #"\{$msg} \{0} \\{$msg}"#
    #expect(try rendered("{0}", [argument], Self.values) == #"\text \{0} \\text"#)
  }

  @Test func whatIsFilledInIsNotFilledInAgain() throws {
    let hostile = TemplateValues(
      dynamicFrom: "{$msg}{0}", fromNickname: "{$dynamicFrom}", msg: "{$fromNickname}{0}")
    #expect(try rendered("{$dynamicFrom}", ["a"], hostile) == "{$msg}{0}")
    #expect(try rendered("{$fromNickname}", ["a"], hostile) == "{$dynamicFrom}")
    #expect(try rendered("{$msg}", ["a"], hostile) == "{$fromNickname}{0}")
    // An argument may name a built-in one, as the vendor's examples do, but no other argument.
    #expect(try rendered("{0}", ["{$msg}{1}{0}", "b"], hostile) == "{$fromNickname}{0}{1}{0}")
    #expect(try rendered("{0}", ["{$unknown}"]) == "{$unknown}")
  }

  @Test func whatIsRefused() {
    let problem = { (text: String) -> TemplateProblem? in
      do throws(TemplateProblem) { _ = try TemplateText(text) } catch { return error }
      return nil
    }
    #expect(problem("{$nick}") == .unknownArgument("nick"))
    #expect(problem("{$MSG}") == .unknownArgument("MSG"))
    #expect(problem("{1000}") == .argumentOutOfRange("1000"))
    #expect(problem("{0000000001000}") == .argumentOutOfRange("0000000001000"))
    let digits = String(repeating: "9", count: 50)
    #expect(problem("{\(digits)}") == .argumentOutOfRange(digits))
    #expect(problem(#"\\{0}"#) == .ambiguousEscape("{0}"))
    #expect(problem(#"x\\\{$msg}"#) == .ambiguousEscape("{$msg}"))
    #expect(problem(#"\\{2024}"#) == .ambiguousEscape("{2024}"))
    #expect(
      problem("{2024}").map { "\($0)" }
        == #"{2024} is not in {0} to {999}; as text it is \{2024}, in JSON \\{2024}"#)
    #expect(
      problem(#"\\{0}"#).map { "\($0)" }
        == "several backslashes before {0}: one makes it text, and a backslash that is to stand "
        + "before what is filled in must be filled in itself")
  }

  @Test(arguments: [
    ("a", true), ("at_push_template", true), ("A9_", true),
    (String(repeating: "a", count: 64), true),
    (String(repeating: "a", count: 65), false), ("", false), ("a b", false), ("a-b", false),
    ("模板", false), ("a\u{301}", false),
  ])
  func names(_ name: String, _ isName: Bool) {
    #expect(PushTemplate.isName(name) == isName)
    let template = try? PushTemplate(name: name, title: "", content: "c")
    #expect((template != nil) == isName)
  }

  @Test func aCatalogHasOneTemplateOfAName() throws {
    let template = try PushTemplate(name: "a", title: "", content: "c")
    var catalog = try TemplateCatalog([template])
    #expect(throws: TemplateProblem.repeatedName("a")) { try catalog.add(template) }
    #expect(throws: TemplateProblem.emptyContent("b")) {
      _ = try PushTemplate(name: "b", title: "t", content: "")
    }
    #expect(catalog.count == 1)
  }

  /// Texts of a megabyte that look as bad as can be: no byte is looked at more than twice.
  @Test(arguments: [
    "{", "{$", "{$msg", "{0", "{0}", "{$msg}", "{$a{", "{9{", "{$aaaaaaaaaaaaaaaa", "}{", "a",
    "{{0}",
    "é{", #"\{0}"#, #"\\{0}"#, #"\"#, #"\{$a{"#,
  ])
  func takingApartIsLinear(_ pattern: String) {
    let size = 1 << 20
    let text = String(repeating: pattern, count: size / pattern.utf8.count)
    var scanner = TemplateScanner(text)
    var pieceCount = 0
    while scanner.next() != nil { pieceCount += 1 }
    let (steps, bytes) = (scanner.stepCount, scanner.byteCount)
    #expect(steps <= 2 * bytes, "\(pattern): \(steps) looks at \(bytes) bytes")
    #expect(pieceCount <= bytes)
  }

  /// One name that never ends, and one number.
  @Test(arguments: ["{$", "{"])
  func aPlaceholderWithoutEndIsLinear(_ start: String) {
    let digits = String(repeating: "7", count: 1 << 20)
    var scanner = TemplateScanner(start + digits)
    while scanner.next() != nil {}
    let (steps, bytes) = (scanner.stepCount, scanner.byteCount)
    #expect(steps <= 2 * bytes)
  }

  @Test func aThousandPlaceholders() throws {
    let template = (0..<1000).map { "{\($0)}" }.joined(separator: ",")
    let arguments = (0..<1000).map { "a\($0)" }
    #expect(try rendered(template, arguments) == arguments.joined(separator: ","))
    #expect(try rendered(template, []) == String(repeating: ",", count: 999))
  }

  /// A megabyte of `{$msg}` with a message of a megabyte would be 170 gigabytes.
  @Test func whatIsRenderedHasALimit() throws {
    let template = String(repeating: "{$msg}", count: 170_000)
    let values = TemplateValues(msg: String(repeating: "👨‍👩‍👧 ", count: 50_000))
    let text = try rendered(template, [], values)
    #expect(text.utf8.count <= LimitedText.byteLimit + 3)
    #expect(text.utf8.count > LimitedText.byteLimit - 64)
    #expect(text.hasSuffix("👨‍👩‍👧 …") || text.hasSuffix("👨‍👩‍👧…"))
    #expect(!text.contains("\u{FFFD}"))
  }

  /// Every cut of a text of awkward characters ends between two of them.
  @Test func aCutIsBetweenCharacters() {
    let text = "a é e\u{301} 👨‍👩‍👧‍👦 🇨🇳🇩🇪 Z̤͔̗ ليس \r\n \u{0} end"
    for limit in 0..<text.utf8.count {
      var limited = LimitedText(limit: limit)
      limited.append(text)
      let (cut, isCut) = (limited.text.text, limited.text.isCut)
      let kept = String(cut.dropLast())
      let isPrefix = isCut && Array(text).starts(with: Array(kept))
      #expect(isPrefix && cut.hasSuffix("…"), "limit \(limit): \(cut)")
    }
    for limit in 3..<80 {
      let short = text.shortened(toJSONBytes: limit) ?? ""
      var json: [UInt8] = []
      json.appendJSONCharacters(short)
      let isPrefix = Array(text).starts(with: Array(short.dropLast()))
      #expect(isPrefix && json.count <= limit, "limit \(limit): \(short)")
    }
    #expect(text.shortened(toJSONBytes: 2) == nil)
    #expect(text.shortened(toJSONBytes: 3) == "…")
  }
}
