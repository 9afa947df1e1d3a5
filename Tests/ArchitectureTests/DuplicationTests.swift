import Foundation
import TestSupport
import Testing

/// Goal: what several modules need stands once, in PushSupport or in the module that owns it.
@Suite struct DuplicationTests {
  /// Two modules that may have equal lines, and why.
  private static let exceptions: [(modules: Set<String>, reason: String)] = [
    (
      ["PushFanout", "PushReference"],
      "the reference shares no deciding code with the engine: ARCHITECTURE.md, \"Invariants\""
    )
  ]

  /// So many equal lines in a row are a copy.
  private static let length = 6

  struct Line: Hashable {
    let text: String
    let number: Int
  }

  struct Place: Hashable {
    let module: String
    let file: String
    let line: Int
  }

  /// The lines that say something: not blank ones, comments, imports and brackets by themselves. White
  /// space is folded.
  static func lines(of text: String) -> [Line] {
    var lines: [Line] = []
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      let words = line.split(whereSeparator: \.isWhitespace)
      let folded = words.joined(separator: " ")
      let isSaying = folded.contains { $0.isLetter || $0.isNumber } && words != ["}", "else", "{"]
      guard isSaying, !folded.hasPrefix("//"), !folded.hasPrefix("*"), !folded.hasPrefix("/*"),
        ArchitectureTests.imports(in: folded).isEmpty, !folded.hasPrefix("#include")
      else { continue }
      lines.append(Line(text: folded, number: index + 1))
    }
    return lines
  }

  /// The places of each run of lines that stands in several modules, the longest run once.
  static func copies(in files: [(module: String, file: String, text: String)]) -> [[Place]] {
    var places: [[String]: [Place]] = [:]
    for file in files {
      let lines = lines(of: file.text)
      guard lines.count >= length else { continue }
      for start in 0...lines.count - length {
        let run = lines[start..<start + length].map(\.text)
        places[run, default: []].append(
          Place(module: file.module, file: file.file, line: lines[start].number))
      }
    }
    return places.values.filter { run in
      let modules = Set(run.map(\.module))
      return modules.count > 1 && !exceptions.contains { modules.isSubset(of: $0.modules) }
    }.sorted { $0[0].file == $1[0].file ? $0[0].line < $1[0].line : $0[0].file < $1[0].file }
  }

  @Test func noTwoModulesShareSixLines() throws {
    var files: [(module: String, file: String, text: String)] = []
    let root = Repository.root.appending(path: "Sources")
    let found = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
    for case let url as URL in found ?? .init()
    where ["swift", "c", "cpp", "h"].contains(url.pathExtension) {
      let path = url.path.dropFirst(root.path.count + 1)
      let module = path.split(separator: "/")[1]
      files.append(
        (String(module), String(path), try String(contentsOf: url, encoding: .utf8)))
    }
    let modules = try ArchitectureTests.modules()
    try #require(Set(files.map(\.module)) == Set(modules))
    let copies = Self.copies(in: files).map { run in
      run.map { "\($0.file):\($0.line)" }.joined(separator: " = ")
    }
    #expect(copies == [], "fold them, or declare and justify the pair of modules")
  }

  @Test func copiesAreFound() {
    let words = ["a", "b", "c", "d", "e", "f", "g"].map { "  let \($0) = 1" }
    let copied = words.dropFirst().joined(separator: "\n")
    let spaced =
      (["import A", "// other"] + words.dropFirst().flatMap { ["", "  // why", "\t\($0)", "}"] })
      .joined(separator: "\n")
    let short = words.dropLast(2).joined(separator: "\n")
    let files = [
      (module: "A", file: "A/a", text: words.joined(separator: "\n")),
      (module: "A", file: "A/again", text: copied), (module: "B", file: "B/b", text: spaced),
      (module: "C", file: "C/c", text: short),
    ]
    #expect(
      Self.copies(in: files) == [
        [
          Place(module: "A", file: "A/a", line: 2), Place(module: "A", file: "A/again", line: 1),
          Place(module: "B", file: "B/b", line: 5),
        ]
      ])
    let declared = [
      (module: "PushFanout", file: "a", text: copied),
      (module: "PushReference", file: "b", text: copied),
    ]
    #expect(Self.copies(in: declared) == [])
    #expect(Self.copies(in: declared + files.prefix(1)).count == 1)
  }
}
