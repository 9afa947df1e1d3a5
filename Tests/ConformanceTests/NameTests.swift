import Foundation
import Testing

/// Goal: names that were given up (docs/moved.md) do not come back, and a word has one meaning.
@Suite struct NameTests {
  /// The words that a module no longer uses, but in the phrases behind them.
  static let refused: [String: [(word: String, allowed: [String])]] = [
    "PushFanout": [
      ("place", ["in place"]), ("places", []), ("World", []), ("world", []), ("Moment", []),
      ("moment", []), ("Agenda", []), ("agenda", []), ("Patience", []), ("Cursor", []),
      ("Lazily", []), ("Published", []), ("History", []), ("UserWord", []), ("MemberByte", []),
      ("HoldTable", []), ("specials", []), ("turn", []), ("turns", []), ("turned", []),
    ],
    // IdentifierTable of PushRules looks names of zones up by `place(ofUTF8:)`.
    "PushFiles": [
      ("place", ["zones place"]), ("places", []), ("Place", []), ("RowText", []),
      ("DecisionText", []),
    ],
  ]

  @Test(arguments: refused.keys.sorted())
  func aModuleKeepsToItsWords(module: String) throws {
    var found: [String] = []
    for file in try ArchitectureTests.files(under: "Sources/\(module)") {
      let text = try String(contentsOf: file, encoding: .utf8)
      for word in Self.words(in: text, of: Self.refused[module] ?? []) {
        found.append("\(file.lastPathComponent): \(word)")
      }
    }
    #expect(found == [])
  }

  /// The refused words that a text uses, each once.
  static func words(in text: String, of refused: [(word: String, allowed: [String])]) -> [String] {
    // Words of a wrapped comment follow each other.
    let all = text.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
    var indices: [Substring: [Int]] = [:]
    for (index, word) in all.enumerated() { indices[word, default: []].append(index) }
    return refused.filter { refused in
      (indices[refused.word[...]] ?? []).contains { index in
        let pair = index > 0 ? "\(all[index - 1]) \(all[index])" : ""
        return !refused.allowed.contains(pair)
      }
    }.map(\.word)
  }

  @Test func theScanFindsWords() {
    let refused = [("place", ["in place"]), ("World", [])]
    #expect(Self.words(in: "changed in\n  /// place, RandomWorld, replace", of: refused) == [])
    #expect(Self.words(in: "let place = 1 // in place", of: refused) == ["place"])
    #expect(Self.words(in: "struct World {", of: refused) == ["World"])
  }
}
