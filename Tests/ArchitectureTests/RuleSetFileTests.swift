import Foundation
import PushModel
import TestSupport
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

  /// A rule set that is asked for alone makes a new one silently one of the others.
  @Test func theirFilesNameEachRuleSet() throws {
    let names = RuleSet.allCases.map(\.rawValue).joined(separator: "|")
    let alone = #"((==|!=) *(RuleSet)?|(if|guard|,) case )\.(\#(names))\b"#
    for file in try ArchitectureTests.files(under: "Sources")
    where file.pathComponents.contains("RuleSets") {
      let text = try String(contentsOf: file, encoding: .utf8)
      let found = text.split(separator: "\n").filter {
        $0.range(of: alone, options: .regularExpression) != nil
      }
      #expect(found == [], "\(file.lastPathComponent): switch over all rule sets")
    }
  }

  /// Snapshots and the C library number rule sets by their order; other languages list them.
  @Test(arguments: [
    ("Bindings/C/Sources/CPushFanoutABI/include/push_fanout.h", "#define PF_RULES_"),
    ("Bindings/Python/src/push_fanout/state.py", "_RULES = "),
    ("scripts/same-answers", "RULES = "), ("Tests/Oracle/differential.py", "RULES = "),
    ("Tests/Oracle/fuzz_world.py", "RULES = "),
  ])
  func othersListThemInTheirOrder(path: String, start: String) throws {
    let all = RuleSet.allCases.map(\.rawValue)
    #expect(all.prefix(3) == ["easemob", "rongcloud", "open"])
    let text = try String(contentsOf: Repository.root.appending(path: path), encoding: .utf8)
    let found = text.split(separator: "\n").filter { $0.hasPrefix(start) }.flatMap {
      $0.dropFirst(start.count).lowercased().matches(of: #/[a-z]+/#).map { String($0.output) }
    }
    #expect(found == all)
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
