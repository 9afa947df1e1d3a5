import Foundation
import TestSupport
import Testing

@testable import PushModel

/// Goal: the table of characters is the list of the rules, and tokens are those of O-17.
@Suite struct TextTokenTests {
  /// scripts/make-characters writes the table from the same list, which is read here line by line.
  @Test func theTableIsTheList() throws {
    let list = Repository.root.appending(path: "Tests/ConformanceTests/open-characters.tsv.gz")
    let unpacked = ScratchFolder()
    let text = unpacked.path("characters.tsv")
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", #"gzip -dc "$0" > "$1""#, list.path, text]
    try process.run()
    process.waitUntilExit()
    var expected = [String](repeating: "separator", count: 0x110000)
    for line in try String(contentsOfFile: text, encoding: .utf8).split(separator: "\n")
    where !line.hasPrefix("#") {
      let cells = line.split(separator: "\t", omittingEmptySubsequences: false)
      let first = try #require(Int(cells[0], radix: 16))
      let last = try #require(Int(cells[1], radix: 16))
      let meaning = cells[2] == "fold" ? "fold \(cells[3])" : String(cells[2])
      for character in first...last { expected[character] = meaning }
    }
    let table = CharacterTable.shared
    let found = (0..<0x110000).map { character -> String in
      switch table.kind(of: UInt32(character)) {
      case .separator: "separator"
      case .run: "run"
      case .alone: "alone"
      case .mark: "mark"
      case .dropped: "drop"
      case .folded:
        "fold "
          + table.replacement(of: UInt32(character)).map { String($0, radix: 16, uppercase: true) }
          .joined(separator: " ")
      }
    }
    #expect(firstDifference(found, expected) == nil)
    #expect(Set(found.map { $0.prefix(4) }).count == 6)
  }

  @Test(arguments: [
    ("deploy at noon", ["deploy", "at", "noon"]), ("C++", ["c"]), ("a_b-c", ["a_b", "c"]),
    ("STRASSE Straße", ["strasse", "strasse"]), ("東京に", ["東", "京", "に"]),
    ("ﬁle ２０", ["file", "20"]), ("…!?", []), ("", []), ("a東b", ["a", "東", "b"]),
    ("x\u{AD}y", ["xy"]), ("\u{301}a", ["a"]),
  ])
  func tokens(text: String, expected: [String]) {
    let found = TextTokens(text).tokens.map { token in
      String(String.UnicodeScalarView(token.compactMap { Unicode.Scalar($0) }))
    }
    #expect(found == expected)
  }

  @Test func canonicallyEquivalentTextsHaveTheSameTokens() {
    let pairs = [
      ("caf\u{E9}", "cafe\u{301}"), ("\u{1E69}", "s\u{307}\u{323}"),
      ("한글", "\u{1112}\u{1161}\u{11AB}\u{1100}\u{1173}\u{11AF}"),
      ("\u{212B}", "A\u{30A}"),
    ]
    for (one, other) in pairs {
      #expect(TextTokens(one) == TextTokens(other), "\(one)")
      #expect(!TextTokens(one).tokens.isEmpty)
    }
  }

  @Test func aKeywordMatchesWholeTokensInARow() {
    let text = TextTokens("We deploy the new Release-Candidate today")
    for (keyword, isIn) in [
      ("DEPLOY", true), ("deploys", false), ("ploy", false), ("release candidate", true),
      ("candidate release", false), ("the new release", true), ("the release", false),
    ] {
      #expect(text.contains(TextTokens(keyword)) == isIn, "\(keyword)")
    }
  }

  /// Of a message the first 65,536 bytes count, less a character that the cut splits.
  @Test func longTexts() {
    let blanks = String(repeating: " ", count: TextTokens.textLimit - 3)
    #expect(TextTokens(ofMessage: blanks + "abcd").tokens == [[97, 98, 99]])
    #expect(TextTokens(ofMessage: blanks + "abc").tokens == [[97, 98, 99]])
    #expect(TextTokens(ofMessage: blanks + " é!").tokens == TextTokens("é").tokens)
    #expect(TextTokens(ofMessage: blanks + "ab東").tokens == [[97, 98]])
    #expect(TextTokens(ofMessage: blanks + "e\u{301}").tokens == [[101, 769]])
  }
}
