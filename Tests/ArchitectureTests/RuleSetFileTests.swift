import Foundation
import PushModel
import Testing

/// Goal: what differs between rule sets stands in their own files.
@Suite struct RuleSetFileTests {
  /// Lines that compare a rule set, or switch over it, outside the rule sets' own files: those of a
  /// folder named RuleSets, and those with a vendor's name.
  static func comparisons(in text: String) -> [String] {
    let names = RuleSet.allCases.map(\.rawValue).joined(separator: "|")
    let patterns = [
      #"(==|!=)\s*(RuleSet)?\.(\#(names))\b"#, #"\.(\#(names))\s*(==|!=)"#,
      #"^\s*(if |guard )?case\b.*[ (,]\.(\#(names))\b.*[:=]"#,
    ]
    return text.split(separator: "\n").map(String.init).filter { line in
      // Most lines name none, which is quick to see.
      RuleSet.allCases.contains { line.contains(".\($0.rawValue)") }
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
    var found: [String] = []
    for file in try ArchitectureTests.files(under: "Sources") where !Self.isOfRuleSets(file) {
      let text = try String(contentsOf: file, encoding: .utf8)
      found += Self.comparisons(in: text).map { "\(file.lastPathComponent): \($0)" }
    }
    #expect(found == [], "ask a property of RuleSet, or move the code into a folder RuleSets")
  }

  @Test(arguments: [
    ("if rules == .easemob {", true), ("a ? b != .rongcloud : c", true),
    ("    case .easemob: return 1", true), ("case (.local, .rongcloud):", true),
    ("if case .easemob = rules {", true), ("if RuleSet.easemob == rules {", true),
    ("let options = app.easemob", false), ("try rows.require(.easemob)", false),
    ("case .interval(let interval): DailyWindow(interval, app.easemob)", false),
  ])
  func comparisonsAreFound(line: String, isOne: Bool) {
    #expect(Self.comparisons(in: line).isEmpty != isOne)
  }
}
