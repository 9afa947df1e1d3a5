import Foundation
import PushModel
import Testing

/// Goal: what differs between rule sets stands in their own files.
@Suite struct RuleSetFileTests {
  /// Lines that compare a rule set, or switch over it, outside the rule sets' own files: those of a
  /// folder named RuleSets, and those with a vendor's name. A property that only one rule set has,
  /// which says nothing but its name, is a comparison too.
  static func comparisons(in text: String) -> [String] {
    let names = RuleSet.allCases.map(\.rawValue).joined(separator: "|")
    let patterns = [
      #"(==|!=)\s*(RuleSet)?\.(\#(names))\b"#, #"\.(\#(names))\s*(==|!=)"#,
      #"^\s*(if |guard )?case\b.*[ (,]\.(\#(names))\b.*[:=]"#,
      #"\.numbersStates\b"#, #"contains\(\.classLevels\)"#,
    ]
    // Most lines name none, which is quick to see.
    let marks = RuleSet.allCases.map { ".\($0.rawValue)" } + [".numbersStates", ".classLevels"]
    return text.split(separator: "\n").map(String.init).filter { line in
      marks.contains { line.contains($0) }
        && patterns.contains { line.range(of: $0, options: .regularExpression) != nil }
    }
  }

  static func isOfRuleSets(_ file: URL) -> Bool {
    let name = file.lastPathComponent
    return file.pathComponents.contains("RuleSets") || name.contains("RuleSet")
      || name.contains("Vendor")
      || name.contains("Easemob") || name.contains("RongCloud")
  }

  @Test func onlyTheirOwnFilesCompareRuleSets() throws {
    var found: [String: [String]] = [:]
    for file in try ArchitectureTests.files(under: "Sources") where !Self.isOfRuleSets(file) {
      let text = try String(contentsOf: file, encoding: .utf8)
      found[file.lastPathComponent, default: []] += Self.comparisons(in: text)
    }
    for (file, lines) in found.sorted(by: { $0.key < $1.key }) where !lines.isEmpty {
      Issue.record(
        """
        \(file) compares rule sets; ask a property of RuleSet, or move the code into a folder \
        RuleSets: \(lines)
        """)
    }
  }

  @Test(arguments: [
    ("if rules == .easemob {", true), ("a ? b != .rongcloud : c", true),
    ("    case .easemob: return 1", true), ("case (.local, .rongcloud):", true),
    ("if case .easemob = rules {", true), ("if RuleSet.easemob == rules {", true),
    ("if app.rules.numbersStates {", true), ("a = rules.fields.contains(.classLevels)", true),
    ("var classLevels: Self { Self(rawValue: 1) }", false), ("note(.classLevels, text)", false),
    ("let options = app.easemob", false), ("try rows.require(.easemob)", false),
    ("case .interval(let interval): DailyWindow(interval, app.easemob)", false),
  ])
  func comparisonsAreFound(line: String, isOne: Bool) {
    #expect(Self.comparisons(in: line).isEmpty != isOne)
  }
}
